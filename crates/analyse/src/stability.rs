//! `weft analyse stability`: whether the queues of one switch with unequal outputs stay bounded under DRILL(d, m), in a
//! packet engine, compared with theorems 1 and 2 of the DRILL paper (SIGCOMM'17) and its technical report.
//!
//! All d samples of a packet miss the k fastest outputs with probability C(N-k, d) / C(N, d). Without memory the others
//! therefore get at least that share of the arrivals, whatever their rates; any excess over their rates accumulates.
//! Theorem 1 is the case k = 1; with several fast outputs a larger k may demand more.

mod words;

use std::iter::repeat_n;

use serde_json::{Value, json};
use weft_core::record::Quantity;
use weft_core::{Bytes, Grouping, HostId, Purpose, Random, Rate, Span, Time};
use weft_draw::text::plural;
use weft_plan::{Engine, Setup};
use weft_switch::balance::{BalancerSettings, drill::DrillSettings};
use weft_switch::settings::Visibility;
use weft_switch::share::{SharingSettings, infinite::InfiniteSharingSettings};
use weft_topology::shapes::leaf_spine::{self, LeafSpineSettings};
use weft_topology::{FailurePlan, LinkSettings, RoutingSettings, TopologySettings, build, timeline};
use weft_transport::{Transport, TransportSettings};
use weft_workload::{Flow, Flows};
use words::{listed, shown};

/// The options of [`stability`].
#[derive(Clone, Debug, PartialEq)]
pub struct StabilityOptions {
    /// Rates of the outputs relative to each other, as typed: `10,1,1,1` or `40,1x15`; `None`: the systems of the table.
    pub rates: Option<String>,
    /// Arrival rate as a share of the total rate of all outputs, above 0 and below 1.
    pub load: f64,
    /// Pairs d:m, as typed; `None`: those of the table.
    pub policies: Option<String>,
    /// Forwarding engines of the switch.
    pub engines: u32,
    /// Length of the shorter run, in transmission times of a packet at rate 1; the longer run is twice as long.
    pub units: u64,
    /// Seed of arrivals and draws.
    pub seed: u64,
}

impl Default for StabilityOptions {
    fn default() -> Self {
        StabilityOptions { rates: None, load: 0.9, policies: None, engines: 1, units: 10_000, seed: 1 }
    }
}

/// The result of [`stability`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StabilityAnalysis {
    /// For a terminal of 80 columns.
    pub text: String,
    /// The result as JSON.
    pub json: String,
}

/// Hosts on either side: enough that neither their cards nor two packets for one host matter.
const HOSTS: u32 = 40;
/// Maximum number of outputs: ports of the leaf.
const MOST_OUTPUTS: usize = 256;
/// Maximum number of packets in a run.
const MOST_PACKETS: f64 = 50e6;
/// Growth must exceed zero by this many standard errors to be significant.
const CLEAR: f64 = 4.0;
/// A run in which growth by this share of the arrivals would not be significant is too short to conclude that queues
/// are bounded.
const TELLING: f64 = 0.1;

/// One switch, its load and its balancer.
#[derive(Clone, Debug, PartialEq)]
struct System {
    rates: Vec<u64>,
    load: f64,
    choices: u32,
    memory: u32,
    engines: u32,
}

/// The results of two runs, one twice as long as the other.
struct Course {
    /// Packets in the queues at the end of each.
    left: [u64; 2],
    /// Growth per unit of time in the second half of the longer.
    growth: f64,
    /// Its standard error: the backlog per unit of time is a Poisson number minus the packets served.
    error: f64,
    verdict: Verdict,
}

/// The conclusion about a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Grows,
    Bounded,
    /// The runs are too short to decide; this many units of time would suffice.
    Unclear(u64),
}

impl System {
    /// The sum of all rates, packets per unit of time.
    fn capacity(&self) -> f64 {
        self.rates.iter().sum::<u64>() as f64
    }

    fn arrivals(&self) -> f64 {
        self.load * self.capacity()
    }

    /// Without memory, for the k that leaves the most: the arrivals that miss the k fastest outputs, and their excess over
    /// what the other outputs can send.
    fn missed(&self) -> (f64, f64) {
        let mut rates = self.rates.clone();
        rates.sort_unstable();
        let mut most = (0.0, f64::NEG_INFINITY);
        let (mut share, mut slower) = (1.0, self.capacity());
        for (others, fastest) in (0..rates.len()).rev().zip(rates.into_iter().rev()) {
            // C(n - 1, d) / C(n, d) = (n - d) / n
            share *= (1.0 - f64::from(self.choices) / (others + 1) as f64).max(0.0);
            slower -= fastest as f64;
            let missed = share * self.arrivals();
            if missed - slower > most.1 {
                most = (missed, missed - slower);
            }
        }
        most
    }

    /// Growth of the backlog, packets per unit of time: theorem 1, for any number of fast outputs, without memory, theorem 2
    /// with.
    fn predicted(&self) -> f64 {
        if self.memory > 0 { 0.0 } else { self.missed().1.max(0.0) }
    }

    /// Variance of the backlog per unit of time that is due to arrivals. If the slower outputs get too much, only
    /// their arrivals contribute; otherwise, and with memory, all arrivals may.
    fn variance(&self) -> f64 {
        if self.predicted() > 0.0 { self.missed().0 } else { self.arrivals() }
    }

    /// The growth that must be distinguished from zero.
    fn telling(&self) -> f64 {
        if self.predicted() > 0.0 { self.predicted() } else { TELLING * self.arrivals() }
    }

    fn verdict(&self, growth: f64, error: f64) -> Verdict {
        if growth > CLEAR * error {
            Verdict::Grows
        } else if self.predicted() == 0.0 && CLEAR * error <= self.telling() {
            Verdict::Bounded
        } else {
            // 1.5: at the minimum length, predicted growth would be significant in only half of the runs.
            let errors = 1.5 * CLEAR / self.telling();
            Verdict::Unclear((errors * errors * self.variance()).ceil() as u64)
        }
    }

    fn network(&self) -> TopologySettings {
        let link =
            |gbps| LinkSettings { delay: Span::from_ns(100), ..LinkSettings::of(Rate::from_gbps(gbps)) };
        let wide = 10 * self.rates.iter().sum::<u64>();
        let output = |(spine, rate): (usize, &u64)| leaf_spine::Unequal {
            leaf: 0,
            spine: spine as u32,
            rate: Some(Rate::from_gbps(*rate)),
            ..Default::default()
        };
        TopologySettings::LeafSpine(LeafSpineSettings {
            leaves: 2,
            spines: self.rates.len() as u32,
            hosts_per_leaf: HOSTS,
            host_link: link(wide),
            fabric_link: link(wide),
            unequal: self.rates.iter().enumerate().map(output).collect(),
            ..Default::default()
        })
    }

    /// A leaf whose uplinks are the outputs; nothing else in the network is ever congested.
    fn setup(&self, units: u64, seed: u64) -> Setup {
        let graph = build(&self.network()).expect("a network of checked sizes");
        let plan = FailurePlan::default();
        let timeline = timeline(&graph, &plan, &RoutingSettings::default(), Grouping::Together);
        let transport = Transport::new(&TransportSettings::Udp(Default::default()));
        let wire = Bytes(u64::from(transport.full_wire()));
        let unit = Rate::from_gbps(1).time_for(wire);
        let packets = Packets {
            gap: unit.0 as f64 / self.arrivals(),
            end: (unit * units).0 as f64,
            size: Bytes(wire.0 - transport.overhead_wire()),
            rate: Rate::from_gbps(10 * self.rates.iter().sum::<u64>()),
            now: 0.0,
            when: Random::new(seed, Purpose::Arrivals, 0),
            who: Random::new(seed, Purpose::Pairs, 0),
        };
        let drill = DrillSettings { choices: self.choices, memory: self.memory, ..Default::default() };
        let mut switch = weft_switch::SwitchSettings { latency: Span::ZERO, ..Default::default() };
        switch.sharing = SharingSettings::Infinite(InfiniteSharingSettings {});
        switch.visibility = Visibility::Instant;
        switch.engines = self.engines;
        Setup {
            switch,
            balancer: BalancerSettings::Drill(drill),
            flows: Flows::counted(packets, usize::MAX - 1).expect("fewer than can be counted"),
            tags: vec!["packets".to_owned()],
            until: Time::ZERO + unit * units,
            seed,
            ..Setup::new(graph, timeline, transport)
        }
    }

    fn course(&self, (units, seed): (u64, u64), engine: &dyn Engine) -> Result<Course, String> {
        let backlog = |units| {
            let record = engine.run(self.setup(units, seed), &mut |_| true, &mut |_| true).record;
            match record.measured.has(Quantity::Queues) {
                true => Ok(record.packets.left),
                false => Err(format!("the engine `{}` does not measure queue lengths", engine.name())),
            }
        };
        let left = [backlog(units)?, backlog(2 * units)?];
        let growth = (left[1] as f64 - left[0] as f64) / units as f64;
        let error = (self.variance() / units as f64).sqrt();
        Ok(Course { left, growth, error, verdict: self.verdict(growth, error) })
    }
}

/// Packets of one size at random instants, between random hosts of either side.
#[derive(Clone)]
struct Packets {
    /// Mean time between two, picoseconds.
    gap: f64,
    end: f64,
    size: Bytes,
    rate: Rate,
    now: f64,
    when: Random,
    who: Random,
}

impl Iterator for Packets {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        self.now += self.when.exponential(self.gap);
        (self.now < self.end).then(|| {
            let hosts = (HostId(self.who.below(HOSTS)), HostId(HOSTS + self.who.below(HOSTS)));
            Flow { rate: self.rate, ..Flow::new(0, Time(self.now as u64), hosts, self.size) }
        })
    }
}

/// Runs the requested systems in a packet engine.
///
/// # Errors
/// A message: options that define no system, too much work, or an engine without queues.
pub fn stability(options: &StabilityOptions, engine: &dyn Engine) -> Result<StabilityAnalysis, String> {
    let systems = systems(options)?;
    let rows: Vec<(System, Course)> = systems
        .into_iter()
        .map(|system| {
            let course = system.course((options.units, options.seed), engine)?;
            Ok((system, course))
        })
        .collect::<Result<_, String>>()?;
    let json: Vec<Value> = rows.iter().map(|(system, course)| listed(system, course)).collect();
    let json = json!({ "units": options.units, "seed": options.seed, "systems": json }).to_string() + "\n";
    Ok(StabilityAnalysis { text: shown(&rows, options.units), json })
}

/// Outputs, load, and d, m and engines of each row: a table of systems under theorems 1 and 2.
const TABLE: [(&str, f64, &str, u32); 7] = [
    ("10,1,1,1", 0.90, "1:0,2:0,3:0,4:0,1:1,2:1", 1),
    ("10,1,1,1", 0.95, "3:0,1:1,2:1", 1),
    ("10,1,1,1", 0.99, "1:1", 1),
    ("1,1,1,1", 0.90, "1:0,2:0,1:1,2:1", 1),
    ("40,1x15", 0.90, "2:0", 1),
    ("40,1x15", 0.90, "1:1,2:1", 1),
    ("40,1x15", 0.90, "1:1,2:1", 16),
];

fn systems(options: &StabilityOptions) -> Result<Vec<System>, String> {
    if options.units == 0 {
        return Err("--units: found 0; allowed: 1 or more".to_owned());
    }
    let Some(rates) = &options.rates else {
        let rows = TABLE.iter().map(|(rates, load, policies, engines)| {
            group(rates, *load, options.policies.as_deref().unwrap_or(policies), *engines)
        });
        let mut all: Vec<System> = Vec::new();
        rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().for_each(|system| {
            if !all.contains(&system) {
                all.push(system);
            }
        });
        return sized(all, options.units);
    };
    let all = format!("1:0,2:0,{}:0,1:1,2:1", outputs(rates)?.len());
    let policies = options.policies.as_deref().unwrap_or(&all);
    sized(group(rates, options.load, policies, options.engines)?, options.units)
}

/// Limits the length of the runs, because longer ones would take too much time.
fn sized(systems: Vec<System>, units: u64) -> Result<Vec<System>, String> {
    let packets = |system: &System| 2.0 * system.arrivals() * units as f64;
    match systems.iter().map(packets).fold(0.0, f64::max) {
        most if most > MOST_PACKETS => Err(format!(
            "--units: {most:.0} packets in a run; allowed: up to {MOST_PACKETS:.0}, so fewer units or smaller rates"
        )),
        _ => Ok(systems),
    }
}

fn group(rates: &str, load: f64, policies: &str, engines: u32) -> Result<Vec<System>, String> {
    let rates = outputs(rates)?;
    if !(load > 0.0 && load < 1.0) {
        return Err(format!(
            "--load: found {load}; allowed: above 0 and below 1, because nothing is stable beyond that"
        ));
    }
    if !(1..=48).contains(&engines) {
        return Err(format!("--engines: found {engines}; allowed: 1 to 48"));
    }
    let system = |(choices, memory)| System { rates: rates.clone(), load, choices, memory, engines };
    policies.split(',').map(|policy| Ok(system(pair(policy)?))).collect()
}

/// `10,1,1,1` or `40,1x15`.
fn outputs(text: &str) -> Result<Vec<u64>, String> {
    let wrong = |part: &str| {
        format!("--rates: found `{part}`; allowed: whole numbers from 1 to 1000, repeated ones as 1x15")
    };
    let mut rates = Vec::new();
    for part in text.split(',') {
        let (rate, count) = part.trim().split_once('x').unwrap_or((part.trim(), "1"));
        let rate = rate.parse::<u64>().ok().filter(|rate| (1..=1000).contains(rate));
        let rate = rate.ok_or_else(|| wrong(part))?;
        let count =
            count.parse().ok().filter(|n| (1..=MOST_OUTPUTS).contains(n)).ok_or_else(|| wrong(part))?;
        rates.extend(repeat_n(rate, count));
    }
    match rates.len() {
        2..=MOST_OUTPUTS => Ok(rates),
        few => Err(format!("--rates: found {}; allowed: 2 to {MOST_OUTPUTS}", plural(few as u64, "output"))),
    }
}

/// `d:m`.
fn pair(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.trim().split_once(':').and_then(|(d, m)| Some((d.parse().ok()?, m.parse().ok()?)));
    numbers.filter(|(d, m)| (1..=1024).contains(d) && *m <= 1024).ok_or_else(|| {
        format!(
            "--policies: found `{text}`; allowed: d:m with d from 1 to 1024 and m from 0 to 1024, such as 2:1"
        )
    })
}

impl Verdict {
    /// Whether the queues grow; `None` if undecided.
    fn grows(self) -> Option<bool> {
        match self {
            Verdict::Grows => Some(true),
            Verdict::Bounded => Some(false),
            Verdict::Unclear(_) => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Verdict::Grows => "grows",
            Verdict::Bounded => "bounded",
            Verdict::Unclear(_) => "unclear",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(rates: &str, load: f64, policies: &str) -> StabilityOptions {
        let (rates, policies) = (Some(rates.to_owned()), Some(policies.to_owned()));
        StabilityOptions { rates, load, policies, units: 2_000, ..Default::default() }
    }

    #[test]
    fn predictions_are_those_of_theorem_1() {
        let predicted = |rates, load, policies| -> Vec<f64> {
            systems(&ask(rates, load, policies)).unwrap().iter().map(System::predicted).collect()
        };
        let close = |a: Vec<f64>, b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(close(predicted("10,1,1,1", 0.9, "1:0,2:0,3:0,1:1"), &[5.775, 2.85, 0.0, 0.0]));
        assert!(close(predicted("10,1,1,1", 0.95, "3:0"), &[0.0875]));
        assert!(close(predicted("40,1x15", 0.9, "2:0"), &[28.3125]));
        // Two fast outputs of six: a sample misses both with 4/6, two samples with 2/5; the other four send 4.
        assert!(close(predicted("4,4,1x4", 0.9, "1:0,2:0"), &[3.2, 0.32]));
        assert!(close(predicted("2,2,1,1", 0.95, "1:0"), &[0.85]));
    }

    #[test]
    fn the_table_has_each_row_once_and_bad_input_is_refused() {
        assert_eq!(systems(&StabilityOptions::default()).unwrap().len(), 19);
        for (options, named) in [
            (ask("10", 0.9, "1:0"), "2 to 256"),
            (ask("10,0", 0.9, "1:0"), "`0`"),
            (ask("1x300", 0.9, "1:0"), "`1x300`"),
            (ask("1,1", 1.0, "1:0"), "below 1"),
            (ask("1,1", f64::NAN, "1:0"), "below 1"),
            (ask("1,1", 0.5, "0:1"), "`0:1`"),
            (ask("1,1", 0.5, "2"), "`2`"),
            (StabilityOptions { engines: 0, ..ask("1,1", 0.5, "1:0") }, "1 to 48"),
            (StabilityOptions { units: 0, ..ask("1,1", 0.5, "1:0") }, "1 or more"),
            (StabilityOptions { units: u64::MAX / 4, ..ask("1,1", 0.5, "1:0") }, "packets in a run"),
        ] {
            let refused = systems(&options).unwrap_err();
            assert!(refused.contains(named), "{refused}");
        }
    }
}
