//! Jobs on a page: a sentence on what bounded each, and a chart of its tasks by host, with its critical path above
//! and its use of cores, disks and the network below, on one axis of time.

use crate::detail::{JOB_BOUNDS, JOB_WORK, JobChart, PathBar, UseCurve};
use crate::job_words::job_words;
use crate::text::{escaped, number, percent, plural, significant};

/// Left edge of the plots, their width, and the room for labels on the right.
const LEFT: f64 = 110.0;
const WIDTH: f64 = 960.0;
const RIGHT: f64 = 80.0;
/// Maximum heights of the chart of tasks, and of a lane.
const TASKS: f64 = 900.0;
const LANE: f64 = 5.0;
/// Height of the bar of the critical path, of a curve, and of the gaps between plots.
const PATH: f64 = 18.0;
const CURVE: f64 = 70.0;
const GAP: f64 = 34.0;
/// Least distance between the names of two hosts.
const NAME: f64 = 10.0;

/// Maximum number of unfinished tasks that are named.
const MOST_OPEN: usize = 20;

/// All jobs of a run, and their unfinished tasks; empty without jobs.
pub(super) fn jobs(charts: &[JobChart], open: &[String]) -> String {
    if charts.is_empty() {
        return String::new();
    }
    let charts: String = charts.iter().map(job).collect();
    format!("<section id=\"jobs\">\n<h2>The job</h2>\n{}{charts}</section>\n", open_words(open))
}

/// The open tasks, each with its step.
fn open_words(open: &[String]) -> String {
    if open.is_empty() {
        return String::new();
    }
    let named = open.iter().take(MOST_OPEN).map(|task| escaped(task)).collect::<Vec<_>>().join(", ");
    let more = match open.len().saturating_sub(MOST_OPEN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("<p class=\"lead\">{} unfinished: {named}{more}.</p>\n", plural(open.len() as u64, "task"))
}

fn job(chart: &JobChart) -> String {
    let more = match chart.more_hosts {
        0 => String::new(),
        hosts => format!(" Not drawn: {hosts} further hosts."),
    };
    format!(
        "<h3>{}</h3>\n{}\n<p class=\"lead\">Each row is a container of a host. The critical path leads from the \
         submission to the end: each section began when the one before it ended. A transfer's bytes are spread evenly over its \
         time.{more} Every step is in the table <code>tasks</code>, phases are in <code>phases</code>.</p>\n",
        escaped(job_words(chart).split_inclusive(". ").next().unwrap_or_default()),
        legend() + &drawing(chart)
    )
}

fn legend() -> String {
    let item = |(class, words): (String, &str)| {
        format!("<span class=\"chip\"><i class=\"{class}\"></i>{}</span> ", escaped(words))
    };
    let work = JOB_WORK.iter().enumerate().map(|(n, words)| (format!("work{n}"), *words));
    let bounds = JOB_BOUNDS.iter().enumerate().map(|(n, words)| (format!("bound{n}"), *words));
    let bounds: String = bounds.map(item).collect();
    format!(
        "<p class=\"key\">Critical path, bounded by: {bounds}</p>\n<p class=\"key\">Tasks: {}</p>\n",
        work.map(item).collect::<String>()
    )
}

/// Positions on the axis of time, which begins with the job.
struct TimeAxis {
    start: f64,
    end: f64,
}

impl TimeAxis {
    fn x(&self, seconds: f64) -> f64 {
        let share = (seconds - self.start) / (self.end - self.start).max(f64::MIN_POSITIVE);
        LEFT + WIDTH * share.clamp(0.0, 1.0)
    }

    /// Ticks at 1, 2 or 5 times a power of ten, five to twelve of them.
    fn ticks(&self) -> Vec<f64> {
        let span = (self.end - self.start).max(1e-9);
        let power = 10f64.powf((span / 10.0).log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| span / step <= 12.0);
        let step = step.unwrap_or(span);
        (0..).map(|n| f64::from(n) * step).take_while(|at| *at <= span).collect()
    }
}

/// A tick without zeros at its end: `2`, `0.5`.
fn round_number(at: f64) -> String {
    let text = number(at);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn drawing(chart: &JobChart) -> String {
    let axis = TimeAxis { start: chart.start_s, end: chart.end_s };
    let lanes: usize = chart.lanes.iter().sum();
    let lane = (TASKS / lanes.max(1) as f64).min(LANE);
    let mut y = 20.0;
    let mut parts = label(y + 13.0, "critical path") + &path(chart, &axis, y);
    y += PATH + 10.0;
    let top = y;
    let (mut tops, mut named) = (Vec::new(), 0.0);
    for (host, lanes) in chart.lanes.iter().enumerate() {
        tops.push(y);
        let height = lane * *lanes as f64;
        // Names that would overlap are left out.
        let middle = y + height / 2.0 + 4.0;
        if middle >= named + NAME {
            parts += &label(middle, &chart.hosts[host]);
            named = middle;
        }
        y += height + 3.0;
    }
    parts += &tasks(chart, &axis, (&tops, lane));
    let curves = [("cores", &chart.cores), ("disks", &chart.disks), ("network", &chart.network)];
    for (number, (name, values)) in curves.into_iter().enumerate() {
        y += GAP / 2.0;
        let most = values.mean.iter().copied().fold(0.0, f64::max);
        let words = if name == "network" { format!("{} Gb/s", significant(most, 2)) } else { percent(most) };
        parts += &label(y + CURVE / 2.0, name);
        parts += &curve(values, (&axis, y), (number + 2, most, &words));
        y += CURVE;
    }
    let ticks = axis.ticks();
    let tick = |at: &f64| {
        let x = axis.x(axis.start + at);
        format!(
            "<line class=\"tick\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y + 18.0,
            round_number(*at)
        )
    };
    let ticks: String = ticks.iter().map(tick).collect();
    format!(
        "<div class=\"chart\" tabindex=\"0\">\n<svg class=\"gantt\" viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"Tasks of {} over \
         time, by host\">\n{ticks}{parts}<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">seconds from the \
         submission</text>\n</svg>\n</div>\n",
        LEFT + WIDTH + RIGHT,
        y + 46.0,
        escaped(&chart.tag),
        LEFT + WIDTH / 2.0,
        y + 38.0
    )
}

fn label(y: f64, words: &str) -> String {
    format!("<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>\n", LEFT - 8.0, escaped(words))
}

fn path(chart: &JobChart, axis: &TimeAxis, y: f64) -> String {
    let bar = |PathBar(bound, from, to): &PathBar| {
        let (x, to_x) = (axis.x(*from), axis.x(*to));
        format!(
            "<rect class=\"bound{bound}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{PATH}\"><title>{}: {} \
             s</title></rect>\n",
            to_x - x,
            JOB_BOUNDS[*bound],
            significant(to - from, 3)
        )
    };
    chart.path.iter().map(bar).collect()
}

/// One path of rectangles for each kind of work.
fn tasks(chart: &JobChart, axis: &TimeAxis, (tops, lane): (&[f64], f64)) -> String {
    let of = |work: usize| {
        let bars = chart.bars.iter().filter(|bar| bar.2 == work);
        let rectangle = |bar: &crate::detail::TaskBar| {
            let (x, to) = (axis.x(bar.3), axis.x(bar.4));
            let (y, high) = (tops[bar.0] + lane * bar.1 as f64, (lane * 0.85).max(0.3));
            let wide = (to - x).max(0.3);
            format!("M{x:.1} {y:.1}h{wide:.1}v{high:.1}h-{wide:.1}z")
        };
        let shape: String = bars.map(rectangle).collect();
        format!("<path class=\"work{work}\" d=\"{shape}\"><title>{}</title></path>\n", JOB_WORK[work])
    };
    (0..JOB_WORK.len()).map(of).collect()
}

/// A filled curve with its maximum in words on the right.
fn curve(values: &UseCurve, (axis, y): (&TimeAxis, f64), (class, most, words): (usize, f64, &str)) -> String {
    let base = y + CURVE;
    let mut shape = format!("M{LEFT:.1} {base:.1}");
    for (bin, mean) in values.mean.iter().enumerate() {
        let at = base - CURVE * mean / most.max(f64::MIN_POSITIVE);
        let (from, to) = (bin as f64 * values.bin_s, (bin + 1) as f64 * values.bin_s);
        if to >= axis.start {
            shape += &format!("L{:.1} {at:.1}L{:.1} {at:.1}", axis.x(from), axis.x(to));
        }
    }
    let (last, right) = (axis.x(values.mean.len() as f64 * values.bin_s), LEFT + WIDTH);
    format!(
        "<path class=\"bound{class}\" d=\"{shape}L{last:.1} {base:.1}z\"/>\n<line class=\"base\" x1=\"{LEFT}\" x2=\"{right:.1}\" \
         y1=\"{base:.1}\" y2=\"{base:.1}\"/>\n<text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        right + 4.0,
        y + 10.0,
        escaped(words)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::TaskBar;

    fn chart() -> JobChart {
        JobChart {
            tag: "terasort".into(),
            start_s: 5.0,
            seconds: Some(10.0),
            end_s: 15.0,
            hosts: vec!["h1".into(), "h<2".into()],
            lanes: vec![2, 1],
            bars: vec![TaskBar(0, 1, 1, 5.0, 10.0), TaskBar(1, 0, 5, 10.0, 15.0)],
            path: vec![PathBar(2, 5.0, 10.0), PathBar(4, 10.0, 15.0)],
            network: UseCurve { bin_s: 5.0, mean: vec![0.0, 10.0, 2.5] },
            ..JobChart::default()
        }
    }

    #[test]
    fn tasks_and_the_critical_path_are_where_time_puts_them() {
        let html = drawing(&chart());
        // the map takes the first half of the axis, in the second lane of the first host
        assert!(html.contains("class=\"work1\" d=\"M110.0 53.0h480.0v"), "{html}");
        assert!(html.contains("class=\"bound4\" x=\"590.00\""), "the network bounds the second half: {html}");
        assert!(html.contains(">10 Gb/s</text>") && html.contains("h&lt;2"), "{html}");
    }

    #[test]
    fn a_job_that_was_cut_short_names_its_open_tasks() {
        let open: Vec<String> = (0..22).map(|n| format!("terasort: reduce {n} (start)")).collect();
        let html = jobs(&[JobChart { seconds: None, ..chart() }], &open);
        assert!(html.contains(">22 tasks unfinished: terasort: reduce 0 (start), "), "{html}");
        assert!(html.contains("reduce 19 (start) and 2 more."), "{html}");
        assert!(!jobs(&[chart()], &[]).contains("unfinished"));
    }

    #[test]
    fn ticks_are_round_numbers() {
        let ticks = |end| TimeAxis { start: 0.0, end }.ticks();
        assert_eq!(ticks(20.6).len(), 11);
        assert_eq!(ticks(20.6)[1], 2.0);
        assert_eq!(ticks(0.5).last(), Some(&0.5));
        assert_eq!([0.0, 2.0, 0.5, 20.0, 120.0].map(round_number), ["0", "2", "0.5", "20", "120"]);
    }
}
