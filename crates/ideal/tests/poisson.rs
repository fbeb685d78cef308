//! Formulas of one link with Poisson arrivals: limits in which they are known otherwise, and a simulation.

use weft_core::Random;
use weft_core::random::Purpose;
use weft_ideal::{PoissonLink, WorkDistribution, WorkPiece};

const LOADS: [f64; 3] = [0.3, 0.8, 0.95];

fn piece(from: f64, to: f64, share: f64) -> WorkPiece {
    WorkPiece { from, to, share }
}

/// Many small flows, an atom, and few large ones: roughly web search.
fn uneven() -> WorkDistribution {
    WorkDistribution::new([
        piece(0.01, 0.01, 0.15),
        piece(0.01, 0.1, 0.4),
        piece(0.1, 1.0, 0.15),
        piece(1.0, 4.0, 0.2),
        piece(4.0, 20.0, 0.1),
    ])
}

/// All flows bring 1.
fn fixed() -> WorkDistribution {
    WorkDistribution::new([piece(1.0, 1.0, 1.0)])
}

/// A distribution by the share of flows beyond a work, in steps of a ratio.
fn by_ratio(range: (f64, f64), ratio: f64, beyond: impl Fn(f64) -> f64) -> WorkDistribution {
    let steps = ((range.1 / range.0).ln() / ratio.ln()).ceil() as i32;
    let at = |n: i32| range.0 * ratio.powi(n);
    WorkDistribution::new((0..steps).map(|n| piece(at(n), at(n + 1), beyond(at(n)) - beyond(at(n + 1)))))
}

/// Pareto without a second moment.
fn heavy() -> WorkDistribution {
    by_ratio((1.0, 1e100), 1.05, |x| x.powf(-1.05))
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
}

/// M/D/1 by Pollaczek and Khinchine: with equal flows nothing is smaller than what is served.
#[test]
fn equal_flows_are_served_in_order_of_arrival_by_shortest_remaining() {
    for load in LOADS {
        let work = fixed();
        let link = PoissonLink { work: &work, load };
        near(link.shortest_remaining(), 1.0 + load / (2.0 * (1.0 - load)), 1e-9);
    }
}

/// Equal flows under least attained service all end with the busy period: ignorance costs more than sharing.
#[test]
fn least_attained_service_is_worse_than_sharing_for_equal_flows() {
    for load in LOADS {
        let work = fixed();
        let link = PoissonLink { work: &work, load };
        let free = 1.0 - load;
        near(link.least_attained(), 1.0 / free + load / (2.0 * free * free), 1e-6);
        assert!(link.least_attained() > link.shared() && link.levels(&[0.5]) > link.shared());
    }
}

/// With exponential work the past of a flow says nothing, so all orders that do not know sizes have one mean.
#[test]
fn no_order_without_sizes_helps_memoryless_flows() {
    let work = by_ratio((1e-6, 50.0), 1.01, |x| (-x).exp());
    for load in LOADS {
        let link = PoissonLink { work: &work, load };
        near(link.least_attained(), link.shared(), 1e-3);
        for thresholds in [&[1.0][..], &[0.1, 3.0], &[0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]] {
            near(link.levels(thresholds), link.shared(), 1e-3);
        }
    }
}

#[test]
fn thresholds_that_separate_nothing_leave_processor_sharing() {
    for (work, load) in [uneven(), fixed(), heavy()].iter().flat_map(|work| LOADS.map(|load| (work, load))) {
        let link = PoissonLink { work, load };
        for thresholds in [&[][..], &[0.0], &[work.most()], &[0.0, 1e200], &[f64::INFINITY]] {
            near(link.levels(thresholds), link.shared(), 1e-6);
        }
    }
}

/// With ever closer thresholds only the flows with the least attained service are served.
#[test]
fn many_thresholds_approach_least_attained_service() {
    let work = uneven();
    let link = PoissonLink { work: &work, load: 0.8 };
    let off = |levels: u32| {
        let thresholds: Vec<f64> =
            (1..levels).map(|n| 0.005 * 4_000_f64.powf(f64::from(n) / f64::from(levels))).collect();
        (link.levels(&thresholds) / link.least_attained() - 1.0).abs()
    };
    let [few, some, many] = [4, 16, 64].map(off);
    assert!(few > some && some > many && many < 0.01, "{few} {some} {many}");
}

#[test]
fn no_order_beats_the_shortest_remaining() {
    for work in [uneven(), fixed(), heavy()] {
        for load in LOADS {
            let link = PoissonLink { work: &work, load };
            let best = link.shortest_remaining();
            let others = [link.shared(), link.least_attained(), link.levels(&[0.5, 2.0, 50.0])];
            assert!(best >= 1.0 && others.iter().all(|other| *other > best), "{load}: {best} {others:?}");
        }
    }
}

/// An open flow.
struct Flow {
    arrival: f64,
    work: f64,
    attained: f64,
}

/// The mean completion time of multilevel processor sharing, from events.
fn simulated(link: &PoissonLink<'_>, thresholds: &[f64], (flows, seed): (usize, u64)) -> f64 {
    let [mut arrivals, mut sizes] =
        [Purpose::Arrivals, Purpose::Sizes].map(|purpose| Random::new(seed, purpose, 0));
    let limit = |level: usize| thresholds.get(level).copied().unwrap_or(f64::INFINITY);
    let mut open: Vec<Vec<Flow>> = thresholds.iter().map(|_| Vec::new()).chain([Vec::new()]).collect();
    let (mut now, mut next, mut left, mut spent) = (0.0, 0.0, flows, 0.0);
    loop {
        let served = open.iter().position(|level| !level.is_empty());
        let target = |level: usize, flow: &Flow| flow.work.min(limit(level)) - flow.attained;
        let end = served.map_or(f64::INFINITY, |level| {
            let first = open[level].iter().map(|flow| target(level, flow)).fold(f64::INFINITY, f64::min);
            now + first * open[level].len() as f64
        });
        let until = if left > 0 { end.min(next) } else { end };
        if until == f64::INFINITY {
            return spent / flows as f64 / link.work.mean();
        }
        if let Some(level) = served {
            let share = (until - now) / open[level].len() as f64;
            open[level].iter_mut().for_each(|flow| flow.attained += share);
            let (done, kept): (Vec<Flow>, Vec<Flow>) =
                std::mem::take(&mut open[level]).into_iter().partition(|flow| target(level, flow) < 1e-9);
            open[level] = kept;
            for flow in done {
                if flow.work - flow.attained < 1e-9 {
                    spent += until - flow.arrival;
                } else {
                    open[level + 1].push(flow);
                }
            }
        }
        now = until;
        if left > 0 && now == next {
            let work = drawn(link.work, &mut sizes);
            open[0].push(Flow { arrival: now, work, attained: 0.0 });
            left -= 1;
            next = now + arrivals.exponential(link.work.mean() / link.load);
        }
    }
}

fn drawn(work: &WorkDistribution, random: &mut Random) -> f64 {
    let mut share = random.unit();
    for piece in work.pieces() {
        if share < piece.share {
            return piece.from + (piece.to - piece.from) * share / piece.share;
        }
        share -= piece.share;
    }
    work.pieces()[work.pieces().len() - 1].to
}

#[test]
fn levels_take_as_long_as_in_a_simulation() {
    let work = uneven();
    for (load, thresholds) in [(0.7, &[2.0][..]), (0.7, &[0.05, 0.5, 3.0, 9.0]), (0.5, &[0.01, 5.0])] {
        let link = PoissonLink { work: &work, load };
        let runs: Vec<f64> = (1..=10).map(|seed| simulated(&link, thresholds, (60_000, seed))).collect();
        let mean = runs.iter().sum::<f64>() / 10.0;
        let error = (runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / 90.0).sqrt();
        let expected = link.levels(thresholds);
        assert!((mean - expected).abs() < 4.0 * error, "{mean} +- {error}, expected {expected}");
        assert!(error < 0.03 * expected, "the test must be able to tell");
    }
}
