//! The loop: take the next event, hand it to its handler. The tour of the code starts here.

use weft_core::Time;
use weft_core::record::{RunRecord, Stop};

use crate::event::Event;
use crate::network::{Network, Setup};
use crate::tap::Tap;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Flows finished.
    pub flows_done: usize,
    /// Flows of the whole run.
    pub flows_total: usize,
}

/// Events between two looks at the watcher.
const WATCH_EVERY: u64 = 1 << 16;

/// A run, ready to go.
pub struct Simulation {
    network: Network,
}

impl Simulation {
    /// Builds the network in its first state.
    #[must_use]
    pub fn new(setup: Setup) -> Simulation {
        Simulation { network: Network::new(setup) }
    }

    /// Runs to the end with a tap on one switch.
    #[must_use]
    pub fn run_tapped(mut self, tap: Tap) -> (RunRecord, Tap) {
        self.network.tap = Some(tap);
        let stop = self.network.run(&mut |_| true);
        let tap = self.network.tap.take().expect("the tap stays where it was put");
        (self.network.record(stop), tap)
    }

    /// Runs to the end: all flows finished, the time limit, or `watch` says false. `watch` is called now and then and
    /// changes nothing in the result unless it stops the run.
    #[must_use]
    pub fn run(mut self, watch: &mut dyn FnMut(&Progress) -> bool) -> RunRecord {
        let stop = self.network.run(watch);
        self.network.record(stop)
    }
}

impl Network {
    fn run(&mut self, watch: &mut dyn FnMut(&Progress) -> bool) -> Stop {
        while self.ends.completed < self.ends.flows.len() {
            let Some(entry) = self.calendar.pop() else { return Stop::Stuck };
            if entry.time > self.setup.until {
                self.now = self.setup.until;
                return Stop::TimeLimit;
            }
            self.now = entry.time;
            self.tally.events += 1;
            self.handle(entry.event());
            if self.tally.events.is_multiple_of(WATCH_EVERY) && !watch(&self.progress()) {
                return Stop::Interrupted;
            }
        }
        watch(&self.progress());
        Stop::Finished
    }

    /// One line for each kind of event; always inlined, because it is the loop.
    #[inline(always)]
    fn handle(&mut self, event: Event) {
        let asking = match event {
            Event::Change(number) => self.change(number),
            Event::Arrive(link) => self.arrive(link),
            Event::Transmitted(link) => self.transmitted(link),
            Event::SenderWake(flow) => return self.sender_wake(flow),
            Event::ReceiverWake(flow) => return self.receiver_wake(flow),
            Event::FlowStart(flow) => return self.flow_start(flow),
            Event::Sample => return self.sample(),
        };
        if let Some((switch, idle)) = asking {
            self.carry_out(switch, idle);
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            now: self.now,
            events: self.tally.events,
            flows_done: self.ends.completed,
            flows_total: self.ends.flows.len(),
        }
    }
}
