//! The loop with marks drawn at departures against its own equations, integrated step by step: the stages of fast
//! recovery are followed through the marks of the past, and marks go by the share of the link.

use weft_fluid::linear::dcqcn::{Departing, Exact};
use weft_fluid::linear::{Characteristic, margins};
use weft_fluid::model::dcqcn::{Bottleneck, DcqcnParameters, fixed_point};
use weft_fluid::model::marking::{Marking, Ramp};

/// 40 Gb/s and the ramp of the paper's scripts, in packets of 1000 B.
fn bottleneck(flows: f64, recovery: f64, step: f64) -> Bottleneck {
    let law = DcqcnParameters {
        gain: 1.0 / 256.0,
        notification: 50e-6,
        estimate_timer: 55e-6,
        increase_timer: 55e-6,
        byte_counter: 1e9,
        recovery,
        step,
    };
    let marking = Marking::Ramp(Ramp::new(5.0, 2000.0, 0.1, false));
    Bottleneck { capacity: 5e6, flows, law, marking, delay: 5e-6, marks_at_arrival: false }
}

/// Seconds of a step.
const STEP: f64 = 0.5e-6;
/// Intervals of the timer that are followed back.
const INTERVALS: usize = 60;

/// The heights of the queue's peaks above its level, after it was pushed off by a twentieth.
fn peaks(of: &Bottleneck, seconds: f64) -> Vec<f64> {
    let at = fixed_point(of).expect("there is one");
    let Marking::Ramp(ramp) = of.marking else { unreachable!("marked by a ramp") };
    let (law, share) = (of.law, of.share());
    let interval = (law.increase_timer / STEP).round() as usize;
    let late = (of.delay / STEP).round() as usize;
    let past = INTERVALS * interval;
    let steady = -share * (-at.probability).ln_1p();
    let mut marks = vec![steady; past];
    let mut sums: Vec<f64> = (0..=past).map(|n| n as f64 * steady * STEP).collect();
    let mut probabilities = vec![at.probability; late + 1];
    let (mut queue, mut rate, mut target) = (1.05 * at.queue, share, share + at.excess);
    let mut estimate = at.estimate;
    let mut trace = Vec::new();
    for now in 0..(seconds / STEP) as usize {
        let per_packet = -(-probabilities[now]).ln_1p();
        marks.push(share * per_packet);
        let last = sums[past + now];
        sums.push(last + share * per_packet * STEP);
        let (mut timed, mut additive) = (0.0, 0.0);
        for interval_before in 1..=INTERVALS {
            let then = past + now - interval_before * interval;
            let events = marks[then] * (sums[then] - last).exp();
            timed += events;
            additive += if interval_before as f64 > law.recovery { events } else { 0.0 };
        }
        let unmarked = |seconds: f64| (-per_packet * share * seconds).exp();
        let cuts = (1.0 - unmarked(law.notification)) / law.notification;
        let (above, cut) = (target - rate, rate * estimate * cuts);
        target += STEP * (law.step * additive - above * cuts);
        rate += STEP * 0.5 * (above * timed - cut);
        estimate += STEP * law.gain / law.estimate_timer * (1.0 - unmarked(law.estimate_timer) - estimate);
        queue = (queue + STEP * (of.flows * rate - of.capacity)).max(0.0);
        probabilities.push(ramp.top / (ramp.high - ramp.low) * (queue - ramp.low).max(0.0));
        trace.push(queue);
    }
    let level = trace[trace.len() / 2..].iter().sum::<f64>() / (trace.len() / 2) as f64;
    let peak = |three: &[f64]| (three[1] > three[0] && three[1] >= three[2]).then_some(three[1] - level);
    trace.windows(3).filter_map(peak).collect()
}

/// How many times as high the last peak is as the second, for each peak between.
fn growth(of: &Bottleneck) -> f64 {
    let peaks = peaks(of, 60e-3);
    assert!(peaks.len() > 8, "{peaks:?}");
    (peaks[7] / peaks[1]).abs().powf(1.0 / 6.0)
}

#[test]
fn the_loop_grows_or_decays_as_its_equations_do() {
    let cases = [(64.0, 5.0, 5_000.0), (64.0, 1.0, 1_875.0), (64.0, 3.0, 3_125.0), (16.0, 5.0, 5_000.0)];
    for (flows, recovery, step) in cases {
        let of = bottleneck(flows, recovery, step);
        let (departing, growth) = (Departing::new(&of).expect("it rests"), growth(&of));
        let margin = margins(&departing).phase().expect("it crosses").margin;
        assert_eq!(growth < 1.0, margin > 0.0, "{flows} {recovery}: {growth} a period, {margin} degrees");
        assert_eq!(departing.unstable_roots() == 0, margin > 0.0, "{flows} {recovery}: {margin} degrees");
    }
}

/// What the published model simplifies: marks follow the current rates, and stages have no memory. This hides that 64
/// flows hardly return to rest.
#[test]
fn marks_at_departures_take_most_of_the_margin_of_many_flows() {
    let margin = |recovery: f64, step: f64| {
        let of = bottleneck(64.0, recovery, step);
        let of_loop = |found: weft_fluid::linear::Margins| found.phase().expect("it crosses").margin;
        (of_loop(margins(&Exact::new(&of).unwrap())), of_loop(margins(&Departing::new(&of).unwrap())))
    };
    let (exact, departing) = margin(5.0, 5_000.0);
    assert!(exact > 20.0 && departing < 5.0, "{exact} and {departing} degrees");
    let (exact, without_memory) = margin(1.0, 1_875.0);
    assert!(exact > 20.0 && without_memory > departing + 5.0, "{exact} and {without_memory} degrees");
}
