//! One output of a fabric with its transmitter: packets that have crossed wait behind the fabric and leave at line
//! rate.

use std::collections::VecDeque;

use weft_core::record::Reason;
use weft_core::{Header, PacketId, Pool, PortId, Purpose, Random, Rate, Span, Time};
use weft_mark::MarkerSettings;
use weft_queue::schedule::SchedulerSettings;
use weft_voq::{FabricSite, Passed, VoqFabric, VoqKey, VoqSettings};

/// A packet that will enter or has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) group: u16,
    pub(crate) wire: u16,
    pub(crate) at: Time,
}

/// A fabric of four ports, one of which is used.
pub(crate) struct Port {
    fabric: VoqFabric,
    pool: Pool<Passage>,
    random: Random,
    line: Rate,
    behind: VecDeque<(Passage, u16)>,
    busy: bool,
    /// By group: bytes in its virtual output queue.
    pub(crate) waiting: [u64; 4],
    /// Packets that have left: entry, and when the last bit was sent.
    pub(crate) sent: Vec<(Passage, Time)>,
    /// Packets dropped by the marker.
    pub(crate) dropped: Vec<Passage>,
    /// The longest time that the transmitter was idle while bytes waited at the inputs.
    pub(crate) longest_idle: Span,
    idle_since: Option<Time>,
}

impl Port {
    pub(crate) fn new(settings: &VoqSettings, line: Rate) -> Port {
        Port::marking(settings, line, &MarkerSettings::default())
    }

    pub(crate) fn marking(settings: &VoqSettings, line: Rate, ecn: &MarkerSettings) -> Port {
        let schedule = SchedulerSettings::default();
        let site = FabricSite { rates: &[line; 4], classes: 1, ecn, schedule: &schedule };
        Port {
            fabric: VoqFabric::new(settings, &site),
            pool: Pool::new(),
            random: Random::new(1, Purpose::Test, 0),
            line,
            behind: VecDeque::new(),
            busy: false,
            waiting: [0; 4],
            sent: Vec::new(),
            dropped: Vec::new(),
            longest_idle: Span::ZERO,
            idle_since: None,
        }
    }

    /// Bytes still inside, on the chips or in deep memory.
    #[allow(dead_code, reason = "not every test looks")]
    pub(crate) fn held(&mut self, now: Time) -> u64 {
        let (chip, deep) = self.fabric.held(now);
        chip.0 + deep.0
    }

    /// Lets packets enter in order of time, and runs until an instant.
    pub(crate) fn run(&mut self, entries: impl IntoIterator<Item = Passage>, until: Time) {
        let mut entries = entries.into_iter().take_while(|entry| entry.at <= until).peekable();
        let (mut wake, mut free) = (None::<Time>, None::<Time>);
        loop {
            let entry = entries.peek().map(|entry| entry.at);
            let Some(now) = [entry, wake, free].into_iter().flatten().min().filter(|at| *at <= until) else {
                return;
            };
            if free == Some(now) {
                free = None;
                self.end(now);
            }
            while let Some(entry) = entries.next_if(|entry| entry.at == now) {
                let woken = self.enter(entry);
                wake = [wake, woken].into_iter().flatten().min();
            }
            if wake == Some(now) {
                wake = self.cross(now);
            }
            free = free.or_else(|| self.transmit(now));
            self.watch(now);
        }
    }

    fn enter(&mut self, entry: Passage) -> Option<Time> {
        let header = Header { wire: entry.wire, arrived: entry.at, ..Header::default() };
        let packet = self.pool.insert(header, entry);
        let key = VoqKey { group: entry.group, port: PortId(0), class: 0 };
        let headers = &mut self.pool.headers;
        let entered = self.fabric.enter(entry.at, key, (packet, headers), (&mut self.random, Time::ZERO));
        self.waiting[usize::from(entry.group)] += u64::from(entry.wire);
        match entered {
            Ok(entered) => entered.wake,
            Err(Reason::Early) => {
                self.drop(packet);
                None
            }
            Err(reason) => panic!("{reason:?}, and there is room"),
        }
    }

    fn drop(&mut self, packet: PacketId) {
        let passage = *self.pool.body(packet);
        self.waiting[usize::from(passage.group)] -= u64::from(passage.wire);
        self.dropped.push(passage);
        self.pool.remove(packet);
    }

    fn cross(&mut self, now: Time) -> Option<Time> {
        loop {
            let behind = self.behind.iter().map(|(_, wire)| u64::from(*wire)).sum();
            let headers = &mut self.pool.headers;
            match self.fabric.advance(now, (PortId(0), |_| [behind, 0]), headers, &mut self.random) {
                None => return self.fabric.next(now, PortId(0), Time::ZERO),
                Some(Passed::Dropped(packet)) => self.drop(packet),
                Some(Passed::Arrived { packet, .. }) => {
                    let passage = *self.pool.body(packet);
                    self.waiting[usize::from(passage.group)] -= u64::from(passage.wire);
                    self.behind.push_back((passage, passage.wire));
                    self.pool.remove(packet);
                }
            }
        }
    }

    fn transmit(&mut self, now: Time) -> Option<Time> {
        let (_, wire) = self.behind.front().filter(|_| !self.busy)?;
        self.busy = true;
        Some(now + self.line.time_for(weft_core::Bytes(u64::from(*wire))))
    }

    fn end(&mut self, now: Time) {
        let (passage, _) = self.behind.pop_front().expect("it was in service");
        self.busy = false;
        self.sent.push((passage, now));
    }

    /// Records how long the transmitter has had nothing to send while packets wait at the inputs.
    fn watch(&mut self, now: Time) {
        let starves = !self.busy && self.waiting.iter().sum::<u64>() > 0;
        if let (false, Some(since)) = (starves, self.idle_since) {
            self.longest_idle = self.longest_idle.max(now.since(since));
        }
        self.idle_since = starves.then(|| self.idle_since.unwrap_or(now));
    }
}
