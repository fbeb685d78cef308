//! Flowlets compared with their definition: when they end, what they remember, which flows share an entry.

use super::*;
use weft_core::{HostId, SwitchId};

const SITE: BalancerSite = BalancerSite { seed: 5, switch: SwitchId(2), engine: 0 };
const PORTS: [PortId; 3] = [PortId(4), PortId(5), PortId(6)];

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_us(n)
}

fn flow(n: u32) -> Header {
    Header { source: HostId(n % 97), destination: HostId(1_000 + n / 97), ports: n, ..Header::default() }
}

fn table(change: impl FnOnce(&mut FlowletSettings)) -> Flowlets {
    let mut settings = FlowletSettings { gap: Span::from_us(100), ..FlowletSettings::default() };
    change(&mut settings);
    Flowlets::new(&settings, SITE)
}

/// Which of the packets at these instants begin a flowlet.
fn beginnings(table: &mut Flowlets, instants: &[u64]) -> Vec<bool> {
    let begins = |at: &u64| {
        let mut flowlet = table.of(&flow(1), us(*at));
        let begins = flowlet.stays(&PORTS).is_none();
        flowlet.take(&PORTS, 1);
        begins
    };
    instants.iter().map(begins).collect()
}

#[test]
fn a_longer_pause_than_the_gap_ends_a_flowlet_and_an_equal_one_does_not() {
    for exact in [false, true] {
        let mut table = table(|settings| settings.exact = exact);
        assert_eq!(beginnings(&mut table, &[0, 100, 200, 301, 350]), [true, false, false, true, false]);
        assert!(table.of(&flow(1), Time(us(450).0)).stays(&PORTS).is_some());
        assert!(table.of(&flow(1), Time(us(550).0 + 1)).stays(&PORTS).is_none(), "a picosecond more");
    }
}

#[test]
fn every_packet_refreshes_its_entry() {
    let instants: Vec<u64> = (0..50).map(|n| 90 * n).collect();
    let begun = beginnings(&mut table(|_| ()), &instants);
    assert_eq!(begun.iter().filter(|begins| **begins).count(), 1);
}

#[test]
fn an_age_bit_ends_a_flowlet_after_one_to_two_gaps() {
    let after = |start: u64, pause: u64| {
        let mut table = table(|settings| settings.timing = Timing::AgeBit);
        beginnings(&mut table, &[start, start + pause])[1]
    };
    // Sweeps at 100, 200, ...: the first sets the bit, the second finds it set.
    assert!(!after(1, 198) && after(1, 199));
    assert!(!after(99, 100) && after(99, 101), "barely more than one gap");
    assert!(!after(100, 199) && after(100, 200), "a sweep of the same instant comes first");
    let ended = |pause| (0..100).filter(|start| after(100 + start, pause)).count();
    assert_eq!([ended(100), ended(125), ended(150), ended(199), ended(200)], [0, 25, 50, 99, 100]);
}

#[test]
fn without_a_gap_packets_of_different_instants_are_apart() {
    for timing in [Timing::Timestamp, Timing::AgeBit] {
        let mut table =
            Flowlets::new(&FlowletSettings { gap: Span::ZERO, timing, ..FlowletSettings::default() }, SITE);
        let begins = |table: &mut Flowlets, at| table.of(&flow(1), Time(at)).stays(&PORTS).is_none();
        table.of(&flow(1), Time(7)).take(&PORTS, 0);
        assert!(begins(&mut table, 1_000_000), "{timing:?}");
    }
}

#[test]
fn a_flowlet_follows_its_port_through_changes_of_the_group_and_leaves_one_that_is_gone() {
    let mut table = table(|_| ());
    table.of(&flow(1), us(0)).take(&PORTS, 2);
    assert_eq!(table.of(&flow(1), us(1)).stays(&[PortId(4), PortId(6)]), Some(1), "the port, not its place");
    assert_eq!(table.of(&flow(1), us(2)).stays(&[PortId(4), PortId(5)]), None);
    assert_eq!(table.of(&flow(1), us(3)).last(&PORTS), Some(2), "it was not told of another");
    assert_eq!(table.of(&flow(1), us(500)).stays(&PORTS), None);
    assert_eq!(table.of(&flow(1), us(900)).last(&PORTS), Some(2), "the port of a flowlet that is over");
    assert_eq!(table.of(&flow(2), us(900)).last(&PORTS), None, "nothing is known of a new flow");
}

#[test]
fn flows_share_entries_as_often_as_chance_has_it_and_never_in_an_exact_table() {
    let entries = |exact| {
        let mut table = table(|settings| (settings.exact, settings.table_size) = (exact, 4_096));
        (0..4_096).for_each(|n| table.of(&flow(n), us(0)).take(&PORTS, 0));
        table.used()
    };
    assert_eq!(entries(true), 4_096);
    // 4096 balls in 4096 bins: 1/e of the bins stay empty, 1507 +- 26.
    let empty = 4_096 - entries(false);
    assert!((1_400..1_620).contains(&empty), "{empty}");
    let mut one = table(|settings| settings.table_size = 1);
    one.of(&flow(1), us(0)).take(&PORTS, 1);
    assert_eq!(one.of(&flow(2), us(1)).stays(&PORTS), Some(1), "one entry serves all");
}

#[test]
fn an_exact_table_forgets_flows_that_are_long_gone() {
    let used = |gaps| {
        let mut table = table(|settings| settings.exact = true).remembering(gaps);
        for n in 0..200_000 {
            table.of(&flow(n), us(u64::from(n))).take(&PORTS, 0);
        }
        table.used()
    };
    // One flow per microsecond: those of the last gaps of 100 us, and at most as many again.
    assert!((1_600..=3_300).contains(&used(16)), "{}", used(16));
    assert!((100..=FIRST_PRUNE).contains(&used(0)), "{}", used(0));
}

#[test]
fn engines_of_a_switch_share_a_hash_and_switches_do_not() {
    let place = |switch| {
        let site = BalancerSite { switch: SwitchId(switch), ..SITE };
        let mut table = Flowlets::new(&FlowletSettings::default(), site);
        table.of(&flow(3), us(1));
        let Entries::Hashed { table, .. } = table.entries else { panic!("the default is hashed") };
        table.iter().position(|entry| entry[0] != 0)
    };
    assert_eq!(place(2), place(2));
    assert_ne!(place(2), place(3));
}
