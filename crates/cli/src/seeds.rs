//! Seeds on the command line: numbers and ranges.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// More seeds than this are assumed to be a typing error.
const MOST: u64 = 100_000;

/// A seed, `7`, or an inclusive range, `1..20` or `1-20`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seeds(RangeInclusive<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let number = |text: &str| {
            text.trim()
                .parse::<u64>()
                .map_err(|_| "not a whole number such as 7, or a range such as 1..20".to_owned())
        };
        let (from, to) = match text.split_once("..").or_else(|| text.split_once('-')) {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(text)?, number(text)?),
        };
        match to.checked_sub(from) {
            None => Err(format!("the range ends before it begins; {to}..{from} is not empty")),
            Some(more) if more >= MOST => Err(format!("more than {MOST} seeds")),
            Some(_) => Ok(Seeds(from..=to)),
        }
    }
}

/// All seeds, in the order given.
pub(crate) fn all(seeds: &[Seeds]) -> Vec<u64> {
    seeds.iter().flat_map(|Seeds(range)| range.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends() {
        let of = |text: &str| text.parse::<Seeds>().map(|seeds| all(&[seeds]));
        assert_eq!(of("7"), Ok(vec![7]));
        assert_eq!(of("3..5"), Ok(vec![3, 4, 5]));
        assert_eq!(of("3-5"), Ok(vec![3, 4, 5]));
        for bad in [
            "",
            "x",
            "5..3",
            "1..",
            "..2",
            "-1",
            "1..10000000",
            "1..2..3",
            "1-2-3",
            "5-3",
            "3-",
            "0..18446744073709551615",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
