//! Progress on standard error: a line redrawn in place on a terminal, or one JSON object per line for programs.
//!
//! The only place in the command line that reads a clock, and only to show elapsed and remaining time.
//! Results never depend on it.

use crate::console;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Instant;
use weft::{Progress, RunProgress};

/// Minimum and maximum number of cells of the bar; with less room there is no bar.
const CELLS: std::ops::RangeInclusive<usize> = 4..=16;

/// How to show progress: a line on a terminal and nothing elsewhere, one JSON object per line, or nothing at all.
/// (The variants carry no doc comments, because clap would spread the option's help over many lines.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    Auto,
    Json,
    None,
}

/// The progress display for a mode.
pub(crate) fn display(mode: ProgressMode) -> Box<dyn Fn(&Progress) + Send + Sync> {
    let clock = SweepClock::start();
    match mode {
        ProgressMode::Json => Box::new(move |progress| {
            console::complain(&object(progress, clock.read(progress)).to_string());
        }),
        ProgressMode::Auto if console::can_redraw() => Box::new(move |progress| {
            let columns = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
            let shown = line(progress, clock.read(progress), columns.saturating_sub(1));
            console::redraw(&shown);
        }),
        ProgressMode::Auto | ProgressMode::None => Box::new(|_| ()),
    }
}

/// Clears the line, so that the result starts on an empty one.
pub(crate) fn end(mode: ProgressMode) {
    if mode == ProgressMode::Auto && console::can_redraw() {
        console::redraw("");
    }
}

/// An error as the last object of the JSON lines.
pub(crate) fn error_object(error: &weft::Error) -> String {
    json!({ "error": error.to_string() }).to_string()
}

/// Elapsed wall time and, where it can be estimated, the time remaining; seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reading {
    wall_s: f64,
    eta_s: Option<f64>,
}

/// The time since the start of the command.
struct SweepClock {
    start: Instant,
    /// When the computation of runs began, and how much was complete then: reused runs do not count towards the speed.
    mark: Mutex<Option<(Instant, f64)>>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the progress display may read a clock; results do not depend on it"
)]
impl SweepClock {
    fn start() -> SweepClock {
        SweepClock { start: Instant::now(), mark: Mutex::new(None) }
    }

    fn read(&self, progress: &Progress) -> Reading {
        self.at(Instant::now(), progress)
    }

    /// Wall time since the start, and the estimate: the run's own if there is only one run, else by proportion.
    fn at(&self, now: Instant, progress: &Progress) -> Reading {
        let share = share_done(progress);
        let mut mark = self.mark.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if progress.finished.as_ref().is_some_and(|run| run.reused) {
            *mark = Some((now, share));
        }
        let (began, before) = *mark.get_or_insert((now, share));
        let eta_s = match (progress.current.as_slice(), progress.runs_total) {
            ([only], 1) => only.eta_s,
            _ => (share - before > 0.01)
                .then(|| (now - began).as_secs_f64() * (1.0 - share) / (share - before)),
        };
        Reading { wall_s: (now - self.start).as_secs_f64(), eta_s }
    }
}

/// The part of all runs that is complete, 0 to 1.
fn share_done(progress: &Progress) -> f64 {
    let open: f64 = progress.current.iter().map(share_of_run).sum();
    ((progress.runs_done as f64 + open) / progress.runs_total.max(1) as f64).min(1.0)
}

/// The part of one run that is complete: by flows or by simulated time, whichever is further.
fn share_of_run(run: &RunProgress) -> f64 {
    let flows = run.flows_done as f64 / run.flows_total.max(1) as f64;
    let time =
        run.limit.map_or(0.0, |limit| run.simulated.seconds() / limit.seconds().max(f64::MIN_POSITIVE));
    flows.max(time).min(1.0)
}

/// The line: as many facts as fit, and a bar in the remaining columns.
fn line(progress: &Progress, reading: Reading, columns: usize) -> String {
    let width = |text: &str| text.chars().count();
    let share = share_done(progress);
    let mut shown = format!("{:>3.0} %", share * 100.0).chars().take(columns).collect::<String>();
    for fact in facts(progress, reading) {
        if width(&shown) + 2 + width(&fact) <= columns {
            shown = format!("{shown}  {fact}");
        }
    }
    let cells = (columns - width(&shown)).saturating_sub(3).min(*CELLS.end());
    if cells < *CELLS.start() {
        return shown;
    }
    let full = (share * cells as f64) as usize;
    format!("[{}{}] {shown}", "#".repeat(full), ".".repeat(cells - full))
}

/// Most important first.
fn facts(progress: &Progress, reading: Reading) -> Vec<String> {
    let sum = |of: fn(&RunProgress) -> f64| progress.current.iter().map(of).fold(0.0, |sum, one| sum + one);
    let mut facts = Vec::new();
    if let Some(seconds) = reading.eta_s {
        facts.push(format!("ETA {}", duration(seconds)));
    }
    if progress.runs_total > 1 {
        facts.push(format!("{}/{} runs", progress.runs_done, progress.runs_total));
    }
    let (done, total) = (sum(|run| run.flows_done as f64), sum(|run| run.flows_total as f64));
    if total > 0.0 {
        facts.push(format!("{}/{} flows", short(done), short(total)));
        facts.push(format!("{} events/s", short(sum(|run| run.events_per_s))));
        facts.push(format!("sim {}/s", small_duration(sum(simulated_per_wall_second))));
    }
    facts.push(format!("wall {}", duration(reading.wall_s)));
    facts
}

/// Simulated seconds per wall second, from the mean simulated time per event; needs no clock here.
fn simulated_per_wall_second(run: &RunProgress) -> f64 {
    run.simulated.seconds() * run.events_per_s / run.events.max(1) as f64
}

/// `94.1k`: three digits and a letter.
fn short(number: f64) -> String {
    let (scaled, letter) = match number {
        n if n >= 999.5e6 => (n / 1e9, "G"),
        n if n >= 999.5e3 => (n / 1e6, "M"),
        n if n >= 999.5 => (n / 1e3, "k"),
        n => return format!("{n:.0}"),
    };
    let decimals = if scaled >= 99.95 { 0 } else { 1 };
    format!("{scaled:.decimals$}{letter}")
}

/// `4m40s`
fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, _) => format!("{h}h{m:02}m"),
    }
}

/// `4.71 ms`
fn small_duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

fn object(progress: &Progress, reading: Reading) -> Value {
    let finished = progress.finished.as_ref();
    json!({
        "runs_total": progress.runs_total,
        "runs_done": progress.runs_done,
        "wall_s": reading.wall_s,
        "eta_s": reading.eta_s,
        "current": progress.current.iter().map(run_object).collect::<Vec<_>>(),
        "finished": finished.map(|run| json!({
            "label": run.label, "reused": run.reused, "interrupted": run.interrupted, "failure": run.failure,
        })),
    })
}

fn run_object(run: &RunProgress) -> Value {
    json!({
        "label": run.label,
        "simulated_s": run.simulated.seconds(),
        "limit_s": run.limit.map(|limit| limit.seconds()),
        "events": run.events,
        "events_per_s": run.events_per_s,
        "flows_done": run.flows_done,
        "flows_total": run.flows_total,
        "eta_s": run.eta_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft::Time;

    fn half_way() -> Progress {
        let run = RunProgress {
            label: "drill seed 1".into(),
            simulated: Time(2_000_000_000),
            limit: None,
            events: 1_000_000,
            events_per_s: 2_000_000.0,
            flows_done: 94_112,
            flows_total: 188_224,
            eta_s: Some(280.4),
        };
        Progress { runs_total: 1, runs_done: 0, current: vec![run], finished: None }
    }

    const READING: Reading = Reading { wall_s: 61.0, eta_s: Some(280.4) };

    #[test]
    fn a_line_tells_share_flows_events_speed_and_time() {
        let expected =
            "[########........]  50 %  ETA 4m40s  94.1k/188k flows  2.0M events/s  sim 4.00 ms/s  wall 1m01s";
        assert_eq!(line(&half_way(), READING, 120), expected);
    }

    #[test]
    fn eighty_columns_hold_everything_a_sweep_needs() {
        let progress = Progress { runs_total: 16, runs_done: 12, ..half_way() };
        let shown = line(&progress, READING, 79);
        for fact in ["78 %", "ETA 4m40s", "12/16 runs", "94.1k/188k flows", "2.0M events/s", "sim 4.00 ms/s"]
        {
            assert!(shown.contains(fact), "{fact} is not in {shown}");
        }
    }

    #[test]
    fn between_runs_flows_and_speed_are_not_shown() {
        let progress = Progress { runs_total: 8, runs_done: 8, ..Progress::default() };
        assert_eq!(line(&progress, Reading { wall_s: 61.0, eta_s: None }, 28), "100 %  8/8 runs  wall 1m01s");
    }

    #[test]
    fn a_line_never_exceeds_the_terminal() {
        for columns in 0..120 {
            assert!(line(&half_way(), READING, columns).chars().count() <= columns);
        }
        assert!(line(&half_way(), READING, 24).contains("ETA 4m40s"));
    }

    #[test]
    fn a_sweep_counts_complete_runs_and_the_parts_of_open_ones() {
        let mut progress = half_way();
        (progress.runs_total, progress.runs_done) = (4, 1);
        assert_eq!(share_done(&progress), 0.375);
        assert!(line(&progress, Reading::default(), 200).contains("1/4 runs"));
    }

    /// Two of four runs are reused after a second, and a third takes ten.
    #[test]
    fn the_wall_time_counts_from_the_start_and_the_estimate_from_the_first_computed_run() {
        let clock = SweepClock::start();
        let after = |seconds| clock.start + std::time::Duration::from_secs(seconds);
        let ended = |runs_done, reused| Progress {
            runs_total: 4,
            runs_done,
            finished: Some(weft::FinishedRun { reused, ..weft::FinishedRun::default() }),
            ..Progress::default()
        };
        let none = |wall_s| Reading { wall_s, eta_s: None };
        assert_eq!(clock.at(after(1), &ended(1, true)), none(1.0));
        assert_eq!(clock.at(after(1), &ended(2, true)), none(1.0));
        assert_eq!(clock.at(after(11), &ended(3, false)), Reading { wall_s: 11.0, eta_s: Some(10.0) });
    }

    #[test]
    fn the_share_of_a_run_with_a_time_limit_follows_the_clock_of_the_simulation() {
        let mut progress = half_way();
        progress.current[0].flows_done = 0;
        progress.current[0].limit = Some(Time(8_000_000_000));
        assert_eq!(share_done(&progress), 0.25);
    }

    #[test]
    fn the_object_of_a_program_has_units_in_its_names() {
        let value = object(&half_way(), READING);
        assert_eq!(value["current"][0]["simulated_s"], 0.002);
        assert_eq!((&value["finished"], &value["wall_s"]), (&Value::Null, &json!(61.0)));
        assert!(!value.to_string().contains('\n'));
    }

    #[test]
    fn durations_and_counts_are_short() {
        assert_eq!([duration(59.4), duration(61.0), duration(3_661.0)], ["59s", "1m01s", "1h01m"]);
        assert_eq!(
            [7.0, 999.6, 94_112.0, 188_224.0, 3.4e6].map(short),
            ["7", "1.0k", "94.1k", "188k", "3.4M"]
        );
        assert_eq!(small_duration(0.000_002), "2.00 us");
    }
}
