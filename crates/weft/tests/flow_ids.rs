//! Results can be joined to the flow file they come from: `flows` names each flow by the file's `flow_id`.

use std::fs;
use std::sync::Arc;

const SCENARIO: &str = r#"
weft = 1
name = "ids"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
[[traffic]]
tag = "listed"
kind = "list"
file = "flows.csv"
[[traffic]]
tag = "more"
kind = "list"
flows = [{ from = 2, to = 5, size = "3 kB", at = "1 us" }]
"#;

#[test]
fn flows_keep_the_identifiers_of_their_file() {
    let folder = std::env::temp_dir().join(format!("weft-flow-ids-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("writable");
    let path = folder.join("ids.toml");
    fs::write(&path, SCENARIO).expect("writable");
    fs::write(folder.join("flows.csv"), "flow_id,src,dst,bytes,start_ns\n17,0,4,1000,9000\n3,1,6,2000,5\n")
        .expect("writable");
    let options = weft::RunOptions {
        out: folder.join("runs"),
        demo: false,
        seeds: None,
        set: Vec::new(),
        engine: weft::PACKETS,
        jobs: 1,
        reuse: weft::Reuse::SameBuild,
        threads: Some(1),
        progress: Box::new(|_| {}),
        stop: Arc::default(),
    };
    weft::run(&path, &options).expect("it runs");
    let found = weft_core::input::read_text(&find(&folder.join("runs")), 100_000).expect("flows.csv");
    fs::remove_dir_all(&folder).expect("removable");
    let rows: Vec<Vec<&str>> = found.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|column| *column == name).expect("a column");
    let (id, size) = (column("listed_id"), column("size_bytes"));
    let pairs: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[id], row[size])).collect();
    assert_eq!(pairs, [("3", "2000"), ("", "3000"), ("17", "1000")]);
}

fn find(folder: &std::path::Path) -> std::path::PathBuf {
    let inside = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let found = inside.filter_map(|path| match path.is_dir() {
        true => Some(find(&path)).filter(|path| path.is_file()),
        false => path.ends_with("flows.csv").then_some(path),
    });
    found.last().unwrap_or_default()
}
