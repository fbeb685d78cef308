//! Foreign flow files are read exactly or refused with a line, and never crash the program.

use weft_core::{Bytes, HostId, Purpose, Random, Span};
use weft_workload::ListedFlow;
use weft_workload::import::{csv, hpcc, htsim, to_csv, to_scenario};

const TABLE: &str = "flow_id,start_ns,src,dst,bytes\n0,11358,30,102,3777129\n1,12041,193,82,49680\n";
const FLOWS: &str = "2\n2 1 3 100 200000000 2\n3 0 3 100 5000 2.000001\n\nFirst line: number of flows\n";
const MATRIX: &str = "# incast\nNodes 16\nConnections 2\nTriggers 0\n0->15 id 1 start 0 size 2000000\n1->15 start 5000000 size 1 prio 3\n";

fn flow(at: Span, from: u32, to: u32, size: u64) -> ListedFlow {
    ListedFlow { at, from, to, size: Bytes(size), deadline: None }
}

fn rows(file: &str, text: &str) -> Vec<ListedFlow> {
    csv(file, text).unwrap().into_iter().map(|row| row.flow).collect()
}

fn same(number: u32) -> Option<HostId> {
    (number < 4).then_some(HostId(number))
}

#[test]
fn a_neutral_table_and_its_round_trip() {
    let flows = rows("R1.csv", TABLE);
    assert_eq!(
        flows,
        [flow(Span::from_ns(11358), 30, 102, 3777129), flow(Span::from_ns(12041), 193, 82, 49680)]
    );
    assert_eq!(rows("again", &to_csv(&flows)), flows);
}

#[test]
fn deadlines_are_a_column_of_their_own() {
    let flows = rows("t", "start_ns,src,dst,bytes,deadline_us\n0,0,1,5,2.5\n1,0,1,5,\n");
    assert_eq!(
        flows.iter().map(|flow| flow.deadline).collect::<Vec<_>>(),
        [Some(Span::from_ns(2_500)), None]
    );
    assert_eq!(rows("again", &to_csv(&flows)), flows);
}

#[test]
fn starts_have_fractions_and_any_unit() {
    let start =
        |column: &str, word: &str| rows("t", &format!("{column},src,dst,bytes\n{word},0,1,5\n"))[0].at;
    assert_eq!(start("start_ns", "1.5"), Span(1_500));
    assert_eq!(start("start_us", "0.25"), Span::from_ns(250));
    assert_eq!(start("start_ms", "2"), Span::from_ms(2));
    assert_eq!(start("start_s", "2.000000001"), Span::from_ns(2_000_000_001));
}

#[test]
fn every_bad_row_is_named() {
    let text = "start_ns,src,dst,bytes\n-1,0,1,5\n0,0,1,5\n0,x,1,5\n\n0,0,0,5\n0,0,1\n";
    let message = csv("t.csv", text).unwrap_err().to_string();
    let lines: Vec<&str> = message.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["t.csv:2", "t.csv:4", "t.csv:6", "t.csv:7"], "{message}");
    let message =
        hpcc("f", "3\n2 9 3 100 5 0\n2 1 3 100 5 0\n2 2 3 100 5 0\n", same).unwrap_err().to_string();
    assert!(message.starts_with("f:2: ") && message.contains("\nf:4: "), "{message}");
    let message = htsim("m", &MATRIX.replace("->15", "->16"), 16).unwrap_err().to_string();
    assert!(message.starts_with("m:5: ") && message.contains("\nm:6: "), "{message}");
}

#[test]
fn hpcc_flows_have_seconds_and_text_after_the_last_is_ignored() {
    let flows = hpcc("flow.txt", FLOWS, same).unwrap();
    let start = Span::from_us(2_000_001);
    assert_eq!(flows, [flow(Span::from_s(2), 2, 1, 200_000_000), flow(start, 3, 0, 5000)]);
}

/// An extra flow is not text that explains the file.
#[test]
fn flows_beyond_the_announced_ones_are_refused() {
    let more = "2\n2 1 3 100 200000000 2\n3 0 3 100 5000 2\n3 1 3 100 5000 2\n";
    let message = hpcc("f", more, same).unwrap_err().to_string();
    assert_eq!(message, "f:4: found one more flow; allowed: 2 flows, as the first line says");
    let message = htsim("m", MATRIX, 15).unwrap_err().to_string();
    assert!(message.starts_with("m:") && message.contains("hosts in the topology"), "{message}");
}

#[test]
fn hpcc_flows_may_lack_the_port() {
    let flows = hpcc("flow.txt", "2\n2 1 3 200000000 2\n3 0 3 5000 2.000001\n", same).unwrap();
    assert_eq!(flows, hpcc("flow.txt", FLOWS, same).unwrap());
    let mixed = hpcc("f", "2\n2 1 3 200000000 2\n3 0 3 100 5000 2.000001\n", same).unwrap_err().to_string();
    assert!(mixed.starts_with("f:3: found 6 columns"), "{mixed}");
}

#[test]
fn htsim_connections_have_picoseconds() {
    let flows = htsim("incast.cm", MATRIX, 16).unwrap();
    assert_eq!(flows, [flow(Span::ZERO, 0, 15, 2_000_000), flow(Span::from_us(5), 1, 15, 1)]);
}

#[test]
fn scenario_text_names_every_flow() {
    let text = to_scenario(&htsim("incast.cm", MATRIX, 16).unwrap(), "incast");
    assert!(text.starts_with("[[traffic]]\ntag = \"incast\"\nkind = \"list\"\nflows = [\n"));
    assert!(text.contains("{ at = \"5 us\", from = 1, to = 15, size = \"1 B\" },"));
}

#[test]
fn errors_name_line_what_was_found_and_what_is_allowed() {
    let text = |error: weft_workload::import::ImportErrors| error.to_string();
    let broken = TABLE.replace("193", "x");
    let expected =
        "R1.csv:3: found `x`; allowed: the name of a host or its number, a whole number from 0 to 4294967295";
    assert_eq!(text(csv("R1.csv", &broken).unwrap_err()), expected);
    assert!(text(csv("t", "a,b\n").unwrap_err()).starts_with("t:1: found no column src"));
    assert!(text(csv("t", "").unwrap_err()).contains("the end of the file"));
    assert!(text(hpcc("f", "3\n2 1 3 100 5 0\n", same).unwrap_err()).contains("3 lines with one flow each"));
    assert!(text(hpcc("f", "1\n2 9 3 100 5 0\n", same).unwrap_err()).contains("`9`, which is not a host"));
    assert!(text(hpcc("f", "1\n2 1 3 100 5 -1\n", same).unwrap_err()).contains("start time in seconds"));
    let refused = |part: &str, by: &str| text(htsim("m", &MATRIX.replace(part, by), 16).unwrap_err());
    assert!(refused("prio 3", "trigger 1").starts_with("m:6: found `trigger`"));
    assert!(refused("start 0 ", "").contains("found no `start`"));
    assert!(refused("Connections 2", "Connections 3").contains("found 2 flows; allowed: 3 flows"));
    assert!(refused("0->15", "0->16").contains("m:5: found `16`; allowed: a host number from 0 to 15"));
    assert!(refused("Triggers 0", "Triggers 1").contains("not supported"));
}

/// Replaces, removes or duplicates pieces of `text` at random.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len() as u32) as usize;
        match random.below(4) {
            0 => bytes[at] = b" \n0123456789->.,#eNxX-"[random.below(22) as usize],
            1 => _ = bytes.remove(at),
            2 => bytes.truncate(at + 1),
            _ => bytes.splice(at..at, *b"99999999999999999999").for_each(drop),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn broken_files_are_refused_and_never_panic() {
    let mut random = Random::new(1, Purpose::Test, 0);
    let mut refused = 0;
    for _ in 0..6000 {
        let [table, flows, matrix] = [TABLE, FLOWS, MATRIX].map(|text| mutated(text, &mut random));
        let table = csv("f", &table).map(|rows| rows.into_iter().map(|row| row.flow).collect());
        let results = [table, hpcc("f", &flows, same), htsim("f", &matrix, u32::MAX)];
        for error in results.into_iter().filter_map(Result::err) {
            let message = error.to_string();
            assert!(message.contains("found ") && message.contains("; allowed: "), "{message}");
            refused += 1;
        }
    }
    assert!(refused > 3000, "{refused}");
}

/// Spreadsheets write a byte order mark, and people write names.
#[test]
fn a_table_may_begin_with_a_byte_order_mark_and_name_hosts() {
    let text = "\u{feff}start_ns,src,dst,bytes\n0,host2,host10,1000\n5,3,host4,7\n";
    let flows = csv("f.csv", text).expect("a table");
    let ends: Vec<(u32, u32)> = flows.iter().map(|row| (row.flow.from, row.flow.to)).collect();
    assert_eq!(ends, [(2, 10), (3, 4)]);
    let refused =
        csv("f.csv", "start_ns,src,dst,bytes\n0,leaf2,host10,1000\n").expect_err("no host").to_string();
    assert!(
        refused.starts_with("f.csv:2: found `leaf2`; allowed: the name of a host or its number"),
        "{refused}"
    );
}

/// A column that looks as if it were read is read or is an error.
#[test]
fn columns_that_would_be_ignored_are_refused() {
    let refused = |head: &str| csv("t", &format!("{head}\n0,0,1,5,9\n")).expect_err(head).to_string();
    for head in ["start_ns,src,dst,bytes,start_us", "deadline_us,src,dst,start_ns,deadline_ns"] {
        assert!(refused(head).contains("two columns for one value"), "{}", refused(head));
    }
    assert!(refused("start_ns,src,dst,bytes,bytes").contains("bytes and bytes"));
    for head in [
        "start_ns,src,dst,bytes,Deadline_us",
        "start_ns,src,dst,bytes,deadline",
        "start_ns,src,dst,bytes,SRC",
        "start_ns,src,dst,bytes,dedline_us",
        "start_ns,src,dst,bytes,flow-id",
    ] {
        assert!(refused(head).contains("which is not read"), "{}", refused(head));
    }
    assert!(csv("t", "start_ns,src,dst,bytes,comment\n0,0,1,5,x\n").is_ok());
    let wide = csv("t", "start_ns,src,dst,bytes\n0,0,1,5\n0,0,1,1,000\n").expect_err("too wide").to_string();
    assert!(wide.contains("t:3: found 5 values; allowed: one for each of the 4 columns"), "{wide}");
    let empty = csv("t", "start_ns,src,dst,bytes\n").expect_err("no flow").to_string();
    assert!(empty.contains("the end of the file"), "{empty}");
}
