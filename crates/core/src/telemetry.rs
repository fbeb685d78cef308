//! In-band telemetry: what the links of a packet's path report about themselves, in the packet. Must not depend on what an
//! end concludes from it.

use crate::units::{Bytes, Rate, Time};

/// Links that [`Telemetry`] can hold; a fat tree has five.
pub const MOST_LINKS: usize = 8;

/// What a link reports when it begins to send a packet (Li et al., SIGCOMM 2019, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkReport {
    /// The number of the link, unique in the network.
    pub link: u64,
    /// The instant (ts).
    pub at: Time,
    /// Wire bytes that it had sent before (txBytes).
    pub sent: Bytes,
    /// Wire bytes that wait behind the packet (qLen).
    pub queued: Bytes,
    /// Its line rate (B).
    pub line: Rate,
}

/// The reports of the links that a packet has taken, first to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Telemetry {
    links: [LinkReport; MOST_LINKS],
    length: u8,
}

impl Telemetry {
    /// No reports.
    pub const EMPTY: Telemetry = Telemetry {
        links: [LinkReport { link: 0, at: Time::ZERO, sent: Bytes::ZERO, queued: Bytes::ZERO, line: Rate(0) };
            MOST_LINKS],
        length: 0,
    };

    /// Adds the report of the next link. Links beyond [`MOST_LINKS`] are not recorded.
    pub fn push(&mut self, report: LinkReport) {
        if let Some(place) = self.links.get_mut(usize::from(self.length)) {
            *place = report;
            self.length += 1;
        }
    }

    /// The reports.
    #[must_use]
    pub fn links(&self) -> &[LinkReport] {
        &self.links[..usize::from(self.length)]
    }

    /// Whether both are about the same links, in the same order.
    #[must_use]
    pub fn is_of_path(&self, other: &Telemetry) -> bool {
        let (own, others) = (self.links(), other.links());
        own.len() == others.len() && own.iter().zip(others).all(|(one, two)| one.link == two.link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: impl IntoIterator<Item = u64>) -> Telemetry {
        let mut telemetry = Telemetry::EMPTY;
        path.into_iter().for_each(|link| telemetry.push(LinkReport { link, ..LinkReport::default() }));
        telemetry
    }

    #[test]
    fn a_path_is_its_links_in_order() {
        assert!(of([1, 2, 3]).is_of_path(&of([1, 2, 3])));
        for other in [&[1, 2][..], &[1, 3, 2], &[1, 2, 4], &[]] {
            assert!(!of([1, 2, 3]).is_of_path(&of(other.iter().copied())), "{other:?}");
        }
    }

    #[test]
    fn of_a_long_path_the_first_links_are_known() {
        let long = of(0..300);
        assert_eq!(long.links().len(), MOST_LINKS);
        assert_eq!(long.links()[MOST_LINKS - 1].link, MOST_LINKS as u64 - 1);
    }
}
