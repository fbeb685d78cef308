//! Which text decides whether a change of results concerns a claim. Must not depend on how claims are written.

/// The heading of a case in a scenario file.
const CASE: &str = "[[sweep.case]]";

/// The inputs of a claim's runs: the scenarios (without cases that its measures do not name, if they name any), the
/// measures, and the overrides of the source.
pub(crate) fn text_of(scenarios: &str, asked: &str, overrides: &[&str]) -> String {
    format!("{}\n{asked}\n{}", with_cases(scenarios, asked), overrides.join("\n"))
}

/// A text without the cases that a measure does not name; the whole text if it names none.
fn with_cases(text: &str, asked: &str) -> String {
    let parts = parts(text);
    let is_asked = |part: &&&str| name_of(part).is_some_and(|name| names(asked, name));
    if !parts.iter().any(|part| is_asked(&part)) {
        return text.to_owned();
    }
    let kept = parts.iter().filter(|part| name_of(part).is_none() || is_asked(part));
    kept.copied().collect::<Vec<_>>().join("\n")
}

/// Each case, with its subtables, and the text between cases.
fn parts(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let heading = line.trim_start();
        let goes_on = heading.starts_with("[sweep.case.") || heading.starts_with("[[sweep.case.");
        if heading.starts_with(CASE) || heading.starts_with('[') && !goes_on {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(text.len());
    starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// The name of a case; `None` for other parts of a scenario.
fn name_of(part: &str) -> Option<&str> {
    let body = part.trim_start().strip_prefix(CASE)?;
    let line = body.lines().find(|line| line.trim_start().starts_with("name"))?;
    line.split('"').nth(1)
}

/// Whether a measure contains a name as a whole word.
pub(crate) fn names(asked: &str, name: &str) -> bool {
    let inside = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || "-_.".contains(letter))
    };
    asked.match_indices(name).any(|(at, _)| {
        !inside(asked[..at].chars().next_back()) && !inside(asked[at + name.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "weft = 1\n[[sweep.case]]\nname = \"a\"\n\"switch.arbiter\" = \"pdq\"\n[[sweep.case]]\n\
                        name = \"a-b\"\ntransport = \"cubic\"\n[demo]\nseeds = [1]\n";

    #[test]
    fn a_claim_concerns_the_cases_that_it_names() {
        let of_b = with_cases(TEXT, "fct.mean(a-b) / 2");
        assert!(!of_b.contains("pdq") && of_b.contains("cubic") && of_b.contains("[demo]"), "{of_b}");
        let of_a = with_cases(TEXT, "fct.mean(load=0.5, case=a)");
        assert!(of_a.contains("pdq") && !of_a.contains("cubic"), "{of_a}");
        assert_eq!(with_cases(TEXT, "fct.mean"), TEXT, "whoever names none means all");
    }
}
