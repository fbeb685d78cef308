//! The tables of the chapters on balancers, flow scheduling and time-outs: each comes from a committed scenario, run again by
//! `cargo xtask guide --write`. The check only compares the fingerprints of the scenarios, because the runs take minutes.
//!
//! A table is between `<!-- table NAME FINGERPRINT -->` and `<!-- end -->`; the words around it are written by hand.

use crate::Verdict;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use weft_report::statistics::Estimate;
use weft_report::{Run, Sweep};

mod cases;

const SCENARIOS: &str = "scenarios/guide";
const BEGIN: &str = "<!-- table ";
const END: &str = "<!-- end -->";

/// A chapter with tables.
struct Chapter {
    page: &'static str,
    tables: Tables,
}

/// The kind of all tables of a chapter.
enum Tables {
    OfBalancers(BalancerTable),
    /// Those of [`cases::TABLES`].
    OfCases,
}

/// The form of tables of balancers.
struct BalancerTable {
    /// Whether the schemes are pairs: a transport, which has a column of its own, and a balancer.
    by_transport: bool,
    columns: &'static [Column],
}

/// A column: heading, metric, and its presentation.
type Column = (&'static str, &'static str, Shown);

/// How a metric becomes a cell.
#[derive(Clone, Copy)]
enum Shown {
    /// The mean over the seeds, times this.
    Mean(f64),
    /// The sum over the seeds.
    Sum,
}

const CHAPTERS: [Chapter; 4] = [
    Chapter {
        page: "docs/src/which-balancer.md",
        tables: Tables::OfBalancers(BalancerTable {
            by_transport: false,
            columns: &[
                ("mean FCT, ms", "fct.mean", Shown::Mean(1e-3)),
                ("small p99, ms", "fct.small.p99", Shown::Mean(1e-3)),
                ("large mean, ms", "fct.large.mean", Shown::Mean(1e-3)),
                ("flows with dup. ACKs, %", "reordering.flows_with_dupacks", Shown::Mean(100.0)),
                ("dropped", "drops.total", Shown::Sum),
                ("unfinished", "flows.unfinished", Shown::Sum),
            ],
        }),
    },
    Chapter {
        page: "docs/src/roce-balancers.md",
        tables: Tables::OfBalancers(BalancerTable {
            by_transport: true,
            columns: &[
                ("mean FCT, ms", "fct.mean", Shown::Mean(1e-3)),
                ("p99, ms", "fct.p99", Shown::Mean(1e-3)),
                ("sent again, MB", "retransmitted", Shown::Mean(1e-6)),
                ("out of order, thousands", "reordering.out_of_order", Shown::Mean(1e-3)),
                ("pauses", "pause.stops", Shown::Mean(1.0)),
                ("hosts paused, ms", "pause.host_time", Shown::Mean(1e-3)),
                ("dropped", "drops.total", Shown::Sum),
                ("time-outs", "timeouts", Shown::Sum),
                ("unfinished", "flows.unfinished", Shown::Sum),
            ],
        }),
    },
    Chapter { page: "docs/src/which-flows-first.md", tables: Tables::OfCases },
    Chapter { page: "docs/src/timeouts.md", tables: Tables::OfCases },
];

/// Where the numbers of a table come from.
struct Source {
    scenario: String,
    set: &'static [&'static str],
}

impl Source {
    fn of(table: &str) -> Source {
        match cases::find(table) {
            Some(own) => Source { scenario: own.scenario.to_owned(), set: own.set },
            None => Source { scenario: format!("{SCENARIOS}/{table}.toml"), set: &[] },
        }
    }

    fn fingerprint(&self, root: &Path) -> Result<String, Vec<String>> {
        Ok(fingerprint_of(&(read(root, &self.scenario)? + &self.set.concat())))
    }
}

/// Reports the tables that are older than their scenarios.
pub(crate) fn check(root: &Path) -> Verdict {
    let (mut stale, mut count) = (Vec::new(), 0);
    for Chapter { page, .. } in &CHAPTERS {
        let tables = names(&read(root, page)?);
        count += tables.len();
        for (name, fingerprint) in &tables {
            if *fingerprint != Source::of(name).fingerprint(root)? {
                stale.push(format!(
                    "{page}: the table `{name}` is older than its scenario: cargo xtask guide --write {name}"
                ));
            }
        }
    }
    if stale.is_empty() { Ok(format!("{count} tables are up to date")) } else { Err(stale) }
}

/// Runs all scenarios of the chapters and writes their tables.
pub(crate) fn write(root: &Path) -> Verdict {
    write_those(root, |_| true)
}

/// Runs one scenario and writes its table.
pub(crate) fn write_one(root: &Path, wanted: &str) -> Verdict {
    write_those(root, |name| name == wanted)
}

fn write_those(root: &Path, wanted: impl Fn(&str) -> bool) -> Verdict {
    let mut count = 0;
    for chapter in &CHAPTERS {
        let mut page = read(root, chapter.page)?;
        for (name, _) in names(&page).iter().filter(|(name, _)| wanted(name)) {
            let source = Source::of(name);
            let fingerprint = source.fingerprint(root)?;
            let table = chapter.table(name, results(root, name, &source)?)?;
            page = replaced(&page, name, &format!("{BEGIN}{name} {fingerprint} -->\n\n{table}\n{END}"));
            count += 1;
        }
        fs::write(root.join(chapter.page), page)
            .map_err(|error| vec![format!("{}: {error}", chapter.page)])?;
    }
    if count == 0 {
        Err(vec!["no chapter has such a table".to_owned()])
    } else {
        Ok(format!("wrote {count} tables"))
    }
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

/// Runs the scenario of a table with the program as distributed.
fn results(root: &Path, name: &str, source: &Source) -> Result<Vec<Run>, Vec<String>> {
    eprintln!("guide: {name}");
    let out = root.join("target/guide").join(name);
    let status = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["run", "--release", "--quiet", "--package", "weft-cli", "--", "run", &source.scenario])
        .args(source.set.iter().flat_map(|setting| ["--set", setting]))
        .arg("--out")
        .arg(&out)
        .current_dir(root)
        .stdout(std::process::Stdio::null())
        .status()
        .map_err(|error| vec![format!("cargo: {error}")])?;
    if !status.success() {
        return Err(vec![format!("the scenario {} did not run", source.scenario)]);
    }
    weft_report::read_runs(&out).map_err(|error| vec![error.to_string()])
}

impl Chapter {
    fn table(&self, name: &str, runs: Vec<Run>) -> Result<String, Vec<String>> {
        match (&self.tables, cases::find(name)) {
            (Tables::OfBalancers(form), _) => form.text(&Sweep::new(runs)),
            (Tables::OfCases, Some(own)) => own.text(&runs),
            (Tables::OfCases, None) => Err(vec![format!("the table {name} is not described")]),
        }
    }
}

impl BalancerTable {
    fn heading(&self) -> String {
        let (first, line) = if self.by_transport { ("| Recovery ", "|---") } else { ("", "") };
        let names: String = self.columns.iter().map(|(name, ..)| format!(" {name} |")).collect();
        let lines = "---:|".repeat(self.columns.len());
        format!("{first}| Balancer | mean FCT, to ECMP |{names}\n{line}|---|---|{lines}\n")
    }

    /// One row per scheme. The first of them, or the first with the same transport, is the baseline.
    fn text(&self, sweep: &Sweep) -> Result<String, Vec<String>> {
        let mut text = self.heading();
        let mut base = (0, String::new());
        for (number, scheme) in sweep.schemes.iter().enumerate() {
            let (transport, balancer) =
                if self.by_transport { parts(scheme) } else { (String::new(), &**scheme) };
            if transport != base.1 {
                base = (number, transport);
            }
            let ratio = sweep.ratio(number, base.0, 0, "fct.mean");
            let ratio = ratio.ok_or_else(|| vec![format!("{scheme}: no flows")])?;
            let first = if self.by_transport { format!("| {} ", base.1) } else { String::new() };
            let _ = write!(text, "{first}| {balancer} | {} |", interval(&ratio));
            for (_, metric, shown) in self.columns {
                let _ = write!(text, " {} |", cell(sweep, number, metric, *shown));
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// The words for a transport, and the balancer, of a scheme such as `dcqcn mtu=4 kB recovery=selective, ecmp`.
fn parts(scheme: &str) -> (String, &str) {
    let (transport, balancer) = scheme.rsplit_once(", ").unwrap_or(("", scheme));
    let recovery = match transport {
        selective if selective.contains("recovery=selective") => "selective",
        card if card.contains("reorder_buffer=") => "in-order card",
        _ => "go-back-N",
    };
    let cut = if transport.contains("cut_on_nack=true") { ", with cuts" } else { "" };
    (format!("{recovery}{cut}"), balancer)
}

fn cell(sweep: &Sweep, scheme: usize, metric: &str, shown: Shown) -> String {
    match shown {
        Shown::Mean(factor) => number_of(sweep.estimate(scheme, 0, metric), factor),
        Shown::Sum => sum(sweep, scheme, metric).to_string(),
    }
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
        // An empty sum is a negative zero.
        let value = estimate.mean * factor + 0.0;
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
    fn schemes_of_roce_are_told_in_words() {
        for (scheme, transport, balancer) in [
            ("dcqcn mtu=4 kB, ecmp", "go-back-N", "ecmp"),
            ("dcqcn recovery=selective window=52 kB, drill choices=2", "selective", "drill choices=2"),
            ("dcqcn reorder_buffer=1 MB, random", "in-order card", "random"),
            ("dcqcn cut_on_nack=true, presto", "go-back-N, with cuts", "presto"),
        ] {
            assert_eq!(parts(scheme), (transport.to_owned(), balancer));
        }
    }

    #[test]
    fn another_scenario_has_another_fingerprint() {
        assert_eq!(fingerprint_of(""), "cbf29ce484222325");
        assert_ne!(fingerprint_of("load = 0.5"), fingerprint_of("load = 0.6"));
    }
}
