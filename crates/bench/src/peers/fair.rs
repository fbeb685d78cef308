//! The completion times of flows on a fat tree if every link were shared fairly without loss: max-min shares,
//! recomputed whenever a flow ends. A yardstick for R2. Must not depend on packets or any other part of Weft.

use weft_core::{Purpose, Random};

/// A link by (stage, switch, port).
type Link = (u8, u32, u32);

/// Ports of a switch; half of them lead up.
const K: u32 = 8;
const HALF: u32 = K / 2;

/// The mean completion time of flows between `pairs` of hosts, each on a random path, in units of the time of a flow
/// alone.
pub(crate) fn mean_on_random_paths(pairs: &[(u32, u32)], draw: u64) -> f64 {
    let mut random = Random::new(draw, Purpose::Test, 0);
    let paths: Vec<Vec<Link>> = pairs.iter().map(|pair| path(*pair, &mut random)).collect();
    mean_time(&paths)
}

/// The links from one host to another.
fn path((from, to): (u32, u32), random: &mut Random) -> Vec<Link> {
    let (edge, far) = (from / HALF, to / HALF);
    let mut links = vec![(0, from, 0), (5, to, 0)];
    if edge != far {
        let up = random.below(HALF);
        links.extend([(1, edge, up), (4, far, up)]);
        if edge / HALF != far / HALF {
            let core = up * HALF + random.below(HALF);
            links.extend([(2, edge / HALF, core), (3, far / HALF, core)]);
        }
    }
    links
}

/// The mean completion time of flows of size one on links of rate one.
fn mean_time(paths: &[Vec<Link>]) -> f64 {
    let (mut now, mut total) = (0.0, 0.0);
    let mut left: Vec<(usize, f64)> = (0..paths.len()).map(|flow| (flow, 1.0)).collect();
    while !left.is_empty() {
        let active: Vec<&[Link]> = left.iter().map(|(flow, _)| paths[*flow].as_slice()).collect();
        let rates = max_min(&active);
        let step = left.iter().zip(&rates).map(|((_, rest), rate)| rest / rate).fold(f64::INFINITY, f64::min);
        now += step;
        left.iter_mut().zip(&rates).for_each(|((_, rest), rate)| *rest -= rate * step);
        total += now * left.extract_if(.., |(_, rest)| *rest < 1e-9).count() as f64;
    }
    total / paths.len() as f64
}

/// Max-min fair rates by progressive filling: the link with the smallest share per flow is filled first.
fn max_min(paths: &[&[Link]]) -> Vec<f64> {
    let mut rates = vec![0.0; paths.len()];
    let mut open: Vec<usize> = (0..paths.len()).collect();
    while !open.is_empty() {
        let mut links: std::collections::BTreeMap<Link, (f64, u32)> = Default::default();
        for (flow, path) in paths.iter().enumerate() {
            for link in *path {
                let (used, flows) = links.entry(*link).or_default();
                *used += rates[flow];
                *flows += u32::from(rates[flow] == 0.0);
            }
        }
        let share = |(used, flows): (f64, u32)| (1.0 - used) / f64::from(flows);
        let shares =
            links.iter().filter(|(_, state)| state.1 > 0).map(|(link, state)| (*link, share(*state)));
        let (tightest, rate) = shares.min_by(|a, b| a.1.total_cmp(&b.1)).expect("every open flow has links");
        open.retain(|flow| {
            let filled = paths[*flow].contains(&tightest);
            rates[*flow] = if filled { rate } else { 0.0 };
            !filled
        });
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_three_flows_on_two_links() {
        let (a, b) = ((1, 0, 0), (1, 1, 0));
        let rates = max_min(&[&[a, b], &[a], &[a], &[b]]);
        let expected = [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0];
        assert!(rates.iter().zip(expected).all(|(rate, wanted)| (rate - wanted).abs() < 1e-12), "{rates:?}");
    }

    #[test]
    fn the_second_flow_speeds_up_when_the_first_has_ended() {
        let (a, b) = ((1, 0, 0), (1, 1, 0));
        // Two share a link until both end at 2; the third has a link of its own and ends at 1.
        assert!((mean_time(&[vec![a], vec![a], vec![b]]) - 5.0 / 3.0).abs() < 1e-12);
        // The crossing flow and its partner on either link get half; all end at 2.
        assert!((mean_time(&[vec![a, b], vec![a], vec![b]]) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn hosts_under_one_switch_do_not_meet() {
        assert!((mean_on_random_paths(&[(0, 1), (2, 3)], 1) - 1.0).abs() < 1e-12);
    }
}
