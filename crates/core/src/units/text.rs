//! Quantities as people write them: `"40 Gbps"`, `"2 us"`, `"300 kB"`. The unit is part of the value; ambiguous
//! spellings (`KB`, `Gb`, a bare number) are refused with a hint.

use super::{Bytes, Rate, Span};
use std::fmt;
use std::str::FromStr;

/// A spelling of a unit, and the number of base units in it.
type Unit = (&'static str, u64);

pub(super) const SPAN_UNITS: &[Unit] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
pub(super) const BYTES_UNITS: &[Unit] = &[
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
];
pub(super) const RATE_UNITS: &[Unit] =
    &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];

/// Why a text is not a quantity. The message names what is allowed and, where possible, what was meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// A number without a unit.
    #[error("a bare number; the unit is part of the value: write, for example, \"{example}\"")]
    NoUnit {
        /// A value that would be accepted.
        example: &'static str,
    },
    /// An unknown or ambiguous unit.
    #[error("`{found}` is not a valid unit here; allowed: {allowed}{hint}")]
    UnknownUnit {
        /// The unit as written.
        found: String,
        /// The spellings that are accepted.
        allowed: String,
        /// What was probably meant, or empty.
        hint: String,
    },
    /// The part before the unit is not a number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// Negative, infinite or beyond the range of the type.
    #[error("`{0}` is out of range")]
    OutOfRange(String),
    /// The value is not a whole number of base units.
    #[error("`{text}` is not a whole number of {base}")]
    NotWhole {
        /// The value as written.
        text: String,
        /// The base unit.
        base: &'static str,
    },
}

/// The candidate nearest to `name` by edit distance, if close enough to be a likely misspelling.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|&(edits, candidate)| {
            let (shorter, longer) = (candidate.len().min(name.len()), candidate.len().max(name.len()));
            edits <= 1 || edits <= 1 + longer / 4 && 2 * edits < shorter
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// The end of a message about an unknown `name`: `; did you mean `x`?`, or nothing.
#[must_use]
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours counted as one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

pub(super) fn write_exact(f: &mut fmt::Formatter<'_>, value: u64, units: &[Unit]) -> fmt::Result {
    let fitting = units.iter().filter(|(_, scale)| value.is_multiple_of(*scale) && value >= *scale);
    // 128 kB is not 125 KiB, but 65 536 B is 64 KiB.
    let length = |(name, scale): &&Unit| {
        let digits = (value / scale).checked_ilog10().unwrap_or(0);
        digits + if name.contains('i') { 2 } else { 0 }
    };
    let (name, scale) = fitting.min_by_key(length).unwrap_or(&units[0]);
    write!(f, "{} {name}", value / scale)
}

/// What parsing a kind of quantity needs: its units, an example and hints for common misspellings.
struct Grammar {
    units: &'static [Unit],
    example: &'static str,
    base: &'static str,
    hints: &'static [(&'static str, &'static str)],
}

const SPAN: Grammar = Grammar {
    units: SPAN_UNITS,
    example: "2 us",
    base: "picoseconds",
    hints: &[
        ("µs", "write us"),
        ("sec", "write s"),
        ("msec", "write ms"),
        ("usec", "write us"),
        ("m", "write s"),
    ],
};
const BYTES: Grammar = Grammar {
    units: BYTES_UNITS,
    example: "300 kB",
    base: "bytes",
    hints: &[
        ("KB", "write kB (1000) or KiB (1024)"),
        ("K", "write kB (1000) or KiB (1024)"),
        ("k", "write kB (1000) or KiB (1024)"),
        ("M", "write MB (10^6) or MiB (2^20)"),
        ("G", "write GB (10^9) or GiB (2^30)"),
        ("kb", "write kB for bytes"),
        ("Mb", "write MB for bytes"),
        ("b", "write B for bytes"),
    ],
};
const RATE: Grammar = Grammar {
    units: RATE_UNITS,
    example: "40 Gbps",
    base: "bits per second",
    hints: &[
        ("Gb", "write Gbps"),
        ("G", "write Gbps"),
        ("Gb/s", "write Gbps"),
        ("Gbit", "write Gbps"),
        ("Mb", "write Mbps"),
        ("M", "write Mbps"),
        ("Mb/s", "write Mbps"),
        ("GBps", "rates are in bits: write Gbps"),
        ("GB/s", "rates are in bits: write Gbps"),
        ("MB/s", "rates are in bits: write Mbps"),
    ],
};

impl Grammar {
    fn read(&self, text: &str) -> Result<u64, TextError> {
        let text = text.trim();
        let split = text.find(|c: char| c.is_alphabetic() || c == '%').unwrap_or(text.len());
        // "1e3 us": the exponent belongs to the number
        let split = match exponent_end(text, split) {
            Some(end) => end,
            None => split,
        };
        let (number, unit) = (text[..split].trim(), text[split..].trim());
        let digits = number.replace('_', "");
        if unit.is_empty() && digits.parse::<f64>().is_ok() {
            return Err(TextError::NoUnit { example: self.example });
        }
        let Some((_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(self.unknown(unit));
        };
        scaled(&digits, *scale, text, self.base)
    }

    fn unknown(&self, unit: &str) -> TextError {
        let names = self.units.iter().map(|(name, _)| *name);
        let hint = match self.hints.iter().find(|(wrong, _)| *wrong == unit) {
            Some((_, hint)) => format!(" ({hint})"),
            None => {
                nearest(unit, names.clone()).map_or(String::new(), |near| format!(" (did you mean {near}?)"))
            }
        };
        TextError::UnknownUnit { found: unit.to_owned(), allowed: names.collect::<Vec<_>>().join(", "), hint }
    }
}

/// The end of the number in `"1e3 us"`, if the apparent unit at `split` is an exponent.
fn exponent_end(text: &str, split: usize) -> Option<usize> {
    let rest = text[split..].strip_prefix(['e', 'E'])?;
    let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let digits = unsigned.len() - unsigned.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (digits > 0).then(|| text.len() - unsigned.len() + digits)
}

/// `digits` times `scale` as an exact integer.
fn scaled(digits: &str, scale: u64, text: &str, base: &'static str) -> Result<u64, TextError> {
    let number: f64 = digits.parse().map_err(|_| TextError::NotANumber(digits.to_owned()))?;
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(scale).ok_or_else(|| TextError::OutOfRange(text.to_owned()));
    }
    let value = number * scale as f64;
    if !value.is_finite() || value < 0.0 || value >= 2f64.powi(63) {
        return Err(TextError::OutOfRange(text.to_owned()));
    }
    if (value - value.round()).abs() > 1e-6 * value.max(1.0) {
        return Err(TextError::NotWhole { text: text.to_owned(), base });
    }
    Ok(value.round() as u64)
}

impl FromStr for Span {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Span, TextError> {
        SPAN.read(text).map(Span)
    }
}

impl FromStr for Bytes {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Bytes, TextError> {
        BYTES.read(text).map(Bytes)
    }
}

impl FromStr for Rate {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Rate, TextError> {
        RATE.read(text).map(Rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read_exactly() {
        assert_eq!("40 Gbps".parse(), Ok(Rate::from_gbps(40)));
        assert_eq!("2.5Gbps".parse(), Ok(Rate::from_mbps(2500)));
        assert_eq!("300 kB".parse(), Ok(Bytes(300_000)));
        assert_eq!("12 MiB".parse(), Ok(Bytes(12 << 20)));
        assert_eq!("0.5 us".parse(), Ok(Span::from_ns(500)));
        assert_eq!("1e3 us".parse(), Ok(Span::from_ms(1)));
        assert_eq!("1_000 us".parse(), Ok(Span::from_ms(1)));
    }

    #[test]
    fn what_is_ambiguous_is_refused_with_a_hint() {
        let message = |text: &str| text.parse::<Bytes>().unwrap_err().to_string();
        assert!(message("300 KB").contains("kB (1000) or KiB (1024)"));
        assert!(message("300").contains("bare number"));
        assert!("10 Gb".parse::<Rate>().unwrap_err().to_string().contains("write Gbps"));
        assert!("3 uss".parse::<Span>().unwrap_err().to_string().contains("did you mean us?"));
        assert!("-3 us".parse::<Span>().is_err());
        assert!("0.3 ps".parse::<Span>().is_err());
        assert!("x us".parse::<Span>().is_err());
        assert!("99999999999999999999 s".parse::<Span>().is_err());
    }

    #[test]
    fn every_display_reads_back() {
        for ps in [0, 1, 999, 1_000, 1_500, 2_000_000, 123_456_789] {
            assert_eq!(Span(ps).to_string().parse(), Ok(Span(ps)));
            assert_eq!(Bytes(ps).to_string().parse(), Ok(Bytes(ps)));
            assert_eq!(Rate(ps).to_string().parse(), Ok(Rate(ps)));
        }
    }

    #[test]
    fn nearest_finds_likely_misspellings_only() {
        assert_eq!(nearest("choises", ["choices", "memory"]), Some("choices"));
        assert_eq!(nearest("zebra", ["choices", "memory"]), None);
        assert_eq!(did_you_mean("choises", ["choices"]), "; did you mean `choices`?");
        assert_eq!(did_you_mean("zebra", ["choices"]), "");
        assert_eq!(did_you_mean("rate", ["name"]), "", "half of the letters are others");
    }
}
