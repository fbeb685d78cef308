//! Wraps text into lines that fit a terminal.

use crate::visible::visible;

/// The width of all terminal output, in characters.
pub const WIDTH: usize = 80;

/// Lines of at most `width` characters, broken at spaces; a longer word gets a line of its own.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            let gap = if line.is_empty() { "" } else { " " };
            *line += &format!("{gap}{word}");
        }
    }
    lines.iter().map(|line| visible(line).replace('\u{202f}', " ")).collect()
}

/// A paragraph whose lines start after `indent` spaces and end within [`WIDTH`], however its source is broken.
#[must_use]
pub fn indented(text: &str, indent: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lines = wrapped(&words.join(" "), WIDTH - indent);
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_they_may_be_and_no_longer() {
        assert_eq!(wrapped("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrapped("ab abcdefg cd", 5), ["ab", "abcdefg", "cd"]);
        assert_eq!(wrapped("1\u{202f}kB", 80), ["1 kB"]);
    }

    #[test]
    fn a_paragraph_does_not_show_how_its_source_was_broken() {
        let text = indented(&"word\n  ".repeat(20), 6);
        assert!(text.lines().all(|line| line.starts_with("      word") && line.len() <= WIDTH), "{text}");
        assert_eq!((text.matches("word").count(), text.lines().count()), (20, 2));
    }
}
