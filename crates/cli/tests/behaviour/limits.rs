//! Time and memory are proportional to the size of the input, whatever mistakes it contains.

use crate::{TINY, folder, folder_with, good, weft};
use std::fs;

/// All mistakes are counted, and drawn up to a limit; a test can check the shape of the answer, not its time.
#[test]
fn a_file_full_of_mistakes_is_counted_to_the_end() {
    let folder = folder("mistakes");
    let head = "weft = 1\nname = \"a\"\n";
    let unknown: String = (0..20_000).map(|n| format!("unknown{n} = 1\n")).collect();
    for (text, least) in
        [("x y z\n".repeat(20_000), 20_000), ("seeds = [1]\n".repeat(20_000), 19_000), (unknown, 20_000)]
    {
        fs::write(folder.join("bad.toml"), format!("{head}{text}")).expect("writable");
        let said = weft(&folder, "check bad.toml");
        assert_eq!(said.code, Some(2));
        let last = said.out.lines().last().unwrap_or_default();
        let count: usize = last.split(' ').next().and_then(|word| word.parse().ok()).expect("it counts");
        assert!(count >= least && last.contains("the first 500"), "{last}");
        let drawn = said.out.matches("--> bad.toml:").count();
        assert_eq!(drawn, 500);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_end_is_refused() {
    let folder = folder("endless");
    for line in [
        "check /dev/zero",
        "run /dev/zero",
        "explain /dev/zero",
        "lint /dev/zero",
        "lint --as sonic /dev/zero",
    ] {
        let said = weft(&folder, line);
        assert_eq!(said.code, Some(2), "{line}");
        assert!(
            format!("{}{}", said.out, said.err).contains("the limit for such a file"),
            "{line}: {}{}",
            said.out,
            said.err
        );
    }
}

#[test]
fn seeds_are_given_as_ranges_and_have_a_limit() {
    let folder = folder_with("seeds", TINY);
    let out = good(&folder, "run tiny.toml --seed 1..3,7");
    assert!(!out.is_empty());
    assert_eq!(crate::finished(&folder.join("runs")).len(), 8);
    let manifest = crate::json(&crate::finished(&folder.join("runs"))[0].join("manifest.json"));
    assert_eq!(manifest["command_of_all"], "weft run tiny.toml --seed 1..3,7");
    assert!(good(&folder, "run tiny.toml --seed 1..3,7").contains("8 complete runs reused"));
    for (seeds, word) in
        [("1..200000", "more than 100000"), ("3..1", "before it begins"), ("1..3,2", "2 is given twice")]
    {
        let said = weft(&folder, &format!("run tiny.toml --seed {seeds}"));
        assert_eq!(said.code, Some(2), "{seeds}");
        assert!(said.err.contains(word), "{}", said.err);
    }
    let many: Vec<String> = (0..100_001).map(|n| n.to_string()).collect();
    fs::write(folder.join("many.toml"), TINY.replace("[1, 2]", &format!("[{}]", many.join(", "))))
        .expect("writable");
    let said = weft(&folder, "check many.toml");
    assert!(said.code == Some(2) && said.out.contains("100001 seeds"), "{}", said.out);
}

/// A scenario of flows written inline, as many as the size limit admits.
#[cfg(target_os = "linux")]
fn inline_flows(count: usize) -> String {
    let flow = |n: usize| format!("  {{from={},to={},size=\"9 kB\",at=\"{n} us\"}},\n", n % 16, (n + 1) % 16);
    let flows: String = (0..count).map(flow).collect();
    format!(
        "weft = 1\nname = \"flows\"\n[topology.single-switch]\nhosts = 16\n\
         [[traffic]]\ntag = \"all\"\nkind = \"list\"\nflows = [\n{flows}]\n"
    )
}

/// Quadratic work would take minutes here, and a copy of the tree for each case more than the memory that the shell grants.
#[cfg(target_os = "linux")]
#[test]
fn inline_flows_take_time_and_memory_in_proportion() {
    let folder = folder("inline");
    fs::write(folder.join("flows.toml"), inline_flows(40_000)).expect("writable");
    let script = format!("ulimit -v 700000; exec {} check flows.toml", env!("CARGO_BIN_EXE_weft"));
    let said = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(&folder)
        .output()
        .expect("it runs");
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && out.contains("no mistakes"), "{out}{said:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_scenario_that_is_too_long_names_the_way_out() {
    let folder = folder("long");
    fs::write(folder.join("flows.toml"), inline_flows(95_000)).expect("writable");
    let said = weft(&folder, "check flows.toml");
    assert_eq!(said.code, Some(2));
    let found = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        found.contains("the limit for such a file") && found.contains("`file` of a traffic entry"),
        "{found}"
    );
}
