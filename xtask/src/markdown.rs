//! The parts of Markdown that the checks need: links, code spans and headings outside code blocks, and the anchors of
//! headings.

/// A link in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DocumentLink<'a> {
    /// Line, counted from 1.
    pub(crate) line: usize,
    /// The text in the parentheses.
    pub(crate) target: &'a str,
}

/// The lines outside fenced code, with their numbers.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        (!inside && !fence).then_some((index + 1, line))
    })
}

/// All inline links and pictures outside code.
pub(crate) fn links(text: &str) -> Vec<DocumentLink<'_>> {
    let mut found = Vec::new();
    for (line, content) in prose(text) {
        // Every second piece between back-ticks is code.
        for piece in content.split('`').step_by(2) {
            let targets = piece.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            found.extend(targets.map(|(target, _)| DocumentLink { line, target }));
        }
    }
    found
}

/// All code between single back-ticks, with its line.
pub(crate) fn code_spans(text: &str) -> Vec<(usize, &str)> {
    prose(text)
        .flat_map(|(line, content)| content.split('`').skip(1).step_by(2).map(move |code| (line, code)))
        .collect()
}

/// The anchors of all headings.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    headings(text).map(anchor).collect()
}

/// The headings, in order, without their marks.
pub(crate) fn headings(text: &str) -> impl Iterator<Item = &str> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| line.trim_start_matches('#').trim())
}

/// Lower case, spaces as hyphens, other marks removed.
fn anchor(heading: &str) -> String {
    let kept = |letter: char| match letter {
        ' ' | '-' => Some('-'),
        '_' => Some('_'),
        other => other.is_alphanumeric().then_some(other),
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# A page, with marks!
See [one](a.md#x) and [`two`](b.md), not `[three](c.md)`.
```text
[four](d.md)
# no heading
```
![picture](images/e.png)
## One-hop `name`
";

    #[test]
    fn links_are_found_outside_code_only() {
        let found: Vec<(usize, &str)> = links(TEXT).iter().map(|link| (link.line, link.target)).collect();
        assert_eq!(found, [(2, "a.md#x"), (2, "b.md"), (7, "images/e.png")]);
    }

    #[test]
    fn code_is_what_stands_between_back_ticks() {
        assert_eq!(code_spans("a `b` c\nd [`e/f`](g)\n"), [(1, "b"), (2, "e/f")]);
    }

    #[test]
    fn anchors_follow_the_headings() {
        assert_eq!(anchors(TEXT), ["a-page-with-marks", "one-hop-name"]);
    }
}
