//! Margins against published data and against an independent computation, row by row.

use weft_fluid::linear::{Characteristic, dcqcn, margins, smallest_margin, timely};
use weft_fluid::model::dcqcn::{Bottleneck, DcqcnParameters};
use weft_fluid::model::marking::{Marking, Ramp};
use weft_fluid::model::timely::{TimelyLaw, TimelyParameters};

/// Columns of a table with a header.
fn table(text: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|cell| cell.trim().parse().expect("a number")).collect();
    text.lines().skip(1).map(row).collect()
}

/// DCQCN with the paper's defaults, packets of 1000 B.
fn dcqcn(gbps: f64, step_mbps: f64, ramp: Ramp, (delay_us, flows): (f64, f64)) -> Bottleneck {
    let law = DcqcnParameters {
        gain: 1.0 / 256.0,
        notification: 50e-6,
        estimate_timer: 55e-6,
        increase_timer: 55e-6,
        byte_counter: 10_000.0,
        recovery: 5.0,
        step: step_mbps * 125.0,
    };
    let marking = Marking::Ramp(ramp);
    Bottleneck {
        capacity: gbps * 125e3,
        flows,
        law,
        marking,
        delay: delay_us * 1e-6,
        marks_at_arrival: false,
    }
}

#[test]
fn every_published_margin_of_dcqcn_within_a_third_of_a_degree() {
    let rows = table(include_str!("data/dcqcn_phase_margin_published.csv"));
    assert_eq!(rows.len(), 900);
    let mut worst: f64 = 0.0;
    for row in rows {
        let [gbps, step, high, delay, flows, published] = row[..] else { panic!("six columns") };
        // the rows of 100 Gb/s are labelled 10 Mb/s and 1000 kB; they agree to 0.01 degrees with the settings of
        // figure 3(a), and with those of the label they are up to 81 degrees apart
        let (step, high) = if gbps == 100.0 { (40.0, 200.0) } else { (step, high) };
        let of = dcqcn(gbps, step, Ramp::new(5.0, high, 0.01, false), (delay, flows));
        let margin = margins(&dcqcn::Published::new(&of).unwrap()).phase().unwrap().margin;
        worst = worst.max((margin - published).abs());
        assert!((margin - published).abs() < 0.3, "{row:?}: {margin}");
    }
    assert!(worst > 1e-6, "the data are rounded; an exact match would mean that they are not compared");
}

#[test]
fn every_exact_margin_of_dcqcn() {
    let rows = table(include_str!("data/dcqcn_exact_linearisation.csv"));
    assert_eq!(rows.len(), 225);
    for row in rows {
        let [gbps, step, slope, delay, flows, p, rough, alpha, excess, queue, omega, margin] = row[..] else {
            panic!("twelve columns")
        };
        let high = if slope > 3e-5 { 200.0 } else { 1000.0 };
        let of = dcqcn(gbps, step, Ramp::new(5.0, high, 0.01, false), (delay, flows));
        let exact = dcqcn::Exact::new(&of).unwrap();
        let near = |value: f64, expected: f64, share: f64| {
            assert!((value / expected - 1.0).abs() < share, "{row:?}: {value} instead of {expected}");
        };
        near(exact.at.probability, p, 2e-5);
        near(weft_fluid::model::dcqcn::approximate_probability(&of), rough, 2e-5);
        near(exact.at.estimate, alpha, 1e-4);
        near(exact.at.excess * 8e-3, excess, 1e-4);
        near(exact.at.queue, queue, 5e-4);
        let crossing = margins(&exact).phase().unwrap();
        near(crossing.omega, omega, 5e-3);
        assert!((crossing.margin - margin).abs() < 0.1, "{row:?}: {crossing:?}");
        assert_eq!(exact.unstable_roots() > 0, crossing.margin < 0.0, "{row:?}");
    }
}

/// Patched TIMELY with the paper's settings, packets of 1000 B.
fn patched(propagation_us: f64, slope: f64) -> TimelyParameters {
    TimelyParameters {
        capacity: 1.25e6,
        segment: 16.0,
        base: 20e-6,
        propagation: propagation_us * 1e-6,
        gain: 0.875,
        step: 1250.0,
        decrease: 0.008,
        low: 50e-6,
        high: 500e-6,
        law: TimelyLaw::Patched { slope, reference: 62.5, divisor: 62.5 },
    }
}

#[test]
fn every_margin_of_patched_timely() {
    let rows = table(include_str!("data/timely_patched_phase_margin.csv"));
    assert_eq!(rows.len(), 75);
    for row in rows {
        let [propagation, flows, published, half, two] = row[..] else { panic!("five columns") };
        let margin = |slope: f64| {
            let of = timely::Patched::new(&patched(propagation, slope), flows).unwrap();
            let margin = margins(&of).phase().unwrap().margin;
            assert_eq!(of.unstable_roots() > 0, margin < 0.0, "{row:?}: {margin}");
            margin
        };
        assert!((margin(0.5) - published).abs() < 0.1, "{row:?}: {}", margin(0.5));
        assert!((margin(0.5) - half).abs() < 0.1, "{row:?}: {}", margin(0.5));
        assert!((margin(2.0) - two).abs() < 0.1 + 0.004 * two.abs(), "{row:?}: {}", margin(2.0));
    }
}

#[test]
fn every_number_of_flows_has_a_margin_and_neighbours_are_close() {
    let margin = |flows: u32| {
        let of = dcqcn(40.0, 40.0, Ramp::new(5.0, 200.0, 0.01, false), (20.0, f64::from(flows)));
        let exact = dcqcn::Exact::new(&of).expect("a steady state");
        let found = margins(&exact);
        found.phase().unwrap_or_else(|| panic!("{flows} flows: {:?} {:?}", exact.at, found)).margin
    };
    let all: Vec<f64> = (2..=200).map(margin).collect();
    assert!(all.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 5.0), "{all:?}");
}

/// Steep ramps and long delays, whose phase at the crossing is several turns behind: the sign of the margin is the verdict.
#[test]
fn margins_of_any_delay_have_the_sign_of_the_verdict() {
    let (mut stable, mut unstable, mut turns) = (0, 0, 0);
    for high in [5.5, 6.0, 10.0, 200.0, 5000.0] {
        for delay in [1.0, 40.0, 100.0, 200.0, 300.0, 2000.0, 20_000.0] {
            for flows in [4.0, 8.0, 64.0] {
                let of = dcqcn(40.0, 40.0, Ramp::new(5.0, high, 0.01, false), (delay, flows));
                let exact = dcqcn::Exact::new(&of).expect("a steady state");
                let found = margins(&exact);
                let [crossing] = found.gain_crossings[..] else { continue };
                let roots = exact.unstable_roots();
                assert_eq!(roots > 0, crossing.margin < 0.0, "{high} {delay} {flows}: {crossing:?}");
                assert_eq!(found.judged(roots).phase(), Some(crossing), "one crossing leaves no doubt");
                assert_eq!(smallest_margin(&exact), crossing.margin);
                *(if roots == 0 { &mut stable } else { &mut unstable }) += 1;
                turns += u32::from(crossing.margin < -360.0);
            }
        }
    }
    assert!(stable > 10 && unstable > 50 && turns > 20, "{stable} {unstable} {turns}");
}

/// Besides those of the differences between flows, pairs of roots in the right half-plane follow one another every turn of the delay, as long as the gain is above 1 there.
#[test]
fn no_root_of_a_long_delay_is_missed() {
    let roots = |delay: f64| {
        let of = dcqcn(40.0, 40.0, Ramp::new(5.0, 5.5, 0.01, false), (delay, 8.0));
        let exact = dcqcn::Exact::new(&of).expect("a steady state");
        let of_loop = exact.unstable_roots() - exact.diverging_differences();
        (of_loop, margins(&exact).phase().expect("it crosses").margin)
    };
    for delay in [500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0] {
        let (found, margin) = roots(delay);
        assert_eq!(found, 2 * (-margin / 360.0).ceil() as u32, "{delay} us: {found} roots, {margin} degrees");
    }
}
