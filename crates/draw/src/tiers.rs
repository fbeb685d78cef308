//! A drawing of switches in tiers and lines between them, as one SVG file. Must not depend on networks or routes.

use std::fmt::Write;

use crate::svg;
use crate::text::escaped;

/// Colours of the components, distinguishable with any kind of colour blindness.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#a08c00", "#6c3589"];

/// A drawing of switches and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The heading.
    pub title: String,
    /// The switches.
    pub places: Vec<TierSwitch>,
    /// The links, drawn in this order.
    pub lines: Vec<TierLink>,
    /// The meaning of each colour, in the order of [`TierLink::colour`].
    pub legend: Vec<String>,
}

/// A switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TierSwitch {
    /// Its name.
    pub name: String,
    /// Its row; 1 is the lowest.
    pub tier: u8,
    /// Whether it is drawn with a thick border.
    pub marked: bool,
}

/// A link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TierLink {
    /// Index of the switch where it begins.
    pub from: usize,
    /// Index of the switch where it ends.
    pub to: usize,
    /// Index in the legend; `None`: grey.
    pub colour: Option<usize>,
    /// Whether it is drawn as broken.
    pub down: bool,
    /// Offset from the straight line, in line widths.
    pub aside: i32,
    /// The tooltip.
    pub note: String,
}

const WIDTH: usize = 960;
const ROW: usize = 130;
const TOP: usize = 60;

impl Drawing {
    /// The drawing as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let rows = self.places.iter().map(|place| usize::from(place.tier)).max().unwrap_or(1);
        let below = TOP + rows * ROW;
        let height = below + 24 * self.legend.len() + 10;
        let mut parts = format!("<text x=\"16\" y=\"28\" font-size=\"16\">{}</text>\n", escaped(&self.title));
        let points = self.points(rows);
        self.lines.iter().for_each(|line| parts += &drawn(line, [points[line.from], points[line.to]]));
        for (place, (x, y)) in self.places.iter().zip(&points) {
            let width = if place.marked { 3 } else { 1 };
            let half = 5 + 4 * place.name.chars().count();
            let _ = writeln!(
                parts,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"24\" rx=\"4\" fill=\"#ffffff\" stroke=\"#16191d\" \
                 stroke-width=\"{width}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x - half as f64,
                y - 12.0,
                2 * half,
                y + 5.0,
                escaped(&place.name)
            );
        }
        for (n, text) in self.legend.iter().enumerate() {
            let y = below + 24 * n;
            let _ = writeln!(
                parts,
                "<line x1=\"16\" y1=\"{y}\" x2=\"46\" y2=\"{y}\" stroke=\"{}\" stroke-width=\"4\"/>\
                 <text x=\"56\" y=\"{}\">{}</text>",
                COLOURS[n % COLOURS.len()],
                y + 5,
                escaped(text)
            );
        }
        svg::document((WIDTH as f64, height as f64), 13, &self.title, &parts)
    }

    /// The centre of each switch: rows by tier, the lowest at the bottom, evenly spaced.
    fn points(&self, rows: usize) -> Vec<(f64, f64)> {
        let in_row = |tier: u8| self.places.iter().filter(|place| place.tier == tier).count();
        let mut passed = vec![0; rows + 1];
        let point = |place: &TierSwitch| {
            let tier = usize::from(place.tier);
            passed[tier] += 1;
            let x = WIDTH as f64 * (passed[tier] as f64 - 0.5) / in_row(place.tier) as f64;
            (x, (TOP + (rows - tier) * ROW + ROW / 2) as f64)
        };
        self.places.iter().map(point).collect()
    }
}

/// A line between two points.
fn drawn(line: &TierLink, [(x1, y1), (x2, y2)]: [(f64, f64); 2]) -> String {
    let colour = match (line.down, line.colour) {
        (true, _) => "#b00020",
        (_, Some(colour)) => COLOURS[colour % COLOURS.len()],
        (_, None) => "#c3c9d0",
    };
    let dash = if line.down { " stroke-dasharray=\"5 5\"" } else { "" };
    let (width, length) = (if line.colour.is_some() { 3.0 } else { 1.0 }, (x2 - x1).hypot(y2 - y1).max(1.0));
    let shift = f64::from(line.aside) * (width + 1.0) / length;
    let (dx, dy) = ((y2 - y1) * shift, (x1 - x2) * shift);
    format!(
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}>\
         <title>{}</title></line>\n",
        x1 + dx,
        y1 + dy,
        x2 + dx,
        y2 + dy,
        escaped(&line.note)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_all_its_parts_and_no_markup_from_names() {
        let place = |name: &str, tier| TierSwitch { name: name.to_owned(), tier, marked: false };
        let line = |from, colour, down| TierLink { from, to: 2, colour, down, ..TierLink::default() };
        let drawing = Drawing {
            title: "a & b".to_owned(),
            places: vec![place("<x>", 1), place("leaf1", 1), place("spine0", 2)],
            lines: vec![line(0, Some(1), false), line(1, None, true)],
            legend: vec!["one".to_owned(), "two".to_owned()],
        };
        let svg = drawing.svg();
        assert!(svg.contains("a &amp; b") && svg.contains("&lt;x&gt;") && !svg.contains("<x>"));
        assert!(svg.contains(COLOURS[1]) && svg.contains("stroke-dasharray") && svg.contains(">two</text>"));
        assert_eq!(svg.matches("<line ").count(), 2 + 2);
        assert!(svg.contains("x1=\"240.0\"") && svg.contains("x1=\"720.0\""), "leaves evenly in their row");
    }
}
