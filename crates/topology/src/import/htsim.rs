//! `.topo` of htsim: a folded Clos of two or three tiers. Header `Nodes`, `Tiers`, `Podsize`; then per `Tier n` the
//! speed and latency of the links downwards and the ports up and down, `Bundle` (parallel links downwards) and
//! `Oversubscribed`. Keys are read without regard to case. Must not depend on other formats.

use super::Imported;
use crate::listing::{ExplicitSettings, LinkEntry};
use std::collections::BTreeMap;
use weft_core::lines::{ImportError, Line, ended, lines};
use weft_core::{HostId, Rate, Span};

const MOST: u32 = 1_000_000;

/// Reads the text of a file called `file`.
///
/// # Errors
/// At the first line that is not as described above, and if the numbers contradict each other.
pub fn read(file: &str, text: &str) -> Result<Imported, ImportError> {
    let mut clos = Clos::default();
    let mut tier = None;
    for line in lines(file, text, ' ') {
        clos.read(&line, &mut tier)?;
    }
    clos.complete(file)?;
    let plan = clos.plan().map_err(|found| ImportError {
        file: file.to_owned(),
        line: 0,
        found,
        allowed: "numbers that agree with each other".to_owned(),
    })?;
    let host_of_number = (0..plan.hosts).map(|host| (host, HostId(host))).collect();
    Ok(Imported { graph: plan.graph(), host_of_number, switch_latencies: clos.latencies() })
}

/// The keys of the header.
const HEADER: [&str; 3] = ["nodes", "tiers", "podsize"];
/// The keys of a tier; those after `radix_down` have a default.
const TIER: [&str; 9] = [
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "radix_down",
    "radix_up",
    "bundle",
    "oversubscribed",
    "switch_latency_ns",
    "queue_up",
    "queue_down",
];

/// The file's keys as written.
#[derive(Default)]
struct Clos {
    header: BTreeMap<String, u32>,
    tiers: [BTreeMap<String, u32>; 3],
}

impl Clos {
    fn read(&mut self, line: &Line<'_>, tier: &mut Option<usize>) -> Result<(), ImportError> {
        let key = line.words[0].to_lowercase();
        if key == "tier" {
            *tier = Some(line.number(1, "a tier number", (0, 2))? as usize);
            return Ok(());
        }
        let (keys, values): (&[&str], _) = match *tier {
            None => (&HEADER, &mut self.header),
            Some(tier) => (&TIER, &mut self.tiers[tier]),
        };
        if !keys.contains(&key.as_str()) {
            return Err(line.error(format!("`{}`", line.words[0]), format!("tier, {}", keys.join(", "))));
        }
        let least = u32::from(!key.starts_with("switch_latency") && !key.starts_with("queue"));
        let value = line.number(1, &key, (least, MOST))?;
        match values.insert(key.clone(), value) {
            Some(_) => Err(line.error(format!("`{key}` a second time"), "every key once")),
            None => Ok(()),
        }
    }

    fn complete(&self, file: &str) -> Result<(), ImportError> {
        let missing = HEADER.iter().find(|key| !self.header.contains_key(**key));
        if let Some(key) = missing {
            return Err(ended(file, &format!("the key {key} in the header")));
        }
        let tiers = self.header["tiers"];
        if !(2..=3).contains(&tiers) {
            return Err(ImportError { found: format!("{tiers} tiers"), ..ended(file, "2 or 3 tiers") });
        }
        for (index, tier) in self.tiers[..tiers as usize].iter().enumerate() {
            let needed = if index + 1 < tiers as usize { &TIER[..4] } else { &TIER[..3] };
            if let Some(key) = needed.iter().find(|key| !tier.contains_key(**key)) {
                return Err(ended(file, &format!("the key {key} in tier {index}")));
            }
        }
        Ok(())
    }

    fn get(&self, tier: usize, key: &str) -> u32 {
        self.tiers[tier].get(key).copied().unwrap_or(1)
    }

    /// By tier; htsim's switches have none unless the file says so.
    fn latencies(&self) -> Vec<Span> {
        let tiers = &self.tiers[..self.header["tiers"] as usize];
        let latency = |tier: &BTreeMap<String, u32>| tier.get("switch_latency_ns").copied().unwrap_or(0);
        tiers.iter().map(|tier| Span::from_ns(latency(tier).into())).collect()
    }

    /// The sizes of the network, or what contradicts.
    fn plan(&self) -> Result<FatTreeSizes, String> {
        let (hosts, three) = (self.header["nodes"], self.header["tiers"] == 3);
        let pod = if three { self.header["podsize"] } else { hosts };
        let pods = divided(hosts, pod, "Nodes by Podsize")?;
        let tors = divided(pod, self.get(0, "radix_down"), "Podsize by Radix_Down of tier 0")?;
        let aggregations = divided(
            self.get(0, "radix_up"),
            self.get(1, "bundle"),
            "Radix_Up of tier 0 by Bundle of tier 1",
        )?;
        self.fits(1, u64::from(tors) * u64::from(self.get(1, "bundle")))?;
        let mut plan = FatTreeSizes {
            hosts,
            pods,
            tors,
            aggregations,
            cores: 0,
            links: Vec::new(),
            bundles: [1, self.get(1, "bundle"), 0],
        };
        if three {
            plan.bundles[2] = self.get(2, "bundle");
            plan.cores =
                divided(self.get(1, "radix_up"), plan.bundles[2], "Radix_Up of tier 1 by Bundle of tier 2")?;
            self.fits(2, u64::from(pods) * u64::from(plan.bundles[2]))?;
        }
        if self.get(0, "bundle") != 1 {
            return Err("a Bundle of tier 0 above 1: a host has one cable".to_owned());
        }
        plan.links = (0..if three { 3 } else { 2 }).map(|tier| self.link(tier)).collect();
        match plan.cables() > crate::wiring::MAX_CABLES {
            true => Err(format!("a network of {} cables", plan.cables())),
            false => Ok(plan),
        }
    }

    fn fits(&self, tier: usize, ports: u64) -> Result<(), String> {
        let given = self.get(tier, "radix_down");
        match u64::from(given) == ports {
            true => Ok(()),
            false => Err(format!("Radix_Down of tier {tier} is {given}, but the tier below needs {ports}")),
        }
    }

    fn link(&self, tier: usize) -> (Rate, Span) {
        let rate = Rate::from_gbps(self.get(tier, "downlink_speed_gbps").into());
        (rate, Span::from_ns(self.get(tier, "downlink_latency_ns").into()))
    }
}

fn divided(all: u32, part: u32, what: &str) -> Result<u32, String> {
    match all.is_multiple_of(part) {
        true => Ok(all / part),
        false => Err(format!("{what}: {all} is not a multiple of {part}")),
    }
}

/// The sizes of the network.
struct FatTreeSizes {
    hosts: u32,
    pods: u32,
    /// Per pod.
    tors: u32,
    /// Per pod.
    aggregations: u32,
    /// Per aggregation switch of a pod.
    cores: u32,
    /// Rate and delay of the links below each tier.
    links: Vec<(Rate, Span)>,
    /// Parallel links below each tier.
    bundles: [u32; 3],
}

impl FatTreeSizes {
    fn cables(&self) -> u64 {
        let [pods, tors, aggregations, cores] =
            [self.pods, self.tors, self.aggregations, self.cores].map(u128::from);
        let [_, middle, upper] = self.bundles.map(u128::from);
        let cables = u128::from(self.hosts) + pods * aggregations * (tors * middle + cores * upper);
        u64::try_from(cables).unwrap_or(u64::MAX)
    }

    fn graph(&self) -> ExplicitSettings {
        let (tors, aggregations) = (self.pods * self.tors, self.pods * self.aggregations);
        let named = |prefix: &'static str, count| (0..count).map(move |n| format!("{prefix}{n}"));
        let cores = named("core", self.aggregations * self.cores);
        let switches = named("tor", tors).chain(named("agg", aggregations)).chain(cores).collect();
        let mut graph = ExplicitSettings { hosts: self.hosts, switches, ..ExplicitSettings::default() };
        for host in 0..self.hosts {
            graph
                .links
                .push(self.link(0, (format!("host{host}"), format!("tor{}", host / (self.hosts / tors)))));
        }
        for tor in 0..tors {
            let first = tor / self.tors * self.aggregations;
            let above = first..first + self.aggregations;
            graph.links.extend(above.map(|agg| self.link(1, (format!("tor{tor}"), format!("agg{agg}")))));
        }
        for agg in 0..aggregations {
            let above = (0..self.cores).map(|core| agg % self.aggregations + core * self.aggregations);
            graph.links.extend(above.map(|core| self.link(2, (format!("agg{agg}"), format!("core{core}")))));
        }
        graph
    }

    fn link(&self, tier: usize, (from, to): (String, String)) -> LinkEntry {
        let (rate, delay) = self.links[tier];
        LinkEntry { from, to, count: self.bundles[tier], rate, delay, ..LinkEntry::default() }
    }
}
