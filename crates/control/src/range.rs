//! Values as typed on the command line: spans, and ranges of a setting.

use weft_core::units::did_you_mean;
use weft_core::{Bytes, Rate, Span};

use weft_prepare::Error;

/// Parses a span.
pub(crate) fn span(text: &str) -> Result<Span, Error> {
    let units = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)];
    let (number, unit) = quantity(text)?;
    let found = units.iter().find(|(name, _)| *name == unit);
    let (_, scale) = found.ok_or_else(|| bad(text, "a time such as `85 us`"))?;
    Ok(Span((number * scale).round() as u64))
}

/// Parses a size.
pub(crate) fn size(text: &str) -> Result<Bytes, Error> {
    let units = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", 1024.0), ("MiB", 1048576.0)];
    let (number, unit) = quantity(text)?;
    let found = units.iter().find(|(name, _)| *name == unit);
    let (_, scale) = found.ok_or_else(|| bad(text, "a size such as `500 kB`"))?;
    Ok(Bytes((number * scale).round() as u64))
}

fn bad(text: &str, wanted: &str) -> Error {
    Error::BadInput(format!("`{text}` is not {wanted}"))
}

/// Splits a number from its unit.
fn quantity(text: &str) -> Result<(f64, &str), Error> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| bad(text, "a number with its unit"))?;
    if !number.is_finite() || number < 0.0 {
        return Err(bad(text, "a number, at least 0"));
    }
    Ok((number, text[end..].trim()))
}

/// The quantity that varies over a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// A setting of the scenario.
    Setting(String),
    /// The number of flows.
    Flows,
    /// The delay of the loop.
    Delay,
}

/// `path=first..last:count`, in equal steps, or with `:countx` in equal ratios.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) over: Over,
    pub(crate) unit: String,
    pub(crate) values: Vec<f64>,
    /// Whether in equal ratios.
    pub(crate) ratio: bool,
}

/// More values than this are assumed to be a typing error.
const MOST: usize = 2000;

impl Range {
    /// Parses a range.
    pub(crate) fn read(text: &str) -> Result<Range, Error> {
        let form =
            "a range such as `delay=1 us..100 us:50` or `transport.dcqcn.additive_step=5 Mbps..200 Mbps:40x`";
        let (path, rest) = text.split_once('=').ok_or_else(|| bad(text, form))?;
        let (ends, count) = rest.rsplit_once(':').ok_or_else(|| bad(text, form))?;
        let (first, last) = ends.split_once("..").ok_or_else(|| bad(text, form))?;
        let (ratio, count) =
            count.trim().strip_suffix('x').map_or((false, count.trim()), |count| (true, count));
        let count: usize = count.parse().map_err(|_| bad(text, form))?;
        let ((first, unit), (last, other)) = (quantity(first)?, quantity(last)?);
        if unit != other {
            return Err(Error::BadInput(format!(
                "`{text}`: both ends of a range need the same unit{}",
                did_you_mean(other, [unit])
            )));
        }
        if !(2..=MOST).contains(&count) || last <= first || (ratio && first <= 0.0) {
            return Err(Error::BadInput(format!(
                "`{text}`: the last value must exceed the first, which must be above zero with `x`, and the count must be 2 to {MOST}"
            )));
        }
        let over = match path.trim() {
            "flows" => Over::Flows,
            "delay" => Over::Delay,
            path => Over::Setting(path.to_owned()),
        };
        Ok(Range { over, unit: unit.to_owned(), values: spaced(first, last, count, ratio), ratio })
    }

    /// A value as written in a scenario: whole bytes, packets, bits per second and picoseconds.
    pub(crate) fn typed(&self, value: f64) -> String {
        let parts = match self.unit.as_str() {
            "B" | "pkt" | "bps" | "ps" => 1.0,
            "kB" | "kbps" | "ns" => 1e3,
            "KiB" => 1024.0,
            _ => 1e6,
        };
        format!("{} {}", (value * parts).round() / parts, self.unit).trim_end().to_owned()
    }

    /// The name of the axis.
    pub(crate) fn name(&self) -> String {
        match &self.over {
            Over::Setting(path) => path.clone(),
            Over::Flows => "flows".to_owned(),
            Over::Delay => "delay of the loop".to_owned(),
        }
    }
}

fn spaced(first: f64, last: f64, count: usize, ratio: bool) -> Vec<f64> {
    let share = |n: usize| n as f64 / (count - 1) as f64;
    let at =
        |n| if ratio { first * (last / first).powf(share(n)) } else { first + (last - first) * share(n) };
    (0..count).map(at).collect()
}

/// A rate for people.
pub(crate) fn rate(bits: f64) -> String {
    Rate(bits.round() as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_whole_in_the_least_unit() {
        let range = |text| Range::read(text).expect("a range");
        let typed = |text| {
            let range = range(text);
            range.typed(range.values[1])
        };
        assert_eq!(typed("switch.ecn.red.max=50 kB..4000 kB:20x"), "62.97 kB");
        assert_eq!(typed("x=1 B..2 B:4"), "1 B");
        assert_eq!(typed("delay=1 us..2 us:4"), "1.333333 us");
    }

    #[test]
    fn ranges_have_units_and_counts() {
        let range = Range::read("delay=1 us..101 us:3").unwrap();
        assert_eq!((range.over.clone(), range.values.clone()), (Over::Delay, vec![1.0, 51.0, 101.0]));
        assert_eq!(range.typed(51.0), "51 us");
        let ratio = Range::read("a.b=1..100:3x").unwrap();
        assert!((ratio.values[1] - 10.0).abs() < 1e-9 && ratio.unit.is_empty());
        for wrong in [
            "delay",
            "delay=1 us..2 us",
            "delay=1 us..2 ms:3",
            "delay=2 us..1 us:3",
            "flows=0..9:3x",
            "a=x..y:2",
        ] {
            assert!(Range::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn spans_and_sizes_want_units() {
        assert_eq!(span("85 us").unwrap(), Span::from_us(85));
        assert_eq!(span("0.5ms").unwrap(), Span::from_us(500));
        assert_eq!(size("1.5 MB").unwrap(), Bytes(1_500_000));
        assert!(span("85").is_err() && size("3 us").is_err() && span("-1 us").is_err());
    }
}
