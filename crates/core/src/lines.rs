//! A text file of another program as numbered lines of words, and errors that point to a line. Must not depend on
//! file formats; opens no files.

use std::fmt;
use std::str::FromStr;

/// Why a file was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ImportError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1; 0: the file as a whole.
    pub line: usize,
    /// What was found.
    pub found: String,
    /// What is allowed there.
    pub allowed: String,
}

impl ImportError {
    /// The error of a file that cannot be opened.
    #[must_use]
    pub fn unreadable(file: &str, error: &std::io::Error) -> ImportError {
        let (found, allowed) = (error.to_string(), "a readable text file".to_owned());
        ImportError { file: file.to_owned(), line: 0, found, allowed }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: ", self.file)?,
            line => write!(f, "{}:{line}: ", self.file)?,
        }
        write!(f, "found {}; allowed: {}", self.found, self.allowed)
    }
}

/// One line that is neither empty nor a comment.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Its number, from 1.
    pub number: usize,
    /// What stands in it.
    pub words: Vec<&'a str>,
}

/// The lines of a file as words between separators (a space means any white space); lines starting with `#` are
/// comments.
pub fn lines<'a>(file: &'a str, text: &'a str, separator: char) -> impl Iterator<Item = Line<'a>> {
    let numbered = text.lines().enumerate();
    let worded =
        numbered.map(move |(index, line)| Line { file, number: index + 1, words: words(line, separator) });
    worded.filter(|line| line.words.first().is_some_and(|word| !word.starts_with('#')))
}

fn words(line: &str, separator: char) -> Vec<&str> {
    match separator {
        ' ' => line.split_whitespace().collect(),
        _ if line.trim().is_empty() => Vec::new(),
        _ => line.split(separator).map(str::trim).collect(),
    }
}

/// The error of a file that ends too early.
#[must_use]
pub fn ended(file: &str, allowed: &str) -> ImportError {
    let (found, allowed) = ("the end of the file".to_owned(), allowed.to_owned());
    ImportError { file: file.to_owned(), line: 0, found, allowed }
}

impl Line<'_> {
    /// An error at this line.
    #[must_use]
    pub fn error(&self, found: impl Into<String>, allowed: impl Into<String>) -> ImportError {
        let file = self.file.to_owned();
        ImportError { file, line: self.number, found: found.into(), allowed: allowed.into() }
    }

    /// The word at `index` as a whole number in `min..=max`; `what` names it in the error.
    ///
    /// # Errors If there is no such word, or it is not such a number.
    pub fn number<N>(&self, index: usize, what: &str, (min, max): (N, N)) -> Result<N, ImportError>
    where
        N: FromStr + PartialOrd + fmt::Display,
    {
        let allowed = || format!("{what}, a whole number from {min} to {max}");
        let Some(word) = self.words.get(index) else {
            return Err(self.error("the end of the line", allowed()));
        };
        let number = word.parse().ok().filter(|number| (&min..=&max).contains(&number));
        number.ok_or_else(|| self.error(format!("`{word}`"), allowed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_and_comments_count_but_are_not_given() {
        let found: Vec<_> =
            lines("f", "# a\n\n1 2\n  3\n", ' ').map(|line| (line.number, line.words)).collect();
        assert_eq!(found, [(3, vec!["1", "2"]), (4, vec!["3"])]);
        let cells: Vec<_> = lines("f", "a, b,\n \n", ',').map(|line| line.words).collect();
        assert_eq!(cells, [["a", "b", ""]]);
    }

    #[test]
    fn an_error_says_where_what_and_what_is_allowed() {
        let line = lines("f", "7 x", ' ').next().expect("one line");
        assert_eq!(line.number(0, "a host", (0, 7)), Ok(7_u32));
        let refused = |index| line.number(index, "a host", (0_u32, 6)).expect_err("refused").to_string();
        assert_eq!(refused(0), "f:1: found `7`; allowed: a host, a whole number from 0 to 6");
        assert!(refused(1).contains("found `x`") && refused(2).contains("found the end of the line"));
        assert_eq!(ended("f", "more").to_string(), "f: found the end of the file; allowed: more");
    }
}
