//! Marking: thresholds as a marking profile, controllers by their targets.

use super::Reader;
use weft_config::place::Placed;
use weft_device_config::model::{Held, MarkingProfile};
use weft_switch::mark::{At, MarkerSettings, NonEct};

impl Reader<'_> {
    /// The marking thresholds of the marker at a path, if any; controllers have none.
    pub(super) fn marking(&self, (ecn, path): (&MarkerSettings, &str)) -> Option<MarkingProfile> {
        let (min, max, probability, decides, path) = match ecn {
            // Controllers mark by the history of a queue, not by thresholds that a rule could judge.
            MarkerSettings::Off(_)
            | MarkerSettings::Pi(_)
            | MarkerSettings::Pie(_)
            | MarkerSettings::Codel(_) => return None,
            MarkerSettings::Step(own) => {
                let threshold = own.threshold.bytes(own.packet);
                let at = format!("{path}.step.threshold");
                let threshold = || self.placed(threshold, &at);
                (
                    threshold(),
                    threshold(),
                    self.placed(1.0, &at),
                    (own.non_ect, own.at),
                    format!("{path}.step"),
                )
            }
            MarkerSettings::Red(own) => (
                self.placed(own.min.bytes(own.packet), &format!("{path}.red.min")),
                self.placed(own.max.bytes(own.packet), &format!("{path}.red.max")),
                self.placed(own.max_probability.0, &format!("{path}.red.max_probability")),
                (own.non_ect, own.at),
                format!("{path}.red"),
            ),
        };
        Some(MarkingProfile {
            at: self.spot(&path),
            name: path,
            ecn: true,
            disabled: None,
            unmarked: Vec::new(),
            bound_elsewhere: false,
            min,
            max,
            probability,
            drops_non_ect: decides.0 == NonEct::Drop,
            drops_early: false,
            at_enqueue: decides.1 == At::Enqueue,
        })
    }

    /// The target of the controller at a path.
    pub(super) fn held(&self, (ecn, path): (&MarkerSettings, &str)) -> Option<Placed<Held>> {
        let placed = |held, path: String| self.placed(held, &path);
        Some(match ecn {
            MarkerSettings::Pi(own) => {
                placed(Held::Length(own.reference.bytes(own.packet)), format!("{path}.pi.reference"))
            }
            MarkerSettings::Pie(own) => placed(Held::Delay(own.target), format!("{path}.pie.target")),
            MarkerSettings::Codel(own) => placed(Held::Delay(own.target), format!("{path}.codel.target")),
            MarkerSettings::Off(_) | MarkerSettings::Step(_) | MarkerSettings::Red(_) => return None,
        })
    }
}
