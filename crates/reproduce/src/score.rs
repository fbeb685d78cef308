//! The numbers of claims that hold: as prescribed, each under its own assumption, and all under a single one. Depends
//! on findings and bands; must not depend on runs.

use std::collections::BTreeSet;

use crate::assumption;
use crate::finding::{ClaimFindings, ClaimStatus, judged, verdict};
use crate::source::{Assumption, PublishedClaim, PublishedSource};

/// The three scores of some claims.
#[derive(Clone, Debug)]
pub(crate) struct ClaimScores<'a> {
    /// Claims that were judged as prescribed or under another choice.
    pub(crate) judged: usize,
    /// Hold as prescribed.
    pub(crate) prescribed: usize,
    /// Claims that hold as prescribed, with their own alternative choice, or under some assumption.
    pub(crate) chosen: usize,
    /// The assumption under which most claims hold, with the numbers that do and do not; the first among equals.
    pub(crate) joint: Option<(&'a Assumption, usize, usize)>,
}

impl<'a> ClaimScores<'a> {
    /// The scores of these claims of a source.
    pub(crate) fn of(
        source: &'a PublishedSource,
        claims: &[&PublishedClaim],
        findings: &ClaimFindings,
    ) -> ClaimScores<'a> {
        let comparable = |claim: &&&PublishedClaim| claim.not_comparable.is_empty();
        let told = claims.iter().filter(comparable).map(|claim| Told::new(source, claim, findings));
        let told: Vec<Told> = told.collect();
        let count = |holds: fn(&Told) -> bool| told.iter().filter(|told| holds(told)).count();
        let mut joint: Option<(&Assumption, usize, usize)> = None;
        for assumption in assumption::measured(source, findings) {
            let verdicts = claims.iter().map(|claim| assumption::verdict(claim, assumption, findings));
            let verdicts: Vec<bool> = verdicts.flatten().collect();
            let yes = verdicts.iter().filter(|holds| **holds).count();
            if joint.is_none_or(|(_, most, _)| yes > most) {
                joint = Some((assumption, yes, verdicts.len() - yes));
            }
        }
        ClaimScores {
            judged: count(|told| told.judged),
            prescribed: count(|told| told.prescribed),
            chosen: count(|told| told.chosen),
            joint,
        }
    }

    /// A sentence for each score that adds information.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let (judged, prescribed, chosen) = (self.judged, self.prescribed, self.chosen);
        let mut text = vec![format!("As prescribed, {prescribed} of {judged} claims hold.")];
        if let Some((assumption, yes, no)) = self.joint {
            text.push(format!("If each may choose its assumption, {chosen} do."));
            text.push(format!(
                "Under the one assumption that most of them share, {yes} of {} do: {} (reduced form).",
                yes + no,
                assumption.name
            ));
        } else if chosen > prescribed {
            text.push(format!("If each may choose what the source leaves open, {chosen} do."));
        }
        text
    }
}

/// The findings on one claim.
struct Told {
    judged: bool,
    prescribed: bool,
    chosen: bool,
}

impl Told {
    fn new(source: &PublishedSource, claim: &PublishedClaim, findings: &ClaimFindings) -> Told {
        let own = findings.claim(claim).and_then(|found| judged(claim, &found.parts));
        let other = findings.others.get(claim.id.get_ref()).and_then(|found| judged(claim, &found.parts));
        let assumed = assumption::measured(source, findings).into_iter();
        let assumed: Vec<bool> =
            assumed.filter_map(|assumption| assumption::verdict(claim, assumption, findings)).collect();
        let prescribed = verdict(claim, findings) == ClaimStatus::Reproduced;
        Told {
            judged: own.is_some() || other.is_some(),
            prescribed,
            chosen: prescribed || other == Some(true) || assumed.contains(&true),
        }
    }
}

/// An assumption that excuses other claims, although a claim that holds as prescribed fails under it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DoubleStandard {
    /// What is assumed.
    assumed: String,
    /// The claims that it excuses.
    excused: Vec<String>,
}

impl DoubleStandard {
    /// `not if half of the racks send, which excuses C20, C21`
    pub(crate) fn words(&self) -> String {
        format!("not if {}, which excuses {}", self.assumed, self.excused.join(", "))
    }
}

/// Claims that hold as prescribed but fail under an assumption that excuses another. A claim that already fails as
/// prescribed in the reduced form is not counted.
pub(crate) fn double_standards(
    source: &PublishedSource,
    claim: &PublishedClaim,
    findings: &ClaimFindings,
) -> Vec<DoubleStandard> {
    let measured = assumption::measured(source, findings);
    let told = |assumption: &&Assumption| assumption::verdict(claim, assumption, findings);
    let plain = measured.iter().find(|assumption| assumption.set.is_empty());
    let holds = verdict(claim, findings) == ClaimStatus::Reproduced;
    if !holds || plain.is_some_and(|plain| told(plain) == Some(false)) {
        return Vec::new();
    }
    let fails = measured.iter().filter(|assumption| told(assumption) == Some(false));
    let all = fails.map(|assumption| DoubleStandard {
        assumed: assumption.name.clone(),
        excused: excused(source, assumption, findings),
    });
    all.filter(|one| !one.excused.is_empty()).collect()
}

/// The claims that cannot be compared because their other choice, which is this assumption, decides them.
fn excused(source: &PublishedSource, assumption: &Assumption, findings: &ClaimFindings) -> Vec<String> {
    let set: BTreeSet<&String> = assumption.set.iter().collect();
    let is_this = |claim: &&PublishedClaim| {
        claim.otherwise.as_ref().is_some_and(|other| other.set.iter().collect::<BTreeSet<_>>() == set)
    };
    let decided = |claim: &&PublishedClaim| {
        claim.not_comparable.is_empty() && matches!(verdict(claim, findings), ClaimStatus::NotComparable(_))
    };
    let claims = source.claims.iter().filter(is_this).filter(decided);
    claims.map(|claim| claim.id.get_ref().clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{ClaimFinding, SeedValues};

    const SOURCE: &str = r#"
title = ""
reference = ""
about = ""
[[assumption]]
id = "plain"
name = "what is prescribed"
[[assumption]]
id = "half"
name = "half send"
set = ["a=1", "b=2"]
[[claim]]
id = "C1"
place = ""
says = ""
part = [{ measure = "fct.mean(a)", above = 1 }]
[[claim]]
id = "C2"
place = ""
says = ""
part = [{ measure = "fct.mean(a)", above = 1 }]
otherwise = { open = "who sends", choice = "half", set = ["b=2", "a=1"] }
[[claim]]
id = "C3"
place = ""
says = ""
part = [{ measure = "fct.mean(a)", above = 1 }]
[[claim]]
id = "C4"
place = ""
says = ""
not_comparable = "no unit"
"#;

    fn found(values: &[(&str, f64)]) -> std::collections::BTreeMap<String, ClaimFinding> {
        let finding = |value: f64| ClaimFinding {
            parts: vec![SeedValues { seeds: vec![1], values: vec![value], ratio: false }],
            ..ClaimFinding::default()
        };
        values.iter().map(|(id, value)| ((*id).to_owned(), finding(*value))).collect()
    }

    #[test]
    fn three_scores_and_what_passes_only_as_prescribed() {
        let source: PublishedSource = toml::from_str(SOURCE).unwrap();
        let claims: Vec<&PublishedClaim> = source.claims.iter().collect();
        let findings = ClaimFindings {
            claims: found(&[("C1", 2.0), ("C2", 0.5), ("C3", 0.5)]),
            others: found(&[("C2", 2.0)]),
            assumed: [
                ("plain".to_owned(), found(&[("C1", 2.0), ("C2", 0.5), ("C3", 0.5)])),
                ("half".to_owned(), found(&[("C1", 0.5), ("C2", 2.0), ("C3", 2.0)])),
            ]
            .into(),
            ..ClaimFindings::default()
        };
        let scores = ClaimScores::of(&source, &claims, &findings);
        let (joint, yes, no) = scores.joint.unwrap();
        assert_eq!((scores.judged, scores.prescribed, scores.chosen), (3, 1, 3));
        assert_eq!((joint.name.as_str(), yes, no), ("half send", 2, 1), "one set for all excuses fewer");
        let told = |at: usize| -> Vec<String> {
            double_standards(&source, claims[at], &findings).iter().map(DoubleStandard::words).collect()
        };
        assert_eq!(told(0), ["not if half send, which excuses C2"]);
        assert_eq!([told(1), told(2)], [Vec::<String>::new(), Vec::new()], "they fail as prescribed");
        let mut unexcused = findings.clone();
        unexcused.others.clear();
        assert!(double_standards(&source, claims[0], &unexcused).is_empty(), "nothing is excused by it");
    }
}
