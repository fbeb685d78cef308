//! Trimmed, returned and lost packets.

use super::*;
use crate::TrimSettings;
use crate::schedule::{SchedulerSettings, wrr::WrrSettings};
use crate::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_core::PacketKind;
use weft_core::settings::Amount;

/// One port with room for two packets of payload and as many bytes of headers, one header of payload after each two.
fn trimming(returns: bool) -> Bench {
    let settings = SwitchSettings {
        queues: 2,
        schedule: SchedulerSettings::Wrr(WrrSettings { weights: vec![2, 1] }),
        sharing: SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(2_300) }),
        trim: TrimSettings {
            queue: Some(Amount::Packets(2)),
            header: Bytes(100),
            returns,
            ..Default::default()
        },
        ..BenchOptions::default().settings
    };
    BenchOptions { settings, ports: 2, uplinks: vec![0], ..BenchOptions::default() }.build()
}

/// Payload from host 7 that may be cut.
fn payload() -> Header {
    let header = Header { source: HostId(7), ports: 1 << 16 | 2, kind: PacketKind::Trimmable, ..far(FULL) };
    class(1, header)
}

/// Several packets arrive.
fn fill(bench: &mut Bench, count: usize, header: Header) {
    for _ in 0..count {
        bench.receive(1, header);
    }
}

#[test]
fn what_a_full_queue_cuts_overtakes_it() {
    let mut bench = trimming(true);
    let packets: Vec<PacketId> = (0..4).map(|_| bench.receive(1, payload())).collect();
    let kinds = packets.iter().map(|packet| bench.pool.headers.get(*packet).kind).collect::<Vec<_>>();
    assert_eq!(
        kinds,
        [PacketKind::Trimmable, PacketKind::Trimmable, PacketKind::Trimmed, PacketKind::Trimmed]
    );
    assert_eq!(bench.drain(0), [100, 100, FULL, FULL]);
    let counters = bench.switch.reading().counters(Time::ZERO, PortId(0));
    assert_eq!((counters.trimmed, counters.returned, counters.dropped), (2, 0, 0));
    assert_eq!(bench.switch.reading().stored(), Bytes(0), "what was cut off is charged to nobody");
}

#[test]
fn headers_share_the_line_with_payload_by_weight() {
    let mut bench = trimming(true);
    fill(&mut bench, 2, payload());
    fill(&mut bench, 3, far(90));
    assert_eq!(bench.drain(0), [90, 90, FULL, 90, FULL]);
}

#[test]
fn a_header_without_room_goes_back_to_its_sender() {
    let mut bench = trimming(true);
    fill(&mut bench, 5, payload());
    assert!(bench.back.is_empty());
    let last = bench.receive(1, payload());
    assert_eq!(bench.back, [last]);
    let header = *bench.pool.headers.get(last);
    assert_eq!((header.kind, header.wire, header.class), (PacketKind::Returned, 100, Class(0)));
    assert_eq!((header.source, header.destination, header.ports), (HostId(FAR), HostId(7), 2 << 16 | 1));
    let counters = bench.switch.reading().counters(Time::ZERO, PortId(0));
    assert_eq!((counters.trimmed, counters.returned, counters.dropped), (4, 1, 0));
}

#[test]
fn without_a_way_back_it_is_lost_and_other_packets_are_never_cut() {
    let mut bench = trimming(false);
    fill(&mut bench, 6, payload());
    assert_eq!(bench.switch.reading().counters(Time::ZERO, PortId(0)).dropped, 1);
    let plain = bench.receive(1, Header { kind: PacketKind::Data, ..payload() });
    assert_eq!(bench.effects, [Effect::Dropped(plain, Reason::PortFull)]);
    bench.set_port(0, false);
    let late = bench.receive(1, payload());
    assert_eq!(bench.pool.headers.get(late).wire, FULL, "a port that is down cuts nothing");
}
