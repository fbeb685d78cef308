//! Whether a value lies within the others' range, and how numbers are written in tables.

/// Minimum and maximum of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    least: f64,
    greatest: f64,
}

impl Spread {
    /// The spread of these values; `None` if there are none.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Spread> {
        values.fold(None, |spread, value| {
            let Spread { least, greatest } = spread.unwrap_or(Spread { least: value, greatest: value });
            Some(Spread { least: least.min(value), greatest: greatest.max(value) })
        })
    }

    /// Both ends.
    pub(crate) fn shown(self) -> String {
        format!("{} to {}", cell(Some(self.least)), cell(Some(self.greatest)))
    }

    /// `inside`, or the relative distance below or above the nearer end.
    pub(crate) fn verdict(self, value: f64) -> String {
        let percent = |end: f64| (value / end - 1.0).abs() * 100.0;
        if value < self.least {
            format!("{:.1} % below", percent(self.least))
        } else if value > self.greatest {
            format!("{:.1} % above", percent(self.greatest))
        } else {
            "inside".to_owned()
        }
    }
}

/// A number with an appropriate number of digits, or a dash.
pub(crate) fn cell(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 200.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_outside_is_measured_from_the_nearer_end() {
        let spread = Spread::of([200.0, 100.0, 150.0].into_iter()).expect("there are values");
        assert_eq!(spread.verdict(100.0), "inside");
        assert_eq!(spread.verdict(90.0), "10.0 % below");
        assert_eq!(spread.verdict(210.0), "5.0 % above");
        assert_eq!(spread.shown(), "100.0 to 200");
        assert_eq!(Spread::of([].into_iter()), None);
    }
}
