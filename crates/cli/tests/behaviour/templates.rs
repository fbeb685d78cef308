//! `weft new`: every kind passes the check and runs.

use crate::{folder, good, weft};

fn kinds(folder: &std::path::Path) -> Vec<String> {
    let listed = good(folder, "list templates");
    let lines = listed.lines().skip(1).filter(|line| !line.starts_with("    "));
    lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

#[test]
fn every_kind_is_accepted_and_runs() {
    let folder = folder("templates");
    let kinds = kinds(&folder);
    assert!(kinds.len() >= 7, "{kinds:?}");
    for kind in kinds {
        good(&folder, &format!("new {kind} --out {kind}.toml"));
        good(&folder, &format!("check {kind}.toml"));
        good(&folder, &format!("explain {kind}.toml"));
        let short =
            format!("run {kind}.toml --seed 1 --set measure.until='6_ms' --set measure.warm_up='0_ps'");
        let mut command = crate::command(&folder, "");
        let arguments =
            short.split_whitespace().map(|word| word.replace('_', " ").replace("warm up", "warm_up"));
        let output =
            command.args(arguments.map(|word| word.replace('\'', ""))).output().expect("weft starts");
        let said = crate::said(&output);
        assert!(said.out.contains("report: runs/"), "{kind}\n{}\n{}", said.out, said.err);
    }
}

#[test]
fn a_file_is_never_overwritten_and_an_unknown_kind_is_refused() {
    let folder = folder("templates-refused");
    good(&folder, "new hello --out hello.toml");
    let again = weft(&folder, "new incast --out hello.toml");
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("hello.toml"), "{}", again.err);
    let unknown = weft(&folder, "new helo");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("did you mean `hello`?"), "{}", unknown.err);
}

/// The estimate says what it leaves out, or why there is none; traffic that starts late is remarked upon.
#[test]
fn checks_say_what_an_estimate_lacks() {
    let folder = folder("templates-estimates");
    let of = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a file is written");
        good(&folder, &format!("check {name}"))
    };
    let hello = good(&folder, "new hello");
    let plain = of("plain.toml", &hello);
    assert!(plain.contains("estimate: ") && !plain.contains("not counted"), "{plain}");
    let ndp = of(
        "ndp.toml",
        "weft = 1\nname = \"n\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
         [switch]\ntrim.queue = \"8 pkt\"\nqueues = 2\nschedule = { wrr = { weights = [10, 1] } }\n[transport.ndp]\n[balance.random]\n\
         [[traffic]]\ntag = \"t\"\nload = 0.2\nsizes = \"20 kB\"\n[measure]\nflows = 50\n",
    );
    assert!(ndp.contains("not counted: pulls and trimmed headers of NDP"), "{ndp}");
    let jobs = good(&folder, "new terasort");
    let jobs = of("jobs.toml", &jobs);
    assert!(jobs.contains("no estimate: jobs determine"), "{jobs}");
}
