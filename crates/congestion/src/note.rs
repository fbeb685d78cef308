//! What CONGA adds to a packet between its leaves, in the header's four-byte note. The paper's fields have 4 and 3
//! bits; here tags have 10 and metrics 6, so that fabrics are not limited to 12 uplinks.

/// The paper's fields LBTag, CE, FB_LBTag and FB_Metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// The uplink by which the packet left its leaf, from 1; 0: the packet carries nothing.
    pub(crate) tag: u32,
    /// The maximum metric of the links it has crossed.
    pub(crate) congestion: u8,
    /// An uplink of the leaf it goes to, from 1; 0: nothing is fed back.
    pub(crate) told_tag: u32,
    /// The maximum metric that packets over that uplink have met.
    pub(crate) told_metric: u8,
}

/// The greatest tag that fits.
pub(crate) const GREATEST_TAG: u32 = (1 << TAG) - 1;
const TAG: u32 = 10;
const METRIC: u32 = 6;
const LOW: u32 = (1 << METRIC) - 1;

impl Note {
    #[inline]
    pub(crate) fn of(word: u32) -> Note {
        Note {
            tag: word & GREATEST_TAG,
            congestion: (word >> TAG & LOW) as u8,
            told_tag: word >> (TAG + METRIC) & GREATEST_TAG,
            told_metric: (word >> (2 * TAG + METRIC)) as u8,
        }
    }

    #[inline]
    pub(crate) fn packed(self) -> u32 {
        self.tag
            | u32::from(self.congestion) << TAG
            | self.told_tag << (TAG + METRIC)
            | u32::from(self.told_metric) << (2 * TAG + METRIC)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_values_fit_side_by_side() {
        let greatest = Note { tag: GREATEST_TAG, congestion: 63, told_tag: GREATEST_TAG, told_metric: 63 };
        for note in [
            greatest,
            Note { tag: 0, ..greatest },
            Note { congestion: 0, ..greatest },
            Note { told_tag: 0, ..greatest },
            Note { told_metric: 0, ..greatest },
        ] {
            assert_eq!(Note::of(note.packed()), note);
        }
        assert_eq!(greatest.packed(), u32::MAX);
    }
}
