//! Runs over time against published behaviour and against independent computations.

use weft_core::Random;
use weft_core::random::Purpose;
use weft_fluid::dde::{Stepping, System, integrate};
use weft_fluid::linear::dcqcn::Exact;
use weft_fluid::linear::timely::Integrated;
use weft_fluid::linear::{Characteristic, margins};
use weft_fluid::model::dcqcn::{Bottleneck, DcqcnFlow, DcqcnModel, DcqcnParameters};
use weft_fluid::model::marking::{Integrator, Marking, Ramp};
use weft_fluid::model::timely::{self, TimelyModel};
use weft_fluid::model::{Jitter, JitteredTrips, Model, Start};
use weft_fluid::series::{Extent, extent, verdict};
use weft_fluid::{FluidSeries, Steadiness, record};

const GBPS: f64 = 125e3;

fn law() -> DcqcnParameters {
    DcqcnParameters {
        gain: 1.0 / 256.0,
        notification: 50e-6,
        estimate_timer: 55e-6,
        increase_timer: 55e-6,
        byte_counter: 10_000.0,
        recovery: 5.0,
        step: 5_000.0,
    }
}

/// The ramp of the surviving scripts: 10 % at 2000 kB.
fn long_ramp() -> Marking {
    Marking::Ramp(Ramp::new(5.0, 2000.0, 0.1, true))
}

fn adaptive() -> Stepping {
    Stepping::Adaptive { tolerance: 1e-6, longest: 20e-6 }
}

fn dcqcn(flows: f64, delay_us: f64, marking: Marking) -> DcqcnModel {
    let start = Start { count: flows, at: 0.0, rate: 40.0 * GBPS };
    let (delay, line) = (delay_us * 1e-6, 40.0 * GBPS);
    let flow = DcqcnFlow { start, law: law(), delay, line, least: 0.0, estimate: 1.0 };
    DcqcnModel::new(40.0 * GBPS, marking, vec![flow])
}

fn run<M: Model>(model: &mut M, until: f64) -> FluidSeries {
    record(model, until, adaptive(), 20e-6)
}

fn late(values: &[f64], share: f64) -> Extent {
    extent(&values[(values.len() as f64 * share) as usize..])
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() <= share, "{value} instead of {expected}");
}

#[test]
fn dcqcn_settles_at_four_microseconds_as_published() {
    for (flows, queue) in [(2.0, 20.5), (10.0, 125.3), (64.0, 1183.0)] {
        let series = run(&mut dcqcn(flows, 4.0, long_ramp()), 0.2);
        near(late(&series.queue, 0.9).mean, queue, 3e-3);
        near(late(&series.rates[0], 0.9).mean, 40.0 * GBPS / flows, 1e-4);
        assert_eq!(verdict(&series.queue, 1.0), Steadiness::Settled);
    }
}

#[test]
fn dcqcn_at_85_microseconds_oscillates_with_ten_flows_only() {
    let two = run(&mut dcqcn(2.0, 85.0, long_ramp()), 0.2);
    near(late(&two.queue, 0.9).mean, 20.5, 5e-3);
    assert_ne!(verdict(&two.queue, 1.0), Steadiness::Oscillating);
    let many = run(&mut dcqcn(64.0, 85.0, long_ramp()), 0.2);
    near(late(&many.queue, 0.9).mean, 1183.0, 5e-3);
    let ten = run(&mut dcqcn(10.0, 85.0, long_ramp()), 0.4);
    let queue = late(&ten.queue, 0.8);
    assert!(queue.least < 1.0, "{queue:?}");
    near(queue.greatest, 275.7, 0.01);
    let rate = late(&ten.rates[0], 0.8);
    near(rate.least / GBPS, 3.70, 0.01);
    near(rate.greatest / GBPS, 4.30, 0.01);
    assert_eq!(verdict(&ten.queue, 1.0), Steadiness::Oscillating);
}

#[test]
fn the_literal_ramp_oscillates_with_64_flows_even_at_four_microseconds() {
    let marking = Marking::Ramp(Ramp::new(5.0, 200.0, 0.01, true));
    let queue = late(&run(&mut dcqcn(64.0, 4.0, marking), 0.1).queue, 0.5);
    near(queue.least, 124.0, 0.04);
    near(queue.greatest, 226.0, 0.04);
}

#[test]
fn the_model_of_figure_2() {
    let marking = Marking::Ramp(Ramp::new(5.0, 200.0, 0.01, true));
    let two = run(&mut dcqcn(2.0, 4.0, marking), 0.02);
    let at = |seconds: f64| two.rates[0][(seconds / 20e-6) as usize] / GBPS;
    // Published: about 16 within 1 ms, then straight up to 20 by 6 ms. Before, for a fifth of a millisecond, the model
    // dips to 11, which the figure's width does not show.
    near(at(0.001), 16.0, 0.05);
    near(at(0.004) - at(0.003), at(0.003) - at(0.002), 0.02);
    near(at(0.006), 20.0, 0.01);
    let ten = run(&mut dcqcn(10.0, 4.0, marking), 0.02);
    near(late(&ten.rates[0], 0.5).mean / GBPS, 4.0, 0.02);
}

#[test]
fn marks_at_departure_settle_and_marks_at_arrival_do_not() {
    let departure = run(&mut dcqcn(2.0, 85.0, long_ramp()), 0.2);
    let mut model = dcqcn(2.0, 85.0, long_ramp());
    model.marks_at_arrival = true;
    let arrival = run(&mut model, 0.2);
    let (calm, wild) = (late(&departure.queue, 0.8), late(&arrival.queue, 0.8));
    assert!(calm.swing() < 1.5, "{calm:?}");
    assert!(wild.swing() > 20.0, "{wild:?}");
    // read from the figure: 1 to 39.6 kB, mean about 20.5, not decaying
    near(wild.greatest, 39.6, 0.02);
    assert!(wild.least < 1.5, "{wild:?}");
    near(wild.mean, 20.5, 0.07);
    assert_eq!(verdict(&arrival.queue, 1.0), Steadiness::Oscillating);
}

#[test]
fn an_integrating_marker_holds_its_reference_fairly() {
    let rule = Integrator { reference: 200.0, proportional: 5.8e-6, integral: 20.0 * 5.8e-6 };
    for flows in [2.0, 10.0, 64.0] {
        for delay in [4.0, 85.0] {
            let series = run(&mut dcqcn(flows, delay, Marking::Integrator(rule)), 0.8);
            near(late(&series.queue, 0.95).mean, 200.0, 2e-3);
            near(late(&series.rates[0], 0.95).mean, 40.0 * GBPS / flows, 2e-3);
        }
    }
}

/// Jitter of up to this many seconds, measured, drawn with every update.
fn jitter(most: f64) -> Jitter {
    Jitter { most, ..Jitter::NONE }
}

#[test]
fn jitter_does_not_disturb_dcqcn() {
    let mut model = dcqcn(2.0, 0.0, long_ramp());
    model.jittered(jitter(100e-6), 1);
    let series = record(&mut model, 0.2, Stepping::Fixed(1e-6), 20e-6);
    let queue = late(&series.queue, 0.5);
    near(queue.mean, 20.5, 2e-3);
    assert!(queue.swing() < 0.2, "{queue:?}");
    let mut again = dcqcn(2.0, 0.0, long_ramp());
    again.jittered(jitter(100e-6), 1);
    assert_eq!(record(&mut again, 0.2, Stepping::Fixed(1e-6), 20e-6), series, "the same seed, the same bits");
}

/// One draw that holds for the whole run is a longer delay; one that holds for a while disturbs no more than one that does not.
#[test]
fn jitter_that_stays_is_a_longer_delay_of_dcqcn() {
    let run = |delay: f64, every: Option<f64>| {
        let mut model = dcqcn(2.0, delay, long_ramp());
        model.jittered(Jitter { every, ..jitter(if every.is_some() { 100e-6 } else { 0.0 }) }, 1);
        record(&mut model, 0.1, Stepping::Fixed(1e-6), 20e-6).queue
    };
    let drawn = 100e-6 * Random::new(1, Purpose::Fluid, 0).unit_at(0);
    let (jittered, longer) = (run(10.0, Some(1.0)), run(10.0 + drawn * 1e6, None));
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-3 * b.max(1.0);
    assert!(jittered.iter().zip(&longer).all(near));
    assert!(late(&run(0.0, Some(10e-6)), 0.8).swing() < 0.2);
}

#[test]
fn without_marks_a_flow_stays_at_line_rate() {
    let marking = Marking::Ramp(Ramp::new(1e9, 2e9, 0.01, true));
    let series = run(&mut dcqcn(1.0, 4.0, marking), 0.01);
    assert_eq!(extent(&series.rates[0]), Extent { least: 5e6, greatest: 5e6, mean: 5e6 });
    assert_eq!(extent(&series.queue).greatest, 0.0);
}

#[test]
fn flows_in_a_group_and_flows_one_by_one_are_the_same() {
    let group = run(&mut dcqcn(3.0, 20.0, long_ramp()), 0.02);
    let mut single = dcqcn(1.0, 20.0, long_ramp());
    single = DcqcnModel::new(single.capacity, single.marking, vec![single.flows[0]; 3]);
    let single = run(&mut single, 0.02);
    for (a, b) in group.queue.iter().zip(&single.queue) {
        assert!((a - b).abs() < 1e-6 * a.max(1.0), "{a} {b}");
    }
}

#[test]
fn a_late_flow_is_still_until_it_starts_and_then_gets_its_share() {
    let flow = dcqcn(1.0, 4.0, long_ramp()).flows[0];
    let second = DcqcnFlow { start: Start { at: 0.0103, ..flow.start }, ..flow };
    let series = run(&mut DcqcnModel::new(40.0 * GBPS, long_ramp(), vec![flow, second]), 0.15);
    let begin = series.time.iter().position(|t| *t >= 0.0103).unwrap();
    assert!(series.rates[1][..begin].iter().all(|rate| *rate == 0.0));
    near(series.rates[1][begin], 40.0 * GBPS, 0.01);
    near(late(&series.rates[1], 0.98).mean, 20.0 * GBPS, 0.02);
}

/// The model once more, written down independently: fixed steps of Euler's method over a table of the past.
fn by_euler(flows: f64, delay: f64, until: f64, h: f64) -> Vec<f64> {
    let (c, k, l) = (5e6_f64, 0.1 / 1995.0, law());
    let lag = (delay / h).round() as usize;
    let (mut q, mut r, mut rt, mut al) = (vec![0.0_f64], vec![c], c, 1.0_f64);
    for n in 0..(until / h).round() as usize {
        let then = n.checked_sub(lag);
        let p = then.map_or(0.0, |m| (k * (q[m] - 5.0)).clamp(0.0, 1.0));
        let rd = then.map_or(c, |m| r[m]);
        let keep = 1.0 - p;
        let a = 1.0 - keep.powf(l.notification * rd);
        let (b, d) = if p > 1e-12 {
            (p / (keep.powf(-l.byte_counter) - 1.0), p / (keep.powf(-l.increase_timer * rd) - 1.0))
        } else {
            (1.0 / l.byte_counter, 1.0 / (l.increase_timer * rd))
        };
        let add =
            keep.powf(l.recovery * l.byte_counter) * b + keep.powf(l.recovery * l.increase_timer * rd) * d;
        let now = r[n];
        let al_next = al + h * l.gain / l.estimate_timer * (1.0 - keep.powf(l.estimate_timer * rd) - al);
        let rt_next = rt + h * (l.step * rd * add - (rt - now) * a / l.notification);
        let r_next = now + h * (0.5 * (rt - now) * rd * (b + d) - 0.5 * now * al * a / l.notification);
        q.push((q[n] + h * (flows * now - c)).max(0.0));
        r.push(r_next.min(c));
        (rt, al) = (rt_next.min(c), al_next);
    }
    q
}

#[test]
fn an_independent_solver_agrees() {
    // Richardson: the error of Euler's method halves with the step, so twice the finer minus the coarser is better
    let (flows, delay, until) = (10.0, 80e-6, 0.02);
    let (coarse, fine) = (by_euler(flows, delay, until, 0.5e-6), by_euler(flows, delay, until, 0.25e-6));
    let continued = Marking::Ramp(Ramp::new(5.0, 2000.0, 0.1, false));
    let series = record(&mut dcqcn(flows, 80.0, continued), until, adaptive(), 100e-6);
    let mut worst: f64 = 0.0;
    for (t, queue) in series.time.iter().zip(&series.queue) {
        let expected = 2.0 * fine[(t / 0.25e-6).round() as usize] - coarse[(t / 0.5e-6).round() as usize];
        worst = worst.max((queue - expected).abs());
    }
    assert!(worst < 1.0, "{worst} packets of {}", extent(&series.queue).greatest);
}

fn timely_settings(segment: f64, law: timely::TimelyLaw) -> timely::TimelyParameters {
    timely::TimelyParameters {
        capacity: 10.0 * GBPS,
        segment,
        base: 20e-6,
        propagation: 4e-6,
        gain: 0.875,
        step: 0.01 * GBPS,
        decrease: if matches!(law, timely::TimelyLaw::Patched { .. }) { 0.008 } else { 0.8 },
        low: 50e-6,
        high: 500e-6,
        law,
    }
}

fn timely(settings: timely::TimelyParameters, gbps: &[(f64, f64)]) -> TimelyModel {
    let flow = |(count, rate): &(f64, f64)| timely::TimelyFlow {
        start: Start { count: *count, at: 0.0, rate: rate * GBPS },
        estimate: 0.0,
    };
    TimelyModel::new(settings, gbps.iter().map(flow).collect())
}

fn patched(slope: f64) -> timely::TimelyLaw {
    timely::TimelyLaw::Patched { slope, reference: 62.5, divisor: 62.5 }
}

#[test]
fn timely_never_settles() {
    // computed by an independent script: rate 4.22 to 5.23 Gb/s, queue 0 to 66 kB with mean 5.4 kB
    let series = run(&mut timely(timely_settings(64.0, timely::TimelyLaw::Original), &[(2.0, 5.0)]), 0.1);
    let (rate, queue) = (late(&series.rates[0], 0.5), late(&series.queue, 0.5));
    near(rate.least / GBPS, 4.22, 0.02);
    near(rate.greatest / GBPS, 5.23, 0.02);
    near(queue.greatest, 66.0, 0.03);
    near(queue.mean, 5.4, 0.15);
    assert_eq!(verdict(&series.rates[0], 0.0), Steadiness::Oscillating);
}

#[test]
fn timely_keeps_the_split_it_started_with() {
    let series =
        run(&mut timely(timely_settings(16.0, timely::TimelyLaw::Original), &[(1.0, 7.0), (1.0, 3.0)]), 0.1);
    let (fast, slow) = (late(&series.rates[0], 0.9).mean, late(&series.rates[1], 0.9).mean);
    assert!(fast / slow >= 1.7, "{fast} {slow}");
}

#[test]
fn with_zero_counted_as_rising_every_split_is_stationary() {
    let mut model = timely(timely_settings(16.0, timely::TimelyLaw::ZeroRises), &[(1.0, 7.0), (1.0, 3.0)]);
    model.queue = 100.0;
    let series = run(&mut model, 0.05);
    for (values, at) in
        [(&series.queue, 100.0), (&series.rates[0], 7.0 * GBPS), (&series.rates[1], 3.0 * GBPS)]
    {
        let extent = extent(values);
        assert!(extent.swing() <= 1e-9 * at && (extent.mean - at).abs() <= 1e-9 * at, "{extent:?}");
    }
}

#[test]
fn patched_timely_becomes_fair_at_the_proven_speed() {
    let settings = timely_settings(16.0, patched(2.0));
    let series = run(&mut timely(settings, &[(1.0, 7.0), (1.0, 3.0)]), 0.2);
    let gap = |t: f64| {
        let row = (t / 20e-6).round() as usize;
        series.rates[0][row] - series.rates[1][row]
    };
    near(timely::convergence_rate(&settings), 39.06, 1e-3);
    near((gap(0.12) / gap(0.16)).ln() / 0.04, timely::convergence_rate(&settings), 0.02);
    near(late(&series.queue, 0.9).mean, 78.1, 2e-3);
    near(series.rates[0][(0.095 / 20e-6) as usize] / GBPS, 5.05, 5e-3);
}

#[test]
fn patched_timely_settles_where_its_margin_says() {
    for (slope, flows, settles) in
        [(2.0, 2.0, true), (2.0, 18.0, true), (2.0, 22.0, false), (0.5, 2.0, false), (0.5, 30.0, true)]
    {
        let series = run(&mut timely(timely_settings(16.0, patched(slope)), &[(flows, 10.0 / flows)]), 0.3);
        let calm = verdict(&series.queue, 1.0) != Steadiness::Oscillating;
        assert_eq!(calm, settles, "slope {slope}, {flows} flows: {:?}", late(&series.queue, 0.75));
        if settles {
            near(late(&series.queue, 0.9).mean, 62.5 * (1.0 + flows / 8.0), 0.01);
        }
    }
}

#[test]
fn forty_flows_of_patched_timely_oscillate_between_the_computed_bounds() {
    let series = run(&mut timely(timely_settings(16.0, patched(2.0)), &[(40.0, 0.25)]), 0.3);
    let queue = late(&series.queue, 0.75);
    near(queue.least, 276.0, 0.02);
    near(queue.greatest, 374.0, 0.02);
}

#[test]
fn an_integrator_at_the_hosts_holds_the_queue_and_keeps_the_split() {
    let older = 3.547e-6 * 8000.0;
    let law = timely::TimelyLaw::Integrator { newer: 1.0005 * older, older, reference: 343.75 };
    let mut model = timely(timely_settings(64.0, law), &[(1.0, 7.0), (1.0, 3.0)]);
    (model.flows[0].estimate, model.flows[1].estimate) = (0.001, 0.004);
    let series = record(&mut model, 3.0, Stepping::Adaptive { tolerance: 1e-6, longest: 50e-6 }, 1e-3);
    near(late(&series.queue, 0.9).mean, 343.75, 5e-3);
    near(late(&series.rates[0], 0.9).mean / GBPS, 7.0, 0.01);
    near(late(&series.rates[1], 0.9).mean / GBPS, 3.0, 0.01);
}

#[test]
fn a_rate_below_the_lower_threshold_doubles_as_computed() {
    let mut model = timely(timely_settings(16.0, timely::TimelyLaw::Original), &[(1.0, 1.0)]);
    let mut rates = Vec::new();
    integrate(&mut model, 9e-3, adaptive(), 1e-4, &mut |model, t, state| {
        rates.push((t, state[model.remembered() + 1]))
    });
    let doubled = rates.iter().find(|(_, rate)| *rate >= 2.0 * GBPS).unwrap().0;
    assert!((doubled - 0.693 * 16.0 / (0.01 * GBPS)).abs() < 1.1e-4, "{doubled}");
}

/// Two flows of patched TIMELY at 7 and 3 Gb/s, with steps of one microsecond.
fn jittered(settings: timely::TimelyParameters, jitter: Jitter) -> FluidSeries {
    let mut model = timely(settings, &[(1.0, 7.0), (1.0, 3.0)]);
    model.jittered(jitter, 1);
    record(&mut model, 0.2, Stepping::Fixed(1e-6), 20e-6)
}

#[test]
fn jitter_of_nothing_changes_nothing() {
    let settings = timely_settings(16.0, patched(2.0));
    let plain = record(&mut timely(settings, &[(1.0, 7.0), (1.0, 3.0)]), 0.2, Stepping::Fixed(1e-6), 20e-6);
    for counted in [JitteredTrips::Both, JitteredTrips::Each, JitteredTrips::Neither] {
        for every in [None, Some(10e-6)] {
            assert_eq!(jittered(settings, Jitter { most: 0.0, every, counted }), plain);
        }
    }
}

/// One draw that holds for the whole run is a longer path. A sender that does not count it sees older queues; for one
/// that counts it, in both round trips of a gradient or in each, thresholds and reference are nearer by this time.
#[test]
fn jitter_that_stays_is_a_longer_path() {
    let settings = timely_settings(16.0, patched(2.0));
    let drawn = 40e-6 * Random::new(1, Purpose::Fluid, 0).unit_at(0);
    let run = |settings: timely::TimelyParameters, jitter: Jitter| {
        let mut model = timely(settings, &[(2.0, 5.0)]);
        model.jittered(jitter, 1);
        record(&mut model, 0.2, Stepping::Fixed(1e-6), 20e-6)
    };
    let older = timely::TimelyParameters { propagation: settings.propagation + drawn, ..settings };
    let reference = 62.5 - drawn * settings.capacity;
    let law = timely::TimelyLaw::Patched { slope: 2.0, reference, divisor: 62.5 };
    let nearer =
        timely::TimelyParameters { low: settings.low - drawn, high: settings.high - drawn, law, ..older };
    for (counted, alike) in
        [(JitteredTrips::Neither, older), (JitteredTrips::Both, nearer), (JitteredTrips::Each, nearer)]
    {
        let found = run(settings, Jitter { most: 40e-6, every: Some(1.0), counted });
        let expected = run(alike, Jitter::NONE);
        let near_to = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6 * b.max(1.0);
        assert!(found.queue.iter().zip(&expected.queue).all(near_to), "{counted:?}");
        // q' (1 + N / 8), less what the jitter looks like
        let looks = if counted == JitteredTrips::Neither { 0.0 } else { drawn * settings.capacity };
        near(late(&found.queue, 0.9).mean, 78.125 - looks, 0.02);
    }
}

/// Jitter up to 100 us is 62.5 packets of queue in the mean where it is counted, and the queue is shorter by that at most.
/// Where each round trip has its own, a gradient is noise, falls of the rate are larger than rises, and the queue runs empty.
#[test]
fn counted_jitter_shortens_the_queue_and_noise_empties_it() {
    let settings = timely_settings(16.0, patched(2.0));
    let of = |counted| jittered(settings, Jitter { counted, ..jitter(100e-6) });
    let queue = |series: &FluidSeries| late(&series.queue, 0.5);
    let used = |series: &FluidSeries| late(&series.total(), 0.5).mean / settings.capacity;
    let (both, each, neither) =
        (of(JitteredTrips::Both), of(JitteredTrips::Each), of(JitteredTrips::Neither));
    near(queue(&neither).mean, 78.125, 0.05);
    assert!(queue(&neither).swing() > 20.0, "{:?}", queue(&neither));
    assert!((78.125 - 62.5 - 8.0..78.125 - 62.5).contains(&queue(&both).mean), "{:?}", queue(&both));
    assert!((0.995..1.0).contains(&used(&both)), "{}", used(&both));
    assert!(queue(&each).greatest < 1.0 && (0.6..0.9).contains(&used(&each)), "{}", used(&each));
    assert_eq!(of(JitteredTrips::Each), each, "the same seed, the same bits");
    for series in [&both, &neither] {
        assert_eq!(verdict(&series.queue, 1.0), Steadiness::Oscillating);
    }
}

/// The faster jitter is drawn, the less of it is left in the mean over an update, and counted jitter becomes a mere shift.
#[test]
fn jitter_drawn_fast_averages_out() {
    let settings = timely_settings(16.0, patched(2.0));
    let swing = |every| {
        let jitter = Jitter { every: Some(every), ..jitter(100e-6) };
        late(&jittered(settings, jitter).queue, 0.5).swing()
    };
    let swings = [1e-6, 5e-6, 50e-6].map(swing);
    assert!(swings[0] < 0.7 * swings[1] && swings[1] < 0.9 * swings[2], "{swings:?}");
}

/// Two flows at 85 us are the case of the paper's figure on marking at arrival: only there does the loop contain the queue.
#[test]
fn the_margin_of_marks_at_arrival_contains_the_queueing_delay() {
    for (flows, delay_us) in [(2.0, 4.0), (2.0, 85.0), (64.0, 4.0), (64.0, 85.0)] {
        for marks_at_arrival in [false, true] {
            let mut model = dcqcn(flows, delay_us, long_ramp());
            model.marks_at_arrival = marks_at_arrival;
            let (law, delay) = (law(), delay_us * 1e-6);
            let of = Bottleneck {
                capacity: model.capacity,
                flows,
                law,
                marking: model.marking,
                delay,
                marks_at_arrival,
            };
            let exact = Exact::new(&of).expect("it has a steady state");
            let swings = verdict(&run(&mut model, 0.3).queue, 1.0) == Steadiness::Oscillating;
            assert_eq!(
                exact.unstable_roots() > 0,
                swings,
                "{flows} flows, {delay_us} us, {marks_at_arrival}"
            );
            let queueing = if marks_at_arrival { exact.at.queue / of.capacity } else { 0.0 };
            let alike = Exact::new(&Bottleneck { delay: delay + queueing, marks_at_arrival: false, ..of });
            assert_eq!(margins(&exact), margins(&alike.expect("the same state")));
        }
    }
}

/// Notifications for every marked packet would let rates fall to nothing, from which no increase by time or volume returns.
#[test]
fn no_cut_goes_below_the_least_rate() {
    let fast = DcqcnParameters { notification: 1e-6, ..law() };
    let least = 0.01 * GBPS;
    let with = |least: f64, estimate: f64| {
        let mut model = dcqcn(10.0, 5.44, Marking::Ramp(Ramp::new(5.0, 200.0, 0.01, true)));
        model.flows[0] = DcqcnFlow { law: fast, least, estimate, ..model.flows[0] };
        run(&mut model, 0.3)
    };
    assert!(late(&with(0.0, 1.0).rates[0], 0.5).greatest < 1e-3 * GBPS, "without a least rate it dies");
    let kept = with(least, 1.0);
    assert!(extent(&kept.rates[0]).least >= least, "{:?}", extent(&kept.rates[0]));
    assert!(late(&kept.rates[0], 0.9).mean > 3.0 * GBPS, "{:?}", late(&kept.rates[0], 0.9));
    assert!(extent(&with(0.0, 0.1).rates[0]).least > extent(&with(0.0, 0.5).rates[0]).least, "alpha cuts");
}

/// Two gains of the integrator at a host, on both sides of the margin's zero.
#[test]
fn an_integrator_at_the_hosts_oscillates_where_its_margin_says() {
    let (mut calm, mut wild) = (0, 0);
    for gain in [1.0, 10.0, 40.0, 60.0] {
        let law = timely::TimelyLaw::Integrator {
            newer: gain * 1.0005 * 8e3 * 3.547e-6,
            older: gain * 8e3 * 3.547e-6,
            reference: 300.0,
        };
        let settings = timely_settings(16.0, law);
        let of = Integrated::new(&settings, 2.0).expect("it rests at its reference");
        let margin = margins(&of).phase().expect("it crosses").margin;
        assert_eq!(of.unstable_roots() > 0, margin < 0.0, "{gain}: {margin}");
        // from where it rests, pushed off by a twentieth
        let rate = 0.5 * settings.capacity;
        let mut model = timely(settings, &[(1.0, 5.0), (1.0, 5.0)]);
        (model.queue, model.flows[0].estimate, model.flows[1].estimate) =
            (315.0, 2.0 * settings.step / rate, 2.0 * settings.step / rate);
        let end = late(&run(&mut model, 1.0).queue, 0.9);
        let grows = end.swing() > 30.0;
        assert_eq!(grows, margin < 0.0, "{gain}: {margin} degrees, {end:?}");
        *(if grows { &mut wild } else { &mut calm }) += 1;
    }
    assert!(calm > 0 && wild > 0, "{calm} {wild}");
}
