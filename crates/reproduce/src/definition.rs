//! A hash of everything that determines a finding: its measures, and the scenarios with their overrides. When it
//! changes, earlier findings are void. Bands and words are excluded, because they are applied to the same finding.

use crate::drawing::FigureSource;
use crate::folder::Folder;
use crate::form::Form;
use crate::source::{Assumption, PublishedClaim, PublishedSource, Sensitivity, read};
use weft_expression::Expression;

/// The definition of a claim.
pub(crate) fn of_claim(claim: &PublishedClaim, form: Form, within: (&PublishedSource, &Folder)) -> String {
    let mut text = format!("{}\n", claim.at);
    claim.parts.iter().for_each(|part| text += &format!("{}\n", part.measure));
    hashed(&text, &experiments(&claim.expressions(), &claim.experiment), form, within)
}

/// The definition of a claim with its alternative choice.
pub(crate) fn of_other(claim: &PublishedClaim, form: Form, within: (&PublishedSource, &Folder)) -> String {
    let set = claim.otherwise.as_ref().map_or(String::new(), |other| other.set.join(" "));
    let text = format!("{set} {}", of_claim(claim, form, within));
    format!("{:016x}", fnv(text.as_bytes()))
}

/// The definition of a claim under an assumption, in the reduced form.
pub(crate) fn of_assumed(
    claim: &PublishedClaim,
    assumption: &Assumption,
    within: (&PublishedSource, &Folder),
) -> String {
    let text = format!("{} {}", assumption.set.join(" "), of_claim(claim, Form::Quick, within));
    format!("{:016x}", fnv(text.as_bytes()))
}

/// The definition of a table.
pub(crate) fn of_table(table: &Sensitivity, form: Form, within: (&PublishedSource, &Folder)) -> String {
    let mut text = format!("{} {}\n", table.at, table.reduced);
    table.columns.iter().for_each(|column| text += &format!("{}\n", column.measure));
    table.variants.iter().for_each(|variant| text += &format!("{}\n", variant.set.join(" ")));
    let measures: Vec<Expression> = table.columns.iter().map(|column| read(&column.measure)).collect();
    let form = if table.reduced { Form::Quick } else { form };
    let mut used = experiments(&measures, &table.experiment);
    used.extend(table.variants.iter().filter_map(|variant| variant.experiment.clone()));
    hashed(&text, &used, form, within)
}

/// The definition of a figure.
pub(crate) fn of_figure(figure: &FigureSource, form: Form, within: (&PublishedSource, &Folder)) -> String {
    let measures: Vec<Expression> = figure.measures().iter().map(|measure| read(measure)).collect();
    let experiments = experiments(&measures, &figure.experiment);
    hashed(&(figure.measures().join("\n") + "\n"), &experiments, form, within)
}

/// The experiments that these measures use.
fn experiments(measures: &[Expression], own: &str) -> Vec<String> {
    let terms = measures.iter().flat_map(Expression::terms);
    let mut used: Vec<String> =
        terms.map(|(term, _)| term.experiment.clone().unwrap_or_else(|| own.to_owned())).collect();
    used.sort();
    used.dedup();
    used
}

fn hashed(
    measures: &str,
    experiments: &[String],
    form: Form,
    (source, folder): (&PublishedSource, &Folder),
) -> String {
    let mut text = measures.to_owned();
    for experiment in experiments.iter().filter_map(|id| source.experiment(id)) {
        let file = experiment.file.as_ref().and_then(|file| folder.files.get(file));
        let bare = file.map_or(String::new(), |file| bare(file, form == Form::Quick));
        text += &format!("{}{}\n{bare}", experiment.overrides(form).join(" "), experiment.fluid.words());
        text += experiment.figures.as_deref().unwrap_or_default();
        text += experiment.engine.as_deref().unwrap_or_default();
    }
    format!("{:016x}", fnv(text.as_bytes()))
}

/// A scenario without comments, blank lines and everything that does not determine a single run: seeds, the values of
/// the sweep and, for the full form, the reduced one.
fn bare(scenario: &str, quick: bool) -> String {
    let mut within = true;
    let mut text = String::new();
    for line in scenario.lines() {
        let code = line.split_once(" #").map_or(line, |(code, _)| code).trim_end();
        if code.starts_with('[') {
            within = code != "[sweep]" && (quick || code != "[demo]");
        }
        let told = ["#", "seeds", "about"].iter().any(|head| code.starts_with(head));
        if within && !told && !code.is_empty() {
            text += &format!("{code}\n");
        }
    }
    text
}

/// FNV-1a, 64 bits (draft-eastlake-fnv): identifies a text, not cryptographic.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_values_of_the_sweep_do_not_change_a_definition() {
        let a = "# words\nname = \"x\"\nseeds = [1]\nload = 0.8 # a share\n\n[sweep]\nl = [\n  1\n]\n[demo]\nload = 1";
        let b = "name = \"x\"\nload = 0.8\nseeds = [1, 2]";
        assert_eq!(bare(a, false), bare(b, false));
        assert_ne!(bare(a, true), bare(b, true));
        assert_ne!(bare(a, false), bare("name = \"x\"\nload = 0.9", false));
        assert_ne!(fnv(b"a"), fnv(b"b"));
    }
}
