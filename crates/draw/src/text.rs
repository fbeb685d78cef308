//! Numbers as people read them: three significant digits, thin spaces, units spelled as in the scenario file.

/// The narrow no-break space between groups of digits and before units.
pub const THIN: char = '\u{202f}';

/// Shown instead of a number for quantities that the engine did not measure.
pub const NOT_MEASURED: &str = "not measured";

/// Three significant digits: `1.62`, `41.0`, `61 000`, `0.00410`.
#[must_use]
pub fn number(value: f64) -> String {
    significant(value, 3)
}

/// A number with `digits` significant digits, at least one.
#[must_use]
pub fn significant(value: f64, digits: i32) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_finite() => signed(value, |size| magnitude(size, digits)),
        _ => "–".to_owned(),
    }
}

/// The text of a value's size, with a minus sign (U+2212, as in the plots of pages) if the value is negative.
fn signed(value: f64, text: impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    sign.to_owned() + &text(value.abs())
}

fn magnitude(value: f64, digits: i32) -> String {
    let places = (digits - 1) as usize;
    let scientific = format!("{value:.places$e}");
    let exponent = scientific.split_once('e').map_or(0, |(_, e)| e.parse().unwrap_or(0));
    if exponent < -4 {
        return scientific;
    }
    let after = digits - 1 - exponent;
    let scale = 10f64.powi(after);
    let rounded = (value * scale).round() / scale;
    if after <= 0 { grouped(rounded.round()) } else { format!("{rounded:.*}", after as usize) }
}

/// A whole number in full, with its digits in groups of three.
#[must_use]
pub fn count(value: u64) -> String {
    grouped(value as f64)
}

fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) && digits.len() > 4 {
            text.push(THIN);
        }
        text.push(digit);
    }
    text
}

/// Rounded to five significant digits, to keep files small; zero if it is not finite.
#[must_use]
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(4 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    // the shortest text of the rounded value has at most five digits
    format!("{rounded:.5e}").parse().unwrap_or(rounded)
}

/// [`rounded`], for a value that is shown with three digits later: unrounded where five digits would lead to others.
#[must_use]
pub fn plotted(value: f64) -> f64 {
    let few = rounded(value);
    if !value.is_finite() || format!("{few:.2e}") == format!("{value:.2e}") { few } else { value }
}

/// A configured number, with no more digits than it has.
#[must_use]
pub fn plain(value: f64) -> String {
    signed(
        value,
        |size| if size >= 10_000.0 && size.fract() == 0.0 { grouped(size) } else { size.to_string() },
    )
}

/// Microseconds in a suitable unit: `412 us`, `17.3 ms`, `1.20 s`.
#[must_use]
pub fn duration(us: f64) -> String {
    let (scale, unit) = duration_unit(us);
    format!("{}{THIN}{unit}", number(us / scale))
}

/// A suitable unit for a time in microseconds, and its length in microseconds.
#[must_use]
pub fn duration_unit(us: f64) -> (f64, &'static str) {
    match us.abs() {
        x if x >= 999_500.0 => (1e6, "s"),
        x if x >= 999.5 => (1e3, "ms"),
        x if x >= 0.9995 || x == 0.0 => (1.0, "us"),
        _ => (1e-3, "ns"),
    }
}

/// Bytes in a suitable unit: `1.50 kB`, `12.6 MB`.
#[must_use]
pub fn size(bytes: f64) -> String {
    let (scale, unit) = size_unit(bytes);
    let digits = if scale == 1.0 { count(bytes as u64) } else { number(bytes / scale) };
    format!("{digits}{THIN}{unit}")
}

/// A suitable unit for a size, and its number of bytes.
#[must_use]
pub fn size_unit(bytes: f64) -> (f64, &'static str) {
    match bytes.abs() {
        x if x >= 999.5e6 => (1e9, "GB"),
        x if x >= 999.5e3 => (1e6, "MB"),
        x if x >= 999.5 => (1e3, "kB"),
        _ => (1.0, "B"),
    }
}

/// A number of things: `1 flow`, `31 flows`, `8 switches`, `16 leaves`.
#[must_use]
pub fn plural(amount: u64, word: &str) -> String {
    match amount {
        1 => format!("1 {word}"),
        _ => format!("{} {}", count(amount), plural_of(word)),
    }
}

/// The plural of a word.
#[must_use]
pub fn plural_of(word: &str) -> String {
    match word.strip_suffix('f') {
        Some(stem) => format!("{stem}ves"),
        None if word.ends_with("ch") || word.ends_with('x') || word.ends_with('s') => format!("{word}es"),
        None => format!("{word}s"),
    }
}

/// A fraction in per cent.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{}{THIN}%", number(share * 100.0))
}

/// A value in the unit of its metric; a whole number of things in full.
#[must_use]
pub fn value(value: f64, unit: &str) -> String {
    let is_count = |least: f64| value.fract() == 0.0 && (least..1e15).contains(&value);
    match unit {
        "us" => duration(value),
        "B" => size(value),
        "" if is_count(1e3) => count(value as u64),
        "" => number(value),
        "packets" if is_count(0.0) => format!("{}{THIN}{unit}", count(value as u64)),
        unit => format!("{}{THIN}{unit}", number(value)),
    }
}

/// A clause as the start of a sentence.
#[must_use]
pub fn capitalised(words: &str) -> String {
    let (first, rest) = words.split_at(words.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

/// `text` with the characters escaped that are special in HTML.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is plotted is rounded again, to three digits, when it is shown.
    #[test]
    fn a_plotted_value_shows_the_same_three_digits() {
        assert_eq!((rounded(6.854_97), plotted(6.854_97)), (6.855, 6.854_97), "shown as 6.86, and as 6.85");
        assert_eq!([plotted(6.854_321), plotted(12_345_678.0)], [6.8543, 12_346_000.0]);
        assert_eq!([plotted(0.0), plotted(f64::NAN), plotted(f64::INFINITY)], [0.0; 3]);
        for n in 0..20_000 {
            let value = 1.0 + f64::from(n) * 0.000_449_7;
            assert_eq!(format!("{:.2e}", plotted(value)), format!("{value:.2e}"), "{value}");
        }
    }

    #[test]
    fn three_significant_digits_and_thin_spaces() {
        let cases = [
            (1.6200001, "1.62"),
            (1.6, "1.60"),
            (41.04, "41.0"),
            (999.6, "1000"),
            (61_234.0, "61\u{202f}200"),
            (0.0041, "0.00410"),
            (-2.5, "−2.50"),
            (-102.4, "−102"),
            (-61_234.0, "−61\u{202f}200"),
            (-0.000_041, "−4.10e-5"),
            (0.0, "0"),
            (9.999, "10.0"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!([-2.5, -12_000.0].map(plain), ["−2.5", "−12\u{202f}000"]);
        assert_eq!((significant(0.0641, 2), significant(75.6, 2)), ("0.064".to_owned(), "76".to_owned()));
        assert_eq!((count(61_000), count(1_234)), ("61\u{202f}000".to_owned(), "1234".to_owned()));
    }

    #[test]
    fn units_are_those_of_the_scenario_file() {
        assert_eq!(duration(17_300.0), "17.3\u{202f}ms");
        assert_eq!(duration(999.7), "1.00\u{202f}ms");
        assert_eq!(duration(0.25), "250\u{202f}ns");
        assert_eq!(size(12_600_000.0), "12.6\u{202f}MB");
        assert_eq!(size(64.0), "64\u{202f}B");
        assert_eq!(percent(0.004), "0.400\u{202f}%");
    }
}
