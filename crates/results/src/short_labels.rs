//! Short labels for the values of a swept setting: for a table of settings, only the parts that distinguish the
//! values. Must not depend on how labels choose cases, which need them in full.

use std::collections::BTreeSet;

/// A label for each of these different values, in the same order: `red` and `step` of `kind=red min=128 kB max=1280
/// kB` and `kind=step threshold=200 kB`; if the kinds are the same, the settings that differ. Different values get
/// different labels.
#[must_use]
pub(crate) fn short_labels(values: &[String]) -> Vec<String> {
    let terms: Vec<Vec<String>> = values.iter().map(|value| terms(value)).collect();
    let short: Vec<String> = (0..values.len()).map(|own| short(&terms, own)).collect();
    let known: BTreeSet<&String> = short.iter().filter(|label| !label.is_empty()).collect();
    if values.len() > 1 && known.len() == values.len() { short } else { values.to_vec() }
}

/// The kind, and the settings that differ among the values of this kind.
fn short(values: &[Vec<String>], own: usize) -> String {
    let kind = kind_of(&values[own]);
    let alike: Vec<&Vec<String>> = values.iter().filter(|other| kind_of(other) == kind).collect();
    let differs = |term: &&String| alike.iter().any(|other| !other.contains(term));
    let settings = values[own].iter().skip(usize::from(kind.is_some())).filter(differs);
    kind.into_iter().chain(settings.map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// `red` for a value that begins with `kind=red` or `red`.
fn kind_of(terms: &[String]) -> Option<&str> {
    let first = terms.first()?;
    first.strip_prefix("kind=").or_else(|| (!first.contains('=')).then_some(first.as_str()))
}

/// The settings of a label: `min=128 kB` is one. A text that is not a table stays whole.
fn terms(label: &str) -> Vec<String> {
    if !label.contains('=') {
        return vec![label.to_owned()];
    }
    let mut terms: Vec<String> = Vec::new();
    for word in label.split(' ') {
        let ends_in_number = |term: &String| term.ends_with(|last: char| last.is_ascii_digit());
        match terms.last_mut().filter(|last| last.contains('=') && ends_in_number(last)) {
            // the unit of a number
            Some(last) if !word.contains('=') => *last += &format!(" {word}"),
            _ => terms.push(word.to_owned()),
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Vec<String> {
        short_labels(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_tells_values_apart_is_left() {
        let [red, step] =
            ["kind=red min=128 kB max=1280 kB non_ect=pass", "kind=step threshold=200 kB non_ect=pass"];
        assert_eq!(of(&[red, step]), ["red", "step"]);
        let steeper = "kind=red min=128 kB max=640 kB non_ect=pass";
        assert_eq!(of(&[red, step, steeper]), ["red max=1280 kB", "step", "red max=640 kB"]);
        assert_eq!(of(&["drill", "drill choices=2", "ecmp"]), ["drill", "drill choices=2", "ecmp"]);
        assert_eq!(of(&["min=1 kB max=2 kB", "min=1 kB max=4 kB"]), ["max=2 kB", "max=4 kB"]);
        for whole in [["10 us", "20 us"], ["5 pkt", "200 pkt"], ["one word", "two word"]] {
            assert_eq!(of(&whole), whole);
        }
    }

    #[test]
    fn different_values_never_get_one_label() {
        for values in [["a x=1 y=1 x=1", "a x=1 y=1"], ["tlt x=1", "tlt x=1 "], ["one two", "two one"]] {
            assert_eq!(of(&values), values);
        }
        assert_eq!(
            of(&["kind=red min=1 kB"]),
            ["kind=red min=1 kB"],
            "of a single value nothing is known to differ"
        );
    }
}
