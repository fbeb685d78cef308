//! Recording a long run takes no more memory than recording a short one.

use std::fs;

use weft_core::record::{FlowRecord, RunRecord};
use weft_core::{Bytes, FlowId, Span, Time};
use weft_report::{Kept, Manifest, Recording};

/// Peak memory of recording a run of this many flows.
fn peak(flows: u32) -> u64 {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{flows}"));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).expect("the target folder is writable");
    let folder = root.join("seed-1");
    let flow = |n: u32| {
        let start = Time(u64::from(n) * 1_000);
        let taken = Span(5_000_000 + u64::from(n % 1_009) * 10_000);
        let (flow, size, end) = (FlowId(n), Bytes(u64::from(n % 997) * 100), Some(start + taken));
        FlowRecord { flow, start, end, size, ideal: Span::from_us(4), ..FlowRecord::default() }
    };
    let record = RunRecord::default();
    let counted = allocation_counter::measure(|| {
        let mut recording = Recording::begin(&folder).expect("it can be written");
        (0..flows).for_each(|n| recording.add(&flow(n)).expect("it can be written"));
        recording
            .finish(&folder, (&record, &Kept::ALL), &Manifest::default(), ("", String::new()))
            .expect("it can be written");
    });
    let rows = fs::read_to_string(folder.join("flows.csv")).expect("a table").lines().count();
    assert_eq!(rows as u32, flows + 1);
    fs::remove_dir_all(&root).expect("it is ours");
    counted.bytes_max
}

/// Four times as many flows: the same peak except for a tenth, for the lists of sorted runs and of row groups.
#[test]
fn memory_does_not_grow_with_the_number_of_flows() {
    let (few, many) = (peak(140_000), peak(560_000));
    assert!(many < few + few / 10, "{few} and {many} bytes");
}
