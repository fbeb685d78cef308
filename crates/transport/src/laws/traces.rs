//! The window of every law, round by round, against committed text. A difference is a change of behaviour: inspect it
//! and, if it is intended, replace the file with what the test prints.
//!
//! The path holds 40 segments and its queue 20 more; a window beyond both loses a segment. Segments that find 8 or
//! more waiting carry marks, for laws that use them. In round 70 the retransmission timer expires.

use std::fmt::Write;

use weft_core::Span;

use super::{AnyLaw, LawSettings};
use crate::congestion::rig::{MSS, Rig, SITE};
use crate::congestion::{AckEvent, Cause, CongestionEvent, CongestionLaw, MarkUse, Window};
use crate::congestion::{
    cubic::CubicSettings,
    dctcp::{self, DctcpSettings},
    htcp::{self, HtcpSettings},
    newreno::NewRenoSettings,
};

const PATH: u64 = 40;
const QUEUE: u64 = 20;
const MARKED_FROM: u64 = 8;
const ROUNDS: u64 = 100;
const TIMEOUT: u64 = 70;

impl CongestionLaw for AnyLaw {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        AnyLaw::grow(self, window, ack);
    }
    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        AnyLaw::reduce(self, window, event)
    }
    fn observe(&mut self, window: &mut Window, ack: &AckEvent) {
        AnyLaw::observe(self, window, ack);
    }
    fn mark_use(&self) -> MarkUse {
        AnyLaw::mark_use(self)
    }
}

/// One round: queueing delay, marks or a loss; returns what happened.
fn step(rig: &mut Rig<AnyLaw>, round: u64) -> &'static str {
    let sent = rig.window.cwnd / MSS;
    rig.rtt = Span(rig.min_rtt.0 * sent.max(PATH) / PATH);
    let marks = sent.saturating_sub(PATH + MARKED_FROM);
    if round == TIMEOUT {
        rig.fall(Cause::Timeout);
        "timeout"
    } else if sent > PATH + QUEUE {
        rig.round();
        rig.fall(Cause::Loss);
        "loss"
    } else if marks > 0 && rig.law.mark_use() == MarkUse::Accurate {
        rig.marked_round(marks);
        "mark"
    } else {
        rig.round();
        ""
    }
}

/// Round, window in bytes at its end, threshold, and what happened in it.
fn trace(settings: &LawSettings, rtt: Span) -> String {
    let mut rig = Rig::starting(AnyLaw::new(settings, SITE), 10, rtt);
    let mut text = format!("law {} round trip {rtt}\nround cwnd ssthresh event\n", settings.name());
    for round in 1..=ROUNDS {
        let event = step(&mut rig, round);
        let ssthresh = match rig.window.ssthresh {
            u64::MAX => "-".to_owned(),
            bytes => bytes.to_string(),
        };
        let line = format!("{round} {} {ssthresh} {event}", rig.window.cwnd);
        writeln!(text, "{}", line.trim_end()).expect("a text takes any line");
    }
    text
}

fn check(settings: &LawSettings, rtt: Span, committed: &str) {
    let now = trace(settings, rtt);
    if let Some((old, new)) = committed.lines().zip(now.lines()).find(|(old, new)| old != new) {
        panic!("committed: {old}\nnow:       {new}\n\nthe whole of now:\n{now}");
    }
    assert_eq!(committed.lines().count(), now.lines().count(), "the whole of now:\n{now}");
}

#[test]
fn newreno_in_a_data_centre() {
    let settings = LawSettings::NewReno(NewRenoSettings::default());
    check(&settings, Span::from_us(100), include_str!("traces/newreno.txt"));
}

#[test]
fn dctcp_in_a_data_centre() {
    let settings = LawSettings::Dctcp(DctcpSettings::default());
    check(&settings, Span::from_us(100), include_str!("traces/dctcp.txt"));
}

#[test]
fn dctcp_in_linux_arithmetic() {
    let settings = DctcpSettings { arithmetic: dctcp::DctcpArithmetic::Linux, ..DctcpSettings::default() };
    check(&LawSettings::Dctcp(settings), Span::from_us(100), include_str!("traces/dctcp-linux.txt"));
}

#[test]
fn cubic_in_a_data_centre_is_its_reno_friendly_part() {
    let settings = LawSettings::Cubic(CubicSettings::default());
    check(&settings, Span::from_us(100), include_str!("traces/cubic.txt"));
}

#[test]
fn cubic_over_a_long_path_is_a_cubic() {
    let settings = LawSettings::Cubic(CubicSettings::default());
    check(&settings, Span::from_ms(200), include_str!("traces/cubic-long.txt"));
}

#[test]
fn htcp_of_linux_over_a_long_path() {
    let settings = LawSettings::Htcp(HtcpSettings::default());
    check(&settings, Span::from_ms(200), include_str!("traces/htcp-linux.txt"));
}

#[test]
fn htcp_of_the_draft_over_a_long_path() {
    let settings = HtcpSettings { variant: htcp::Variant::Draft, ..HtcpSettings::default() };
    check(&LawSettings::Htcp(settings), Span::from_ms(200), include_str!("traces/htcp-draft.txt"));
}
