//! The queue of each class as a table, which every packet looks up. Must not depend on ports or packets.

use weft_core::Class;

use crate::SwitchSettings;

/// The queue of each class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassMap([u8; Class::COUNT]);

impl ClassMap {
    pub(crate) fn new(settings: &SwitchSettings) -> ClassMap {
        ClassMap(std::array::from_fn(|class| settings.queue_of(Class(class as u8)) as u8))
    }

    /// The queue of a class.
    #[inline]
    pub(crate) fn queue(&self, class: Class) -> usize {
        usize::from(self.0[usize::from(class.0) % Class::COUNT])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(queues: u32, class_map: &[u32]) -> [usize; Class::COUNT] {
        let map = ClassMap::new(&SwitchSettings {
            queues,
            class_map: class_map.to_vec(),
            ..SwitchSettings::default()
        });
        std::array::from_fn(|class| map.queue(Class(class as u8)))
    }

    #[test]
    fn a_class_goes_where_the_map_says_or_to_its_own_queue_or_to_the_last() {
        assert_eq!(queues(1, &[]), [0; 8]);
        assert_eq!(queues(3, &[]), [0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(queues(2, &[1, 0]), [1, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(queues(8, &[1, 0, 2, 3, 4, 4, 5]), [1, 0, 2, 3, 4, 4, 5, 7]);
    }
}
