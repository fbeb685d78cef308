//! Packets between two leaves and a spine: the notes that they carry, and how the leaves use them.

use super::*;
use weft_core::Ecn;

/// Hosts 0 and 1 are on leaf 0, hosts 2 and 3 on leaf 1. Ports 0 and 1 of a leaf lead to hosts, 2 to 5 to spines;
/// both ports of a spine to leaves.
fn switch(own_leaf: Option<u16>, settings: &CongestionSettings) -> Congestion {
    let fabric = if own_leaf.is_some() { vec![false, false, true, true, true, true] } else { vec![true; 2] };
    let rates = vec![Rate::from_gbps(10); fabric.len()];
    let leaf_of_host: Arc<[u16]> = Arc::new([0, 0, 1, 1]);
    Congestion::new(settings, CongestionSite { own_leaf, leaf_of_host, rates: &rates, fabric })
}

fn packet(source: u32, destination: u32, wire: u16) -> Header {
    Header { source: HostId(source), destination: HostId(destination), wire, ..Header::default() }
}

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_us(n)
}

/// Lets the packet cross a switch and leave by a port.
fn cross(switch: &mut Congestion, now: Time, port: u16, header: &mut Header) {
    switch.arrives(now, header);
    switch.departs(now, PortId(port), header);
    switch.sends(now, PortId(port), header);
}

struct Fabric {
    leaves: [Congestion; 2],
    spine: Congestion,
}

impl Fabric {
    fn new(settings: &CongestionSettings) -> Fabric {
        let leaf = |leaf| switch(Some(leaf), settings);
        Fabric { leaves: [leaf(0), leaf(1)], spine: switch(None, settings) }
    }

    /// A packet from a host to another by an uplink of its leaf; its note as it reaches the other leaf.
    fn send(&mut self, now: Time, (source, destination): (u32, u32), uplink: u16, wire: u16) -> Note {
        let mut header = packet(source, destination, wire);
        let (from, to) = (source as usize / 2, destination as usize / 2);
        cross(&mut self.leaves[from], now, uplink, &mut header);
        cross(&mut self.spine, now, to as u16, &mut header);
        let note = Note::of(header.note);
        self.leaves[to].arrives(now, &mut header);
        assert_eq!(header.note, 0, "the host sees nothing of it");
        assert_eq!(header, Header { note: 0, ..packet(source, destination, wire) });
        note
    }
}

#[test]
fn a_packet_reports_the_busiest_link_of_its_path() {
    let mut fabric = Fabric::new(&CongestionSettings::default());
    // 3/8 of C tau = 75 000 bytes on the uplink of port 4; the downlink carries as much.
    let note = fabric.send(us(1), (0, 2), 4, 50_000);
    assert_eq!((note.tag, note.congestion, note.told_tag), (3, 2, 0));
    assert_eq!(fabric.send(us(1), (1, 2), 4, 25_100).congestion, 3);
    // Another uplink is idle, the downlink is not.
    let note = fabric.send(us(1), (1, 3), 5, 100);
    assert_eq!((note.tag, note.congestion), (4, 3));
    assert_eq!(fabric.leaves[0].metric(us(1), PortId(5), 1), 0, "leaf 0 has heard nothing yet");
}

#[test]
fn feedback_returns_on_packets_of_the_opposite_direction_and_fades() {
    let mut fabric = Fabric::new(&CongestionSettings::default());
    fabric.send(us(1), (0, 2), 4, 50_000);
    fabric.send(us(1), (1, 2), 5, 100);
    let told = |note: Note| (note.told_tag, note.told_metric);
    // Both paths share the downlink; reports about them go to the other leaf in turn.
    assert_eq!(told(fabric.send(us(2), (3, 0), 2, 84)), (3, 2));
    assert_eq!(told(fabric.send(us(2), (3, 1), 2, 84)), (4, 2));
    let metric = |fabric: &mut Fabric, at, port| fabric.leaves[0].metric(at, PortId(port), 1);
    assert_eq!([2, 3, 4, 5].map(|port| metric(&mut fabric, us(2), port)), [0, 0, 2, 2]);
    // Silence: the leaf's own uplink has decayed, and reported metrics decay after T_age, by eighths of it.
    assert_eq!(metric(&mut fabric, us(10_000), 4), 2);
    assert_eq!(metric(&mut fabric, us(11_300), 4), 1);
    assert_eq!(metric(&mut fabric, us(12_600), 4), 0);
}

#[test]
fn with_traffic_in_both_directions_no_entry_is_older_than_a_round_of_the_uplinks() {
    let mut fabric = Fabric::new(&CongestionSettings::default());
    let mut last = [0u64; 5];
    for n in 0..400 {
        fabric.send(us(3 * n), (0, 2), 2 + (n % 4) as u16, 1_500);
        let told = fabric.send(us(3 * n + 1), (2, 0), 2, 84).told_tag as usize;
        last[told] = n;
        if n >= 8 {
            assert!(last[1..].iter().all(|at| n - at < 8), "packet {n}: {last:?}");
        }
    }
}

#[test]
fn packets_within_a_leaf_and_in_transit_get_no_note() {
    let settings = CongestionSettings::default();
    let mut leaf = switch(Some(0), &settings);
    let mut inside = packet(0, 1, 1_000);
    cross(&mut leaf, us(1), 1, &mut inside);
    assert_eq!(inside.note, 0);
    let mut detour = packet(2, 3, 1_000);
    detour.note = Note { tag: 9, congestion: 0, told_tag: 1, told_metric: 3 }.packed();
    let before = detour.note;
    cross(&mut leaf, us(1), 3, &mut detour);
    assert_eq!(detour.note, before, "a leaf between two others only adds its link, which is idle");
    assert_eq!(detour.marks.ecn, Ecn::NotCapable);
}

#[test]
fn the_first_uplink_counts_unless_told_otherwise() {
    let congestion = |ce_at_leaf| {
        let mut leaf = switch(Some(0), &CongestionSettings { ce_at_leaf, ..CongestionSettings::default() });
        let mut header = packet(0, 2, 60_000);
        cross(&mut leaf, us(1), 2, &mut header);
        Note::of(header.note).congestion
    };
    assert_eq!([congestion(true), congestion(false)], [2, 0]);
}

#[test]
fn without_feedback_only_the_own_uplinks_count() {
    let mut fabric = Fabric::new(&CongestionSettings { feedback: false, ..CongestionSettings::default() });
    fabric.send(us(1), (0, 2), 4, 50_000);
    fabric.send(us(2), (3, 0), 2, 84);
    let own = [2, 3, 4, 5].map(|port| fabric.leaves[0].metric(us(2), PortId(port), 1));
    assert_eq!(own, [0, 0, 2, 0]);
    assert_eq!(fabric.leaves[0].metric(us(9_000), PortId(4), 1), 0);
}
