//! The lines of a queue monitor as text, in the form in which switches show them: the newest first, with their age at
//! the end of the run. Must not depend on how queues are sampled.

use std::fmt::Write;

use weft_core::Span;
use weft_core::record::{QueueEvent, QueueStage, RunRecord};

use crate::derived::node;

/// The text, if queues were monitored.
pub(crate) fn queue_monitor(record: &RunRecord) -> Option<String> {
    let events = record.queue_events.as_ref()?;
    let mut text = String::from("S: start, U: update, E: end. *: longest sample from start to end.\n");
    if events.left_out > 0 {
        let written = writeln!(
            text,
            "Only the last {} lines were kept, {} before them were not.",
            events.lines.len(),
            events.left_out
        );
        written.expect("text takes all");
    }
    text.push('\n');
    let heads = ["Type", "Age", "Output port", "Length, bytes", "Duration, us", "Input ports"];
    let cells = events.lines.iter().rev().map(|event| line(record, event));
    for [stage, age, port, length, lasted, inputs] in std::iter::once(heads.map(str::to_owned)).chain(cells) {
        let written =
            writeln!(text, "{stage:<4}  {age:>12}  {port:<16}  {length:>15}  {lasted:>12}  {inputs}");
        written.expect("text takes all");
    }
    Some(text)
}

fn line(record: &RunRecord, event: &QueueEvent) -> [String; 6] {
    let link = &record.links[event.link.index()];
    let mark = if event.stage == QueueStage::End { "*" } else { " " };
    [
        event.stage.letter().to_owned(),
        clock(record.ended.since(event.time)),
        format!("{}:{}", node(record, link.from), link.port),
        format!("{}{mark}", event.length.0),
        event.lasted.map_or_else(|| "-".to_owned(), |span| format!("{:.0}", span.micros())),
        event.inputs.to_string(),
    ]
}

/// Hours, minutes, seconds and hundredths; below a second more digits, because runs are often that short.
fn clock(age: Span) -> String {
    let micros = rounded(age, Span::from_us(1));
    if micros < 1_000_000 {
        return format!("0:00:00.{micros:06}");
    }
    let hundredths = rounded(age, Span::from_ms(10));
    let (seconds, rest) = (hundredths / 100, hundredths % 100);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours}:{minutes:02}:{:02}.{rest:02}", seconds % 60)
}

/// A time in whole units, to the nearest.
fn rounded(time: Span, unit: Span) -> u64 {
    time.0 / unit.0 + u64::from(time.0 % unit.0 >= unit.0.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::{LinkRecord, NodeRecord, QueueEvents};
    use weft_core::{Bytes, LinkId, Time};

    #[test]
    fn the_newest_line_comes_first_with_its_age() {
        let second = Span::from_ms(1_000);
        let start = QueueEvent {
            time: Time::ZERO + second,
            stage: QueueStage::Start,
            link: LinkId(0),
            inputs: "4-7,16".into(),
            length: Bytes(21_290_960),
            lasted: None,
        };
        let end = QueueEvent {
            time: Time::ZERO + second * 6,
            stage: QueueStage::End,
            length: Bytes(97_254_976),
            lasted: Some(second * 5),
            ..start.clone()
        };
        let record = RunRecord {
            nodes: vec![NodeRecord { name: "leaf1".into(), tier: 1 }],
            links: vec![LinkRecord { port: 28, ..LinkRecord::default() }],
            queue_events: Some(QueueEvents { lines: vec![start.clone(), end.clone()], left_out: 0 }),
            ended: Time::ZERO + second * 3_661,
            ..RunRecord::default()
        };
        let text = queue_monitor(&record).expect("it was monitored");
        let lines: Vec<Vec<&str>> =
            text.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            lines,
            [
                ["E", "1:00:55.00", "leaf1:28", "97254976*", "5000000", "4-7,16"],
                ["S", "1:01:00.00", "leaf1:28", "21290960", "-", "4-7,16"],
            ]
        );
        assert_eq!(queue_monitor(&RunRecord::default()), None);
        let cut = Some(QueueEvents { lines: vec![start, end], left_out: 71 });
        let text = queue_monitor(&RunRecord { queue_events: cut, ..record }).expect("it was monitored");
        assert!(text.contains("\nOnly the last 2 lines were kept, 71 before them were not.\n\n"), "{text}");
    }

    #[test]
    fn short_ages_keep_their_microseconds() {
        assert_eq!(clock(Span::from_us(2_740)), "0:00:00.002740");
    }

    /// 60 seconds are a minute also where rounding makes them.
    #[test]
    fn rounding_carries_over() {
        assert_eq!(clock(Span::from_ms(59_996)), "0:01:00.00");
        assert_eq!(clock(Span::from_ms(59_994)), "0:00:59.99");
        assert_eq!(clock(Span::from_ms(3_599_995)), "1:00:00.00");
        assert_eq!(clock(Span(999_999_500_000)), "0:00:01.00");
        assert_eq!(clock(Span(999_999_499_999)), "0:00:00.999999");
    }
}
