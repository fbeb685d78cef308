//! A line plot as a standalone SVG, for pages without the report's script. Takes the same data as the script and draws
//! the same plot: points joined, whiskers for intervals, published data dotted.

use crate::figure::{Axis, Figure, Series};
use crate::svg;
use crate::text::{escaped, plain, rounded};
use std::fmt::Write as _;

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 250.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 48.0;
/// Colours of the schemes: distinguishable on white for readers with red-green colour blindness.
const COLOURS: [&str; 6] = ["#0b6e99", "#d1603d", "#5b8c2a", "#7b4fa3", "#b8860b", "#555555"];

/// Draws a line plot.
#[must_use]
pub fn lines(figure: &Figure) -> String {
    let x = Scale::new(
        &figure.x,
        figure.series.iter().flat_map(|one| one.x.iter().copied()),
        (LEFT, WIDTH - RIGHT),
    );
    let values = figure.series.iter().flat_map(|one| one.y.iter().flatten().copied());
    let y = Scale::new(&figure.y, values, (HEIGHT - BOTTOM, TOP));
    let mut parts = String::new();
    axes(&mut parts, figure, &x, &y);
    let colour = |number: usize, one: &Series| COLOURS[one.scheme.unwrap_or(number) % COLOURS.len()];
    // small dots over large circles, so that both are visible where they agree
    for reference in [true, false] {
        for (number, one) in figure.series.iter().enumerate().filter(|(_, one)| one.reference == reference) {
            series(&mut parts, one, colour(number, one), (&x, &y));
            key(&mut parts, one, colour(number, one), number);
        }
    }
    svg::document((WIDTH, HEIGHT), 12, &figure.title, &parts)
}

/// Maps values to coordinates.
struct Scale {
    log: bool,
    values: (f64, f64),
    places: (f64, f64),
    ticks: Vec<f64>,
}

impl Scale {
    /// A scale that maps the range of these values to `places`, in pixels.
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, places: (f64, f64)) -> Scale {
        let shown = values.filter(|value| value.is_finite() && (!axis.log || *value > 0.0));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = match (axis.log, low < high) {
            (_, true) => (low, high),
            (true, false) if low.is_finite() => {
                ((low / 10.0).max(f64::MIN_POSITIVE), (low * 10.0).min(f64::MAX))
            }
            (true, false) => (1.0, 10.0),
            (false, false) => (low.min(0.0), high.max(0.0) + 1.0),
        };
        let ticks = if axis.log { decades(low, high) } else { steps(low, high) };
        let first = ticks.first().map_or(low, |tick| tick.min(low));
        let last = ticks.last().map_or(high, |tick| tick.max(high));
        Scale { log: axis.log, values: (first, last), places, ticks }
    }

    fn place(&self, value: f64) -> f64 {
        let measure = |value: f64| if self.log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (from, to) = (measure(self.values.0), measure(self.values.1));
        let share = ((measure(value) - from) / (to - from)).clamp(0.0, 1.0);
        self.places.0 + share * (self.places.1 - self.places.0)
    }
}

/// Powers of ten around these values.
fn decades(low: f64, high: f64) -> Vec<f64> {
    (low.log10().floor() as i32..=high.log10().ceil() as i32)
        .map(|power| rounded(10_f64.powi(power)))
        .collect()
}

/// About six round values that cover this range.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let unit = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|times| times * unit)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(unit);
    ((low / step).floor() as i64..=(high / step).ceil() as i64).map(|n| rounded(n as f64 * step)).collect()
}

fn axes(svg: &mut String, figure: &Figure, x: &Scale, y: &Scale) {
    let (right, base) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for tick in &y.ticks {
        let at = y.place(*tick);
        let _ = writeln!(svg, "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#dddddd\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            plain(*tick)
        );
    }
    for tick in &x.ticks {
        let at = x.place(*tick);
        let _ = writeln!(svg, "<path d=\"M{at:.1} {base}v5\" stroke=\"#444444\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            base + 18.0,
            plain(*tick)
        );
    }
    let _ = writeln!(svg, "<path d=\"M{LEFT} {base}H{right}\" stroke=\"#444444\"/>");
    let _ = writeln!(svg, "<text x=\"8\" y=\"16\" font-weight=\"bold\">{}</text>", named(&figure.y));
    let middle = (LEFT + right) / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>",
        HEIGHT - 10.0,
        named(&figure.x)
    );
}

fn named(axis: &Axis) -> String {
    let unit = if axis.unit.is_empty() { String::new() } else { format!(", {}", axis.unit) };
    escaped(&(axis.name.clone() + &unit))
}

/// The SVG attributes of a line: widely dotted for published data.
fn look(one: &Series, colour: &str) -> String {
    let dash = if one.reference { " stroke-dasharray=\"2 4\"" } else { "" };
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dash}")
}

fn series(svg: &mut String, one: &Series, colour: &str, (x, y): (&Scale, &Scale)) {
    let points =
        || one.x.iter().zip(&one.y).filter_map(|(at, value)| Some((x.place(*at), y.place((*value)?))));
    let way: Vec<String> = points().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = writeln!(svg, "<path d=\"M{}\" {}/>", way.join("L"), look(one, colour));
    let (fill, radius) = if one.reference { ("#ffffff", 3.8) } else { (colour, 2.2) };
    for (x, y) in points().filter(|_| one.x.len() <= 60) {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{colour}\"/>"
        );
    }
    for (at, (low, high)) in one.x.iter().zip(one.low.iter().zip(&one.high)) {
        if let (Some(low), Some(high)) = (low, high) {
            let (at, low, high) = (x.place(*at), y.place(*low), y.place(*high));
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {low:.1}V{high:.1}\" stroke=\"{colour}\" stroke-opacity=\"0.5\"/>"
            );
        }
    }
}

/// An entry of the legend.
fn key(svg: &mut String, one: &Series, colour: &str, number: usize) {
    let (from, at) = (WIDTH - RIGHT + 16.0, TOP + 12.0 + 20.0 * number as f64);
    let _ = writeln!(svg, "<path d=\"M{from} {at}h26\" {}/>", look(one, colour));
    let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", from + 33.0, at + 4.0, escaped(&one.name));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        let one = |name: &str, reference, y: [f64; 3]| Series {
            name: name.to_owned(),
            scheme: Some(0),
            reference,
            x: vec![0.0, 5.0, 10.0],
            y: y.map(Some).to_vec(),
            ..Series::default()
        };
        Figure {
            title: "a < b".to_owned(),
            x: Axis::linear("load", ""),
            y: Axis::log("time", "us"),
            series: vec![
                one("measured", false, [10.0, 100.0, 1_000.0]),
                one("published", true, [20.0, 90.0, 800.0]),
            ],
            ..Figure::default()
        }
    }

    #[test]
    fn points_lie_where_the_axes_say() {
        let svg = lines(&figure());
        let (left, right, base) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
        let middle = ((left + right) / 2.0, (TOP + base) / 2.0);
        let measured = format!("M{left:.1} {base:.1}L{:.1} {:.1}L{right:.1} {TOP:.1}", middle.0, middle.1);
        assert!(svg.contains(&measured), "{measured} in {svg}");
        assert_eq!(svg.matches("stroke-dasharray").count(), 2, "the published line and its key");
        assert!(svg.contains("a &lt; b") && svg.contains(">time, us<") && svg.contains(">1000<"));
    }

    /// Equal values lie in the middle of what an axis shows; without values it is still an axis.
    #[test]
    fn an_axis_of_equal_values_or_none_has_few_ticks() {
        let scale = |axis: &Axis, values: &[f64]| Scale::new(axis, values.iter().copied(), (0.0, 100.0));
        let (linear, log) = (Axis::linear("load", ""), Axis::log("time", "us"));
        let equal = scale(&log, &[100.0, 100.0]);
        assert_eq!(
            (equal.ticks.as_slice(), equal.place(100.0).round()),
            ([10.0, 100.0, 1_000.0].as_slice(), 50.0)
        );
        assert_eq!(scale(&log, &[]).ticks, [1.0, 10.0]);
        assert_eq!(
            scale(&log, &[0.0, -3.0, f64::NAN]).ticks,
            [1.0, 10.0],
            "a logarithm needs more than zero"
        );
        for extreme in [f64::MIN_POSITIVE, 5e-324, f64::MAX] {
            assert!(scale(&log, &[extreme]).ticks.len() < 5, "{extreme}");
        }
        for (values, ends) in [(&[][..], (0.0, 1.0)), (&[7.0, 7.0], (0.0, 8.0)), (&[-2.0], (-2.0, 1.0))] {
            let scale = scale(&linear, values);
            let (first, last) = (scale.ticks[0], scale.ticks[scale.ticks.len() - 1]);
            assert!(first <= ends.0 && ends.1 <= last && scale.ticks.len() < 10, "{:?}", scale.ticks);
        }
    }

    #[test]
    fn ticks_are_round_and_hold_the_values() {
        assert_eq!(steps(-21.9, 43.0), [-40.0, -20.0, 0.0, 20.0, 40.0, 60.0]);
        assert_eq!(decades(16.0, 7384.0), [10.0, 100.0, 1_000.0, 10_000.0]);
        assert_eq!(steps(0.08, 0.8).len(), 5);
    }
}
