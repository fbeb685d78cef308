//! The run. Jobs start transfers. A transfer begins with an opening; a large one continues as fluid. When it
//! finishes, its job continues.

use std::collections::BTreeMap;

use weft_core::record::{FlowRecord, Stop};
use weft_core::{Bytes, FlowId, HostId, Time};
use weft_plan::{EngineProgress, Setup, Sink, Watch};
use weft_workload::{ClusterJobs, Flow};

use crate::background::{Background, ends_early};
use crate::moment::Moment;
use crate::network::{FluidBulk, FluidNetwork};
use crate::openings::{Load, Openings, windows};
use crate::routes::FluidRoutes;

/// Steps between two calls of the watcher.
const WATCH_EVERY: u64 = 1 << 12;

/// A transfer in flight.
#[derive(Clone, Copy, Debug)]
struct Carried {
    flow: Flow,
    job: usize,
    /// Its number within the job.
    transfer: u32,
}

/// An event at an instant known beforehand.
#[derive(Clone, Debug)]
enum Pending {
    /// A small transfer arrives completely.
    Arrival,
    /// The first packet of a large one arrives; the rest is fluid.
    Opened(FluidBulk),
    /// Other traffic starts.
    Background(FluidBulk),
}

/// A run in progress.
pub(crate) struct Drive<'a> {
    setup: &'a Setup,
    jobs: ClusterJobs,
    background: Background,
    network: FluidNetwork,
    routes: FluidRoutes<'a>,
    openings: Openings<'a>,
    pending: BTreeMap<(Time, u32), Pending>,
    open: BTreeMap<u32, Carried>,
    /// By flow of other traffic, the fluid flow that carries it.
    carrier: Vec<u32>,
    next: u32,
    /// Open bulk transfers of jobs, by receiving host.
    towards: Vec<u32>,
    /// Whether any has begun.
    begun: bool,
    now: Time,
    pub(crate) steps: u64,
}

/// How a run ended, and the jobs.
pub(crate) struct Driven {
    pub(crate) stop: Stop,
    pub(crate) ended: Time,
    pub(crate) jobs: ClusterJobs,
    pub(crate) steps: u64,
}

impl<'a> Drive<'a> {
    pub(crate) fn new(setup: &'a Setup, background: Background, load: Option<Load>) -> Drive<'a> {
        let capacity = setup.graph.links().iter().map(|link| link.rate.0 as f64 / 8.0).collect();
        let mut drive = Drive {
            setup,
            jobs: ClusterJobs::new(setup.flows.jobs().to_vec()),
            next: background.flows.len() as u32,
            carrier: Vec::new(),
            background,
            network: FluidNetwork::new(capacity),
            routes: FluidRoutes::new(setup),
            openings: Openings::new(setup, load),
            pending: BTreeMap::new(),
            open: BTreeMap::new(),
            towards: vec![0; setup.graph.hosts() as usize],
            begun: false,
            now: Time::ZERO,
            steps: 0,
        };
        drive.plan_background();
        drive
    }

    /// Flows of other traffic over the same links become one.
    fn plan_background(&mut self) {
        let mut together: BTreeMap<(HostId, HostId, u16, Vec<u32>), u32> = BTreeMap::new();
        let mut bulks: BTreeMap<u32, (Time, FluidBulk)> = BTreeMap::new();
        for (number, flow) in self.background.flows.clone().iter().enumerate() {
            let bulk = self.bulk(number as u32, flow, Bytes::ZERO);
            let bulk = FluidBulk { windows: (bulk.windows.1, bulk.windows.1), ..bulk };
            let links = bulk.uses.iter().map(|(link, _)| *link).collect();
            let key = (flow.source, flow.destination, flow.tag, links);
            let carrier = *together.entry(key).or_insert(number as u32);
            self.carrier.push(carrier);
            let (_, known) =
                bulks.entry(carrier).or_insert_with(|| (flow.start, FluidBulk { count: 0, ..bulk.clone() }));
            known.count += 1;
            known.payload = known.payload.min(bulk.payload);
        }
        let pending = bulks.into_iter().map(|(id, (start, bulk))| ((start, id), Pending::Background(bulk)));
        self.pending.extend(pending);
    }

    /// The fluid part of a flow whose first bytes have arrived.
    fn bulk(&mut self, id: u32, flow: &Flow, arrived: Bytes) -> FluidBulk {
        let moment = if self.begun { Moment::After } else { Moment::Before };
        let sender = self.setup.sender(flow);
        let wire = f64::from(sender.full_wire()) / sender.mss().max(1) as f64;
        let links = self.routes.links(id, flow.source, flow.destination);
        assert!(!links.is_empty(), "hosts {} and {} are not connected", flow.source.0, flow.destination.0);
        FluidBulk {
            id,
            payload: (flow.size.0 - arrived.0) as f64,
            uses: links.into_iter().map(|(link, part)| (link, part * wire)).collect(),
            count: 1,
            windows: windows(self.setup, flow),
            ahead: arrived.0 as f64,
            round_trip: self.openings.round_trip(flow, moment),
        }
    }

    /// Follows the jobs to the end.
    ///
    /// # Errors
    /// Other traffic ends before them.
    pub(crate) fn run(mut self, sink: Sink<'_>, watch: Watch<'_>) -> Result<Driven, String> {
        self.start_transfers();
        let stop = loop {
            if self.is_done() {
                break Stop::Finished;
            }
            let next = self.next_instant();
            if next == Time::NEVER {
                break Stop::Stuck;
            }
            if next > self.setup.until {
                self.now = self.setup.until;
                self.network.advance(self.now);
                break Stop::TimeLimit;
            }
            if !self.step(next, sink)? || !self.tell(watch) {
                break Stop::Interrupted;
            }
        };
        self.hand_out_unfinished(sink);
        Ok(Driven { stop, ended: self.now, jobs: self.jobs, steps: self.steps })
    }

    fn is_done(&self) -> bool {
        self.jobs.is_done() && (self.open.is_empty() || self.jobs.ends_run())
    }

    fn next_instant(&mut self) -> Time {
        let due = self.jobs.due();
        let pending = self.pending.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        due.min(pending).min(self.network.due())
    }

    fn tell(&mut self, watch: Watch<'_>) -> bool {
        self.steps += 1;
        let flows_total = self.next as usize + 1;
        let flows_done = flows_total - 1 - self.open.len() - self.background.flows.len();
        let told = EngineProgress { now: self.now, events: self.steps, flows_done, flows_total };
        !self.steps.is_multiple_of(WATCH_EVERY) || watch(&told)
    }

    /// Handles everything that happens at an instant. `false` if the sink wants no more.
    fn step(&mut self, now: Time, sink: Sink<'_>) -> Result<bool, String> {
        let mut arrived = self.network.advance(now);
        self.now = now;
        if let Some(flow) = arrived.iter().find_map(|id| self.background.flows.get(*id as usize)) {
            return Err(ends_early(self.setup, flow.tag));
        }
        let mut small = Vec::new();
        while let Some(first) = self.pending.first_entry().filter(|first| first.key().0 <= now) {
            let ((_, id), what) = first.remove_entry();
            match what {
                Pending::Arrival => small.push(id),
                Pending::Opened(bulk) | Pending::Background(bulk) => self.network.begin(bulk),
            }
        }
        for flow in arrived.iter().filter_map(|id| self.open.get(id)).map(|carried| carried.flow) {
            self.towards[flow.destination.index()] -= 1;
        }
        arrived.extend(small);
        arrived.sort_unstable();
        let mut goes_on = true;
        for id in arrived {
            let Some(carried) = self.open.remove(&id) else { continue };
            goes_on &= sink(&self.record(id, &carried.flow, Some(now), carried.flow.size));
            self.jobs.delivered(now, carried.job, carried.transfer);
        }
        self.jobs.wake(now);
        self.start_transfers();
        Ok(goes_on)
    }

    /// Begins the transfers that the jobs have requested.
    fn start_transfers(&mut self) {
        let asked = self.jobs.each().map(|job| (job.tag(), job.transfers().collect::<Vec<_>>()));
        for (number, (tag, transfers)) in asked.collect::<Vec<_>>().into_iter().enumerate() {
            for transfer in transfers {
                let id = self.next;
                self.next += 1;
                let flow = Flow::of_transfer(tag, self.now, &transfer);
                self.open.insert(id, Carried { flow, job: number, transfer: transfer.number });
                let begun = self.openings.begin(&flow, self.moment(&flow));
                let what = if begun.arrived == flow.size {
                    Pending::Arrival
                } else {
                    let bulk = self.bulk(id, &flow, begun.arrived);
                    self.towards[flow.destination.index()] += 1;
                    self.begun = true;
                    Pending::Opened(bulk)
                };
                self.pending.insert((self.now + begun.takes, id), what);
            }
        }
    }

    /// The moment of a transfer that starts now: whether bulk transfers fill the queue of a port to either host, or
    /// have done so.
    fn moment(&self, flow: &Flow) -> Moment {
        let beside = [flow.source, flow.destination].iter().any(|host| self.towards[host.index()] > 0);
        match (beside, self.begun) {
            (true, _) => Moment::Beside,
            (false, true) => Moment::After,
            (false, false) => Moment::Before,
        }
    }

    fn record(&mut self, id: u32, flow: &Flow, end: Option<Time>, delivered: Bytes) -> FlowRecord {
        FlowRecord {
            flow: FlowId(id),
            listed: flow.listed_id(),
            tag: flow.tag,
            source: flow.source,
            destination: flow.destination,
            size: flow.size,
            start: flow.start,
            end,
            deadline: flow.own_deadline(),
            ideal: self.openings.ideal(flow),
            delivered,
            ..FlowRecord::default()
        }
    }

    /// Flows that are open at the end.
    fn hand_out_unfinished(&mut self, sink: Sink<'_>) {
        let others = self.background.flows.iter().enumerate().filter(|(_, flow)| flow.start < self.now);
        let others = others.map(|(id, flow)| (id as u32, self.carrier[id], *flow));
        let of_jobs = self.open.iter().map(|(id, carried)| (*id, *id, carried.flow));
        let open: Vec<_> = others.chain(of_jobs).collect();
        for (id, carrier, flow) in open {
            let delivered = Bytes(self.network.arrived(carrier).unwrap_or(0.0) as u64);
            let record = self.record(id, &flow, None, delivered.min(flow.size));
            if !sink(&record) {
                break;
            }
        }
    }
}
