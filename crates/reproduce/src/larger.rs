//! Claims measured again in the large form with fewer seeds: more flows show what few cannot, but not the scatter of
//! runs.

use std::fmt::Write as _;

use crate::finding::{ClaimFinding, ClaimFindings, judged};
use crate::source::{PublishedClaim, PublishedSource};
use crate::words;

/// The section of the page; empty if there are no such findings.
pub(crate) fn section(source: &PublishedSource, findings: &ClaimFindings) -> String {
    let found = |claim| found(claim, findings).map(|larger| (claim, larger));
    let all: Vec<(&PublishedClaim, &ClaimFinding)> = source.claims.iter().filter_map(found).collect();
    if all.is_empty() {
        return String::new();
    }
    let held = all.iter().filter(|(claim, finding)| judged(claim, &finding.parts) == Some(true)).count();
    let mut text = format!(
        "\n## With more flows\n\n\
         The large form (`--large`), from fewer seeds, beside the findings above, which decide: {held} of {} claims hold there as well.\n\n\
         | claim | statement | measured above | with more flows | band | holds | from |\n|---|---|---|---|---|---|---|\n",
        all.len(),
    );
    all.iter().for_each(|(claim, finding)| text += &row(source, (claim, finding), findings));
    text
}

fn found<'a>(claim: &PublishedClaim, findings: &'a ClaimFindings) -> Option<&'a ClaimFinding> {
    findings.larger.get(claim.id.get_ref()).filter(|finding| finding.size.runs > 0)
}

fn row(
    source: &PublishedSource,
    (claim, larger): (&PublishedClaim, &ClaimFinding),
    findings: &ClaimFindings,
) -> String {
    let measured = |finding| words::measured(claim, finding).join("; ");
    let bands: Vec<String> = claim.parts.iter().map(crate::source::Part::band).collect();
    let holds = match judged(claim, &larger.parts) {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "a part has no value",
    };
    let mut text = format!("| {} | {} |", claim.id.get_ref(), claim.says.replace('|', "\\|"));
    let program = words::program(&larger.program, source.holds_for(claim, &larger.epoch));
    let _ = writeln!(
        text,
        " {} | {} | {} | {holds} | {}; {program} |",
        measured(findings.claim(claim)),
        measured(Some(larger)),
        bands.join("; "),
        words::size(larger)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{SeedValues, Size};
    use crate::form::Form;

    #[test]
    fn both_forms_stand_side_by_side_with_a_verdict_on_the_larger() {
        let claim = "title = \"\"\nreference = \"\"\nabout = \"\"\n[[claim]]\nid = \"C1\"\nplace = \"\"\nsays = \"a|b\"\n\
                     part = [{ measure = \"fct.mean(a)\", below = 1 }]";
        let source: PublishedSource = toml::from_str(claim).unwrap();
        let finding = |form, values: &[f64]| {
            let seeds = (1..=values.len() as u64).collect();
            let parts = vec![SeedValues { seeds, values: values.to_vec(), ratio: false }];
            let size = Size { runs: 1, flows: 100_000, ..Size::default() };
            [("C1".to_owned(), ClaimFinding { form, parts, size, ..ClaimFinding::default() })].into()
        };
        let of = |larger| ClaimFindings {
            claims: finding(Form::Full, &[0.5, 0.5]),
            larger: finding(Form::Large, larger),
            ..ClaimFindings::default()
        };
        let told = section(&source, &of(&[0.6]));
        let row = "| C1 | a\\|b | 0.500 | 0.600 | below 1 | yes | large, 1 seed, 1 run, ";
        assert!(told.contains(row), "{told}");
        assert!(told.contains("1 of 1 claims hold"), "{told}");
        assert!(section(&source, &of(&[1.6])).contains("| **no** |"));
        assert_eq!(section(&source, &ClaimFindings::default()), "");
    }
}
