//! Fluid flows over time: each sends at its max-min fair rate, up to what its window allows, until its payload is
//! gone. Rates change when a flow begins or ends and when a window opens. Must not depend on jobs or packets.

use weft_core::{Span, Time};

use crate::rounds::{Opening, Rounds};
use crate::shares::{FairShares, Sharer};

/// A flow to be carried.
#[derive(Clone, Debug)]
pub struct FluidBulk {
    /// The caller's number.
    pub id: u32,
    /// Payload, in bytes.
    pub payload: f64,
    /// Links by number, with the wire bytes that each carries for a byte of payload.
    pub uses: Vec<(u32, f64)>,
    /// Number of equal flows that it represents.
    pub count: u32,
    /// Initial window and receive window, in bytes of payload.
    pub windows: (f64, f64),
    /// The part of the initial window that has already arrived, in bytes; not part of `payload`.
    pub ahead: f64,
    /// Round trip, including the waits that packets of the flow see.
    pub round_trip: Span,
}

#[derive(Debug)]
struct Flowing {
    id: u32,
    uses: Vec<(u32, f64)>,
    /// All payload, including the part ahead.
    whole: f64,
    left: f64,
    rounds: Rounds,
    most: f64,
}

impl Sharer for Flowing {
    fn uses(&self) -> &[(u32, f64)] {
        &self.uses
    }

    fn most(&self) -> f64 {
        self.most
    }
}

/// Links that carry fluid flows.
#[derive(Debug)]
pub struct FluidNetwork {
    /// Wire bytes per second, by link.
    capacity: Vec<f64>,
    flows: Vec<Flowing>,
    /// Bytes of payload per second, by flow.
    rates: Vec<f64>,
    shares: FairShares,
    now: Time,
    /// Whether rates must be computed again.
    stale: bool,
}

/// A flow with fewer bytes than this left is finished.
const NOTHING: f64 = 0.5;

impl FluidNetwork {
    /// Idle links of these rates, in wire bytes per second.
    #[must_use]
    pub fn new(capacity: Vec<f64>) -> FluidNetwork {
        let shares = FairShares::default();
        let (flows, rates) = (Vec::new(), Vec::new());
        FluidNetwork { capacity, flows, rates, shares, now: Time::ZERO, stale: false }
    }

    /// Begins a flow at the current instant.
    pub fn begin(&mut self, bulk: FluidBulk) {
        let FluidBulk { id, payload, mut uses, count, windows: (first, most), ahead, round_trip } = bulk;
        uses.iter_mut().for_each(|(_, amount)| *amount *= f64::from(count));
        let opening = Opening { first, ahead, most, round_trip };
        let rounds = Rounds::begin(opening, self.now, payload);
        let most = rounds.most();
        self.flows.push(Flowing { id, uses, whole: payload + ahead, left: payload, rounds, most });
        self.rates.push(0.0);
        self.stale = true;
    }

    /// When a flow next ends, or the window that limits one opens; never if all are idle.
    pub fn due(&mut self) -> Time {
        if std::mem::take(&mut self.stale) {
            self.shares.divide(&self.capacity, &self.flows, &mut self.rates);
        }
        let next = |(flow, rate): (&Flowing, &f64)| {
            let ends = if *rate > 0.0 { self.now + until(flow.left.max(0.0) / rate) } else { Time::NEVER };
            let held = *rate >= flow.most;
            if held { ends.min(flow.rounds.until) } else { ends }
        };
        self.flows.iter().zip(&self.rates).map(next).min().unwrap_or(Time::NEVER)
    }

    /// Advances time, at most to what [`FluidNetwork::due`] has returned. Returns the flows that end, in the order in
    /// which they began.
    pub fn advance(&mut self, to: Time) -> Vec<u32> {
        let passed = to.since(self.now).seconds();
        self.now = to;
        let mut ended = Vec::new();
        let mut stale = self.stale;
        let rates = std::mem::take(&mut self.rates);
        let mut rate = rates.iter();
        self.flows.retain_mut(|flow| {
            flow.left -= rate.next().map_or(0.0, |rate| rate * passed);
            if flow.left < NOTHING {
                ended.push(flow.id);
                return false;
            }
            if flow.rounds.pass(to, flow.left) {
                flow.most = flow.rounds.most();
                stale = true;
            }
            true
        });
        stale |= !ended.is_empty();
        self.rates = rates;
        self.rates.truncate(self.flows.len());
        self.stale = stale;
        ended
    }

    /// Payload of a flow that has arrived, in bytes; `None` if it has ended or not begun.
    #[must_use]
    pub fn arrived(&self, id: u32) -> Option<f64> {
        let flow = self.flows.iter().find(|flow| flow.id == id)?;
        Some(flow.whole - flow.left.max(0.0))
    }
}

/// A span of `seconds`, rounded up to whole picoseconds so that it is never too short.
fn until(seconds: f64) -> Span {
    Span((seconds * 1e12).ceil() as u64)
}
