//! Presto's receive offload: a buffer of one flow below TCP that waits only at flowcell boundaries. Within a flowcell
//! packets take one path, so a gap there is a loss and is passed up at once; a gap at a boundary may be reordering.
//!
//! *Paper*: He et al., SIGCOMM'15, section 3.4 and algorithm 2; the paper applies its rules at the end of each poll
//! of the card, here they are applied at each packet. A held segment is passed up when it has waited for alpha times
//! the mean time E that boundary gaps took to fill, unless a packet joined it within the last E / beta. The gain of
//! the mean, its initial value and its bounds are unpublished. Must not depend on anything about its items but sequence
//! ranges, flowcells and times.

use std::ops::Range;

use weft_core::label::CELLS;
use weft_core::{Bytes, Span, Time, settings};

settings! {
    /// The hold rule.
    pub struct FlowcellSettings {
        /// A segment waits at most this multiple of the mean time that gaps took to fill (alpha).
        hold_alpha: f64 [0.0, 1000.0] = 2.0,
        /// A segment that packets still join waits, after the last one, for the mean divided by this (beta).
        hold_beta: f64 [0.001, 1000.0] = 2.0,
        /// The mean before the first gap (E).
        hold_initial: Span = Span::from_us(50),
        /// The weight of the newest gap in the mean.
        hold_gain: f64 [0.0, 1.0] = 0.125,
        /// Minimum of the mean.
        hold_least: Span = Span::from_us(10),
        /// Maximum of the mean.
        hold_most: Span = Span::from_ms(1),
    }
}

/// The buffer of one flow, holding items of type `T` (segments, or stand-ins for them).
#[derive(Clone, Debug)]
pub struct FlowcellBuffer<T> {
    settings: FlowcellSettings,
    /// The next byte in sequence.
    expected: u64,
    /// The flowcell being passed up.
    cell: u16,
    /// The mean time in which boundary gaps fill (E), in picoseconds.
    mean: f64,
    /// Held segments, in order of sequence.
    held: Vec<Held<T>>,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Held<T> {
    bytes: Range<u64>,
    cell: u16,
    since: Time,
    item: T,
}

/// The paper's classification of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Pass up; a gap before it, if any, is a loss.
    Up,
    /// Pass up without further effect: late, or retransmitted.
    Late,
    /// Hold: there is a gap at a flowcell boundary.
    Hold,
}

impl<T: Copy> FlowcellBuffer<T> {
    /// A buffer that expects byte 0 of flowcell 0.
    #[must_use]
    pub fn new(settings: &FlowcellSettings) -> FlowcellBuffer<T> {
        let mean = settings.hold_initial.max(settings.hold_least).min(settings.hold_most).0 as f64;
        FlowcellBuffer { settings: settings.clone(), expected: 0, cell: 0, mean, held: Vec::new(), bytes: 0 }
    }

    /// Called when a segment with these bytes, of this flowcell, arrives. Segments that may be passed up, this one or
    /// others, are appended to `out`.
    pub fn on_segment(&mut self, now: Time, (bytes, cell): (Range<u64>, u16), item: T, out: &mut Vec<T>) {
        match self.rule(&bytes, cell) {
            Rule::Hold => self.hold(Held { bytes, cell, since: now, item }),
            rule => {
                self.up(rule, &bytes, cell);
                out.push(item);
            }
        }
        if !self.held.is_empty() {
            self.flush(now, out);
        }
    }

    /// When [`FlowcellBuffer::on_wakeup`] must be called; [`Time::NEVER`] if nothing is held.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        let mut first = 0;
        let mut wake = Time::NEVER;
        while first < self.held.len() {
            let end = self.run(first);
            wake = wake.min(self.patience(first..end));
            first = end;
        }
        wake
    }

    /// Called when the clock reaches an instant: passes up what has waited long enough. May be called early or late.
    pub fn on_wakeup(&mut self, now: Time, out: &mut Vec<T>) {
        self.flush(now, out);
    }

    /// Payload currently held.
    #[must_use]
    pub fn held(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// The estimated mean time in which boundary gaps fill (E).
    #[must_use]
    pub fn mean(&self) -> Span {
        Span(self.mean as u64)
    }

    fn rule(&self, bytes: &Range<u64>, cell: u16) -> Rule {
        match ahead(cell, self.cell) {
            0 => Rule::Up,
            n if n > 0 && bytes.start > self.expected => Rule::Hold,
            n if n > 0 => Rule::Up,
            _ => Rule::Late,
        }
    }

    fn up(&mut self, rule: Rule, bytes: &Range<u64>, cell: u16) {
        if rule == Rule::Up {
            self.cell = cell;
            self.expected = self.expected.max(bytes.end);
        }
    }

    /// Inserts a segment after those that start no later.
    fn hold(&mut self, segment: Held<T>) {
        self.bytes += segment.bytes.end - segment.bytes.start;
        let place = self.held.partition_point(|other| other.bytes.start <= segment.bytes.start);
        self.held.insert(place, segment);
    }

    /// Applies the rules to held segments, in order of sequence, until nothing more is passed up.
    fn flush(&mut self, now: Time, out: &mut Vec<T>) {
        let mut first = 0;
        while first < self.held.len() {
            let Held { bytes, cell, since, .. } = self.held[first].clone();
            let end = self.run(first);
            match self.rule(&bytes, cell) {
                Rule::Hold if now < self.patience(first..end) => {
                    first = end;
                    continue;
                }
                Rule::Hold => {}
                Rule::Up if ahead(cell, self.cell) > 0 => self.learn(now.since(since)),
                Rule::Up | Rule::Late => {}
            }
            let late = self.rule(&bytes, cell) == Rule::Late;
            for segment in self.held.drain(first..end) {
                self.bytes -= segment.bytes.end - segment.bytes.start;
                if !late {
                    self.cell = cell;
                    self.expected = self.expected.max(segment.bytes.end);
                }
                out.push(segment.item);
            }
            first = 0;
        }
    }

    /// Records that a boundary gap was filled after a wait.
    fn learn(&mut self, wait: Span) {
        let (least, most) = (self.settings.hold_least.0 as f64, self.settings.hold_most.0 as f64);
        self.mean += self.settings.hold_gain * (wait.0 as f64 - self.mean);
        self.mean = self.mean.min(most).max(least);
    }

    /// The index after the run of held packets that starts at `first`: packets of one flowcell without a gap count as
    /// one segment.
    fn run(&self, first: usize) -> usize {
        let mut end = self.held[first].bytes.end;
        let mut next = first + 1;
        while let Some(other) = self.held.get(next)
            && other.cell == self.held[first].cell
            && other.bytes.start <= end
        {
            end = end.max(other.bytes.end);
            next += 1;
        }
        next
    }

    /// When the wait of a segment ends.
    fn patience(&self, run: Range<usize>) -> Time {
        let since = self.held[run.clone()].iter().map(|packet| packet.since);
        let (first, last) = (since.clone().min().unwrap_or(Time::NEVER), since.max().unwrap_or(Time::NEVER));
        let by_age = first + Span((self.mean * self.settings.hold_alpha) as u64);
        if run.len() == 1 {
            return by_age;
        }
        by_age.max(last + Span((self.mean / self.settings.hold_beta) as u64))
    }
}

/// The number of flowcells by which `cell` is ahead of another, modulo the counter's range.
fn ahead(cell: u16, of: u16) -> i32 {
    let half = i32::from(CELLS / 2);
    (i32::from(cell) - i32::from(of) + half).rem_euclid(i32::from(CELLS)) - half
}

#[cfg(test)]
mod tests;
