//! The tables of the chapter "Which balancer for which fabric": each comes from a committed scenario, run again by
//! `cargo xtask guide --write`. The check only compares the fingerprints of the scenarios, because the runs take minutes.
//!
//! A table stands between `<!-- table NAME FINGERPRINT -->` and `<!-- end -->`; the words around it are written by hand.

use crate::Verdict;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use weft_report::Sweep;
use weft_report::statistics::Estimate;

const PAGE: &str = "docs/src/which-balancer.md";
const SCENARIOS: &str = "scenarios/guide";
const BEGIN: &str = "<!-- table ";
const END: &str = "<!-- end -->";

/// Says which tables are older than their scenarios.
pub(crate) fn check(root: &Path) -> Verdict {
    let page = read(root, PAGE)?;
    let mut stale = Vec::new();
    let tables = names(&page);
    for (name, fingerprint) in &tables {
        if *fingerprint != fingerprint_of(&read(root, &scenario(name))?) {
            stale.push(format!(
                "{PAGE}: the table `{name}` is older than its scenario: cargo xtask guide --write"
            ));
        }
    }
    if stale.is_empty() { Ok(format!("{} tables are up to date", tables.len())) } else { Err(stale) }
}

/// Runs all scenarios of the page and writes its tables.
pub(crate) fn write(root: &Path) -> Verdict {
    let mut page = read(root, PAGE)?;
    let tables = names(&page);
    for (name, _) in &tables {
        let text = read(root, &scenario(name))?;
        let table = table(&results(root, name)?)?;
        page =
            replaced(&page, name, &format!("{BEGIN}{name} {} -->\n\n{table}\n{END}", fingerprint_of(&text)));
    }
    fs::write(root.join(PAGE), page).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    Ok(format!("wrote {} tables", tables.len()))
}

fn scenario(name: &str) -> String {
    format!("{SCENARIOS}/{name}.toml")
}

fn read(root: &Path, file: &str) -> Result<String, Vec<String>> {
    fs::read_to_string(root.join(file)).map_err(|error| vec![format!("{file}: {error}")])
}

/// The tables of a page: name and fingerprint.
fn names(page: &str) -> Vec<(String, String)> {
    let inside = page.lines().filter_map(|line| line.strip_prefix(BEGIN)?.strip_suffix(" -->"));
    inside
        .filter_map(|words| words.split_once(' '))
        .map(|(name, mark)| (name.to_owned(), mark.to_owned()))
        .collect()
}

/// The page with another table of this name.
fn replaced(page: &str, name: &str, table: &str) -> String {
    let begin = format!("{BEGIN}{name} ");
    let Some(from) = page.find(&begin) else { return page.to_owned() };
    let Some(length) = page[from..].find(END) else { return page.to_owned() };
    format!("{}{table}{}", &page[..from], &page[from + length + END.len()..])
}

/// 64 bits of FNV-1a.
fn fingerprint_of(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// Runs a scenario by the program as people get it.
fn results(root: &Path, name: &str) -> Result<Sweep, Vec<String>> {
    eprintln!("guide: {name}");
    let out = root.join("target/guide");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["run", "--release", "--quiet", "--package", "weft-cli", "--", "run", &scenario(name), "--out"])
        .arg(&out)
        .current_dir(root)
        .stdout(std::process::Stdio::null())
        .status()
        .map_err(|error| vec![format!("cargo: {error}")])?;
    if !status.success() {
        return Err(vec![format!("the scenario {name} did not run")]);
    }
    let runs = weft_report::read_runs(&out.join(format!("guide-{name}")))
        .map_err(|error| vec![error.to_string()])?;
    Ok(Sweep::new(runs))
}

/// What the columns show: heading, metric, factor.
const COLUMNS: [(&str, &str, f64); 4] = [
    ("mean FCT, ms", "fct.mean", 1e-3),
    ("small p99, ms", "fct.small.p99", 1e-3),
    ("large mean, ms", "fct.large.mean", 1e-3),
    ("flows with dup. ACKs, %", "reordering.flows_with_dupacks", 100.0),
];

/// One row per balancer, the first of which is the baseline.
fn table(sweep: &Sweep) -> Result<String, Vec<String>> {
    let mut text = String::from("| Balancer | mean FCT, to ECMP |");
    for (heading, ..) in COLUMNS {
        let _ = write!(text, " {heading} |");
    }
    text.push_str(" dropped | unfinished |\n|---|---|");
    text.push_str(&"---:|".repeat(COLUMNS.len() + 2));
    text.push('\n');
    for (number, scheme) in sweep.schemes.iter().enumerate() {
        let ratio =
            sweep.ratio(number, 0, 0, "fct.mean").ok_or_else(|| vec![format!("{scheme}: no flows")])?;
        let _ = write!(text, "| {scheme} | {} |", interval(&ratio));
        for (_, metric, factor) in COLUMNS {
            let _ = write!(text, " {} |", number_of(sweep.estimate(number, 0, metric), factor));
        }
        let dropped = sum(sweep, number, "drops.total");
        let _ = writeln!(text, " {dropped} | {} |", sum(sweep, number, "flows.unfinished"));
    }
    Ok(text)
}

fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) if high - low > 1e-9 => {
            format!("{:.2} ({low:.2} to {high:.2})", estimate.mean)
        }
        _ => format!("{:.2}", estimate.mean),
    }
}

fn number_of(estimate: Option<Estimate>, factor: f64) -> String {
    estimate.map_or("–".to_owned(), |estimate| {
        let value = estimate.mean * factor;
        if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") }
    })
}

/// A count over all seeds.
fn sum(sweep: &Sweep, scheme: usize, metric: &str) -> f64 {
    sweep.case(scheme, 0).iter().filter_map(|run| run.summary.metric(metric)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "words\n<!-- table a 12 -->\nold\n<!-- end -->\nmore\n<!-- table b 34 -->\n<!-- end -->\n";

    #[test]
    fn tables_are_found_and_replaced_and_words_stay() {
        let named = |name: &str, mark: &str| (name.to_owned(), mark.to_owned());
        assert_eq!(names(TEXT), [named("a", "12"), named("b", "34")]);
        let page = replaced(TEXT, "a", "<!-- table a 56 -->\nnew\n<!-- end -->");
        assert_eq!(page, TEXT.replace("a 12", "a 56").replace("old", "new"));
    }

    #[test]
    fn another_scenario_has_another_fingerprint() {
        assert_eq!(fingerprint_of(""), "cbf29ce484222325");
        assert_ne!(fingerprint_of("load = 0.5"), fingerprint_of("load = 0.6"));
    }
}
