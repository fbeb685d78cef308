//! The bound loop against results computed by hand.

use super::*;

fn alone(source: u32, destination: u32, bytes: u64) -> BoundOutcome {
    carry(&[BoundFlow { start: 5_000_000, source, destination, bytes }])
}

#[test]
fn a_packet_is_half_a_cache_line() {
    assert_eq!(size_of::<Packet>(), 32);
}

#[test]
fn a_packet_alone_takes_its_transmissions_and_delays() {
    let across = 2 * 140 * HOST_BYTE + 2 * 140 * FABRIC_BYTE + 4 * DELAY;
    let carried = alone(0, 319, 100);
    assert_eq!((carried.packet_hops, (carried.mean_fct * 1e12).round() as u64), (4, across));
    let beside = alone(0, 1, 100);
    assert_eq!((beside.mean_fct * 1e12).round() as u64, 2 * 140 * HOST_BYTE + 2 * DELAY);
}

#[test]
fn a_long_flow_alone_fills_its_link() {
    let bytes = 10_000 * PAYLOAD;
    let ideal = 10_000.0 * 1500.0 * HOST_BYTE as f64 / 1e12;
    let carried = alone(7, 100, bytes);
    assert!((carried.mean_fct / ideal - 1.0).abs() < 0.01, "{} {ideal}", carried.mean_fct);
    // The last acknowledgements are still on their way when the last packet arrives.
    assert!((70_000..=80_000).contains(&carried.packet_hops), "{}", carried.packet_hops);
}

#[test]
fn flows_to_one_host_share_its_link() {
    let demand = |source| BoundFlow { start: 0, source, destination: 300, bytes: 1_000 * PAYLOAD };
    let carried = carry(&[20, 40, 60, 80].map(demand));
    let whole = 4.0 * 1_000.0 * 1500.0 * HOST_BYTE as f64 / 1e12;
    assert!((0.7..=1.02).contains(&(carried.mean_fct / whole)), "{} {whole}", carried.mean_fct);
}

#[test]
fn a_pause_between_flows_is_skipped() {
    let demand = |start| BoundFlow { start, source: 1, destination: 200, bytes: 100 };
    let one = carry(&[demand(0)]).mean_fct;
    let far = carry(&[demand(0), demand(1_000_000_000_000)]).mean_fct;
    assert!((one - far).abs() < 1e-15);
}
