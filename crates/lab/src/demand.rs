//! The demand of a scenario on the machine, and the scale at which the machine can carry it.
//!
//! The machine carries a budget of packet hops a second: packets times the switches that each of them passes. At
//! worst every host sends at the rate of its link. Dividing all rates by the scale divides that number.

use std::collections::BTreeMap;

use weft_core::{HostId, Rate, Span, Time};
use weft_plan::Setup;
use weft_topology::Node;

/// The limits of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabLimits {
    /// Packet hops a second, of all switches together.
    pub hops_per_second: f64,
    /// Namespaces: one for each host and one for the switches.
    pub namespaces: u32,
    /// The slowest link, in real time: on a slower one, a packet takes longer than the kernel's timers expect.
    pub slowest: Rate,
    /// The longest run, in real time.
    pub longest: Span,
    /// Descriptors that the process may have.
    pub descriptors: u64,
}

impl LabLimits {
    /// `count` minutes, as a value for [`LabLimits::longest`].
    #[must_use]
    pub fn minutes(count: u32) -> Span {
        Span(Span::from_s(60).0.saturating_mul(u64::from(count)))
    }
}

impl Default for LabLimits {
    fn default() -> LabLimits {
        LabLimits {
            hops_per_second: 50_000.0,
            namespaces: 257,
            slowest: Rate::from_mbps(1),
            longest: Span::from_s(30 * 60),
            descriptors: crate::system::most_descriptors(),
        }
    }
}

/// The demand of a scenario, in its own time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabDemand {
    /// Hosts.
    pub hosts: u32,
    /// The sum of the rates at which flows can enter the network.
    pub offered: Rate,
    /// Packet hops a second at that rate, acknowledgements included.
    pub hops_per_second: f64,
    /// The slowest link.
    pub slowest: Rate,
    /// How long it runs, if it can be predicted.
    pub lasts: Span,
    /// Descriptors: one for each namespace, end of a cable at a switch and receiving host, two for each of the flows that start at the
    /// same time, and some for everything else.
    pub descriptors: u64,
}

/// Descriptors for files, pipes and standard streams.
const OTHER_DESCRIPTORS: u64 = 16;

impl LabDemand {
    /// The demand of a run.
    #[must_use]
    pub fn of(setup: &Setup) -> LabDemand {
        let hosts = setup.graph.hosts();
        let (mut sends, mut receives) = (vec![false; hosts as usize], vec![false; hosts as usize]);
        for flow in setup.flows.iter() {
            sends[flow.source.index()] = true;
            receives[flow.destination.index()] = true;
        }
        let rate_of = |number: usize| setup.graph.links_of(Node::Host(HostId(number as u32)))[0].rate.0;
        let sum = |who: &[bool]| (0..who.len()).filter(|n| who[*n]).map(rate_of).sum::<u64>();
        let offered = Rate(sum(&sends).min(sum(&receives)));
        let tiers = setup.graph.switches().iter().map(|switch| switch.tier).max().unwrap_or(1);
        let hops = f64::from(2 * u32::from(tiers) - 1);
        let packets = offered.0 as f64 / (8.0 * f64::from(setup.transport.full_wire()));
        LabDemand {
            hosts,
            offered,
            hops_per_second: 2.0 * packets * hops,
            slowest: setup.graph.links().iter().map(|link| link.rate).min().unwrap_or_default(),
            lasts: setup.volume().map_or(Span::ZERO, |volume| volume.lasts),
            descriptors: u64::from(hosts)
                + 1
                + setup.graph.links().iter().filter(|link| matches!(link.from, Node::Switch(_))).count()
                    as u64
                + receives.iter().filter(|receives| **receives).count() as u64
                + 2 * together(setup)
                + OTHER_DESCRIPTORS,
        }
    }

    /// The smallest round scale (1, 2 or 5 times a power of ten) at which the machine carries it.
    #[must_use]
    pub fn scale(&self, limits: &LabLimits) -> u64 {
        let needed = self.hops_per_second / limits.hops_per_second;
        let rounds = (0..18).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
        rounds.into_iter().find(|scale| *scale as f64 >= needed).unwrap_or(u64::MAX)
    }

    /// Why the machine cannot carry it at this scale, and what it would need.
    ///
    /// # Errors
    /// The reasons, in one sentence.
    pub fn check(&self, scale: u64, limits: &LabLimits) -> Result<(), String> {
        let mut wants = Vec::new();
        if self.hosts >= limits.namespaces {
            wants.push(format!(
                "{} network namespaces (one for each host, one for the switches), at most {} here",
                self.hosts + 1,
                limits.namespaces
            ));
        }
        if self.descriptors > limits.descriptors {
            wants.push(format!(
                "{} file descriptors, at most {} here (ulimit -Hn)",
                self.descriptors, limits.descriptors
            ));
        }
        let carried = self.hops_per_second / scale as f64;
        if carried > limits.hops_per_second * 1.001 {
            wants.push(format!(
                "{carried:.0} packet hops a second at scale {scale}, at most {:.0} here: a scale of {} or a larger --budget",
                limits.hops_per_second,
                self.scale(limits)
            ));
        }
        let slowest = Rate(self.slowest.0 / scale);
        if slowest < limits.slowest {
            wants.push(format!(
                "links of {slowest} (the slowest has {}, divided by {scale}), at least {} here",
                self.slowest, limits.slowest
            ));
        }
        let lasts = Span(self.lasts.0.saturating_mul(scale));
        if lasts > limits.longest {
            wants.push(format!(
                "about {} of real time for {} of the scenario, at most {} here (--longest)",
                rough(lasts),
                rough(self.lasts),
                rough(limits.longest)
            ));
        }
        match wants.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "this machine cannot carry the scenario: {} hosts that send {} together need {}",
                self.hosts,
                self.offered,
                wants.join("; and ")
            )),
        }
    }
}

/// The largest number of flows that start at the same time.
fn together(setup: &Setup) -> u64 {
    let mut starts: BTreeMap<Time, u64> = BTreeMap::new();
    setup.flows.iter().for_each(|flow| *starts.entry(flow.start).or_default() += 1);
    starts.into_values().max().unwrap_or(0)
}

/// A time in words: `2.5 s`, `40 min`.
#[must_use]
pub fn rough(span: Span) -> String {
    let seconds = span.seconds();
    match seconds {
        s if s >= 7_200.0 => format!("{:.1} h", s / 3_600.0),
        s if s >= 120.0 => format!("{:.0} min", s / 60.0),
        s if s >= 10.0 => format!("{s:.0} s"),
        s if s >= 1.0 => format!("{s:.1} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand() -> LabDemand {
        LabDemand {
            hosts: 8,
            offered: Rate::from_gbps(8),
            hops_per_second: 4_000_000.0,
            slowest: Rate::from_gbps(1),
            lasts: Span::from_ms(100),
            descriptors: 100,
        }
    }

    #[test]
    fn the_scale_is_the_smallest_round_one_that_fits_the_budget() {
        let limits = LabLimits::default();
        assert_eq!(demand().scale(&limits), 100);
        assert_eq!(demand().scale(&LabLimits { hops_per_second: 1e9, ..limits }), 1);
        assert_eq!(demand().check(100, &limits), Ok(()));
    }

    #[test]
    fn a_refusal_names_everything_that_would_be_needed() {
        let huge = LabDemand {
            descriptors: 3_000,
            hosts: 1_000,
            slowest: Rate::from_mbps(10),
            lasts: Span::from_s(100),
            ..demand()
        };
        let said = huge.check(50, &LabLimits { descriptors: 1_024, ..LabLimits::default() }).unwrap_err();
        for words in [
            "1001 network namespaces",
            "3000 file descriptors, at most 1024 here",
            "80000 packet hops a second at scale 50",
            "scale of 100",
            "200 kbps",
            "83 min",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}
