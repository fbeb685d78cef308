//! Checks of the repository's own structure, run as `cargo xtask NAME`: which crate may use which, how long functions
//! and files are, and whether generated pages and links are true.
//!
//! It depends on the repository, not on the simulator, except for the content of the book: text of its pages, and
//! runs for its pictures.

mod circles;
mod counts;
mod fidelity;
mod guide;
mod hardware;
mod headings;
mod layers;
mod links;
mod markdown;
mod peers;
mod pictures;
mod reference;
mod reproductions;
mod results;
mod settings;
mod shape;
mod sources;
mod symbols;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

/// The result of a check: a report to print, or all complaints.
type Verdict = Result<String, Vec<String>>;

/// Looks at the repository below a root.
type Check = fn(&Path) -> Verdict;

/// Name, meaning and function of each check, in the order of `cargo xtask all`.
const CHECKS: &[(&str, &str, Check)] = &[
    ("layers", "no crate uses another that it may not use", layers::check),
    ("circles", "modules of a crate do not import each other in a circle", circles::check),
    ("shape", "functions and files stay short", shape::check),
    ("headings", "headings in docstrings stand alone on their line", headings::check),
    ("reference", "the generated pages in docs/src/reference are up to date", reference::check),
    ("reproductions", "the pages about reproductions are what claims and findings say", reproductions::check),
    ("results", "the reference runs give the results of the epoch", results::check),
    ("pictures", "the pictures of the balancers are what the simulator does", pictures::check),
    ("peers", "the page about other simulators is up to date", peers::check),
    ("counts", "the counts in the chapter on performance are those of bench/counts.json", counts::check),
    ("hardware", "the page about DRILL in hardware is up to date", hardware::check),
    (
        "guide",
        "the tables of the chapters on balancers, scheduling and time-outs are those of their scenarios",
        guide::check,
    ),
    ("settings", "settings that rules, messages and documents name are declared", settings::check),
    ("symbols", "types and functions that the tour and ARCHITECTURE.md name are declared", symbols::check),
    ("links", "links between documents lead somewhere", links::check),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = workspace::root();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["all"] => run_all(CHECKS.iter(), &root),
        ["counts", "--write"] => run("counts", counts::write, &root),
        ["fidelity"] => fidelity::run(&[], &root),
        ["fidelity", "--write"] => fidelity::run(&["--write"], &root),
        ["guide", "--write"] => run("guide", guide::write, &root),
        ["guide", "--write", name] => run("guide", |root| guide::write_one(root, name), &root),
        ["hardware", "--write"] => run("hardware", hardware::write, &root),
        ["reference", "--write"] => run("reference", reference::write, &root),
        ["reproductions", "--write"] => run("reproductions", reproductions::write, &root),
        ["results", "--write"] => run("results", results::write, &root),
        ["results", "--raise"] => run("results", |root| results::raise(root, None), &root),
        ["results", "--raise", setting] => run("results", |root| results::raise(root, Some(setting)), &root),
        ["results", "--only", setting] => run("results", |root| results::only(root, setting), &root),
        ["pictures", "--write"] => run("pictures", pictures::write, &root),
        ["peers", "--write"] => run("peers", peers::write, &root),
        ["peers", "--write", "--costs"] => run("peers", peers::write_costs, &root),
        [name] if CHECKS.iter().any(|check| check.0 == *name) => {
            run_all(CHECKS.iter().filter(|check| check.0 == *name), &root)
        }
        _ => usage(),
    }
}

/// Runs several checks, all of them even if one fails.
fn run_all<'a>(checks: impl Iterator<Item = &'a (&'a str, &'a str, Check)>, root: &Path) -> ExitCode {
    checks.map(|(name, _, check)| run(name, *check, root)).fold(ExitCode::SUCCESS, worse)
}

/// Runs one check and prints its result.
fn run(name: &str, check: impl Fn(&Path) -> Verdict, root: &Path) -> ExitCode {
    match check(root) {
        Ok(report) => {
            println!("{name}: {report}");
            ExitCode::SUCCESS
        }
        Err(complaints) => {
            complaints.iter().for_each(|complaint| eprintln!("{name}: {complaint}"));
            ExitCode::FAILURE
        }
    }
}

fn worse(so_far: ExitCode, next: ExitCode) -> ExitCode {
    if so_far == ExitCode::SUCCESS { next } else { so_far }
}

fn usage() -> ExitCode {
    eprintln!("usage: cargo xtask CHECK, where CHECK is one of");
    CHECKS.iter().for_each(|(name, meaning, _)| eprintln!("  {name:<18} {meaning}"));
    eprintln!("  {:<18} all of these", "all");
    eprintln!("  {:<18} write the generated pages", "reference --write");
    eprintln!("  {:<18} write the pages about reproductions", "reproductions --write");
    eprintln!(
        "  {:<18} accept changed results: write their digests, and with them the epoch",
        "results --write"
    );
    eprintln!("  {:<18} the same, with a new epoch even if no digest changes", "results --raise");
    eprintln!("  {:<18} the same for runs with all of these settings", "results --raise pfc+pias");
    eprintln!("  {:<18} the same, if only runs with this setting have changed", "results --only voq");
    eprintln!("  {:<18} write the counts into the chapter on performance", "counts --write");
    eprintln!("  {:<18} draw the pictures of the balancers", "pictures --write");
    eprintln!(
        "  {:<18} run the scenarios of the chapters on balancers and scheduling, and write their tables",
        "guide --write"
    );
    eprintln!("  {:<18} the same for one table", "guide --write NAME");
    eprintln!("  {:<18} synthesise DRILL and write the page about hardware", "hardware --write");
    eprintln!("  {:<18} compare with traces of real hosts; with --write also write the page", "fidelity");
    eprintln!("  {:<18} run the reference runs and write the page about other simulators", "peers --write");
    eprintln!("  {:<18} also measure what a packet costs, on an idle machine", "peers --write --costs");
    ExitCode::from(2)
}
