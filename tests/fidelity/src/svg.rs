//! Drawings: two courses over each other. Must not depend on TCP.

use std::fmt::Write;

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name in the legend; empty: it has none.
    pub name: String,
    /// Its colour.
    pub colour: &'static str,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// Name and unit of the vertical axis; the horizontal one is time in seconds.
    pub vertical: String,
    /// The lines, the first undermost.
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 36.0;
/// Grey that can be read on white and on black.
const GREY: &str = "#808080";

/// The axes' ends.
struct Frame {
    x: f64,
    y: f64,
}

impl Frame {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + x / self.x * (WIDTH - LEFT - RIGHT);
        let up = HEIGHT - BOTTOM - y / self.y * (HEIGHT - TOP - BOTTOM);
        (across, up)
    }
}

/// The drawing as SVG, the same on every machine.
#[must_use]
pub fn svg(drawing: &Drawing) -> String {
    let greatest = |of: fn(&(f64, f64)) -> f64| {
        drawing.lines.iter().flat_map(|line| &line.points).map(of).fold(0.0, f64::max)
    };
    let frame = Frame { x: greatest(|point| point.0), y: greatest(|point| point.1) * 1.05 };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<title>{}</title>\n",
        drawing.title
    );
    text += &axes(drawing, &frame);
    text.extend(drawing.lines.iter().map(|line| path(line, &frame)));
    let named = drawing.lines.iter().filter(|line| !line.name.is_empty());
    text.extend(named.enumerate().map(|(place, line)| legend(line, place)));
    text + "</svg>\n"
}

/// A round step that gives four to ten ticks up to `end`.
fn step(end: f64) -> f64 {
    let power = 10f64.powi((end / 4.0).log10().floor() as i32);
    let candidates = [5.0, 2.0, 1.0].map(|factor| factor * power);
    candidates.into_iter().find(|step| end / step >= 4.0).unwrap_or(power)
}

fn axes(drawing: &Drawing, frame: &Frame) -> String {
    let mut text = String::new();
    let label = |text: &mut String, (x, y): (f64, f64), anchor: &str, what: &str| {
        writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{GREY}\">{what}</text>"
        )
        .expect("a text takes any line");
    };
    for value in ticks(frame.y) {
        let ((left, y), (right, _)) = (frame.place((0.0, value)), frame.place((frame.x, value)));
        writeln!(text, "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"{GREY}\" stroke-opacity=\"0.3\"/>")
            .expect("a text takes any line");
        label(&mut text, (left - 6.0, y + 4.0), "end", &value.to_string());
    }
    for value in ticks(frame.x) {
        let (x, y) = frame.place((value, 0.0));
        label(&mut text, (x, y + 16.0), "middle", &value.to_string());
    }
    label(&mut text, (WIDTH - RIGHT, HEIGHT - 4.0), "end", "time (s)");
    label(&mut text, (4.0, 16.0), "start", &drawing.vertical);
    text
}

fn ticks(end: f64) -> impl Iterator<Item = f64> {
    let step = step(end);
    // A thousandth is finer than any label.
    (0..).map(move |n| (f64::from(n) * step * 1e3).round() / 1e3).take_while(move |value| *value <= end)
}

fn path(line: &Line, frame: &Frame) -> String {
    let mut text = format!(
        "<path fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\" stroke-linejoin=\"round\" d=\"",
        line.colour
    );
    for (n, point) in line.points.iter().enumerate() {
        let (x, y) = frame.place(*point);
        write!(text, "{}{x:.1} {y:.1}", if n == 0 { 'M' } else { 'L' }).expect("a text takes any line");
    }
    text + "\"/>\n"
}

fn legend(line: &Line, place: usize) -> String {
    let x = WIDTH - RIGHT - 130.0 * (place + 1) as f64;
    format!(
        "<path d=\"M{x} 12h24\" stroke=\"{}\" stroke-width=\"2\"/><text x=\"{}\" y=\"16\" fill=\"{GREY}\">{}</text>\n",
        line.colour,
        x + 30.0,
        line.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_ticks() {
        assert_eq!(ticks(1.0).last(), Some(1.0));
        assert_eq!(
            ticks(0.99).map(|tick| tick.to_string()).collect::<Vec<_>>(),
            ["0", "0.2", "0.4", "0.6", "0.8"]
        );
        assert_eq!(ticks(20.0).collect::<Vec<_>>(), [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert_eq!(ticks(353.0).collect::<Vec<_>>(), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0]);
    }

    #[test]
    fn the_greatest_value_is_inside() {
        let line = Line { name: "a".into(), colour: "red", points: vec![(0.0, 0.0), (10.0, 100.0)] };
        let text = svg(&Drawing { title: "t".into(), vertical: "v".into(), lines: vec![line] });
        assert!(text.contains("M56.0 224.0L748.0 39.2"), "{text}");
    }
}
