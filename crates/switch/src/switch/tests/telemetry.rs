//! What ports report about their links in packets: the definition, packet by packet.

use super::*;
use weft_arbiter::ArbiterSettings;
use weft_arbiter::telemetry::TelemetryArbiterSettings;
use weft_core::InBand;
use weft_core::telemetry::{LinkReport, Telemetry};

/// Four packets for one port, of which the third collects nothing: what the port had sent when each began, and what waited
/// behind it, whatever the packets carry.
#[test]
fn a_port_reports_what_it_has_sent_and_what_waits_behind_a_packet() {
    let arbiter = ArbiterSettings::TelemetryArbiter(TelemetryArbiterSettings {});
    let settings = SwitchSettings { arbiter, ..SwitchSettings::default() };
    let mut bench = BenchOptions { settings, id: 7, ..BenchOptions::default() }.build();
    assert!(!bench.switch.foresee(PortId(1)), "reports are made when a packet leaves");
    bench.pool.headers.carry_in_band();
    let collecting = [true, true, false, true];
    let packets = collecting.map(|collects| {
        let packet = bench.pool.insert(to(1, FULL), ());
        let carried = if collects { InBand::Collecting(Telemetry::EMPTY) } else { InBand::NOTHING };
        *bench.pool.headers.in_band_mut(packet).expect("they are carried") = carried;
        let (switch, mut turn) = bench.turn();
        assert!(!matches!(switch.receive(&mut turn, PortId(0), packet), Verdict::Dropped(_)));
        packet
    });
    for number in 0..packets.len() as u64 {
        bench.now = Time(number * SLOT);
        let (switch, mut turn) = bench.turn();
        assert!(switch.transmit(&mut turn, PortId(1)).is_some());
    }
    let full = u64::from(FULL);
    for (number, (packet, collects)) in (0..).zip(packets.into_iter().zip(collecting)) {
        let InBand::Collecting(reports) = bench.pool.headers.in_band(packet) else {
            assert!(!collects);
            continue;
        };
        let report = LinkReport {
            link: (7 << 16 | 1) * 2 + 1,
            at: Time(number * SLOT),
            sent: Bytes(number * full),
            queued: Bytes((3 - number) * full),
            line: Rate::from_gbps(10),
        };
        assert_eq!(reports.links(), [report], "packet {number}");
    }
}
