//! Progress on standard error: a line that redraws itself on a terminal, or one JSON object per line for programs.
//!
//! The only place of the command line that reads a clock, and only to estimate when a sweep will end. Results never
//! depend on it.

use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::Instant;
use weft::{Progress, RunProgress};

/// Cells of the bar.
const CELLS: usize = 16;
/// Erases the line and goes to its begin.
const ERASE: &str = "\r\x1b[2K";

/// How to show progress: a line on a terminal and nothing elsewhere, one JSON object per line, or nothing at all.
/// (The variants carry no doc comments: clap would spread the help of the option over many lines.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    Auto,
    Json,
    None,
}

/// The function that shows progress in the chosen way.
pub(crate) fn display(mode: Mode) -> Box<dyn Fn(&Progress) + Send + Sync> {
    match mode {
        Mode::Json => Box::new(|progress| write_stderr(&format!("{}\n", object(progress)))),
        Mode::Auto if io::stderr().is_terminal() => {
            let clock = SweepClock::default();
            Box::new(move |progress| {
                let columns = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
                let shown = line(progress, clock.eta_s(progress), columns.saturating_sub(1));
                write_stderr(&format!("{ERASE}{shown}"));
            })
        }
        Mode::Auto | Mode::None => Box::new(|_| ()),
    }
}

/// Takes the line away, so that the result starts on a clean one.
pub(crate) fn end(mode: Mode) {
    if mode == Mode::Auto && io::stderr().is_terminal() {
        write_stderr(ERASE);
    }
}

/// An error as the last object of the JSON lines.
pub(crate) fn error_object(error: &weft::Error) -> String {
    json!({ "error": error.to_string() }).to_string()
}

fn write_stderr(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// When the first news came and how much was complete then: runs that an earlier call left do not count as speed.
#[derive(Default)]
struct SweepClock(Mutex<Option<(Instant, f64)>>);

impl SweepClock {
    /// Estimated wall seconds to the end of the call: that of the run when it is the only one, else by proportion.
    #[expect(
        clippy::disallowed_methods,
        reason = "the progress display may read a clock; results do not see it"
    )]
    fn eta_s(&self, progress: &Progress) -> Option<f64> {
        if let ([only], 1) = (progress.current.as_slice(), progress.runs_total) {
            return only.eta_s;
        }
        let now = Instant::now();
        let share = share_done(progress);
        let mut first = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (start, before) = *first.get_or_insert((now, share));
        let gained = share - before;
        (gained > 0.01).then(|| (now - start).as_secs_f64() * (1.0 - share) / gained)
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

/// The line: bar and share first, then as many of the other facts as the columns hold.
fn line(progress: &Progress, eta_s: Option<f64>, columns: usize) -> String {
    let share = share_done(progress);
    let full = (share * CELLS as f64) as usize;
    let bar = format!("[{}{}] {:>3.0} %", "#".repeat(full), ".".repeat(CELLS - full), share * 100.0);
    let mut shown = bar.chars().take(columns).collect::<String>();
    for fact in facts(progress, eta_s) {
        if shown.chars().count() + 2 + fact.chars().count() <= columns {
            shown = format!("{shown}  {fact}");
        }
    }
    shown
}

/// Most wanted first.
fn facts(progress: &Progress, eta_s: Option<f64>) -> Vec<String> {
    let sum = |of: fn(&RunProgress) -> f64| progress.current.iter().map(of).sum::<f64>();
    let mut facts = Vec::new();
    if let Some(seconds) = eta_s {
        facts.push(format!("ETA {}", duration(seconds)));
    }
    if progress.runs_total > 1 {
        facts.push(format!("{} of {} runs", progress.runs_done, progress.runs_total));
    }
    let (done, total) = (sum(|run| run.flows_done as f64), sum(|run| run.flows_total as f64));
    facts.push(format!("{} of {} flows", grouped(done as u64), grouped(total as u64)));
    facts.push(format!("{:.1} M events/s", sum(|run| run.events_per_s) / 1e6));
    facts.push(format!("{} simulated per s", small_duration(sum(simulated_per_wall_second))));
    facts
}

/// Simulated seconds per wall second, from the mean simulated time per event; needs no clock here.
fn simulated_per_wall_second(run: &RunProgress) -> f64 {
    run.simulated.seconds() * run.events_per_s / run.events.max(1) as f64
}

/// `94 112`: digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `4 min 40 s`
fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
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

fn object(progress: &Progress) -> Value {
    let finished = progress.finished.as_ref();
    json!({
        "runs_total": progress.runs_total,
        "runs_done": progress.runs_done,
        "current": progress.current.iter().map(run_object).collect::<Vec<_>>(),
        "finished": finished.map(|run| json!({
            "label": run.label, "reused": run.reused, "failure": run.failure,
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

    #[test]
    fn a_line_tells_share_flows_events_speed_and_eta() {
        let expected = "[########........]  50 %  ETA 4 min 40 s  94 112 of 188 224 flows  \
                        2.0 M events/s  4.00 ms simulated per s";
        assert_eq!(line(&half_way(), Some(280.4), 120), expected);
    }

    #[test]
    fn a_line_never_exceeds_the_terminal() {
        for columns in 0..120 {
            assert!(line(&half_way(), Some(280.4), columns).chars().count() <= columns);
        }
        assert!(line(&half_way(), Some(280.4), 40).ends_with("ETA 4 min 40 s"));
    }

    #[test]
    fn a_sweep_counts_complete_runs_and_the_parts_of_open_ones() {
        let mut progress = half_way();
        (progress.runs_total, progress.runs_done) = (4, 1);
        assert_eq!(share_done(&progress), 0.375);
        assert!(line(&progress, None, 200).contains("1 of 4 runs"));
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
        let value = object(&half_way());
        assert_eq!(value["current"][0]["simulated_s"], 0.002);
        assert_eq!(value["finished"], Value::Null);
        assert!(!value.to_string().contains('\n'));
    }

    #[test]
    fn durations_and_groups_read_well() {
        assert_eq!([duration(59.4), duration(3_661.0)], ["59 s", "1 h 1 min"]);
        assert_eq!([grouped(7), grouped(1_234_567)], ["7", "1 234 567"]);
        assert_eq!(small_duration(0.000_002), "2.00 us");
    }
}
