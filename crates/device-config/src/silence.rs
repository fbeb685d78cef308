//! Comments that silence rules: `weft lint: allow RULE, RULE -- reason` on a line of its own applies to the next line
//! and to lines indented below that; at the end of a line, to that line; `allow-file` applies to the file. Formats
//! without comments have their own way, with an equal list of rules. Must not depend on rules.

use crate::told::Silenced;
use weft_config::place::{Spot, lines};

const COMMENT: &str = "weft lint: allow";
/// Maximum number of such comments in a file.
const MOST: usize = 1_000;

/// The rules in a list, up to a reason after two dashes.
pub(crate) fn names(list: &str) -> Vec<String> {
    let list = list.split("--").next().unwrap_or("");
    let words = list.split([',', ' ', '\t', ':']).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The comments of a file; `marks` start a comment.
pub(crate) fn comments(file: usize, text: &str, marks: &[char]) -> Result<Vec<Silenced>, String> {
    let all: Vec<(usize, &str)> = lines(text).collect();
    let mut silenced = Vec::new();
    for (number, (start, line)) in all.iter().enumerate() {
        let Some(place) = line.find(COMMENT) else { continue };
        let before = line[..place].trim_end();
        if !before.ends_with(marks) {
            continue;
        }
        let list = &line[place + COMMENT.len()..];
        let (list, from, to) = match list.strip_prefix("-file") {
            Some(list) => (list, 0, text.len() + 1),
            None if before.trim_start().trim_start_matches(marks).is_empty() => {
                let (from, to) = below(&all[number + 1..], marks).unwrap_or((*start, *start));
                (list, from, to)
            }
            None => (list, *start, start + line.len()),
        };
        silenced.push(Silenced { at: Spot { file, at: start + place }, from, to, rules: names(list) });
    }
    match silenced.len() {
        0..=MOST => Ok(silenced),
        many => Err(format!("found {many} comments that silence rules; allowed: up to {MOST}")),
    }
}

/// The range of the next line that is not a comment, and of lines indented below it.
fn below(rest: &[(usize, &str)], marks: &[char]) -> Option<(usize, usize)> {
    let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with(marks);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = rest.iter().position(|(_, line)| says(line))?;
    let (from, head) = rest[first];
    let inside = rest[first + 1..].iter().take_while(|(_, line)| !says(line) || indent(line) > indent(head));
    let last = inside.last().unwrap_or(&rest[first]);
    Some((from, last.0 + last.1.len() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_holds_for_the_next_line_and_what_is_below_it() {
        let text = "! weft lint: allow a, b -- on purpose\n! more\ninterface E1\n   mtu 9\n!\ninterface E2\n";
        let found = comments(0, text, &['!']).unwrap();
        assert_eq!((found.len(), &found[0].rules[..]), (1, &["a".to_owned(), "b".to_owned()][..]));
        assert_eq!(&text[found[0].from..found[0].to], "interface E1\n   mtu 9\n!\n");
    }

    #[test]
    fn behind_something_it_holds_for_its_line_and_for_a_file_if_it_says_so() {
        let text = "x = 1 # weft lint: allow a\ny = \"weft lint: allow b\"\n# weft lint: allow-file c\n";
        let found = comments(0, text, &['#', ';']).unwrap();
        let stretches: Vec<(usize, usize)> = found.iter().map(|one| (one.from, one.to)).collect();
        assert_eq!(stretches, [(0, 26), (0, text.len() + 1)]);
    }

    #[test]
    fn a_comment_at_the_end_holds_for_nothing() {
        let found = comments(0, "# weft lint: allow a", &['#']).unwrap();
        assert_eq!(found[0].from, found[0].to);
    }
}
