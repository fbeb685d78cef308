//! The lab as an engine: builds the testbed, lets the flows run, writes the record.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use weft_core::Bytes;
use weft_core::record::Stop;
use weft_plan::{Engine, EngineProgress, Finished, Setup, Sink, Watch};
use weft_transport::Transport;
use weft_transport::protocols::AnyStack;
use weft_workload::Flow;

use crate::cable::CableTally;
use crate::clock::LabClock;
use crate::demand::{LabDemand, rough};
use crate::ends::FlowEnds;
use crate::fabric::{LabFabric, MOST_STORED, holds_fewer};
use crate::host_tcp::{HostTcp, differences};
use crate::outcome::{self, LabResults};
use crate::rights::{congestion_controls, has_congestion_control, kernel_name};
use crate::system;
use crate::testbed::Testbed;

/// Interval between progress checks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs setups on real hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lab {
    /// The factor by which times are stretched and rates divided.
    pub scale: u64,
    /// A congestion control of the kernel instead of the scenario's.
    pub congestion: Option<String>,
}

/// The law of a transport that is TCP.
fn law(transport: &Transport) -> &'static str {
    match transport.stack() {
        AnyStack::Tcp(stack) => stack.law_name(),
        _ => "",
    }
}

impl Lab {
    /// The kernel's congestion control of a flow.
    fn law_of<'a>(&'a self, setup: &Setup, flow: &Flow) -> &'a str {
        self.congestion.as_deref().unwrap_or(kernel_name(law(setup.sender(flow))))
    }

    /// Whether the kernel has the congestion controls of a setup.
    ///
    /// # Errors
    /// A missing congestion control, with the available ones.
    pub fn check_congestion_controls(&self, setup: &Setup) -> Result<(), String> {
        let mut names: Vec<&str> = match &self.congestion {
            Some(name) => vec![name],
            None => setup.transports().map(|transport| kernel_name(law(transport))).collect(),
        };
        names.sort_unstable();
        names.dedup();
        match names.into_iter().find(|name| !has_congestion_control(name)) {
            None => Ok(()),
            Some(name) => Err(format!(
                "this kernel has no congestion control `{name}`; it has: {}",
                congestion_controls().join(", ")
            )),
        }
    }

    /// How the lab would run a setup: the scale, the network, the time-outs.
    #[must_use]
    pub fn words(&self, setup: &Setup) -> Vec<String> {
        let scale = self.scale;
        let demand = LabDemand::of(setup);
        let rate = setup.graph.links_of(weft_topology::Node::Host(weft_core::HostId(0)))[0].rate;
        let lasts = weft_core::Span(demand.lasts.0.saturating_mul(scale));
        let mut lines = vec![
            format!(
                "scale {scale}: {rate} of the scenario is {} here, times are {scale} times as long; about {}",
                weft_core::Rate(rate.0 / scale),
                rough(lasts)
            ),
            format!(
                "{} network namespaces, {} switches, {} flows, at most {:.0} packet hops a second",
                demand.hosts + 1,
                setup.graph.switches().len(),
                setup.flows.len(),
                demand.hops_per_second / scale as f64
            ),
        ];
        if let Some(own) = setup.transports().find_map(|transport| transport.tcp()) {
            let least = weft_core::Span(own.min_rto.0.saturating_mul(scale));
            lines.push(format!(
                "minimum time-out: {} of the scenario, {least} here (rto_min of the route)",
                own.min_rto
            ));
        }
        if holds_fewer(setup) {
            lines.push(format!(
                "a switch holds at most {MOST_STORED} packets here, fewer than in the scenario"
            ));
        }
        lines
    }

    /// Ways in which the kernel departs from the scenario.
    #[must_use]
    pub fn deviations(&self, setup: &Setup) -> Vec<String> {
        let Some(own) = setup.transports().find_map(|transport| transport.tcp()) else { return Vec::new() };
        let name = self.congestion.as_deref().unwrap_or(law(&setup.transport));
        let words = differences(own, name, self.scale).into_iter();
        words.map(|what| format!("differs from the scenario: {what}")).collect()
    }

    fn measure(&self, setup: &Setup, watch: Watch<'_>, sink: Sink<'_>) -> io::Result<Finished> {
        let own = setup.transports().find_map(|transport| transport.tcp());
        let own = own.ok_or_else(|| io::Error::other("the transport is not TCP"))?;
        let host_tcp = HostTcp::new(own, self.scale);
        // What it still lacks then, connections wait for.
        let _ = system::raise_descriptors();
        let testbed = Testbed::build(setup, &host_tcp, self.scale)?;
        let tally = Arc::new(CableTally::of_flows(setup.flows.len()));
        let clock = LabClock::start(self.scale);
        let mut fabric = testbed.switches.within(|| LabFabric::open(setup, clock, &tally))?;
        let law_of = |flow: &Flow| self.law_of(setup, flow);
        let mut ends = FlowEnds::new(setup, (&testbed, &host_tcp), clock, law_of)?;
        let (in_arrivals, stop) = run(setup, (&mut fabric, &mut ends), clock, watch)?;
        let ended = clock.now();
        ends.transfers.iter_mut().for_each(crate::ends::SocketFlow::count);
        let ended = match stop {
            Stop::Finished => {
                ends.transfers.iter().filter_map(|transfer| transfer.end).max().unwrap_or(ended)
            }
            _ => ended.min(setup.until),
        };
        let seen = LabResults {
            transfers: &ends.transfers,
            fabric: &fabric,
            tally: &tally,
            in_arrivals,
            ended,
            stop,
        };
        outcome::pass_flows(setup, &seen, sink);
        let mut facts = self.facts(setup);
        facts.extend(outcome::facts(&seen, |span| clock.real(span)));
        if !testbed.missing.is_empty() {
            facts.push(("settings that this kernel lacks".to_owned(), testbed.missing.join(", ")));
        }
        Ok(Finished { record: outcome::record(setup, &seen), threads: 2, facts })
    }

    /// Facts known beforehand, for the manifest.
    fn facts(&self, setup: &Setup) -> Vec<(String, String)> {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut laws: Vec<&str> = setup.flows.iter().map(|flow| self.law_of(setup, &flow)).collect();
        laws.sort_unstable();
        laws.dedup();
        let mut facts = vec![
            ("kind".to_owned(), "measured on real hosts in namespaces; not deterministic".to_owned()),
            ("kernel".to_owned(), format!("Linux {}", kernel.trim())),
            ("congestion control".to_owned(), laws.join(", ")),
        ];
        facts.extend(
            self.words(setup)
                .into_iter()
                .chain(self.deviations(setup))
                .enumerate()
                .map(|(n, line)| (format!("note {}", n + 1), line)),
        );
        facts
    }
}

/// A snapshot at the start of the last flow.
type InArrivals = Option<(Vec<Bytes>, Bytes)>;

/// Runs switches and flows on a thread each until the end.
fn run(
    setup: &Setup,
    (fabric, ends): (&mut LabFabric, &mut FlowEnds<'_>),
    clock: LabClock,
    watch: Watch<'_>,
) -> io::Result<(InArrivals, Stop)> {
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let flows_ended = AtomicUsize::new(0);
    let total = ends.transfers.len();
    let arrivals = setup.flows.arrivals().map(|(_, last)| last);
    let mut interrupted = false;
    let (switched, ended) = std::thread::scope(|scope| {
        let switches = scope.spawn(|| {
            let _over = SetAtEnd(&over);
            fabric.run(setup, &stop, arrivals)
        });
        let flows = scope.spawn(|| {
            let _over = SetAtEnd(&over);
            ends.run(&stop, &flows_ended)
        });
        while !over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
            let (now, done) = (clock.now(), flows_ended.load(Ordering::Relaxed));
            let told = EngineProgress { now, events: 0, flows_done: done, flows_total: total };
            if !watch(&told) {
                interrupted = true;
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        (joined(switches.join()), joined(flows.join()))
    });
    ended?;
    let all =
        flows_ended.load(Ordering::Relaxed) == total && ends.transfers.iter().all(|flow| flow.end.is_some());
    let reason = match (all, interrupted) {
        (true, _) => Stop::Finished,
        (_, true) => Stop::Interrupted,
        _ if clock.now() >= setup.until => Stop::TimeLimit,
        _ => Stop::Stuck,
    };
    Ok((switched?.zip(ends.delivered_in_arrivals), reason))
}

/// Notifies the other threads that one has ended, even by a panic.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn joined<T>(result: std::thread::Result<io::Result<T>>) -> io::Result<T> {
    result.unwrap_or_else(|_| Err(io::Error::other("a thread of the lab has failed")))
}

impl Engine for Lab {
    fn name(&self) -> &'static str {
        "lab"
    }

    fn command(&self) -> String {
        let own = self.congestion.as_ref().map_or(String::new(), |name| format!(" --congestion {name}"));
        format!("weft lab --scale {}{own}", self.scale)
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    fn misfits(&self, setup: &Setup) -> Vec<String> {
        crate::fitness::misfits(setup)
    }

    fn attempt(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Result<Finished, String> {
        self.measure(&setup, watch, sink).map_err(|cause| format!("the lab failed: {cause}"))
    }

    fn run(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Finished {
        self.attempt(setup, sink, watch).unwrap_or_else(|cause| panic!("{cause}"))
    }
}
