//! What failures and pause storms cost, in words.

use crate::summary::{IncidentCost, Summary, ThroughputDip};
use crate::sweep::Sweep;
use crate::text::{count, duration, number, percent};

/// Incidents that are described individually; the others are counted.
const TOLD: usize = 2;

/// Sentences after that of a run; empty without incidents.
pub(super) fn of_run(summary: &Summary) -> String {
    let sentences = summary.incidents.iter().take(TOLD).map(|cost| format!(" {}", sentence(cost)));
    let further = summary.incidents.len().saturating_sub(TOLD);
    let rest =
        if further > 0 { format!(" {} more under Over time.", count(further as u64)) } else { String::new() };
    sentences.collect::<String>() + &rest
}

/// The same of a case of a sweep: the incident that costs one of these schemes most, in the first seed of each.
pub(super) fn of_schemes(sweep: &Sweep, schemes: &[usize], at: usize) -> String {
    let incidents =
        |scheme: usize| sweep.case(scheme, at).first().map(|run| run.summary.incidents.as_slice());
    let all: Vec<&[IncidentCost]> = schemes.iter().filter_map(|scheme| incidents(*scheme)).collect();
    let worst = worst(&all);
    let further = all.iter().map(|own| own.len()).max().unwrap_or(0).saturating_sub(1);
    let told = |scheme: &usize| {
        let cost = incidents(*scheme)?.get(worst)?;
        let name =
            if sweep.schemes.len() > 1 { format!(" with {}", sweep.schemes[*scheme]) } else { String::new() };
        Some((begins(cost), format!("{}{name}", effect(cost))))
    };
    let all: Vec<(String, String)> = schemes.iter().filter_map(told).collect();
    let Some((begin, _)) = all.first() else { return String::new() };
    let effects: Vec<&str> = all.iter().map(|(_, effect)| effect.as_str()).collect();
    let rest = match further {
        0 => String::new(),
        more => format!(" {} more in the reports of the runs.", count(more as u64)),
    };
    format!(" {begin}: {} (first seed).{rest}", effects.join("; "))
}

/// The number of the incident with the deepest fall of throughput in any of these runs; the first where none fell.
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

fn sentence(cost: &IncidentCost) -> String {
    format!("{}: {}.", begins(cost), effect(cost))
}

/// `leaf0-spine1 fails from 3 ms to 8 ms`.
fn begins(cost: &IncidentCost) -> String {
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
    match cost.until_us {
        Some(until) => format!("{places} {verb} from {} to {}", duration(cost.at_us), duration(until)),
        None => format!("{places} {verb} at {} for good", duration(cost.at_us)),
    }
}

/// `throughput falls from 312 to 240 Gb/s (−23 %) and is back after 412 us; 812 packets are lost`.
fn effect(cost: &IncidentCost) -> String {
    let how = if cost.kind == "storm_begins" { "dropped by the watchdog" } else { "lost on the way" };
    let lost = match cost.lost {
        0 => format!("no packet is {how}"),
        1 => format!("1 packet is {how}"),
        many => format!("{} packets are {how}", count(many)),
    };
    match &cost.throughput {
        Some(dip) if cost.lost == 0 => throughput(dip, cost),
        Some(dip) => format!("{}; {lost}", throughput(dip, cost)),
        // Too little of the run lies before or after.
        None => lost,
    }
}

fn throughput(dip: &ThroughputDip, cost: &IncidentCost) -> String {
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
        return format!("throughput ({before} Gb/s) does not fall beyond its variation before (± {share})");
    }
    let share = percent(1.0 - dip.lowest_gbps / dip.before_gbps);
    let back = match dip.recovery_us {
        Some(us) => format!("and is back after {}", duration(us)),
        None => "and does not come back".to_owned(),
    };
    format!("throughput falls from {before} to {lowest} Gb/s (−{share}) {back}")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        };
        let plain = |text: String| text.replace('\u{202f}', " ");
        assert_eq!(
            plain(sentence(&cost)),
            "leaf0-spine1 fails from 3.00 ms to 8.00 ms: throughput falls from 312 to 240 Gb/s (−23.1 %) and is back \
             after 412 us; 812 packets are lost on the way."
        );
        let steady =
            IncidentCost { throughput: Some(ThroughputDip { fell: false, ..dip }), lost: 0, ..cost.clone() };
        assert!(sentence(&steady).contains("does not fall beyond its variation before"));
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
