//! The marking that is tried in place of the scenario's.

use weft::{CaseLabels, Error};
use weft_core::Bytes;

use super::{EcnOptions, MarkingShape, rounded, scenario_of};

/// Settings that have nothing to do with thresholds and that several kinds of markers share.
const SHARED: [&str; 3] = ["at", "scope", "non_ect"];

/// What is tried but for its threshold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TriedMarking {
    at: String,
    shape: MarkingShape,
    /// What the scenario says about its marker and a marker of another kind would not take over: `, at = "dequeue"`.
    kept: String,
    own: OwnMarker,
}

/// The scenario's own marker.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OwnMarker {
    /// Of the kind that is tried, so that it keeps its other settings.
    Alike,
    /// Of another kind.
    Other,
    /// There is none.
    Absent,
}

impl TriedMarking {
    /// What the options want tried in a case, whose scenario may have a marker.
    pub(super) fn of(options: &EcnOptions, case: &CaseLabels, has_own: bool) -> Result<TriedMarking, Error> {
        if !has_own {
            return Ok(TriedMarking::in_place_of(&[], options));
        }
        let own = |path: &str| weft::given(&scenario_of(options), case, path);
        // A level without a marker of its own has that of all switches.
        let given =
            Some(own(&options.at)?).filter(|rows| !rows.is_empty()).map_or_else(|| own("switch.ecn"), Ok)?;
        Ok(TriedMarking::in_place_of(&given, options))
    }

    /// The same, given what the scenario says about its marker.
    pub(super) fn in_place_of(given: &[(String, String)], options: &EcnOptions) -> TriedMarking {
        let (at, shape) = (options.at.clone(), options.shape);
        let own = given.iter().find(|(path, _)| path.ends_with(".ecn")).map(|(_, value)| value.as_str());
        let own = match own {
            Some(own) if own == kind(shape) => OwnMarker::Alike,
            Some("none") | None => OwnMarker::Absent,
            Some(_) => OwnMarker::Other,
        };
        TriedMarking { at, shape, kept: kept(given, shape), own }
    }

    /// What a scenario with this marking needs to change.
    pub(super) fn words(&self) -> String {
        let at = &self.at;
        match self.own {
            OwnMarker::Alike => format!("in the scenario, change only these keys of {at}; its others stayed"),
            OwnMarker::Other => format!("in the scenario, this marker takes the place of {at}"),
            OwnMarker::Absent => format!("in the scenario, which has no {at}, add this marker"),
        }
    }

    /// `switch.ecn={ step = { threshold = "65000 B" } }`.
    pub(super) fn setting(&self, threshold: Bytes) -> String {
        format!("{}={}", self.at, self.marker(threshold))
    }

    /// `{ step = { threshold = "65000 B" } }`.
    pub(super) fn marker(&self, threshold: Bytes) -> String {
        let (least, kept) = (threshold.0, &self.kept);
        match self.shape {
            MarkingShape::Step => format!("{{ step = {{ threshold = \"{least} B\"{kept} }} }}"),
            MarkingShape::Ramp { times, probability } => {
                let most = rounded(threshold.0 as f64 * times).0;
                let ramp =
                    format!("min = \"{least} B\", max = \"{most} B\", max_probability = {probability}");
                format!("{{ red = {{ {ramp}{kept} }} }}")
            }
        }
    }
}

/// The kind of marker with a shape.
fn kind(shape: MarkingShape) -> &'static str {
    match shape {
        MarkingShape::Step => "step",
        MarkingShape::Ramp { .. } => "red",
    }
}

/// What goes over to a marker of this shape, given the scenario's own. One of the same kind keeps its settings anyway.
fn kept(given: &[(String, String)], shape: MarkingShape) -> String {
    let words = |(path, value): &(String, String)| {
        let mut steps = path.rsplit('.');
        let (name, of) = (steps.next()?, steps.next()?);
        (of != kind(shape) && SHARED.contains(&name)).then(|| format!(", {name} = \"{value}\""))
    };
    given.iter().filter_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A marker of another kind takes over what is not about thresholds; one of the same kind has it already.
    #[test]
    fn another_kind_of_marker_keeps_what_thresholds_leave_alone() {
        let row = |path: &str, value: &str| (format!("switch.ecn{path}"), value.to_owned());
        let given = [
            row("", "red"),
            row(".red.min", "5 kB"),
            row(".red.at", "dequeue"),
            row(".red.scope", "port"),
            row(".red.non_ect", "pass"),
        ];
        let ramp = MarkingShape::Ramp { times: 3.0, probability: 0.1 };
        let marker = |shape| {
            let marking = TriedMarking {
                at: "switch.ecn".to_owned(),
                shape,
                kept: kept(&given, shape),
                own: OwnMarker::Other,
            };
            marking.setting(Bytes(65_000))
        };
        assert_eq!(
            marker(MarkingShape::Step),
            "switch.ecn={ step = { threshold = \"65000 B\", at = \"dequeue\", scope = \"port\", non_ect = \"pass\" } }"
        );
        assert_eq!(
            marker(ramp),
            "switch.ecn={ red = { min = \"65000 B\", max = \"195000 B\", max_probability = 0.1 } }"
        );
    }
}
