//! Controllers at a bottleneck hold its queue at their reference, for few flows and for many; thresholds cannot.

mod lab;

use weft_core::record::RunRecord;
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Rate, Span, Time};
use weft_switch::mark::{
    At, MarkerSettings,
    pi::PiSettings,
    pie::{self, PieSettings},
    red::RedSettings,
};
use weft_switch::share::{SharingSettings, infinite::InfiniteSharingSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};

const REFERENCE: f64 = 75_000.0;
const HALF: Span = Span::from_ms(50);

/// A number of DCTCP flows into one port of 10 Gb/s, for a time.
fn incast(senders: u32, ecn: &MarkerSettings, length: Span) -> RunRecord {
    let host_link = LinkSettings { delay: Span::from_us(10), ..LinkSettings::of(Rate::from_gbps(10)) };
    let topology = TopologySettings::SingleSwitch(SingleSwitchSettings { hosts: senders + 1, host_link });
    let mut setup = lab::setup(&topology, &lab::dctcp(|_| {}));
    setup.switch.sharing = SharingSettings::Infinite(InfiniteSharingSettings {});
    setup.switch.ecn = ecn.clone();
    setup.until = Time::ZERO + length;
    let endless = 1 << 40;
    setup.flows = (0..senders)
        .map(|n| lab::flow(Span::from_us(7) * u64::from(n), n, senders, endless))
        .collect::<Vec<_>>()
        .into();
    lab::run(setup)
}

/// Mean bytes at the bottleneck in the second half, and packets marked and dropped there.
fn settled(senders: u32, ecn: &MarkerSettings) -> (f64, u64, u64) {
    let [half, whole] = [HALF, HALF * 2].map(|length| {
        let record = incast(senders, ecn, length);
        record
            .links
            .into_iter()
            .max_by(|a, b| a.mean_queue.total_cmp(&b.mean_queue))
            .expect("there are links")
    });
    (2.0 * whole.mean_queue - half.mean_queue, whole.marked, whole.dropped)
}

fn near(found: f64, part: f64) -> bool {
    (found / REFERENCE - 1.0).abs() < part
}

#[test]
fn pi_holds_the_queue_at_its_reference_for_any_number_of_flows() {
    for at in [At::Enqueue, At::Dequeue] {
        let reference = Amount::Bytes(Bytes(REFERENCE as u64));
        let ecn = MarkerSettings::Pi(PiSettings { reference, k1: 3e-4, k2: 1.0, at, ..Default::default() });
        for senders in [4, 8, 16] {
            let (queue, marked, dropped) = settled(senders, &ecn);
            assert!(near(queue, 0.02), "{senders} flows, {at:?}: {queue}");
            assert!(marked > 1_000 && dropped == 0, "{marked} {dropped}");
        }
    }
}

#[test]
fn pie_holds_the_delay_at_its_target_for_any_number_of_flows() {
    // 75 kB are 60 us at 10 Gb/s.
    for estimate in [pie::DelayEstimate::Line, pie::DelayEstimate::Departures, pie::DelayEstimate::Waited] {
        let target = Span::from_us(60);
        let ecn =
            MarkerSettings::Pie(PieSettings { target, estimate, mark_up_to: 1.0, ..Default::default() });
        for senders in [4, 16] {
            let (queue, marked, dropped) = settled(senders, &ecn);
            assert!(near(queue, 0.03), "{senders} flows, {estimate:?}: {queue}");
            assert!(marked > 1_000 && dropped == 0, "{marked} {dropped}");
        }
    }
}

/// The queue of a ramp settles where its probability suits the flows: more flows, longer queue. It also shows, for
/// the two tests above, that the reference is not where the queue would be anyway.
#[test]
fn a_ramp_holds_a_longer_queue_for_more_flows() {
    let ecn = MarkerSettings::Red(RedSettings { max_probability: Share(1.0), ..Default::default() });
    let queues = [4, 8, 16].map(|senders| settled(senders, &ecn).0);
    assert!(queues[0] * 1.2 < queues[1] && queues[1] * 1.2 < queues[2], "{queues:?}");
}
