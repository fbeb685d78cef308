//! Kill -9, a full disk, folders that refuse, two at once: no finished run is lost or computed again, and the results
//! of the next start are byte for byte those of an undisturbed one.

use crate::{TINY, command, finished, folder_with, good, json, text, weft};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Number of runs.
const RUNS: usize = 32;

/// Two balancers, sixteen seeds.
fn sweep() -> String {
    TINY.replace("seeds = [1, 2]", &format!("seeds = {:?}", (1..=RUNS / 2).collect::<Vec<_>>()))
}

/// Every file below a folder with its contents, except for values of the clock and the machine.
fn contents(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.as_str() {
                _ if path.is_dir() => open.push(path),
                _ => {
                    let relative = path.strip_prefix(root).expect("below").to_owned();
                    found.insert(relative, timeless(&path, &name));
                }
            }
        }
    }
    found
}

/// A file without wall times: in a sweep's table and in reports, the lines that contain them are left out.
fn timeless(path: &Path, name: &str) -> Vec<u8> {
    let clocked = ["wall_s", "peak_memory_bytes"];
    match name {
        "manifest.json" | "summary.json" => {
            let mut value = json(path);
            clocked.iter().for_each(|key| {
                value.as_object_mut().expect("an object").remove(*key);
            });
            value.to_string().into_bytes()
        }
        "sweep.csv" => {
            let rows: Vec<Vec<String>> =
                text(path).lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
            let kept: Vec<usize> = (0..rows[0].len()).filter(|n| rows[0][*n] != "wall_s").collect();
            let line = |row: &Vec<String>| kept.iter().map(|n| row[*n].clone()).collect::<Vec<_>>().join(",");
            rows.iter().map(line).collect::<Vec<_>>().join("\n").into_bytes()
        }
        "sweep.parquet" => Vec::new(),
        "report.html" => {
            let clocked = |line: &&str| !line.contains("of compute time") && !line.contains("wall");
            text(path).lines().filter(clocked).collect::<Vec<_>>().join("\n").into_bytes()
        }
        _ => fs::read(path).expect("readable"),
    }
}

/// The results of an undisturbed call.
fn undisturbed(name: &str, scenario: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = folder_with(name, scenario);
    good(&folder, "run tiny.toml --jobs 2");
    contents(&folder.join("runs/tiny"))
}

fn assert_same(left: &BTreeMap<PathBuf, Vec<u8>>, right: &BTreeMap<PathBuf, Vec<u8>>) {
    let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(left), names(right));
    for (path, bytes) in left {
        assert!(right[path] == *bytes, "{} differs", path.display());
    }
}

/// The manifests of all complete runs: their wall times would change if they were computed again.
fn manifests(root: &Path) -> BTreeMap<PathBuf, String> {
    finished(root).into_iter().map(|run| (run.clone(), text(&run.join("manifest.json")))).collect()
}

/// Every file of every complete run is byte for byte what an undisturbed call writes; reports are written later.
fn assert_same_runs(root: &Path, whole: &BTreeMap<PathBuf, Vec<u8>>) {
    let now = if root.exists() { contents(root) } else { BTreeMap::new() };
    for run in finished(root) {
        let run = run.strip_prefix(root).expect("below");
        for (path, bytes) in whole.iter().filter(|(path, _)| path.starts_with(run)) {
            let report = path.ends_with("report.html") && !now.contains_key(path);
            assert!(report || now.get(path) == Some(bytes), "{} differs", path.display());
        }
    }
}

/// Every file of every complete run can be read and is whole.
fn assert_whole(root: &Path) {
    for run in finished(root) {
        for name in ["manifest.json", "summary.json", "detail.json"] {
            assert!(json(&run.join(name)).is_object(), "{}", run.display());
        }
        for name in ["flows", "links", "hops", "queues", "drops"] {
            assert!(text(&run.join(format!("{name}.csv"))).ends_with('\n'), "{} {name}", run.display());
            let parquet = fs::read(run.join(format!("{name}.parquet"))).expect("readable");
            assert!(parquet.ends_with(b"PAR1"), "{} {name}", run.display());
        }
    }
}

fn killed(folder: &Path, line: &str, after: Duration) {
    let mut child = command(folder, line).spawn().expect("weft starts");
    std::thread::sleep(after);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}

/// The moments spread over the whole sweep, the writing of files and reports included; they depend on the machine,
/// the requirements do not.
#[test]
fn a_sweep_killed_at_many_moments_ends_as_if_nothing_had_happened() {
    let folder = folder_with("killed-often", &sweep());
    let root = folder.join("runs/tiny");
    let mut before: BTreeMap<PathBuf, String> = BTreeMap::new();
    for moment in 0..24_u64 {
        killed(&folder, "run tiny.toml --jobs 2", Duration::from_millis(10 + 3 * (moment * 7 % 24)));
        assert_whole(&root);
        let now = if root.exists() { manifests(&root) } else { BTreeMap::new() };
        for (run, manifest) in &before {
            assert_eq!(now.get(run), Some(manifest), "{} was lost or computed again", run.display());
        }
        before = now;
        if before.len() == RUNS {
            // Done already: some runs are taken away, so that the next death has something to hit.
            for run in before.keys().step_by(2) {
                fs::remove_dir_all(run).expect("removable");
            }
            before = manifests(&root);
        }
    }
    let out = good(&folder, "run tiny.toml --jobs 2");
    let again = format!("{} complete run", before.len());
    assert!(before.is_empty() || out.contains(&again), "{out}");
    assert_same(&contents(&root), &undisturbed("killed-never", &sweep()));
}

/// The shell limits the size of files, as a full disk would; with the signal ignored the write fails, otherwise it kills.
fn with_files_up_to(folder: &Path, blocks: u32, ignored: bool) -> crate::Said {
    let trap = if ignored { "trap '' XFSZ; " } else { "" };
    let line = format!("{trap}ulimit -f {blocks}; exec \"$0\" run tiny.toml --jobs 1");
    let shell = Command::new("sh")
        .args(["-c", &line, env!("CARGO_BIN_EXE_weft")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    crate::said(&shell.expect("sh starts"))
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_named_and_nothing_half_written_counts() {
    let whole = undisturbed("disk-large", TINY);
    let folder = folder_with("disk-full", TINY);
    let root = folder.join("runs/tiny");
    // In blocks of 512 bytes: not even the list of runs, not the tables of a run, not the report over all.
    let mut said = Vec::new();
    for blocks in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 60, 80, 100, 120, 140] {
        let one = with_files_up_to(&folder, blocks, true);
        assert_eq!(one.code, Some(1), "{} blocks\n{}\n{}", blocks, one.out, one.err);
        let words = format!("{}{}", one.out, one.err);
        assert!(words.contains("File too large") && words.contains("runs/tiny"), "{words}");
        assert_same_runs(&root, &whole);
        said.push(words);
    }
    assert!(said.iter().any(|words| words.contains("no run finished")), "{said:?}");
    assert!(
        said.iter().any(|words| words.contains("are kept; run the same command to continue")),
        "{said:?}"
    );
    assert_eq!(finished(&root).len(), 4, "the runs themselves fit at last");
    let before = manifests(&root);
    good(&folder, "run tiny.toml");
    assert_eq!(manifests(&root), before);
    assert_same(&contents(&root), &whole);
}

/// The same, but the process dies in the middle of a file.
#[cfg(unix)]
#[test]
fn death_in_the_middle_of_a_file_leaves_no_half_file() {
    let whole = undisturbed("disk-large-2", TINY);
    let folder = folder_with("disk-deadly", TINY);
    let root = folder.join("runs/tiny");
    for blocks in [1, 4, 8, 16, 40, 60, 100] {
        let said = with_files_up_to(&folder, blocks, false);
        assert_eq!(said.code, None, "a signal ended it: {}", said.err);
        assert_same_runs(&root, &whole);
    }
    good(&folder, "run tiny.toml");
    assert_same(&contents(&root), &whole);
}

#[cfg(target_os = "linux")]
#[test]
fn places_that_refuse_are_named() {
    let folder = folder_with("refused", TINY);
    fs::write(folder.join("file"), "").expect("writable");
    // Not even root can create folders in /proc.
    for (place, cause) in [("file", "Not a directory"), ("/proc", "cannot write results to /proc/tiny")] {
        let said = weft(&folder, &format!("run tiny.toml --out {place}"));
        assert_eq!(said.code, Some(1));
        assert!(said.err.contains(cause) && said.err.contains(place), "{}", said.err);
    }
}

/// A run that takes seconds, and continues until it is killed.
fn busy(folder: &Path) -> Child {
    command(folder, "run tiny.toml --jobs 1").stderr(Stdio::null()).spawn().expect("weft starts")
}

fn lock_says(folder: &Path, who: u32) -> bool {
    fs::read_to_string(folder.join("runs/.tiny.lock")).is_ok_and(|said| said == who.to_string())
}

#[test]
fn the_second_process_is_told_of_the_first_and_takes_over_when_it_is_dead() {
    let long = TINY.replace("flows = 60", "flows = 200000");
    let folder = folder_with("two-at-once", &long);
    let mut first = busy(&folder);
    while !lock_says(&folder, first.id()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = weft(&folder, "run tiny.toml");
    assert_eq!(second.code, Some(1));
    let words = format!("another weft (process {}) is writing to runs/tiny", first.id());
    assert!(second.err.contains(&words), "{}", second.err);
    fs::write(folder.join("other.toml"), TINY.replace("\"tiny\"", "\"other\"")).expect("writable");
    good(&folder, "run other.toml");
    first.kill().expect("it is ours");
    first.wait().expect("it ends");
    assert!(lock_says(&folder, first.id()), "the dead cannot clean up");
    fs::write(folder.join("tiny.toml"), TINY).expect("writable");
    good(&folder, "run tiny.toml");
    assert_eq!(text(&folder.join("runs/.tiny.lock")), "");
}

/// Remains of earlier deaths are removed when the next call begins; the user's files stay.
#[test]
fn remains_are_cleared() {
    let folder = folder_with("remains", TINY);
    good(&folder, "run tiny.toml");
    let root = folder.join("runs/tiny");
    let whole = contents(&root);
    let run = finished(&root)[0].clone();
    let beside = |name: &str| run.with_file_name(name);
    for name in [".seed-9.partial", ".seed-1.old", "seed-1.partial"] {
        fs::create_dir(beside(name)).expect("writable");
        fs::write(beside(name).join("flows.csv"), "half").expect("writable");
    }
    fs::write(root.join(".sweep.json.partial"), "{").expect("writable");
    fs::write(root.join("notes.txt"), "mine").expect("writable");
    good(&folder, "run tiny.toml");
    assert_eq!(text(&root.join("notes.txt")), "mine");
    fs::remove_file(root.join("notes.txt")).expect("there");
    assert_same(&contents(&root), &whole);
}

/// Files that look like remains but lie elsewhere, have another name or are behind a link are not Weft's: no file of
/// the user's is removed, and a folder that contains itself does no harm.
#[cfg(unix)]
#[test]
fn nothing_of_a_person_is_removed() {
    use std::os::unix::fs::symlink;
    let folder = folder_with("mine", TINY);
    good(&folder, "run tiny.toml");
    let root = folder.join("runs/tiny");
    let run = finished(&root)[0].clone();
    let case = run.parent().expect("a case");
    let elsewhere = folder.join("elsewhere");
    let mine: Vec<PathBuf> = [
        root.join("documents/.vimrc.old"),
        root.join("documents/.seed-1.old/flows.csv"),
        root.join(".notes.partial"),
        case.join(".seed-1.old/thesis.tex"),
        case.join(".seed-7.partial/deep/flows.csv"),
        case.join(".seed-x.partial/flows.csv"),
        run.join(".draft.partial"),
        elsewhere.join(".bashrc.old"),
        elsewhere.join("seed-1/.report.html.partial"),
        elsewhere.join(".seed-1.partial/flows.csv"),
    ]
    .to_vec();
    for path in &mine {
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, "mine").expect("writable");
    }
    symlink(&elsewhere, root.join("link-00000000")).expect("links");
    symlink(&elsewhere, case.join(".seed-8.partial")).expect("links");
    for name in ["a", "b"] {
        symlink(".", root.join(name)).expect("links");
        symlink(".", case.join(name)).expect("links");
    }
    fs::write(case.join(".seed-1.old/flows.csv"), "of Weft").expect("writable");
    good(&folder, "run tiny.toml");
    let moved =
        |path: &PathBuf| if path.ends_with("thesis.tex") { run.join("thesis.tex") } else { path.clone() };
    for path in mine.iter().map(moved) {
        assert_eq!(text(&path), "mine", "{}", path.display());
    }
    assert!(!case.join(".seed-1.old").exists());
    fs::remove_file(root.join("sweep.json")).expect("there");
    good(&folder, "report runs/tiny");
}

/// The process dies after every single change of the file system in turn, in a folder without results and in one
/// whose run must be replaced; the next call ends with the results of an undisturbed one.
#[cfg(unix)]
#[test]
fn death_between_any_two_steps_loses_nothing() {
    let one = TINY
        .replace("seeds = [1, 2]", "seeds = [1]\n[[failure]]\ncables = [\"leaf0-spine0\"]")
        .replace("leaves = 2\nspines = 2", "leaves = 4\nspines = 3")
        .replace("[sweep]\nbalance = [\"ecmp\", \"drill\"]", "[balance.drill]");
    let whole = undisturbed("steps-none", &one);
    assert!(whole.keys().any(|path| path.ends_with("quiver.svg")), "it has a drawing of its components");
    for broken in [false, true] {
        let mut deaths = 0;
        for step in 1.. {
            let folder = folder_with("steps", &one);
            let root = folder.join("runs/tiny");
            if broken {
                good(&folder, "run tiny.toml");
                fs::write(finished(&root)[0].join("detail.json"), "").expect("writable");
            }
            let mut child = command(&folder, "run tiny.toml --jobs 1");
            let said = crate::said(
                &child.env("WEFT_TEST_DIE_AT_STEP", step.to_string()).output().expect("weft starts"),
            );
            if said.code == Some(0) {
                break;
            }
            assert_eq!(said.code, None, "step {step}: {}", said.err);
            deaths += 1;
            good(&folder, "run tiny.toml");
            assert_same(&contents(&root), &whole);
        }
        assert!(deaths > 50, "{deaths} steps");
    }
}

/// A list of runs that a power failure has emptied is written again.
#[test]
fn an_empty_list_of_runs_is_written_again() {
    let folder = folder_with("empty-list", TINY);
    good(&folder, "run tiny.toml");
    let list = folder.join("runs/tiny/sweep.json");
    let whole = json(&list);
    fs::write(&list, "").expect("writable");
    assert!(weft(&folder, "report runs/tiny").err.contains("sweep.json"));
    good(&folder, "run tiny.toml");
    assert_eq!(json(&list), whole);
    assert!(matches!(whole, Value::Object(_)));
}

/// Files that nobody reads back are the first to go on a full disk: what they held is computed again, not taken for there.
#[test]
fn tables_that_are_gone_or_cut_are_computed_again() {
    let folder = folder_with("tables-gone", TINY);
    good(&folder, "run tiny.toml --seed 1 --set balance=drill");
    let root = folder.join("runs/tiny");
    let [run] = finished(&root).try_into().expect("one run");
    let whole = contents(&root);
    for file in ["flows.parquet", "flows.csv", "links.parquet", "series-links.parquet", "scenario.toml"] {
        let path = run.join(file);
        if !path.exists() {
            continue;
        }
        for damage in 0..3 {
            match damage {
                0 => fs::remove_file(&path).expect("it is there"),
                1 => fs::write(&path, "").expect("writable"),
                _ => fs::write(&path, &fs::read(&path).expect("a file")[..60]).expect("writable"),
            }
            if file == "scenario.toml" {
                let told = weft(&folder, "report runs/tiny");
                assert!(told.code == Some(2) && told.err.contains("scenario.toml"), "{}", told.err);
            }
            let said = good(&folder, "run tiny.toml --seed 1 --set balance=drill");
            assert!(said.contains("computed again: ") && said.contains(file), "{said}");
            assert!(!said.contains("reused"), "{said}");
            assert_same(&contents(&root), &whole);
        }
    }
    assert!(good(&folder, "run tiny.toml --seed 1 --set balance=drill").contains("1 complete run"));
}

/// A trace that the disk has no room for leaves no file, or the one that was there.
#[cfg(unix)]
#[test]
fn a_trace_is_written_as_a_whole_or_not_at_all() {
    let folder = folder_with("trace-full", TINY);
    let words = "trace tiny.toml --flow 5 --set balance=drill --csv flow.csv --pcap flow.pcapng";
    let limited = || {
        let line = format!("trap '' XFSZ; ulimit -f 1; exec \"$0\" {words}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_weft")]).current_dir(&folder).stdin(Stdio::null());
        let said = crate::said(&shell.output().expect("sh starts"));
        assert!(said.code == Some(1) && said.err.contains("flow."), "{:?} {}", said.code, said.err);
    };
    limited();
    assert!(!folder.join("flow.csv").exists() && !folder.join("flow.pcapng").exists());
    good(&folder, words);
    let before = contents(&folder);
    limited();
    assert_same(&contents(&folder), &before);
}
