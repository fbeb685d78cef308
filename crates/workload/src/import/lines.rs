//! A text file as numbered lines of words, and errors that point to a line. Knows no format.

use std::fmt;

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
    pub(crate) fn unreadable(file: &str, error: &std::io::Error) -> ImportError {
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
pub(super) struct Line<'a> {
    pub(super) file: &'a str,
    pub(super) number: usize,
    pub(super) words: Vec<&'a str>,
}

/// The lines of a file as words between separators (a space stands for any white space); those starting with `#`
/// are comments.
pub(super) fn lines<'a>(file: &'a str, text: &'a str, separator: char) -> impl Iterator<Item = Line<'a>> {
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
pub(super) fn ended(file: &str, allowed: &str) -> ImportError {
    let (found, allowed) = ("the end of the file".to_owned(), allowed.to_owned());
    ImportError { file: file.to_owned(), line: 0, found, allowed }
}

impl Line<'_> {
    /// An error at this line.
    pub(super) fn error(&self, found: impl Into<String>, allowed: impl Into<String>) -> ImportError {
        let file = self.file.to_owned();
        ImportError { file, line: self.number, found: found.into(), allowed: allowed.into() }
    }

    /// The word at `index` as a number in `min..=max`; `what` names it in the error.
    pub(super) fn number(
        &self,
        index: usize,
        what: &str,
        (min, max): (u64, u64),
    ) -> Result<u64, ImportError> {
        let allowed = || format!("{what}, a whole number from {min} to {max}");
        let Some(word) = self.words.get(index) else {
            return Err(self.error("the end of the line", allowed()));
        };
        let number = word.parse().ok().filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| self.error(format!("`{word}`"), allowed()))
    }
}
