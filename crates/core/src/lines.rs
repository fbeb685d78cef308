//! A text file of another program as numbered lines of words, and errors that point to a line. Must not depend on
//! file formats; opens no files.

use crate::Span;
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

/// Everything that is wrong with a file, in the order of its lines; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ImportErrors(Vec<ImportError>);

/// The most errors of a file that are printed; all are counted.
const PRINTED: usize = 100;

impl From<ImportError> for ImportErrors {
    fn from(error: ImportError) -> ImportErrors {
        ImportErrors(vec![error])
    }
}

impl fmt::Display for ImportErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages().join("\n"))
    }
}

impl ImportErrors {
    /// One message for each of the first hundred errors, and one that counts the others.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let printed = self.0.iter().take(PRINTED).map(ToString::to_string);
        let others = self.0.len().saturating_sub(PRINTED);
        printed
            .chain((others > 0).then(|| format!("{}: {others} more lines like these", self.0[0].file)))
            .collect()
    }
}

/// All values, or all errors.
///
/// # Errors
/// When there is at least one error.
pub fn all_or_errors<T>(
    results: impl Iterator<Item = Result<T, ImportError>>,
) -> Result<Vec<T>, ImportErrors> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(ImportErrors(errors)) }
}

/// One line that is neither empty nor a comment.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Its number, from 1.
    pub number: usize,
    /// Its words.
    pub words: Vec<&'a str>,
}

/// The lines of a file as words between separators (a space means any white space); lines starting with `#` are
/// comments. A byte order mark at the start is not part of the first word.
pub fn lines<'a>(file: &'a str, text: &'a str, separator: char) -> impl Iterator<Item = Line<'a>> {
    let numbered = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
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
    /// # Errors
    /// If there is no such word, or it is not such a number.
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

    /// The word at `index` as a time, possibly with a fraction, in units of `unit` picoseconds, rounded to whole
    /// picoseconds; `what` names it in the error.
    ///
    /// # Errors
    /// If there is no such word, or it is not a time in range.
    pub fn time(&self, index: usize, what: &str, unit: u64) -> Result<Span, ImportError> {
        let allowed = || format!("{what}, a number from 0 to {}", u64::MAX / unit);
        let Some(word) = self.words.get(index) else {
            return Err(self.error("the end of the line", allowed()));
        };
        picoseconds(word, unit).map(Span).ok_or_else(|| self.error(format!("`{word}`"), allowed()))
    }
}

/// Converts decimal digits exactly, because a double resolves a start time of several days only to a nanosecond;
/// numbers with an exponent go through a double.
fn picoseconds(word: &str, unit: u64) -> Option<u64> {
    if word.contains(['e', 'E']) {
        let scaled = word.parse::<f64>().ok()? * unit as f64;
        return (0.0..u64::MAX as f64).contains(&scaled).then(|| scaled.round() as u64);
    }
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10_u128.pow(fraction.len() as u32);
    let part = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()? };
    let rounded = (part * u128::from(unit) + scale / 2) / scale;
    whole.checked_mul(unit)?.checked_add(u64::try_from(rounded).ok()?)
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
    fn a_time_may_have_a_fraction_and_is_exact_to_the_picosecond() {
        let of = |word, unit| picoseconds(word, unit);
        assert_eq!(
            [of("1.5", 1_000), of("7", 1_000), of(".25", 1_000)],
            [Some(1_500), Some(7_000), Some(250)]
        );
        assert_eq!(of("999999.000000000001", 1_000_000_000_000), Some(999_999_000_000_000_001));
        assert_eq!(
            [of("0.0004", 1_000), of("0.0006", 1_000), of("1e-05", 1_000_000)],
            [Some(0), Some(1), Some(10)]
        );
        for word in ["", ".", "-1", "+1", "1.5.5", "x", "1.x", "nan", "1e400", "-1e3", "99999999999999999999"]
        {
            assert_eq!(of(word, 1_000), None, "{word}");
        }
    }

    #[test]
    fn many_errors_are_counted() {
        let error = |number| Line { file: "f", number, words: Vec::new() }.error("x", "y");
        let errors =
            all_or_errors((0..300).map(|n| if n == 1 { Ok(()) } else { Err(error(n)) })).unwrap_err();
        let messages = errors.messages();
        assert_eq!((messages.len(), messages[100].as_str()), (101, "f: 199 more lines like these"));
        assert_eq!(all_or_errors([Ok(1), Ok(2)].into_iter()), Ok(vec![1, 2]));
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
