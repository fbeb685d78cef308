//! The pictures of the balancers: which packet of which flow took which of two paths. Drawn from a shipped scenario,
//! so that they cannot show behaviour that the code does not have. Must not depend on particular balancers.

use crate::Verdict;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use weft_sim::{Seen, Simulation, Tap};

/// The scenario, one balancer per case.
const SCENARIO: &str = "scenarios/diamond.toml";
/// The folder of pictures, relative to the book's reference pages.
pub(crate) const FROM_PAGE: &str = "../images/balancers";
const FOLDER: &str = "docs/src/images/balancers";
/// The period of the run that a picture shows, in picoseconds.
const SHOWN: std::ops::Range<u64> = 0..600_000_000;

/// Fails when a committed picture differs from what the scenario gives.
pub(crate) fn check(root: &Path) -> Verdict {
    let pictures = pictures(root)?;
    let differs = |(path, text): &&(PathBuf, String)| fs::read_to_string(path).ok().as_ref() != Some(text);
    let mut complaints: Vec<String> = pictures
        .iter()
        .filter(differs)
        .map(|(path, _)| format!("{} is not what {SCENARIO} gives", path.display()))
        .collect();
    if complaints.is_empty() {
        return Ok(format!("{} pictures are up to date", pictures.len()));
    }
    complaints.push("run `cargo xtask pictures --write` and commit the result".into());
    Err(complaints)
}

/// Writes all pictures.
pub(crate) fn write(root: &Path) -> Verdict {
    let failed = |error: std::io::Error| vec![format!("cannot write a picture: {error}")];
    fs::create_dir_all(root.join(FOLDER)).map_err(failed)?;
    let pictures = pictures(root)?;
    for (path, text) in &pictures {
        fs::write(path, text).map_err(failed)?;
    }
    Ok(format!("wrote {} pictures", pictures.len()))
}

/// A packet that left the first leaf towards a spine.
struct Sent {
    flow: u32,
    /// Microseconds from the beginning of that period.
    at: f64,
    path: usize,
}

fn pictures(root: &Path) -> Result<Vec<(PathBuf, String)>, Vec<String>> {
    let told = |error: weft::Error| vec![error.to_string()];
    let cases = weft::prepare(&root.join(SCENARIO), &[], false).map_err(told)?;
    cases
        .iter()
        .map(|case| {
            let setup = case.setup(1).map_err(told)?;
            let name = setup.balancer.name();
            let picture = drawn(name, &sent(setup));
            Ok((root.join(FOLDER).join(format!("{name}.svg")), picture))
        })
        .collect()
}

/// The data packets that the first leaf sent from its hosts towards the spines, in order.
fn sent(setup: weft::Setup) -> Vec<Sent> {
    let hosts = setup.graph.leaf_of_host().iter().filter(|leaf| **leaf == 0).count() as u16;
    let leaf = setup.graph.leaves()[0];
    let (_, tap) = Simulation::new(setup).run_tapped(Tap::new(leaf));
    let mut flows = Vec::new();
    let mut sent = Vec::new();
    for seen in &tap.seen {
        match seen {
            Seen::Arrived { header, .. } => {
                let own = u32::from(header.source.0 < u32::from(hosts) && header.wire > 1_000);
                flows.push((own == 1).then_some(header.source.0));
            }
            Seen::Left { time, port, packet, .. } if SHOWN.contains(&time.0) => {
                if let (Some(flow), Some(path)) = (flows[*packet as usize], port.0.checked_sub(hosts)) {
                    let at = (time.0 - SHOWN.start) as f64 / 1e6;
                    sent.push(Sent { flow, at, path: usize::from(path) });
                }
            }
            _ => {}
        }
    }
    sent
}

const WIDTH: f64 = 720.0;
const LEFT: f64 = 60.0;
const ROW: f64 = 18.0;
const COLOURS: [&str; 2] = ["#1b6ca8", "#d9822b"];

/// A row for each flow, a stroke for each packet, a colour for each path.
fn drawn(name: &str, sent: &[Sent]) -> String {
    let rows = sent.iter().map(|packet| packet.flow + 1).max().unwrap_or(0);
    let height = 56.0 + ROW * f64::from(rows);
    let scale = (WIDTH - LEFT - 10.0) / ((SHOWN.end - SHOWN.start) as f64 / 1e6);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{name}: the path of each packet of six flows</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for (path, (colour, label)) in COLOURS.iter().zip(["path a, 40 Gb/s", "path b, 20 Gb/s"]).enumerate() {
        let of_path = sent.iter().filter(|packet| packet.path == path).count();
        let share = (of_path as f64 * 100.0 / sent.len().max(1) as f64).round();
        let x = LEFT + 200.0 * path as f64;
        writeln!(svg, "<text x=\"{x}\" y=\"14\" fill=\"{colour}\">{label}: {share} % of packets</text>")
            .expect("a String");
    }
    for row in 0..rows {
        let y = 24.0 + ROW * f64::from(row);
        writeln!(svg, "<text x=\"8\" y=\"{}\">flow {row}</text>", y + 12.0).expect("a String");
        for (path, colour) in COLOURS.iter().enumerate() {
            let strokes: String = sent
                .iter()
                .filter(|packet| packet.flow == row && packet.path == path)
                .map(|packet| format!("M{:.1} {y}v14", LEFT + packet.at * scale))
                .collect();
            if !strokes.is_empty() {
                writeln!(svg, "<path stroke=\"{colour}\" stroke-width=\"0.8\" d=\"{strokes}\"/>")
                    .expect("a String");
            }
        }
    }
    for tick in 0..=6 {
        let (x, time) = (LEFT + f64::from(tick) * 100.0 * scale, tick * 100);
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{time}</text>", height - 16.0)
            .expect("a String");
    }
    writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">time in us</text>\n</svg>",
        WIDTH - 10.0,
        height - 3.0
    )
    .expect("a String");
    svg
}
