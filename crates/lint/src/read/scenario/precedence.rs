//! Strict priorities, and the thresholds at which flows fall through them.

use super::Reader;
use crate::precedence::{Demotion, StrictQueues};
use std::path::Path;
use weft_switch::mark::MarkerSettings;
use weft_switch::schedule::SchedulerSettings;
use weft_transport::Transport;
use weft_workload::{PatternSettings, SizeDistribution};

impl Reader<'_> {
    /// The queues of a kind of switch, if lossy payload of several classes is served by strict priority.
    pub(super) fn strict(&self) -> Option<StrictQueues> {
        let settings = &self.device.switch;
        let strict = matches!(settings.schedule, SchedulerSettings::Strict(_)) && settings.queues > 1;
        let (transport, entries) = (Transport::new(&self.stack.transport), &self.case.settings.traffic);
        let classes =
            entries.iter().map(|entry| transport.classes(entry.flows.class.map(own_class), None).sender.0);
        let classes = classes.fold(0, |all, own| all | own).count_ones();
        (strict && classes > 1 && !settings.pfc.is_on()).then(|| StrictQueues {
            at: self.spot("switch.schedule"),
            name: format!("{} queues", settings.queues),
            classes,
            marks: !matches!(settings.ecn, MarkerSettings::Off(_)),
        })
    }

    /// The thresholds of PIAS, and the share of all payload in each class, for every open-loop entry.
    pub(super) fn demotion(&self, folder: &Path) -> Option<Demotion> {
        let pias = self.stack.transport.tcp()?.pias;
        let entries = self.case.settings.traffic.iter().filter_map(|entry| match &entry.flows.pattern {
            PatternSettings::OpenLoop(own) => SizeDistribution::read(&own.sizes, folder).ok(),
            _ => None,
        });
        let share = |sizes: &SizeDistribution, index: usize| {
            let up_to = |index: Option<usize>| match index.map(|index| pias.thresholds.get(index)) {
                None => 0.0,
                Some(Some(threshold)) => sizes.mean_up_to(threshold.0 as f64),
                Some(None) => sizes.mean(),
            };
            (up_to(Some(index)) - up_to(index.checked_sub(1))) / sizes.mean()
        };
        let shares: Vec<Vec<f64>> = entries
            .map(|sizes| (0..=pias.thresholds.len()).map(|index| share(&sizes, index)).collect())
            .collect();
        let path = format!("transport.{}.pias.thresholds", self.stack.transport.name());
        (pias.is_on() && !shares.is_empty()).then(|| Demotion {
            at: self.spot(&path),
            thresholds: pias.thresholds,
            shares,
        })
    }
}

fn own_class(class: u32) -> weft_core::Class {
    weft_core::Class(class.min(7) as u8)
}
