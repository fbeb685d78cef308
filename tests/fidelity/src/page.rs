//! The page of the book: figures of both sides in tables, and their courses over each other. Judges nothing.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::Pair;
use crate::course::{Course, Queue};
use crate::figures::{Figure, Kind};
use crate::svg::{Drawing, Line, svg};
use crate::verdict::{Verdict, settled, unsettled, verdicts};

/// The page, from the root of the repository.
pub const PAGE: &str = "docs/src/fidelity.md";
/// Its drawings.
pub const IMAGES: &str = "docs/src/images/fidelity";

/// Colours of real and simulated hosts; they also differ in lightness.
const COLOURS: [&str; 2] = ["#e69f00", "#0060a8"];
/// Of courses that are too fast to be seen as a whole, this second is drawn.
const SECOND: (f64, f64) = (5.0, 6.0);
/// Points of a line at most.
const MOST_POINTS: usize = 500;

/// Whether every figure is where it is expected.
#[must_use]
pub fn hold(pairs: &[Pair]) -> bool {
    pairs.iter().all(|pair| verdicts(pair).iter().all(Verdict::holds) && unsettled(pair).is_empty())
}

/// All figures for a terminal.
#[must_use]
pub fn report(pairs: &[Pair]) -> String {
    let mut text = String::new();
    for pair in pairs {
        writeln!(text, "{}", pair.case.name).expect("a text takes any line");
        for verdict in verdicts(pair) {
            line(&mut text, &verdict, word(&verdict));
        }
        let Some(experiment) = pair.case.experiment else { continue };
        writeln!(text, "  with {}", experiment.adds).expect("a text takes any line");
        for verdict in settled(pair) {
            let missed = unsettled(pair).contains(&verdict.real.name);
            line(&mut text, &verdict, if missed { "UNEXPECTED" } else { "" });
        }
    }
    text
}

fn line(text: &mut String, verdict: &Verdict, word: &str) {
    let [real, simulated] = [verdict.real, verdict.simulated].map(shown);
    let (name, percent, range) = (verdict.real.name, percent(verdict), range(verdict));
    writeln!(text, "  {name:<32} {real:>10} {simulated:>10} {percent:>8}{range}  {word}")
        .expect("a text takes any line");
}

fn word(verdict: &Verdict) -> &'static str {
    match (verdict.holds(), verdict.deviation) {
        (true, None) => "",
        (true, Some(_)) => "known deviation",
        (false, _) => "UNEXPECTED",
    }
}

/// Four significant digits, counts in full.
fn shown(figure: Figure) -> String {
    let value = figure.value;
    match value {
        _ if figure.unit.is_empty() => format!("{value:.0}"),
        _ if value >= 100.0 => format!("{value:.1}"),
        _ if value >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The courses' least and greatest value, if there are several.
fn range(verdict: &Verdict) -> String {
    let ends = |(least, greatest)| {
        let [least, greatest] = [least, greatest].map(|value| shown(Figure { value, ..verdict.real }));
        format!(" ({least} to {greatest})")
    };
    verdict.range.map_or(String::new(), ends)
}

fn percent(verdict: &Verdict) -> String {
    format!("{:+.1} %", verdict.difference() * 100.0)
}

/// The whole page.
#[must_use]
pub fn text(pairs: &[Pair]) -> String {
    let mut text = include_str!("page/head.txt").to_owned();
    for pair in pairs {
        text += &section(pair);
    }
    text + include_str!("page/tail.txt")
}

fn section(pair: &Pair) -> String {
    let case = pair.case;
    let mut text = format!("\n## {}\n\n", case.title);
    let (name, band) = (case.name, case.band * 100.0);
    writeln!(text, "`{name}`, `tests/fidelity/scenarios/{name}.toml`; figures may differ by {band:.0} %.\n")
        .expect("a text takes any line");
    let verdicts = verdicts(pair);
    text += &table(&verdicts);
    text.push('\n');
    for (figures, because) in reasons(&verdicts) {
        writeln!(text, "*{figures}*: {because}\n").expect("a text takes any line");
    }
    if let Some(experiment) = case.experiment {
        let list = experiment.settles.join("; ");
        let intro = format!("Experiment: with {}, these lie within the band: {list}.", experiment.adds);
        writeln!(text, "{intro}\n\n{}", table(&settled(pair))).expect("a text takes any line");
    }
    for (drawing, file) in drawings(pair) {
        writeln!(text, "![{}](images/fidelity/{file})\n", drawing.title).expect("a text takes any line");
    }
    text.trim_end().to_owned() + "\n"
}

/// Figures of both sides.
fn table(verdicts: &[Verdict]) -> String {
    let mut text = "| figure | Linux | Weft | difference |\n|---|---:|---:|---:|\n".to_owned();
    for verdict in verdicts {
        let Figure { name, unit, .. } = verdict.real;
        let [real, simulated] = [verdict.real, verdict.simulated].map(shown);
        let note = if verdict.deviation.is_some() { " (see below)" } else { "" };
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        writeln!(
            text,
            "| {name}{unit} | {real} | {simulated}{} | {}{note} |",
            range(verdict),
            percent(verdict)
        )
        .expect("a text takes any line");
    }
    text
}

/// The reasons of known deviations in their order, each with the names of its figures.
fn reasons(verdicts: &[Verdict]) -> Vec<(String, &'static str)> {
    let mut reasons: Vec<(String, &'static str)> = Vec::new();
    for deviation in verdicts.iter().filter_map(|verdict| verdict.deviation) {
        match reasons.iter_mut().find(|(_, because)| *because == deviation.because) {
            Some((figures, _)) => *figures += &format!("; {}", deviation.figure),
            None => reasons.push((deviation.figure.to_owned(), deviation.because)),
        }
    }
    reasons
}

/// The drawings of a case and their files.
fn drawings(pair: &Pair) -> [(Drawing, String); 2] {
    let name = pair.case.name;
    let toothed = matches!(pair.case.kind, Kind::SawTooth | Kind::MarkedSawTooth);
    let span = if toothed { (0.0, f64::MAX) } else { SECOND };
    let windows = Drawing {
        title: format!("{name}: congestion windows over time, Linux and Weft"),
        vertical: "congestion window (segments)".into(),
        lines: sides(pair, |course| windows(course, span)),
    };
    let queue = Drawing {
        title: format!("{name}: packets that wait at the bottleneck over time, Linux and Weft"),
        vertical: "waiting packets".into(),
        lines: sides(pair, |course| vec![queue(&course.queue, span)]),
    };
    [(windows, format!("{name}_cwnd.svg")), (queue, format!("{name}_queue.svg"))]
}

/// The lines of both sides, each in its colour; only the first of a side is named.
fn sides(pair: &Pair, lines: impl Fn(&Course) -> Vec<Vec<(f64, f64)>>) -> Vec<Line> {
    let side = |course: &Course, name: &str, colour: &'static str| -> Vec<Line> {
        let named =
            |(n, points)| Line { name: if n == 0 { name.to_owned() } else { String::new() }, colour, points };
        lines(course).into_iter().enumerate().map(named).collect()
    };
    let mut all = side(&pair.real, "Linux", COLOURS[0]);
    all.extend(side(&pair.simulated[0], "Weft", COLOURS[1]));
    all
}

fn inside(time: f64, (from, to): (f64, f64)) -> bool {
    time >= from && time <= to
}

fn windows(course: &Course, span: (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let line = |flow: &Vec<crate::course::Sample>| {
        let points = flow.iter().filter(|sample| inside(sample.time, span));
        thinned(&points.map(|sample| (sample.time - span.0, sample.cwnd)).collect::<Vec<_>>())
    };
    course.flows.iter().map(line).collect()
}

fn queue(queue: &[Queue], span: (f64, f64)) -> Vec<(f64, f64)> {
    let looks = queue.iter().filter(|look| inside(look.time, span));
    averaged(&looks.map(|look| (look.time - span.0, look.mean.max(0.0))).collect::<Vec<_>>())
}

/// Every n-th point.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.iter().copied().step_by(points.len().div_ceil(MOST_POINTS).max(1)).collect()
}

/// Means of groups of points.
fn averaged(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let bin =
        |bin: &[(f64, f64)]| (bin[0].0, bin.iter().map(|point| point.1).sum::<f64>() / bin.len() as f64);
    points.chunks(points.len().div_ceil(MOST_POINTS).max(1)).map(bin).collect()
}

/// Writes the page and its drawings below the root of the repository.
///
/// # Errors
/// What the file system says.
pub fn write(pairs: &[Pair], root: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join(IMAGES))?;
    for (drawing, file) in pairs.iter().flat_map(drawings) {
        fs::write(root.join(IMAGES).join(file), svg(&drawing))?;
    }
    fs::write(root.join(PAGE), text(pairs))
}

/// The committed files that are not what the runs say.
#[must_use]
pub fn stale(pairs: &[Pair], root: &Path) -> Vec<String> {
    let drawn = pairs.iter().flat_map(drawings);
    let images = drawn.map(|(drawing, file)| (format!("{IMAGES}/{file}"), svg(&drawing)));
    let all = images.chain([(PAGE.to_owned(), text(pairs))]);
    let differs =
        |(file, text): &(String, String)| fs::read_to_string(root.join(file)).ok().as_ref() != Some(text);
    all.filter(differs).map(|(file, _)| file).collect()
}
