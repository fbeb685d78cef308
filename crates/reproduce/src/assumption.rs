//! All claims under alternative assumptions about what a source leaves open, to see whether one of them explains the
//! differences.

use std::fmt::Write as _;

use crate::definition;
use crate::finding::{ClaimFinding, ClaimFindings, judged};
use crate::folder::Folder;
use crate::source::{Assumption, PublishedClaim, PublishedSource};

/// The assumptions under which claims were measured.
pub(crate) fn measured<'a>(source: &'a PublishedSource, findings: &ClaimFindings) -> Vec<&'a Assumption> {
    let known = |one: &&Assumption| findings.assumed.contains_key(one.id.get_ref());
    source.assumptions.iter().filter(known).collect()
}

/// The numbers of claims that are and are not reproduced under an assumption.
pub(crate) fn counts(
    source: &PublishedSource,
    assumption: &Assumption,
    findings: &ClaimFindings,
) -> [usize; 2] {
    let told = |wanted| {
        source.claims.iter().filter(|claim| verdict(claim, assumption, findings) == Some(wanted)).count()
    };
    [true, false].map(told)
}

/// The section of the page; empty if nothing was measured under an assumption.
pub(crate) fn section(source: &PublishedSource, findings: &ClaimFindings) -> String {
    let measured = measured(source, findings);
    if measured.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n## Every claim under other assumptions\n\n\
         Measured with `weft reproduce NAME --quick --assumptions`, all in the reduced form: a claim counts as reproduced (yes) \
         by the same bands and rules as above. Empty: the reduced form is too small for it, its experiment has no such \
         setting, or a part has no value.\n\n{}\n\n| | assumed | set | yes | no |\n|---|---|---|---|---|\n",
        source.assumptions_note.trim()
    );
    for assumption in &measured {
        let set: Vec<String> = assumption.set.iter().map(|set| format!("`{set}`")).collect();
        let [yes, no] = counts(source, assumption, findings);
        let (id, name) = (assumption.id.get_ref(), &assumption.name);
        let _ = writeln!(text, "| {id} | {name} | {} | {yes} | {no} |", set.join(" "));
    }
    text + &matrix(source, &measured, findings)
}

/// One row for each claim that has a verdict under any assumption.
fn matrix(source: &PublishedSource, measured: &[&Assumption], findings: &ClaimFindings) -> String {
    let ids: Vec<&str> = measured.iter().map(|assumption| assumption.id.get_ref().as_str()).collect();
    let mut text =
        format!("\n| claim | statement | {} |\n|---|---|{}\n", ids.join(" | "), "---|".repeat(ids.len()));
    for claim in &source.claims {
        let verdicts: Vec<Option<bool>> =
            measured.iter().map(|assumption| verdict(claim, assumption, findings)).collect();
        if verdicts.iter().any(Option::is_some) {
            let cells: Vec<&str> = verdicts.into_iter().map(word).collect();
            let says = claim.says.replace('|', "\\|");
            let _ = writeln!(text, "| {} | {says} | {} |", claim.id.get_ref(), cells.join(" | "));
        }
    }
    text
}

fn word(verdict: Option<bool>) -> &'static str {
    if verdict == Some(true) { "**yes**" } else { plain(verdict) }
}

/// A verdict as plain text, without emphasis.
pub(crate) fn plain(verdict: Option<bool>) -> &'static str {
    match verdict {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}

/// Whether a claim is reproduced under an assumption; `None` if undecided.
pub(crate) fn verdict(
    claim: &PublishedClaim,
    assumption: &Assumption,
    findings: &ClaimFindings,
) -> Option<bool> {
    let finding = findings.assumed.get(assumption.id.get_ref())?.get(claim.id.get_ref())?;
    judged(claim, &finding.parts)
}

/// Findings under an outdated definition, or about an assumption or claim that no longer exists.
pub(crate) fn stale(source: &PublishedSource, folder: &Folder, findings: &ClaimFindings) -> Vec<String> {
    let of = |(id, claims): (&String, &std::collections::BTreeMap<String, ClaimFinding>)| {
        let assumption = source.assumptions.iter().find(|assumption| assumption.id.get_ref() == id);
        let outdated = |(claim, finding): &(&String, &ClaimFinding)| {
            let claim = source.claims.iter().find(|known| known.id.get_ref() == *claim);
            let now = claim.zip(assumption);
            let now = now.map(|(claim, assumed)| definition::of_assumed(claim, assumed, (source, folder)));
            now.as_ref() != Some(&finding.definition)
        };
        let stale = claims.iter().filter(outdated);
        stale.map(|(claim, _)| format!("{claim} assuming {id}")).collect::<Vec<_>>()
    };
    findings.assumed.iter().flat_map(of).collect()
}
