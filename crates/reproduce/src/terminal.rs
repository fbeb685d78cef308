//! The terminal output of a reproduction, in 80 columns.

use crate::finding::{ClaimFindings, ClaimStatus, verdict};
use crate::score::{ClaimScores, double_standards};
use crate::source::{PublishedClaim, PublishedSource};
use crate::{assumption, words};
use weft_draw::{WIDTH, wrapped};

/// Minimum width for the id of a claim.
const MARGIN: usize = 6;

/// The counts, and one entry per claim.
pub(crate) fn summary(
    source: &PublishedSource,
    claims: &[&PublishedClaim],
    findings: &ClaimFindings,
) -> String {
    let verdicts: Vec<ClaimStatus> = claims.iter().map(|claim| verdict(claim, findings)).collect();
    let count = |wanted: &ClaimStatus| verdicts.iter().filter(|verdict| *verdict == wanted).count();
    let (yes, no) = (count(&ClaimStatus::Reproduced), count(&ClaimStatus::NotReproduced));
    let mut lines = wrapped(&source.reference, WIDTH);
    lines.push(format!(
        "{} claims: {yes} reproduced, {no} not reproduced, {} not run or not comparable",
        claims.len(),
        claims.len() - yes - no
    ));
    lines.extend(wrapped(&ClaimScores::of(source, claims, findings).sentences().join(" "), WIDTH));
    let longest = claims.iter().map(|claim| claim.id.get_ref().len() + 1).max().unwrap_or(0);
    let margin = MARGIN.max(longest);
    for (claim, verdict) in claims.iter().zip(&verdicts) {
        lines.extend(entry(claim, verdict, findings, margin));
        for one in double_standards(source, claim, findings) {
            lines.extend(
                wrapped(&one.words(), WIDTH - margin - 2)
                    .iter()
                    .map(|line| format!("{:1$}{line}", "", margin + 2)),
            );
        }
    }
    for assumption in assumption::measured(source, findings) {
        let [yes, no] = assumption::counts(source, assumption, findings);
        lines.push(String::new());
        let text = format!("Assuming: {}: {yes} reproduced, {no} not (reduced form)", assumption.name);
        lines.extend(wrapped(&text, WIDTH));
    }
    lines.join("\n") + "\n"
}

fn entry(
    claim: &PublishedClaim,
    verdict: &ClaimStatus,
    findings: &ClaimFindings,
    margin: usize,
) -> Vec<String> {
    let finding = findings.claims.get(claim.id.get_ref());
    let mut text = vec![claim.says.replace('\n', " ")];
    let measured = words::measured(claim, finding);
    for ((band, lies), measured) in words::bands(claim, finding).iter().zip(&measured) {
        let lies = if lies.is_empty() { String::new() } else { format!(", {lies}") };
        text.push(format!("  measured {measured}, band {band}{lies}"));
    }
    text.extend(words::otherwise(claim, findings).iter().map(|line| format!("  {line}")));
    text.push(format!("  {}", verdict.words()));
    let mut lines: Vec<String> = Vec::new();
    for part in &text {
        let indent = if part.starts_with("  ") { margin + 2 } else { margin };
        lines.extend(wrapped(part.trim(), WIDTH - indent).iter().map(|line| format!("{:indent$}{line}", "")));
    }
    if let Some(first) = lines.first_mut() {
        *first = format!("{:margin$}{}", claim.id.get_ref(), first.trim_start());
    }
    lines.insert(0, String::new());
    lines
}
