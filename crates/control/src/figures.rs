//! Series for plots, thinned without losing a peak.

use weft_draw::figure::{Axis, Figure, Series};

/// The number of points that a plot of the page's width can show.
const POINTS: usize = 1200;

/// A line of measured values; a long series is thinned to the minimum and maximum of each stretch.
pub(crate) fn line(name: &str, scheme: Option<usize>, x: &[f64], y: &[f64]) -> Series {
    let stretch = (2 * x.len()).div_ceil(POINTS).max(1);
    let mut kept = Vec::new();
    for from in (0..x.len()).step_by(stretch) {
        let to = (from + stretch).min(x.len());
        if stretch < 3 {
            kept.extend(from..to);
            continue;
        }
        let by = |a: &usize, b: &usize| y[*a].total_cmp(&y[*b]);
        let (low, high) = ((from..to).min_by(by).unwrap_or(from), (from..to).max_by(by).unwrap_or(from));
        kept.extend([low.min(high), low.max(high)]);
    }
    kept.dedup();
    while kept.last().is_some_and(|n| !y[*n].is_finite()) {
        kept.pop();
    }
    Series {
        name: name.to_owned(),
        scheme,
        x: kept.iter().map(|n| rounded(x[*n])).collect(),
        y: kept.iter().map(|n| Some(rounded(y[*n])).filter(|y| y.is_finite())).collect(),
        ..Series::default()
    }
}

/// Rounds to six significant digits, enough for a plot.
pub(crate) fn rounded(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A line plot.
pub(crate) fn lines(
    id: &str,
    title: &str,
    (x, y): (Axis, Axis),
    series: Vec<Series>,
    caption: &str,
) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        samples: String::new(),
        x,
        y,
        series,
        ..Figure::default()
    }
}
