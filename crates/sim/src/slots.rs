//! The slot of each flow's end, by flow number. Flows are numbered in the order of their start and few are open at a
//! time, so only pages of numbers with an open flow exist; an empty page is reused. Must not depend on flows.

use weft_core::FlowId;

/// The slot of an end that has none: not yet open, closed, or in another domain.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Flow numbers per page.
const PAGE: usize = 64;

/// The page for numbers without any open flow.
const EMPTY: u32 = 0;

/// Slots by flow number. A finished flow leaves a sixteenth of a byte.
pub(crate) struct FlowSlots {
    /// The page of each block of numbers.
    page_of: Vec<u32>,
    pages: Vec<[u32; PAGE]>,
    /// Open flows of each page.
    used: Vec<u32>,
    free: Vec<u32>,
}

impl FlowSlots {
    pub(crate) fn new() -> FlowSlots {
        FlowSlots { page_of: Vec::new(), pages: vec![[NOWHERE; PAGE]], used: vec![0], free: Vec::new() }
    }

    /// The slot of a flow's end.
    #[inline]
    pub(crate) fn get(&self, flow: FlowId) -> u32 {
        match self.page_of.get(flow.index() / PAGE) {
            Some(page) => self.pages[*page as usize][flow.index() % PAGE],
            None => NOWHERE,
        }
    }

    /// Records the slot of a flow that has none.
    pub(crate) fn set(&mut self, flow: FlowId, slot: u32) {
        let run = flow.index() / PAGE;
        if run >= self.page_of.len() {
            self.page_of.resize(run + 1, EMPTY);
        }
        if self.page_of[run] == EMPTY {
            self.page_of[run] = self.free.pop().unwrap_or(self.pages.len() as u32);
            if self.page_of[run] as usize == self.pages.len() {
                self.pages.push([NOWHERE; PAGE]);
                self.used.push(0);
            }
        }
        let page = self.page_of[run] as usize;
        self.pages[page][flow.index() % PAGE] = slot;
        self.used[page] += 1;
    }

    /// Removes the slot of a flow that has one.
    pub(crate) fn clear(&mut self, flow: FlowId) {
        let number = &mut self.page_of[flow.index() / PAGE];
        let page = *number as usize;
        self.pages[page][flow.index() % PAGE] = NOWHERE;
        self.used[page] -= 1;
        if self.used[page] == 0 {
            self.free.push(std::mem::replace(number, EMPTY));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of five flows moves over many; one stays open from the beginning.
    #[test]
    fn pages_are_used_again_and_a_long_flow_holds_only_its_own() {
        let mut slots = FlowSlots::new();
        for number in 0..10_000 {
            slots.set(FlowId(number), number);
            if let Some(done) = number.checked_sub(5).filter(|done| *done != 3) {
                assert_eq!(slots.get(FlowId(done)), done);
                slots.clear(FlowId(done));
                assert_eq!(slots.get(FlowId(done)), NOWHERE);
            }
        }
        assert_eq!((slots.get(FlowId(3)), slots.get(FlowId(10_000))), (3, NOWHERE));
        assert_eq!(slots.pages.len(), 4, "none, the long flow's, and two of the window");
    }
}
