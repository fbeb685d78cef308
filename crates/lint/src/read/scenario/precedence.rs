//! Strict priorities, and the thresholds at which flows fall through them.

use super::Reader;
use std::collections::BTreeSet;
use std::path::Path;
use weft_device_config::model::{Demotion, StrictQueues};
use weft_switch::mark::MarkerSettings;
use weft_switch::share::SharingSettings;
use weft_transport::Transport;
use weft_transport::tagging::PiasSettings;
use weft_workload::{PatternSettings, SizeDistribution};

impl Reader<'_> {
    /// The queues of a kind of switch, if lossy payload of several classes is served by strict priority and shares memory.
    pub(super) fn strict(&self) -> Option<StrictQueues> {
        let settings = &self.device.switch;
        let shares = settings.voq.is_none() && !matches!(settings.sharing, SharingSettings::Infinite(_));
        let strict = shares && settings.schedule.in_order(settings.queues) > 1;
        let (transport, entries) = (Transport::new(&self.stack.transport), &self.case.settings.traffic);
        let classes =
            entries.iter().map(|entry| transport.classes(entry.flows.class.map(own_class), None).sender.0);
        let classes = classes.fold(0, |all, own| all | own).count_ones();
        (strict && classes > 1 && !settings.pfc.is_on()).then(|| StrictQueues {
            at: self.spot("switch.schedule"),
            name: format!("{} queues{}", settings.queues, self.of_tiers()),
            classes,
            marks: !matches!(settings.ecn, MarkerSettings::Off(_)),
        })
    }

    /// The tiers of this kind of switch, if there are other kinds.
    fn of_tiers(&self) -> String {
        let roles = self.device.switches.iter().map(|id| self.graph.switches()[id.index()].role());
        let roles: BTreeSet<&str> = roles.collect();
        match self.devices.len() {
            1 => String::new(),
            _ => format!(" of {}", roles.into_iter().collect::<Vec<_>>().join(" and ")),
        }
    }

    /// The thresholds of PIAS, and the share of all payload in each class, for every open-loop entry.
    pub(super) fn demotion(&self, folder: &Path) -> Option<Demotion> {
        let pias = self.stack.transport.tcp()?.pias;
        let entries = self.case.settings.traffic.iter().map(|entry| match &entry.flows.pattern {
            PatternSettings::OpenLoop(own) => SizeDistribution::read(&own.sizes, folder).ok(),
            _ => None,
        });
        let entries: Vec<Option<SizeDistribution>> = entries.collect();
        let shares: Vec<Vec<f64>> = entries.iter().flatten().map(|sizes| shares(sizes, &pias)).collect();
        let all: Option<Vec<&SizeDistribution>> = entries.iter().map(Option::as_ref).collect();
        let path = |name| format!("transport.{}.pias.{name}", self.stack.transport.name());
        (pias.is_on() && !shares.is_empty()).then(|| Demotion {
            at: self.spot(&path("thresholds")),
            message: pias.message.map(|size| self.placed(size, &path("message"))),
            largest: all.map(|all| all.into_iter().map(SizeDistribution::largest).fold(0.0, f64::max)),
            thresholds: pias.thresholds,
            shares,
        })
    }
}

/// Number of messages of a flow that are examined; the contents of later ones are divided in the same way.
const MOST_MESSAGES: u32 = 1000;

/// The share of payload in each class.
fn shares(sizes: &SizeDistribution, pias: &PiasSettings) -> Vec<f64> {
    let message = pias.message.map_or(f64::INFINITY, |size| size.0.max(1) as f64);
    let begins = |number: u32| if number == 0 { 0.0 } else { f64::from(number) * message };
    let messages = || {
        (0..MOST_MESSAGES)
            .map(begins)
            .take_while(|begin| *begin == 0.0 || sizes.mean_up_to(*begin) < sizes.mean())
    };
    // The payload of flows between two positions of their messages.
    let between = |from: f64, to: f64| -> f64 {
        let piece = |begin: f64| {
            sizes.mean_up_to(begin + to.min(message)) - sizes.mean_up_to(begin + from.min(message))
        };
        messages().map(piece).sum()
    };
    let bounds = pias.thresholds.iter().map(|threshold| threshold.0 as f64);
    let bounds: Vec<f64> = std::iter::once(0.0).chain(bounds).chain([f64::INFINITY]).collect();
    let all: Vec<f64> = bounds.windows(2).map(|pair| between(pair[0], pair[1])).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|part| part / sum).collect()
}

fn own_class(class: u32) -> weft_core::Class {
    weft_core::Class(class.min(7) as u8)
}
