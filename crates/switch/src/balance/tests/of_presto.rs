//! Presto at a switch: the label decides, and a neighbour replaces a port that is gone.

use weft_core::label::PathLabel;

use super::*;

fn presto(k: usize) -> Bench {
    Bench::of(BalancerSettings::Presto(presto::PrestoSettings::default()), k)
}

/// A packet at the `hop`-th switch of its path, whose label says a port for each of the first three.
fn labelled(n: u32, hops: u8, said: [u16; 3]) -> Header {
    let label = (1..).zip(said).fold(PathLabel::default(), |label, (hop, port)| {
        label.and(hop, PortId(port)).expect("there is room")
    });
    Header { note: label.note(n as u16), hops, ..flow(n) }
}

#[test]
fn a_label_decides_at_each_switch_for_all_flows_and_flowcells() {
    let mut bench = presto(6);
    for n in 0..200 {
        for (hop, port) in [(1, 4), (2, 0), (3, 5)] {
            assert_eq!(bench.send(&labelled(n, hop, [4, 0, 5])), PortId(port));
        }
    }
}

#[test]
fn the_next_port_stands_in_for_one_that_is_gone() {
    let mut bench = presto(4);
    bench.ports = [PortId(1), PortId(3), PortId(7)].to_vec();
    let sent = |bench: &mut Bench, port| bench.send(&labelled(1, 1, [port, 0, 0])).0;
    assert_eq!([0, 1, 2, 3, 4, 7, 9].map(|port| sent(&mut bench, port)), [1, 1, 3, 3, 7, 7, 1]);
}

#[test]
fn without_a_label_a_hash_of_the_flow_decides() {
    let mut bench = presto(4);
    let mut counts = vec![0u64; 4];
    for n in 0..4_000 {
        let port = bench.send(&flow(n));
        assert_eq!(
            bench.send(&Header { hops: 4, ..labelled(n, 1, [9, 9, 9]) }),
            port,
            "nor beyond the third"
        );
        counts[port.index()] += 1;
    }
    // 99.9 % quantile of chi-square with 3 degrees of freedom.
    assert!(chi_square(&counts) < 16.3, "{counts:?}");
}
