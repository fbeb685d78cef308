//! Incast (SIGCOMM 2010, section 4.2.2): 1 MB in equal parts from n servers at once over 1 Gb/s and 100 kB of buffer.

use weft_core::record::RunRecord;
use weft_core::settings::Amount;
use weft_core::{Rate, Span, Time};
use weft_theory_tests::lab::{self, PACKET};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::settings::Tcp;

/// One query: n servers answer host 0 with 1 MB / n each. Round trip about 100 us, marking above 20 packets.
fn query(servers: u32, transport: &TransportSettings) -> RunRecord {
    let link = LinkSettings { delay: Span::from_us(20), ..LinkSettings::of(Rate::from_gbps(1)) };
    let shape = SingleSwitchSettings { hosts: servers + 1, host_link: link };
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(shape), transport);
    setup.switch.sharing = lab::port_buffer(100_000);
    setup.switch.ecn = lab::step_marking(20);
    let answer = |n: u32| lab::flow(Span::ZERO, n + 1, 0, 1_000_000 / u64::from(servers));
    setup.flows = (0..servers).map(answer).collect();
    setup.until = Time::ZERO + Span::from_s(60);
    lab::run(setup)
}

/// TCP as in 2010: two segments to begin with.
fn tcp(min_rto_ms: u64) -> Tcp {
    Tcp { initial_window: Amount::Packets(2), min_rto: Span::from_ms(min_rto_ms), ..lab::model_tcp() }
}

fn timeouts(record: &RunRecord) -> u32 {
    record.flows.iter().map(|flow| flow.timeouts).sum()
}

/// When the last answer was complete, in milliseconds.
fn answered(record: &RunRecord) -> f64 {
    record.flows.iter().map(|flow| lab::completion(flow).seconds() * 1e3).fold(0.0, f64::max)
}

/// With a least time-out of 200 ms any loss that needs it costs twenty times the answer: beyond ten servers every query
/// has one. (Here two servers suffice, for each begins in slow start; the paper repeats its queries on open connections.)
#[test]
fn newreno_collapses_beyond_ten_servers() {
    for servers in [10, 15, 20, 25, 30, 35, 40, 60] {
        let record = query(servers, &lab::newreno(tcp(200)));
        assert!(timeouts(&record) > 0 && answered(&record) > 200.0, "{servers}: {} ms", answered(&record));
    }
}

/// The paper's remedy for TCP: 10 ms instead of 200. The time-outs stay, their price falls; 8.5 ms are the line's.
#[test]
fn a_short_least_timeout_softens_the_collapse() {
    for servers in [10, 20, 40, 60] {
        let record = query(servers, &lab::newreno(tcp(10)));
        assert!(timeouts(&record) > 0 && answered(&record) < 20.0, "{servers}: {} ms", answered(&record));
    }
}

/// DCTCP keeps the buffer free for the others until even two packets of each no longer fit: 35 servers in the paper,
/// 33 by arithmetic; here all is well up to 25, one time-out occurs at 30 and several at 35.
#[test]
fn dctcp_has_no_timeout_until_two_packets_each_overflow() {
    for servers in [2, 5, 10, 15, 20, 25] {
        let record = query(servers, &lab::dctcp(tcp(200)));
        assert!(timeouts(&record) == 0 && answered(&record) < 9.0, "{servers}: {} ms", answered(&record));
    }
    for servers in [40, 60] {
        let (dctcp, newreno) =
            (query(servers, &lab::dctcp(tcp(200))), query(servers, &lab::newreno(tcp(200))));
        assert!(timeouts(&dctcp) > 0 && timeouts(&dctcp) < timeouts(&newreno), "{servers} servers");
    }
}

/// Payload of the query per second of its answer, as a share of what the line carries.
fn goodput(record: &RunRecord) -> f64 {
    1_000_000.0 * 8.0 / (answered(record) / 1e3) / 1e9 * (PACKET as f64 / PAYLOAD as f64)
}

/// Payload of a full packet in `model_tcp`: 1462 bytes of IP without 40 of headers.
const PAYLOAD: u64 = PACKET - 38 - 40;

/// A query of S bytes that the line carries in S/C seconds, and one of whose flows waits for a time-out of length R: the line
/// may carry the others meanwhile, so the answer takes at least R, and at most S/C before the loss, R, and S/C for the repair.
/// Where no flow meets two time-outs, goodput lies between S / (2 S/C + R) and S / R: about 4 % of the line for 200 ms.
#[test]
fn goodput_collapses_to_block_over_timeout() {
    let line = 1_000_000.0 / PAYLOAD as f64 * PACKET as f64 * 8.0 / 1e9;
    for min_rto_ms in [200, 10] {
        let timeout = min_rto_ms as f64 / 1e3;
        let mut once = 0;
        for servers in [10, 15, 20, 25, 30, 35, 40, 60] {
            let record = query(servers, &lab::newreno(tcp(min_rto_ms)));
            if record.flows.iter().all(|flow| flow.timeouts < 2) {
                once += 1;
                let (least, most) = (line / (2.0 * line + timeout), line / timeout);
                let share = goodput(&record);
                assert!(
                    (least..most).contains(&share),
                    "{servers}, {min_rto_ms} ms: {least} < {share} < {most}"
                );
            }
        }
        assert!(once >= 4, "{min_rto_ms} ms: only {once} queries without a second time-out");
    }
}

/// DCTCP holds the line where NewReno has collapsed: from two to 25 servers at least nine tenths of it (a round trip of opening
/// windows is a tenth of the answer at most).
#[test]
fn goodput_of_dctcp_holds_where_newreno_collapsed() {
    for servers in [2, 5, 10, 15, 20, 25] {
        let share = goodput(&query(servers, &lab::dctcp(tcp(200))));
        assert!(share > 0.9 && share <= 1.0, "{servers}: {share}");
    }
}
