//! Ports that wait for each other in a cycle: each is paused because the switch behind it holds its packets in queues
//! that are paused themselves. Checked when all domains examine their queues; must not depend on domains.

use std::collections::BTreeMap;

use weft_core::record::DeadlockRecord;
use weft_core::{Bytes, LinkId, SwitchId, Time};
use weft_switch::HeldBack;

/// A paused transmitter: a link, and the class.
pub type PausedTransmitter = (LinkId, u8);

/// Bytes in a paused queue of a switch that arrived over a link the switch has paused.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The transmitter it has paused.
    pub stopped: PausedTransmitter,
    /// The transmitter that holds the bytes.
    pub holds: PausedTransmitter,
    /// The switch.
    pub at: SwitchId,
    /// The bytes.
    pub held: HeldBack,
}

/// The cycles found so far.
#[derive(Debug, Default)]
pub struct Deadlocks {
    found: Vec<DeadlockRecord>,
}

impl Deadlocks {
    /// Combines the waits of all domains at `now`. Returns whether there is a cycle.
    pub fn look(&mut self, now: Time, waits: impl Iterator<Item = Wait>) -> bool {
        let mut waits: Vec<Wait> = waits.collect();
        waits.sort_unstable_by_key(|wait| (wait.stopped, wait.holds));
        let cycles = cycles(&locked(waits));
        for cycle in &cycles {
            let links: Vec<LinkId> = cycle.iter().map(|(link, _)| *link).collect();
            let class = cycle[0].1;
            match self.found.iter_mut().find(|known| known.class == class && known.links == links) {
                Some(known) => known.last = now,
                None => self.found.push(DeadlockRecord { first: now, last: now, class, links }),
            }
        }
        !cycles.is_empty()
    }

    /// All cycles found, in this order.
    #[must_use]
    pub fn results(self) -> Vec<DeadlockRecord> {
        self.found
    }
}

/// The waits of senders that cannot resume even if everything that can leave has left: those that could are removed one
/// by one. The others fill the pools of their switches meanwhile.
fn locked(mut waits: Vec<Wait>) -> Vec<Wait> {
    let pool_of = |wait: &Wait| (wait.at, wait.held.limit.pool());
    loop {
        let mut stuck: BTreeMap<PausedTransmitter, Bytes> = BTreeMap::new();
        let mut pools: BTreeMap<(SwitchId, u8), Bytes> = BTreeMap::new();
        for wait in &waits {
            *stuck.entry(wait.stopped).or_default() += wait.held.bytes;
            *pools.entry(pool_of(wait)).or_default() += wait.held.bytes - wait.held.apart;
        }
        let before = waits.len();
        let stays = |wait: &Wait| {
            let goes_on_at = wait.held.limit.bytes(pools[&pool_of(wait)]);
            stuck[&wait.stopped] > goes_on_at && stuck.contains_key(&wait.holds)
        };
        waits.retain(stays);
        if waits.len() == before {
            return waits;
        }
    }
}

/// One cycle for each group of locked transmitters that contains one; it starts with the lowest.
fn cycles(locked: &[Wait]) -> Vec<Vec<PausedTransmitter>> {
    let mut next: BTreeMap<PausedTransmitter, PausedTransmitter> = BTreeMap::new();
    for wait in locked {
        next.entry(wait.stopped).or_insert(wait.holds);
    }
    let mut cycles: Vec<Vec<PausedTransmitter>> = Vec::new();
    for start in next.keys() {
        let mut path = vec![*start];
        loop {
            let following = next[path.last().expect("it begins with one")];
            if let Some(first) = path.iter().position(|place| *place == following) {
                let mut cycle = path.split_off(first);
                let least = (0..cycle.len()).min_by_key(|n| cycle[*n]).unwrap_or(0);
                cycle.rotate_left(least);
                if !cycles.contains(&cycle) {
                    cycles.push(cycle);
                }
                break;
            }
            path.push(following);
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::PortId;
    use weft_switch::ResumeLimit;

    fn wait(stopped: u32, holds: u32, bytes: u64) -> Wait {
        let limit = ResumeLimit::Fixed(Bytes(100));
        let held = HeldBack { from: PortId(0), bytes: Bytes(bytes), apart: Bytes::ZERO, limit };
        let place = |link| (LinkId(link), 0);
        Wait { stopped: place(stopped), holds: place(holds), at: SwitchId(0), held }
    }

    fn found(waits: &[Wait]) -> Vec<Vec<u32>> {
        let mut deadlocks = Deadlocks::default();
        deadlocks.look(Time(7), waits.iter().copied());
        deadlocks.results().iter().map(|record| record.links.iter().map(|link| link.0).collect()).collect()
    }

    #[test]
    fn a_circle_is_named_from_its_least() {
        assert_eq!(found(&[wait(5, 9, 200), wait(9, 2, 200), wait(2, 5, 200)]), [[2, 5, 9]]);
        let two = [wait(1, 2, 200), wait(2, 1, 200), wait(3, 4, 200), wait(4, 3, 200)];
        assert_eq!(found(&two), [[1, 2], [3, 4]]);
        let behind = [wait(1, 2, 200), wait(2, 1, 200), wait(3, 1, 200)];
        assert_eq!(found(&behind), [[1, 2]], "who waits for a circle is not on it");
    }

    #[test]
    fn a_chain_is_no_circle_and_who_may_go_on_breaks_one() {
        assert!(found(&[wait(5, 9, 200), wait(9, 2, 200)]).is_empty());
        assert!(found(&[wait(5, 9, 200), wait(9, 2, 100), wait(2, 5, 200)]).is_empty());
    }

    /// Two senders hold 100 bytes each in one pool of 400, of which they may have half of what is free: each alone could
    /// have 133, both together only 100.
    #[test]
    fn those_who_are_stuck_fill_the_pool_of_the_others() {
        let (alpha, pool, minimum) = (0.5, Bytes(400), Bytes::ZERO);
        let shared = |stopped, holds, number, apart| {
            let limit = ResumeLimit::Dynamic { alpha, pool, number, minimum, xon_offset: Bytes(10) };
            let own = wait(stopped, holds, 100);
            Wait { held: HeldBack { limit, apart: Bytes(apart), ..own.held }, ..own }
        };
        assert_eq!(found(&[shared(1, 2, 0, 0), shared(2, 1, 0, 0)]), [[1, 2]]);
        assert!(found(&[shared(1, 2, 0, 0), shared(2, 1, 1, 0)]).is_empty(), "pools of their own");
        assert!(
            found(&[shared(1, 2, 0, 0), shared(2, 1, 0, 100)]).is_empty(),
            "what is in headroom is not in the pool"
        );
    }
}
