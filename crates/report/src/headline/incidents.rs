//! The cost of failures and pause storms, in words.

use crate::summary::{IncidentCost, Summary, ThroughputDip};
use crate::sweep::Sweep;
use crate::text::{count, duration, number, percent};

/// Maximum number of incidents described individually; the others are counted.
const TOLD: usize = 2;

/// Sentences that follow that of a run; empty without incidents.
pub(super) fn of_run(summary: &Summary) -> String {
    let told = summary.incidents.iter().enumerate().take(TOLD);
    let sentences = told.map(|(number, cost)| format!(" {}: {}.", begins(cost), effect(summary, number)));
    let rest = match summary.incidents.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" {} more in the report, in the table of incidents.", count(more as u64)),
    };
    sentences.collect::<String>() + &rest
}

/// The same for a case of a sweep: the incident that costs one of these schemes most, in the first seed of each.
/// Schemes with different incidents are described by their own.
pub(super) fn of_schemes(sweep: &Sweep, schemes: &[usize], at: usize) -> String {
    let first = |scheme: &usize| Some((*scheme, &sweep.case(*scheme, at).first()?.summary));
    let all: Vec<(usize, &Summary)> = schemes.iter().filter_map(first).collect();
    let costs: Vec<&[IncidentCost]> = all.iter().map(|(_, summary)| summary.incidents.as_slice()).collect();
    let Some(further) = costs.iter().map(|own| own.len()).max().and_then(|most| most.checked_sub(1)) else {
        return String::new();
    };
    let rest = match further {
        0 => String::new(),
        more => format!(" {} more in the reports of the runs.", count(more as u64)),
    };
    let several = sweep.schemes.len() > 1;
    let worst = worst(&costs);
    if !are_alike(&costs) || costs.iter().any(|own| own.len() <= worst) {
        return apart(sweep, &all) + &rest;
    }
    let told = |(scheme, summary): &(usize, &Summary)| {
        let name = if several { format!(" with {}", sweep.schemes[*scheme]) } else { String::new() };
        format!("{}{name}", effect(summary, worst))
    };
    let effects: Vec<String> = all.iter().map(told).collect();
    format!(" {}: {} (first seed).{rest}", begins(&costs[0][worst]), effects.join("; "))
}

/// Whether the same incidents happen in all these runs while they last.
fn are_alike(runs: &[&[IncidentCost]]) -> bool {
    let same = |a: &IncidentCost, b: &IncidentCost| {
        let ends = |cost: &IncidentCost| (cost.at_us, cost.until_us, cost.first_back_us);
        ends(a) == ends(b) && a.kind == b.kind && a.places == b.places
    };
    let alike = |pair: &[&[IncidentCost]]| pair[0].iter().zip(pair[1]).all(|(a, b)| same(a, b));
    runs.windows(2).all(alike)
}

/// The worst incident of each scheme.
fn apart(sweep: &Sweep, all: &[(usize, &Summary)]) -> String {
    let told = |(scheme, summary): &(usize, &Summary)| {
        let name = &sweep.schemes[*scheme];
        if summary.incidents.is_empty() {
            return format!(" With {name} nothing fails before the end.");
        }
        let worst = worst(&[summary.incidents.as_slice()]);
        let begins = begins(&summary.incidents[worst]);
        format!(" With {name} {begins}: {} (first seed).", effect(summary, worst))
    };
    all.iter().map(told).collect()
}

/// The index of the incident with the deepest fall of throughput in any of these runs; the first if throughput never
/// fell.
fn worst(runs: &[&[IncidentCost]]) -> usize {
    let fall = |cost: &IncidentCost| {
        let dip = cost.throughput.filter(|dip| dip.fell)?;
        Some(1.0 - dip.lowest_gbps / dip.before_gbps)
    };
    let falls = runs.iter().flat_map(|own| own.iter().enumerate());
    let falls = falls.filter_map(|(number, cost)| Some((number, fall(cost)?)));
    let deeper = |deepest: (usize, f64), next: (usize, f64)| if next.1 > deepest.1 { next } else { deepest };
    falls.fold((0, 0.0), deeper).0
}

/// `leaf0-spine1 fails from 3 ms to 8 ms`.
fn begins(cost: &IncidentCost) -> String {
    let words = what(cost);
    match (cost.until_us, cost.first_back_us) {
        (Some(until), None) => format!("{words} from {} to {}", duration(cost.at_us), duration(until)),
        (None, None) => format!("{words} at {} for good", duration(cost.at_us)),
        (until, Some(first)) => format!(
            "{words} at {}; the first is back at {} and the last {}",
            duration(cost.at_us),
            duration(first),
            until.map_or("never".to_owned(), |until| format!("at {}", duration(until)))
        ),
    }
}

/// `leaf0-spine1 fails`.
pub(crate) fn what(cost: &IncidentCost) -> String {
    let storm = cost.kind == "storm_begins";
    let places = match (cost.places.as_slice(), storm) {
        ([one], _) => one.clone(),
        (many, false) => format!("{} cables", many.len()),
        (many, true) => format!("{} hosts", many.len()),
    };
    let verb = match (storm, cost.places.len()) {
        (false, 1) => "fails",
        (false, _) => "fail",
        (true, 1) => "sends a pause storm",
        (true, _) => "send pause storms",
    };
    format!("{places} {verb}")
}

/// `throughput falls from 312 to 240 Gb/s (−23 %) and is back after 412 us; 812 packets are lost`.
fn effect(summary: &Summary, number: usize) -> String {
    let cost = &summary.incidents[number];
    let how = if cost.kind == "storm_begins" { "dropped by the watchdog" } else { "lost on the way" };
    let lost = match cost.lost {
        0 => format!("no packet is {how}"),
        1 => format!("1 packet is {how}"),
        many => format!("{} packets are {how}", count(many)),
    };
    let cut = cut(summary, number);
    match &cost.throughput {
        Some(dip) if cost.lost == 0 => throughput(dip, cost, &cut),
        Some(dip) => format!("{}; {lost}", throughput(dip, cost, &cut)),
        None => format!("{lost}; too few bins lie before or after it to compare throughput"),
    }
}

/// The event that ended the observation of throughput after an incident.
struct Cut {
    /// When, microseconds.
    at_us: f64,
    /// `when leaf2-spine0 fails, 1.00 ms later`.
    words: String,
}

/// The next incident, the start of the last flow or the end of the run, whichever is first.
fn cut(summary: &Summary, number: usize) -> Cut {
    let cost = &summary.incidents[number];
    let next = summary.incidents.get(number + 1).map(|next| (next.at_us, what(next)));
    let arrivals = summary.arrivals_until_s.or(summary.drains_from_s);
    let arrivals = arrivals.map(|until| (until * 1e6, "the last flow starts".to_owned()));
    let end = (summary.simulated_s * 1e6, "the run ends".to_owned());
    let all = next.into_iter().chain(arrivals);
    let (at_us, words) = all.fold(end, |first, other| if other.0 < first.0 { other } else { first });
    Cut { at_us, words: format!("when {words}, {} later", duration((at_us - cost.at_us).max(0.0))) }
}

/// How long after an incident throughput recovered: `after 412 us`, or what came first; empty if it did not fall.
pub(crate) fn back(summary: &Summary, number: usize) -> String {
    match summary.incidents[number].throughput.filter(|dip| dip.fell) {
        None => String::new(),
        Some(ThroughputDip { recovery_us: Some(us), .. }) => format!("after {}", duration(us)),
        Some(_) => format!("not {}", cut(summary, number).words),
    }
}

fn throughput(dip: &ThroughputDip, cost: &IncidentCost, cut: &Cut) -> String {
    let (before, lowest) = (number(dip.before_gbps), number(dip.lowest_gbps));
    let lasts = cost.until_us.map(|until| until - cost.at_us).filter(|lasts| *lasts < dip.period_us);
    if let Some(lasts) = lasts.filter(|_| !dip.fell) {
        return format!(
            "throughput ({before} Gb/s) is averaged over {} and cannot show what {} cost: set more measure.series_bins",
            duration(dip.period_us),
            duration(lasts)
        );
    }
    if !dip.fell {
        let share = percent(dip.deviation_gbps / dip.before_gbps.max(f64::MIN_POSITIVE));
        let partly = cost.until_us.is_none_or(|until| cut.at_us < until);
        let seen = if partly {
            format!("; it was compared until {}", cut.words.trim_start_matches("when "))
        } else {
            String::new()
        };
        return format!(
            "throughput ({before} Gb/s) does not fall beyond its variation before (± {share}){seen}"
        );
    }
    let share = percent(1.0 - dip.lowest_gbps / dip.before_gbps);
    let back = match dip.recovery_us {
        Some(us) => format!("is back after {}", duration(us)),
        None => format!("is not back {}", cut.words),
    };
    let period = duration(dip.period_us);
    format!("throughput, averaged over {period}, falls from {before} to {lowest} Gb/s (−{share}) and {back}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::sweep::Run;

    /// A run of 20 ms.
    fn summary(incidents: &[IncidentCost]) -> Summary {
        Summary { simulated_s: 0.02, incidents: incidents.to_vec(), ..Summary::default() }
    }

    fn sentence(cost: &IncidentCost) -> String {
        of_run(&summary(std::slice::from_ref(cost))).trim_start().replace('\u{202f}', " ")
    }

    /// A failure of one cable, without which 100 Gb/s arrive.
    fn failure(place: &str, from_ms: f64, to_ms: Option<f64>, lowest_gbps: f64) -> IncidentCost {
        let dip = ThroughputDip {
            period_us: 300.0,
            before_gbps: 100.0,
            lowest_gbps,
            fell: lowest_gbps < 95.0,
            ..ThroughputDip::default()
        };
        IncidentCost {
            at_us: from_ms * 1e3,
            kind: "failure".into(),
            places: vec![place.into()],
            until_us: to_ms.map(|to| to * 1e3),
            throughput: Some(dip),
            ..IncidentCost::default()
        }
    }

    #[test]
    fn what_cut_the_observation_short_is_named() {
        let early = failure("leaf0-spine1", 5.0, Some(8.0), 50.0);
        let words = |run: &Summary| of_run(run).replace('\u{202f}', " ");
        let alone = words(&summary(std::slice::from_ref(&early)));
        assert!(alone.ends_with("and is not back when the run ends, 15.0 ms later."), "{alone}");
        let next = failure("leaf2-spine0", 6.0, None, 99.0);
        let both = words(&summary(&[early.clone(), next.clone()]));
        assert!(both.contains("(−50.0 %) and is not back when leaf2-spine0 fails, 1.00 ms later"), "{both}");
        let last = words(&Summary { arrivals_until_s: Some(0.007), ..summary(&[early]) });
        assert!(last.contains("is not back when the last flow starts, 2.00 ms later"), "{last}");
        let steady = failure("leaf0-spine1", 5.0, Some(8.0), 99.0);
        let both = words(&summary(&[steady, next]));
        assert!(
            both.contains("before (± 0 %); it was compared until leaf2-spine0 fails, 1.00 ms later"),
            "{both}"
        );
    }

    #[test]
    fn cables_that_fail_together_but_return_apart_have_both_ends() {
        let ends = |until_us| IncidentCost {
            places: vec!["leaf0-spine1".into(), "leaf1-spine0".into()],
            until_us,
            first_back_us: Some(8_000.0),
            ..failure("", 5.1, None, 99.0)
        };
        let words = sentence(&ends(Some(20_000.0)));
        assert!(
            words.starts_with(
                "2 cables fail at 5.10 ms; the first is back at 8.00 ms and the last at 20.0 ms: "
            ),
            "{words}"
        );
        assert!(sentence(&ends(None)).contains("at 8.00 ms and the last never: "));
    }

    #[test]
    fn a_throughput_that_cannot_be_compared_is_said_to_be_so() {
        let cost =
            IncidentCost { lost: 179, throughput: None, ..failure("leaf0-spine1", 7.0, Some(8.0), 0.0) };
        assert_eq!(
            sentence(&cost),
            "leaf0-spine1 fails from 7.00 ms to 8.00 ms: 179 packets are lost on the way; too few bins lie before or after it \
             to compare throughput."
        );
    }

    #[test]
    fn cases_whose_failures_differ_tell_each_its_own() {
        let run = |case: &str, cost: IncidentCost| Run {
            manifest: Manifest { labels: vec![("case".into(), case.into())], seed: 1, ..Manifest::default() },
            summary: summary(&[cost]),
            ..Run::default()
        };
        let early = failure("leaf0-spine1", 5.0, Some(10.0), 50.0);
        let late = failure("leaf1-spine0", 12.0, Some(13.0), 60.0);
        let words = |late: IncidentCost| {
            let sweep = Sweep::new(vec![run("early", early.clone()), run("late", late)]);
            of_schemes(&sweep, &[0, 1], 0).replace('\u{202f}', " ")
        };
        let apart = words(late);
        assert!(
            apart.starts_with(" With early leaf0-spine1 fails from 5.00 ms to 10.0 ms: throughput"),
            "{apart}"
        );
        assert!(
            apart.contains(" With late leaf1-spine0 fails from 12.0 ms to 13.0 ms: throughput"),
            "{apart}"
        );
        let never = Run { summary: summary(&[]), ..run("never", early.clone()) };
        let sweep = Sweep::new(vec![run("early", early.clone()), never]);
        assert!(of_schemes(&sweep, &[0, 1], 0).ends_with(" With never nothing fails before the end."));
        let alike = words(failure("leaf0-spine1", 5.0, Some(10.0), 70.0));
        assert_eq!(alike.matches("leaf0-spine1 fails").count(), 1, "{alike}");
        assert!(alike.contains(" with early; ") && alike.contains(" with late (first seed)."), "{alike}");
    }

    #[test]
    fn a_sweep_tells_of_the_worst_incident() {
        let dip = |lowest: f64| ThroughputDip {
            before_gbps: 100.0,
            lowest_gbps: lowest,
            fell: lowest < 95.0,
            ..ThroughputDip::default()
        };
        let cost = |lowest| IncidentCost { throughput: Some(dip(lowest)), ..IncidentCost::default() };
        assert_eq!(worst(&[&[cost(90.0), cost(50.0)], &[cost(80.0), cost(99.0)]]), 1);
        assert_eq!(worst(&[&[cost(99.0), cost(98.0)], &[]]), 0);
    }

    #[test]
    fn a_failure_is_named_with_what_it_cost() {
        let dip = ThroughputDip {
            period_us: 300.0,
            before_gbps: 312.0,
            deviation_gbps: 10.0,
            lowest_gbps: 240.0,
            fell: true,
            recovery_us: Some(412.0),
        };
        let cost = IncidentCost {
            at_us: 3_000.0,
            kind: "failure".into(),
            places: vec!["leaf0-spine1".into()],
            until_us: Some(8_000.0),
            lost: 812,
            throughput: Some(dip),
            ..IncidentCost::default()
        };
        assert_eq!(
            sentence(&cost),
            "leaf0-spine1 fails from 3.00 ms to 8.00 ms: throughput, averaged over 300 us, falls from 312 to 240 Gb/s \
             (−23.1 %) and is back after 412 us; 812 packets are lost on the way."
        );
        let steady =
            IncidentCost { throughput: Some(ThroughputDip { fell: false, ..dip }), lost: 0, ..cost.clone() };
        assert!(sentence(&steady).contains("does not fall beyond its variation before (± 3.21 %)."));
        let coarse = ThroughputDip { fell: false, period_us: 19_200.0, ..dip };
        let brief = IncidentCost { throughput: Some(coarse), lost: 0, ..cost.clone() };
        assert!(sentence(&brief).contains("cannot show what 5.00"), "{}", sentence(&brief));
        let storm = IncidentCost { kind: "storm_begins".into(), places: vec!["host3".into()], ..cost };
        assert!(sentence(&storm).starts_with("host3 sends a pause storm"));
        assert!(
            sentence(&storm).ends_with("812 packets are dropped by the watchdog."),
            "{}",
            sentence(&storm)
        );
    }
}
