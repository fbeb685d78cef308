//! Marking: thresholds as a marking profile, controllers by their targets.

use super::Reader;
use crate::model::{Held, MarkingProfile};
use weft_config::place::Placed;
use weft_switch::mark::{At, MarkerSettings, NonEct};

impl Reader<'_> {
    /// The marking thresholds, if there are any; controllers have none.
    pub(super) fn marking(&self) -> Option<MarkingProfile> {
        let (min, max, probability, decides, path) = match &self.device.switch.ecn {
            // Controllers mark by the history of a queue, not by thresholds that a rule could judge.
            MarkerSettings::Off(_)
            | MarkerSettings::Pi(_)
            | MarkerSettings::Pie(_)
            | MarkerSettings::Codel(_) => return None,
            MarkerSettings::Step(own) => {
                let threshold = own.threshold.bytes(own.packet);
                let at = "switch.ecn.step.threshold";
                let threshold = || self.placed(threshold, at);
                (threshold(), threshold(), self.placed(1.0, at), (own.non_ect, own.at), "switch.ecn.step")
            }
            MarkerSettings::Red(own) => (
                self.placed(own.min.bytes(own.packet), "switch.ecn.red.min"),
                self.placed(own.max.bytes(own.packet), "switch.ecn.red.max"),
                self.placed(own.max_probability.0, "switch.ecn.red.max_probability"),
                (own.non_ect, own.at),
                "switch.ecn.red",
            ),
        };
        Some(MarkingProfile {
            at: self.spot(path),
            name: path.to_owned(),
            ecn: true,
            disabled: None,
            unmarked: Vec::new(),
            bound_elsewhere: false,
            min,
            max,
            probability,
            drops_non_ect: decides.0 == NonEct::Drop,
            at_enqueue: decides.1 == At::Enqueue,
        })
    }

    /// The target of a controller.
    pub(super) fn held(&self) -> Option<Placed<Held>> {
        Some(match &self.device.switch.ecn {
            MarkerSettings::Pi(own) => {
                self.placed(Held::Length(own.reference.bytes(own.packet)), "switch.ecn.pi.reference")
            }
            MarkerSettings::Pie(own) => self.placed(Held::Delay(own.target), "switch.ecn.pie.target"),
            MarkerSettings::Codel(own) => self.placed(Held::Delay(own.target), "switch.ecn.codel.target"),
            MarkerSettings::Off(_) | MarkerSettings::Step(_) | MarkerSettings::Red(_) => return None,
        })
    }
}
