//! Reproductions from outside: a small folder is run in full, resumed, judged and turned into a page.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use weft::RunOptions;
use weft_reproduce::{Form, ReproduceOptions, ReproduceOutcome, page, reproduce};

const SCENARIO: &str = r#"
weft  = 1
name  = "small"
seeds = [1, 2]
topology.leaf-spine = { leaves = 2, spines = 2, hosts_per_leaf = 2, host_link = { rate = "10 Gbps" }, fabric_link = { rate = "10 Gbps" } }
traffic = [{ tag = "t", load = 0.5, sizes = "10 kB" }]
measure = { flows = 200 }
[sweep]
balance = ["ecmp", "random"]
"traffic.t.load" = [0.2, 0.4, 0.6]
[demo]
"measure.flows" = 100
"#;

const CLAIMS: &str = r#"
title = "A small source"
reference = "Nobody: Nothing."
about = "Words."
awaited = { later = "not built yet" }
experiment = [{ id = "E", about = "small", file = "small.toml", large = ["measure.flows=300"] }]

[[claim]]
id = "C1"
place = "1"
says = "the mean rises with load"
experiment = "E"
[[claim.part]]
measure = "fct.mean(ecmp, load = 0.6) / fct.mean(ecmp, load = 0.2)"
above = 1

[[claim]]
id = "C2"
place = "2"
says = "it does not"
experiment = "E"
at = "load = 0.6"
[[claim.part]]
measure = "fct.mean(random) / fct.mean(ecmp, load = 0.2)"
below = 0.5

[[claim]]
id = "C3"
place = "3"
says = "later is better"
experiment = "E"
at = "load = 0.6"
[[claim.part]]
measure = "fct.mean(later) / fct.mean(ecmp)"
below = 1

[[claim]]
id = "C4"
place = "4"
says = "it is blue"
not_comparable = "no colours"

[[claim]]
id = "C5"
place = "5"
says = "random carries as much as ECMP at its mean of 0.4"
experiment = "E"
quick = false
[[claim.part]]
measure = "reach(fct.mean(ecmp), fct.mean(ecmp, load = 0.4)) / 0.4"
from = 0.999
to = 1.001

[[table]]
id = "sizes"
title = "Sizes"
claims = ["C1"]
experiment = "E"
at = "load = 0.6"
column = [{ name = "mean", measure = "fct.mean(random)" }]
variant = [{ name = "as written" }, { name = "twice", set = ["traffic.t.sizes=20 kB"] }, { name = "no such", set = ["traffic.x=1"] }]
"#;

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("weft-reproduce-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("mine")).unwrap();
        std::fs::write(folder.join("mine/claims.toml"), CLAIMS).unwrap();
        std::fs::write(folder.join("mine/small.toml"), SCENARIO).unwrap();
        Scratch(folder)
    }

    fn source(&self) -> PathBuf {
        self.0.join("mine")
    }

    fn edit(&self, from: &str, to: &str) {
        let path = self.source().join("claims.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    fn run(&self, change: impl FnOnce(&mut ReproduceOptions)) -> Result<ReproduceOutcome, weft::Error> {
        let run = RunOptions {
            out: self.0.join("runs"),
            demo: false,
            seeds: None,
            set: Vec::new(),
            engine: weft::PACKETS,
            jobs: 2,
            reuse: weft::Reuse::SameBuild,
            threads: Some(1),
            progress: Box::new(|_| ()),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let write = Some(self.source());
        let (form, claims) = (Form::Full, Vec::new());
        let mut options = ReproduceOptions {
            run,
            form,
            claims,
            tables: false,
            assumptions: false,
            write,
            announce: Box::new(|_| {}),
        };
        change(&mut options);
        reproduce(&format!("{}/", self.source().display()), options)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn runs_below(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |path: PathBuf| if path.is_dir() { runs_below(&path) } else { 0 };
    usize::from(folder.join("summary.json").exists())
        + entries.map(|entry| count(entry.path())).sum::<usize>()
}

#[test]
fn claims_are_measured_judged_and_written_down() {
    let scratch = Scratch::new("all");
    let outcome = scratch.run(|options| options.tables = true).unwrap();
    assert_eq!((outcome.not_reproduced, outcome.failed_runs, outcome.reused), (1, 0, 0));
    assert!(outcome.report.exists());
    let page = page(&scratch.source()).unwrap();
    assert!(
        page.contains("**2 are reproduced, 1 is not**; 1 cannot be compared, 1 has not been run"),
        "{page}"
    );
    let row = |id: &str| page.lines().find(|line| line.contains(&format!("<strong>{id}</strong>"))).unwrap();
    assert!(row("C1").contains(">reproduced</strong></td>"), "{page}");
    assert!(row("C2").contains(">not reproduced</strong></td>"), "{page}");
    assert!(row("C3").contains("<td>not run: not built yet</td>"), "{page}");
    assert!(row("C4").contains("<td>not comparable: no colours</td>"), "{page}");
    let table = |name: &str| page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
    assert!(table("no such").contains("not run"), "{page}");
    assert_ne!(table("twice").replace("twice", ""), table("as written").replace("as written", ""));
    assert!(page.contains("From 2 seeds, 4 runs, 800 flows"), "{page}");
}

/// Replaces a word in the manifests of all runs below a folder.
fn in_manifests(folder: &Path, from: &str, to: &str) {
    for entry in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
        if entry.is_dir() {
            in_manifests(&entry, from, to);
        } else if entry.ends_with("manifest.json") {
            let text = std::fs::read_to_string(&entry).unwrap();
            assert!(text.contains(from), "{}", entry.display());
            std::fs::write(&entry, text.replace(from, to)).unwrap();
        }
    }
}

/// A reproduction that goes on after a change of Weft says which build has measured.
#[test]
fn findings_name_the_builds_whose_runs_were_reused() {
    let scratch = Scratch::new("builds");
    scratch.run(|options| options.claims = vec!["C1".to_owned()]).unwrap();
    let runs = scratch.0.join("runs");
    let program = || {
        let text = std::fs::read_to_string(scratch.source().join("results.json")).unwrap();
        let results: serde_json::Value = serde_json::from_str(&text).unwrap();
        results["claims"]["C1"]["program"].as_str().unwrap().to_owned()
    };
    let present = program();
    in_manifests(&runs, "\"sources\": \"", "\"sources\": \"f");
    in_manifests(&runs, "\"commit\": \"", "\"commit\": \"older-");
    let again = scratch
        .run(|options| {
            options.claims = vec!["C1".to_owned()];
            options.run.reuse = weft::Reuse::SameResults;
        })
        .unwrap();
    assert_eq!((again.reused, again.builds.iter().map(|(_, runs)| runs).sum::<usize>()), (4, 4));
    assert_eq!(program(), present.replacen(' ', " older-", 1), "not the build that judged");
    let anew = scratch.run(|options| options.claims = vec!["C1".to_owned()]).unwrap();
    assert_eq!((anew.reused, anew.builds.len()), (0, 0));
    assert_eq!(program(), present);
}

/// Cases and settings that do not exist, wherever a measure uses them; nothing is run.
#[test]
fn measures_of_what_does_not_exist_are_refused() {
    for (from, to, message) in [
        ("fct.mean(ecmp, load = 0.6)", "fct.mean(ecpm, load = 0.6)", "claim C1: E has no case `ecpm`"),
        (
            "at = \"load = 0.6\"\n[[claim.part]]",
            "at = \"load = 0.7\"\n[[claim.part]]",
            "claim C2: E has no case `0.7`",
        ),
        (
            "[[claim.part]]\nmeasure = \"fct.mean(random)",
            "[claim.otherwise]\nopen = \"x\"\nchoice = \"y\"\nset = [\"traffic.x=1\"]\n[[claim.part]]\nmeasure = \"fct.mean(random)",
            "claim C2, otherwise: the scenario cannot be read: `traffic.x` is not a setting",
        ),
    ] {
        let scratch = Scratch::new("no-such");
        scratch.edit(from, to);
        let error = scratch.run(|options| options.tables = true).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(runs_below(&scratch.0.join("runs")), 0);
    }
}

#[test]
fn options_without_effect_are_refused() {
    let scratch = Scratch::new("idle");
    for (change, message) in [
        ((|options| options.assumptions = true) as fn(&mut ReproduceOptions), "--assumptions has no effect"),
        (|options| (options.tables, options.claims) = (true, vec!["C2".into()]), "--tables has no effect"),
        (|options| options.claims = vec!["C1-C9".into()], "there is no claim C1-C9"),
    ] {
        let error = scratch.run(change).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    scratch.edit(", large = [\"measure.flows=300\"]", "");
    let error = scratch.run(|options| options.form = Form::Large).unwrap_err().to_string();
    assert!(error.contains("--large has no effect"), "{error}");
}

#[test]
fn only_what_claims_need_is_run_and_nothing_twice() {
    let scratch = Scratch::new("some");
    scratch.run(|options| options.claims = vec!["C2".into()]).unwrap();
    assert_eq!(runs_below(&scratch.0.join("runs")), 4);
    let again = scratch.run(|options| options.claims = vec!["C1-C2".into()]).unwrap();
    assert_eq!((again.reused, runs_below(&scratch.0.join("runs"))), (4, 6));
    let page = page(&scratch.source()).unwrap();
    assert!(page.contains("<strong>C5</strong><br>5</td>") && page.contains("not run: not yet"), "{page}");
}

/// Every claim is measured in the reduced form under each assumption; those that cannot be measured are left empty.
#[test]
fn assumptions_are_held_against_all_claims() {
    let scratch = Scratch::new("assumed");
    let assumptions = r#"
[[assumption]]
id = "plain"
name = "as it is"
[[assumption]]
id = "large"
name = "flows of 1 MB"
set = ["traffic.t.sizes=1 MB"]
[[assumption]]
id = "lost"
name = "nobody has it"
set = ["traffic.u.sizes=1 MB"]
[[claim]]
id = "C6"
place = "6"
says = "flows of 10 kB last long"
experiment = "E"
at = "load = 0.6"
[[claim.part]]
measure = "fct.mean(ecmp)"
from = 500
[[claim]]
id = "C1""#;
    scratch.edit("[[claim]]\nid = \"C1\"", assumptions.trim_start());
    let outcome = scratch.run(|options| options.assumptions = true).unwrap();
    assert!(outcome.terminal.contains("Assuming: flows of 1 MB: 2 reproduced"), "{}", outcome.terminal);
    assert!(std::fs::read_to_string(&outcome.report).unwrap().contains("assuming large"));
    let page = page(&scratch.source()).unwrap();
    let section = &page[page.find("## Every claim under other assumptions").expect("a section")..];
    let row =
        |id: &str| section.lines().find(|line| line.starts_with(&format!("| {id} |"))).unwrap_or("none");
    assert!(row("C6").ends_with("| no | **yes** |  |"), "{section}");
    assert_eq!([row("C3"), row("C4"), row("C5")], ["none"; 3], "{section}");
    assert!(row("plain").ends_with("|  | 0 | 3 |") && row("large").contains("| 2 |"), "{section}");
    assert!(row("lost").ends_with("| 0 | 0 |"), "{section}");
    scratch.edit("1 MB", "2 MB");
    let message = weft_reproduce::page(&scratch.source()).unwrap_err().to_string();
    assert!(message.contains("C6 assuming large"), "{message}");
}

#[test]
fn the_quick_form_says_what_it_cannot_tell() {
    let scratch = Scratch::new("quick");
    let outcome = scratch.run(|options| options.form = Form::Quick).unwrap();
    assert!(outcome.terminal.contains("not run: the quick form is too small for it"), "{}", outcome.terminal);
    assert!(outcome.terminal.lines().all(|line| line.chars().count() <= 80), "{}", outcome.terminal);
    let page = page(&scratch.source()).unwrap();
    assert!(page.contains("From quick, 2 seeds, 4 runs, 400 flows"), "{page}");
    let report = std::fs::read_to_string(outcome.report).unwrap();
    assert!(report.contains("These are small runs (<code>--quick</code>)"), "{report}");
}

#[test]
fn the_large_form_adds_the_overrides_of_each_experiment() {
    let scratch = Scratch::new("large");
    scratch.run(|options| (options.form, options.claims) = (Form::Large, vec!["C1".into()])).unwrap();
    assert!(page(&scratch.source()).unwrap().contains("From large, 2 seeds, 4 runs, 1200 flows"));
    scratch.edit("measure.flows=300", "measure.flows=400");
    assert!(page(&scratch.source()).is_err(), "what the large form runs has changed");
}

#[test]
fn findings_under_another_measure_are_out_of_date_and_bands_are_not_part_of_it() {
    let scratch = Scratch::new("stale");
    scratch.run(|options| options.claims = vec!["C1".into(), "C2".into()]).unwrap();
    scratch.edit("below = 0.5", "below = 5000");
    assert!(page(&scratch.source()).unwrap().contains("**2 are reproduced"));
    scratch.edit("fct.mean(random) / fct.mean(ecmp", "fct.mean(random) / fct.p50(ecmp");
    let message = page(&scratch.source()).unwrap_err().to_string();
    assert!(message.contains("have changed since") && message.ends_with("C2"), "{message}");
}

#[test]
fn a_search_halves_its_bracket_and_is_resumed() {
    let scratch = Scratch::new("search");
    // ECMP carries its own load of 0.4 at equal mean: the true place is known.
    scratch.edit(
        "reach(fct.mean(ecmp), fct.mean(ecmp, load = 0.4)) / 0.4",
        "reach(fct.mean(ecmp), fct.mean(ecmp, load = 0.4), 0.3, 0.55) / 0.4",
    );
    let search = |options: &mut ReproduceOptions| options.claims = vec!["C5".into()];
    let found = scratch.run(search).unwrap();
    // The bracket is 0.25 / 32 wide, two parts in a hundred of 0.4.
    scratch.edit("from = 0.999\nto = 1.001", "from = 0.98\nto = 1.02");
    assert!(page(&scratch.source()).unwrap().contains("**1 is reproduced"), "{}", found.terminal);
    // Two seeds: the level, and seven places for each.
    assert_eq!((found.reused, runs_below(&scratch.0.join("runs"))), (0, 2 * 8));
    let again = scratch.run(search).unwrap();
    assert_eq!((again.failed_runs, runs_below(&scratch.0.join("runs"))), (0, 2 * 8));

    scratch.edit(
        "column = [{ name = \"mean\", measure = \"fct.mean(random)\"",
        "column = [{ name = \"mean\", measure = \"reach(fct.mean(random), 3, 0.2, 0.4)\"",
    );
    let message = scratch.run(|_| ()).unwrap_err().to_string();
    assert!(message.contains("a table does not search") && message.contains("must be measured"), "{message}");
}

#[test]
fn a_choice_that_a_source_leaves_open_is_run_both_ways() {
    let scratch = Scratch::new("open");
    let other =
        "[claim.otherwise]\nopen = \"the load\"\nchoice = \"flows are larger\"\nset = [\"balance=random\"]\n";
    scratch.edit(
        "[[claim.part]]\nmeasure = \"fct.mean(random) / fct.mean(ecmp, load = 0.2)\"\nbelow = 0.5",
        &format!(
            "{}[[claim.part]]\nmeasure = \"fct.mean(load = 0.2, ecmp) / fct.mean(load = 0.6, ecmp)\"\nabove = 1",
            other.replace("balance=random", "traffic.t.sizes=20 kB")
        ),
    );
    scratch.run(|options| options.claims = vec!["C2".into()]).unwrap();
    let told = page(&scratch.source()).unwrap();
    let row = told.lines().find(|line| line.contains("<strong>C2</strong>")).unwrap();
    assert!(row.contains("<td>if flows are larger: 0."), "{row}");
    assert!(
        row.contains(">not reproduced</strong></td>") && told.contains(": from quick, 2 seeds, 4 runs"),
        "{told}"
    );
    scratch.edit("traffic.t.sizes=20 kB", "traffic.t.sizes=10 kB");
    assert!(page(&scratch.source()).is_err(), "the other choice has changed");
    scratch.edit("id = \"C2\"\n", "id = \"C2\"\nquick = false\n");
    let runs = |form| {
        let before = runs_below(&scratch.0.join("runs"));
        let options =
            |options: &mut ReproduceOptions| (options.claims, options.form) = (vec!["C2".into()], form);
        scratch.run(options).unwrap();
        runs_below(&scratch.0.join("runs")) - before
    };
    assert_eq!(runs(Form::Quick), 0, "the quick form is too small for it, whatever is chosen");
    assert!(runs(Form::Full) > 0);
}

#[test]
fn an_interrupted_call_judges_nothing_that_is_not_there() {
    let scratch = Scratch::new("stop");
    let stopped = scratch.run(|options| options.run.stop = Arc::new(AtomicBool::new(true))).unwrap();
    assert!(stopped.interrupted && stopped.not_reproduced == 0);
    assert!(stopped.terminal.contains("not run: interrupted"), "{}", stopped.terminal);
}

#[test]
fn mistakes_in_claims_are_told_all_at_once_with_their_lines() {
    let scratch = Scratch::new("wrong");
    scratch.edit("fct.mean(random) / fct.mean(ecmp, load = 0.2)", "fct.meen(random) / fct.mean(ecmp");
    scratch.edit("measure = \"fct.mean(later)", "measure = \"fct.maen(later)");
    scratch.edit("id = \"C5\"", "id = \"C4\"");
    let grid = "[[grid]]\nid = \"g\"\ntitle = \"\"\nrows_are = \"\"\nline = [1]\ncolumn = [{ name = \"\", at = \"2\" }]\n\
        row = [{ name = \"\", claim = \"C{}\" }, { name = \"\", claim = \"C[]{}\" }]\n";
    scratch.edit("[[table]]", &format!("{grid}[[table]]"));
    let message = scratch.run(|_| ()).unwrap_err().to_string();
    for part in [
        "line 18, C2: cannot read",
        "C3: unknown metric `fct.maen`; did you mean `fct.mean`?",
        "this id is used twice",
        "g: there is no claim `C12`",
        "g: the first part of `C2` has no published number",
        "g: a line goes through two positions",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let unknown = reproduce(
        "dril",
        ReproduceOptions {
            run: RunOptions {
                out: scratch.0.clone(),
                demo: false,
                seeds: None,
                set: Vec::new(),
                engine: weft::PACKETS,
                jobs: 1,
                reuse: weft::Reuse::SameBuild,
                threads: None,
                progress: Box::new(|_| ()),
                stop: Arc::new(AtomicBool::new(false)),
            },
            form: Form::Full,
            claims: Vec::new(),
            tables: false,
            assumptions: false,
            write: None,
            announce: Box::new(|_| {}),
        },
    );
    assert!(unknown.unwrap_err().to_string().contains("allowed: drill"));
}

const LOOP: &str = r#"
weft = 1
name = "loop"
topology.single-switch = { hosts = 5, host_link = { rate = "40 Gbps", delay = "1 us" } }
switch.ecn.red = { min = "5 kB", max = "200 kB", max_probability = 0.01, non_ect = "pass" }
transport.dcqcn = { mtu = "962 B", hyper_increase = "off", initial_rates = ["40 Gbps", "1 Gbps"] }
traffic = [{ tag = "t", kind = "incast", fan_in = 2, receiver = 4, sizes = "1 GB" }]
measure.until = "100 ms"
[sweep]
"traffic.t.fan_in" = [2, 4]
"#;

const LOOP_CLAIMS: &str = r#"
title = "A loop"
reference = "Nobody: Nothing."
about = "Words."
experiment = [
  { id = "E", about = "loop", file = "loop.toml" },
  { id = "E-late", about = "later", file = "loop.toml", fluid = { delay = "50 us" } },
  { id = "E-jitter", about = "jitter", file = "loop.toml", set = ["transport.dcqcn.feedback_jitter=10 us"], fluid = { jitter_every = "5 us" } },
]
[[claim]]
id = "C1"
place = "1"
says = "two flows rest on the ramp where the fixed point is"
experiment = "E"
[[claim.part]]
measure = "fluid.rest.queue(fan_in = 2)"
from = 20.1
to = 20.2
[[claim.part]]
measure = "fluid.queue.mean(fan_in = 2) / fluid.rest.queue(fan_in = 2)"
from = 0.98
to = 1.02
[[claim.part]]
measure = "fluid.end.first(fan_in = 2) / fluid.end.last(fan_in = 2)"
from = 0.9
to = 1.1
[[claim]]
id = "C2"
place = "2"
says = "four flows with a longer delay have a smaller margin"
experiment = "E"
[[claim.part]]
measure = "fluid.margin.exact(fan_in = 4) - E-late:fluid.margin.exact(fan_in = 4)"
above = 5
[[table]]
id = "late"
title = "Later"
claims = ["C2"]
experiment = "E"
column = [{ name = "margin", measure = "fluid.margin.exact(fan_in = 4)" }]
variant = [{ name = "soon" }, { name = "late", experiment = "E-late" }, { name = "jitter", experiment = "E-jitter" }]
"#;

#[test]
fn measures_of_equations_run_no_packet_and_are_named_as_what_they_are() {
    let scratch = Scratch::new("fluid");
    std::fs::write(scratch.source().join("claims.toml"), LOOP_CLAIMS).unwrap();
    std::fs::write(scratch.source().join("loop.toml"), LOOP).unwrap();
    let outcome = scratch.run(|_| ()).unwrap();
    assert_eq!((outcome.not_reproduced, outcome.failed_runs), (0, 0), "{}", outcome.terminal);
    assert_eq!(runs_below(&scratch.0.join("runs")), 0);
    let results = || std::fs::read(scratch.source().join("results.json")).unwrap();
    let alone = results();
    scratch.run(|options| options.run.jobs = 3).unwrap();
    assert_eq!(results(), alone, "the same bytes for any number of threads");
    let before = page(&scratch.source()).unwrap();
    assert!(before.contains("**2 are reproduced") && before.contains("From 2 fluid models;"), "{before}");
    scratch.run(|options| options.tables = true).unwrap();
    let margins = page(&scratch.source()).unwrap();
    let margin = |row: &str| {
        let line = margins.lines().find(|line| line.starts_with(&format!("| {row} |"))).expect(row);
        line.split('|').nth(2).unwrap().trim().parse::<f64>().expect(line)
    };
    assert!(margin("soon") > margin("late") + 5.0 && margin("jitter") == margin("soon"), "{margins}");
    assert!(margins.contains("`weft fluid --jitter-every '5 us'`"), "{margins}");
    scratch.edit("experiment = \"E-late\" }", "experiment = \"E-lat\" }");
    let message = page(&scratch.source()).unwrap_err().to_string();
    assert!(message.contains("late: there is no experiment `E-lat`"), "{message}");
    scratch.edit("experiment = \"E-lat\" }", "experiment = \"E-late\" }");
    scratch.edit("delay = \"50 us\"", "delay = \"60 us\"");
    let message = page(&scratch.source()).unwrap_err().to_string();
    assert!(message.ends_with("C2, late"), "{message}");
}

#[test]
fn what_the_program_brings_has_no_mistakes() {
    let list = weft_reproduce::list().unwrap();
    assert_eq!(list[0].0, "drill");
}

/// Findings about clusters belong to the model that simulated them; those about a machine do not.
#[test]
fn findings_of_another_cluster_model_are_stale() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cluster-models");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproductions/routebricks");
    for entry in std::fs::read_dir(source).unwrap().flatten() {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    let findings = folder.join("results.json");
    let mut known: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&findings).unwrap()).unwrap();
    let about_clusters = |page: &str| page.contains("findings about clusters are *stale*");
    assert!(!about_clusters(&page(&folder).unwrap()), "those of the repository are of this model");
    for (claim, stale) in [("R1", false), ("R10", true)] {
        known["claims"][claim]["model"] = "000000000000".into();
        std::fs::write(&findings, known.to_string()).unwrap();
        let page = page(&folder).unwrap();
        assert_eq!(about_clusters(&page), stale, "{claim}");
        assert_eq!(page.matches(", *stale*").count(), usize::from(stale), "{claim}");
    }
}
