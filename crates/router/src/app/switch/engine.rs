//! The forwarding engines of one worker: a switch used only for its table and engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weft_core::{Header, PortId, Time};
use weft_switch::{Effects, SharedOutputs, Switch, Turn};

/// See the file's head.
pub(super) struct WorkerEngine {
    switch: Switch,
    outputs: Arc<SharedOutputs>,
    /// The number of link changes that it has adopted.
    seen: u64,
}

impl WorkerEngine {
    pub(super) fn new(switch: Switch, outputs: Arc<SharedOutputs>) -> WorkerEngine {
        WorkerEngine { switch, outputs, seen: 0 }
    }

    /// The output port of a packet.
    pub(super) fn decide(
        &mut self,
        now: Time,
        from: PortId,
        header: &mut Header,
        links: &LinkStates,
    ) -> Option<PortId> {
        if links.changes() != self.seen {
            self.adopt(now, links);
        }
        self.switch.decide(now, from, header, &self.outputs)
    }

    /// Adopts the state of all links.
    #[cold]
    fn adopt(&mut self, now: Time, links: &LinkStates) {
        self.seen = links.changes();
        let mut headers = weft_core::Pool::<()>::new().headers;
        let mut effects = Effects::new();
        for (port, up) in links.all() {
            let mut turn = Turn { now, headers: &mut headers, effects: &mut effects };
            self.switch.set_port(&mut turn, port, up);
        }
    }
}

/// Which links are up; changed by any thread, read by all.
pub(super) struct LinkStates {
    up: Box<[AtomicBool]>,
    changes: AtomicU64,
}

impl LinkStates {
    pub(super) fn all_up(ports: usize) -> LinkStates {
        LinkStates { up: (0..ports).map(|_| AtomicBool::new(true)).collect(), changes: AtomicU64::new(0) }
    }

    pub(super) fn set(&self, port: PortId, up: bool) {
        self.up[port.index()].store(up, Ordering::Relaxed);
        self.changes.fetch_add(1, Ordering::Release);
    }

    pub(super) fn is_up(&self, port: PortId) -> bool {
        self.up[port.index()].load(Ordering::Relaxed)
    }

    /// The number of changes so far.
    fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Every port, and whether its link is up.
    fn all(&self) -> impl Iterator<Item = (PortId, bool)> + '_ {
        let ports = self.up.iter().enumerate();
        ports.map(|(number, up)| (PortId(number as u16), up.load(Ordering::Relaxed)))
    }
}
