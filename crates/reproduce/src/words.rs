//! Findings in words, for page, report and terminal.

use crate::finding::{ClaimFinding, ClaimFindings, SeedValues, Size, Tabled, against_band};
use crate::form::Form;
use crate::source::{Part, PublishedClaim};
use weft_draw::text::{count, number, plain};
use weft_report::statistics::Estimate;

/// `1.34 (1.28 to 1.41)`; the value alone without an interval, or with one narrower than its last digit.
pub(crate) fn estimate(found: &Estimate) -> String {
    let ends = found.low.zip(found.high).map(|(low, high)| (number(low), number(high)));
    let mean = number(found.mean);
    match ends {
        Some((low, high)) if low != mean || high != mean => format!("{mean} ({low} to {high})"),
        _ => mean,
    }
}

/// A measured part.
pub(crate) fn value(values: &SeedValues) -> String {
    values.estimate().map_or("–".to_owned(), |found| estimate(&found))
}

/// A part as shown beside its band: a whole number with all its digits where the band is a single number, so that
/// equality is visible.
fn beside_band(part: &Part, values: &SeedValues) -> String {
    match values.values.first() {
        Some(found) if part.exactly.is_some() && values.is_certain() && found.fract() == 0.0 => plain(*found),
        _ => value(values),
    }
}

/// `weft 0.1.0 3dca5ce`, with a mark if this program may find something else.
pub(crate) fn program(program: &str, holds: bool) -> String {
    let mark = if holds { "" } else { ", *stale*" };
    format!("weft {program}{mark}")
}

/// The measured value of each part of a claim.
pub(crate) fn measured(claim: &PublishedClaim, finding: Option<&ClaimFinding>) -> Vec<String> {
    let parts = finding.filter(|finding| finding.parts.iter().any(|values| !values.values.is_empty()));
    let one = |(part, values): (&Part, &SeedValues)| part.one_run.and_then(|one| spread(values, one));
    let told = |part: (&Part, &SeedValues)| {
        if part.0.one_run.is_some() { one(part) } else { Some(beside_band(part.0, part.1)) }
    };
    let told = |part| told(part).unwrap_or_else(|| "–".to_owned());
    parts.map_or(Vec::new(), |finding| claim.parts.iter().zip(&finding.parts).map(told).collect())
}

/// The mean and range of single runs: `44.3, runs from 31.2 to 64.8`.
fn spread(values: &SeedValues, one: f64) -> Option<String> {
    let (mean, among) = (values.estimate()?.mean, values.runs_around(one)?);
    Some(format!("{}, runs from {} to {}", number(mean), number(among.least), number(among.greatest)))
}

/// The values with the alternative choice of a claim, one line per part: `if half of the racks send: 0.53 (0.51 to
/// 0.55)`.
pub(crate) fn otherwise(claim: &PublishedClaim, findings: &ClaimFindings) -> Vec<String> {
    let other = findings.others.get(claim.id.get_ref());
    let (Some(otherwise), Some(other)) = (&claim.otherwise, other) else { return Vec::new() };
    let told = |(part, values)| format!("if {}: {}", otherwise.choice, beside_band(part, values));
    claim.parts.iter().zip(&other.parts).map(told).collect()
}

/// The band of each part, and the position of the interval.
pub(crate) fn bands(claim: &PublishedClaim, finding: Option<&ClaimFinding>) -> Vec<(String, String)> {
    let drawn = finding.is_some_and(|finding| finding.size.runs + finding.size.measured > 0);
    let lies = |at: usize, part: &Part| {
        let values = finding?.parts.get(at).filter(|_| drawn)?;
        match part.one_run {
            Some(one) => {
                values.runs_around(one).map(|among| format!("above {} of {}", among.below, among.runs))
            }
            None if values.values.len() > 1 && values.is_certain() => {
                Some(if part.holds(values.values[0]) { "inside" } else { "outside" }.to_owned())
            }
            None => values.estimate().map(|found| against_band(part, &found).to_owned()),
        }
    };
    let lies = |at: usize, part: &Part| lies(at, part).unwrap_or_default();
    let one = |(at, part): (usize, &Part)| (part.band(), lies(at, part));
    claim.parts.iter().enumerate().map(one).collect()
}

/// `quick, 3 seeds, 12 runs, 120 000 flows, 24 ms simulated`.
pub(crate) fn size(finding: &ClaimFinding) -> String {
    if finding.size.runs == 0 {
        return amount(&finding.size);
    }
    let form = match finding.form {
        Form::Quick => "quick, ",
        Form::Full => "",
        Form::Large => "large, ",
    };
    format!("{form}{}, {}", counted(finding.seeds() as u64, "seed"), amount(&finding.size))
}

/// The amount of simulation behind a table.
pub(crate) fn size_of_table(tabled: &Tabled) -> String {
    amount(&tabled.size)
}

fn amount(size: &Size) -> String {
    if size.runs == 0 && size.measured > 0 {
        return counted(size.measured, "measurement");
    }
    if size.runs == 0 {
        return counted(size.solved, "fluid model");
    }
    let open = match size.unfinished {
        0 => String::new(),
        open => format!(" ({} unfinished)", count(open)),
    };
    let few = if size.few { "; fewer than 100 flows beyond a percentile" } else { "" };
    let solved = match size.solved {
        0 => String::new(),
        models => format!(", {}", counted(models, "fluid model")),
    };
    let simulated = weft_draw::text::duration(size.simulated_s * 1e6);
    format!(
        "{}, {} flows{open}, {simulated} simulated{few}{solved}",
        counted(size.runs, "run"),
        count(size.flows)
    )
}

fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_beside_an_exact_band_has_all_its_digits() {
        let told = |band: &str, values: &[f64]| {
            let part: Part = toml::from_str(&format!("measure = \"m\"\n{band}")).unwrap();
            beside_band(&part, &SeedValues { values: values.to_vec(), ..SeedValues::default() })
        };
        assert_eq!(told("exactly = 3072", &[3072.0, 3072.0]), "3072");
        assert_eq!(told("exactly = 3072", &[3071.0]), "3071");
        assert_eq!(told("exactly = 0", &[0.0]), "0");
        assert_eq!(told("exactly = 0", &[0.3333]), "0.333");
        assert_eq!(told("from = 3000", &[3072.0]), "3070");
        assert!(told("exactly = 0", &[0.0, 1.0]).starts_with("0.500 ("));
    }
}
