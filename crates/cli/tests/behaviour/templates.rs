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
