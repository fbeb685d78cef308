//! Priority groups: the queues whose packets share one ingress account. Must not depend on accounts or frames.

use weft_core::Class;

use crate::SwitchSettings;

/// The priority group of each queue, named by the lowest queue in it.
#[derive(Clone, Copy, Debug)]
pub struct PriorityGroups {
    of: [u8; Class::COUNT],
    queues: u8,
}

impl PriorityGroups {
    /// The groups of a switch: queue q has the number that entry q of `group_map` gives, or q; queues with the same number
    /// are a group.
    #[must_use]
    pub fn new(settings: &SwitchSettings) -> PriorityGroups {
        let number = |queue: usize| settings.group_map.get(queue).map_or(queue, |number| *number as usize);
        let lowest = |queue: usize| (0..queue).find(|other| number(*other) == number(queue)).unwrap_or(queue);
        PriorityGroups {
            of: std::array::from_fn(|queue| lowest(queue) as u8),
            queues: (settings.queues as u8).min(Class::COUNT as u8),
        }
    }

    /// The group of a queue.
    #[inline]
    #[must_use]
    pub fn of(&self, queue: usize) -> usize {
        usize::from(self.of[queue % Class::COUNT])
    }

    /// The queues in the group of a queue, lowest first.
    pub fn members(&self, queue: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        let (own, group) = (*self, self.of(queue));
        (group..usize::from(own.queues)).filter(move |other| own.of(*other) == group)
    }

    /// The groups, lowest first.
    pub fn all(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let own = *self;
        (0..usize::from(own.queues)).filter(move |queue| own.of(*queue) == *queue)
    }

    /// Whether some queues share a group.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        self.all().count() < usize::from(self.queues)
    }
}

impl SwitchSettings {
    /// The number of lossless groups of a port.
    #[must_use]
    pub fn lossless_groups(&self) -> u64 {
        let lossless = self.pfc.lossless(self.queues as usize);
        PriorityGroups::new(self).all().filter(|group| lossless >> group & 1 == 1).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PfcSettings;

    fn settings(queues: u32, group_map: &[u32], lossless: &[u32]) -> SwitchSettings {
        let pfc = PfcSettings { classes: lossless.to_vec(), ..PfcSettings::default() };
        SwitchSettings { queues, group_map: group_map.to_vec(), pfc, ..SwitchSettings::default() }
    }

    /// The map of the switch in the Hadoop study: queues 4 and 5 share group 4, and every other has its own.
    #[test]
    fn queues_with_the_same_number_are_a_group() {
        let groups = PriorityGroups::new(&settings(8, &[1, 0, 2, 3, 4, 4, 5, 7], &[]));
        assert_eq!(std::array::from_fn::<_, 8, _>(|queue| groups.of(queue)), [0, 1, 2, 3, 4, 4, 6, 7]);
        assert_eq!(
            [4, 5, 6].map(|queue| groups.members(queue).collect::<Vec<_>>()),
            [vec![4, 5], vec![4, 5], vec![6]]
        );
        assert!(groups.are_shared());
        assert!(!PriorityGroups::new(&settings(3, &[7, 6, 5], &[])).are_shared(), "only names differ");
    }

    #[test]
    fn a_queue_beyond_the_list_has_the_group_of_its_number() {
        let groups = PriorityGroups::new(&settings(3, &[2], &[]));
        assert_eq!(groups.all().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(groups.members(2).collect::<Vec<_>>(), [0, 2]);
        assert!(!PriorityGroups::new(&settings(4, &[], &[])).are_shared());
    }

    #[test]
    fn a_lossless_group_counts_once() {
        assert_eq!(settings(8, &[], &[0, 1, 2]).lossless_groups(), 3);
        assert_eq!(settings(8, &[0, 0, 2], &[0, 1, 2]).lossless_groups(), 2);
        assert_eq!(settings(8, &[0, 0], &[]).lossless_groups(), 0);
    }
}
