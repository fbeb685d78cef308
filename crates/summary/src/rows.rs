//! Rows for sorting: a complete flow, ordered by its number; the part of a flow that statistics need, ordered by size;
//! and a single figure, ordered by value.

use weft_core::record::{FlowPauses, FlowRecord, HopWaits};
use weft_core::{Bytes, FlowId, HostId, Span, Time};
use weft_table::sorter::Words;

/// A flow, ordered by its number.
pub type FlowRow = Words<25>;

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn apart(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// Two flags, and the time-outs in a row.
fn flags_of(flow: &FlowRecord) -> u32 {
    let in_a_row = flow.timeouts_in_a_row.min(0xffff);
    u32::from(flow.pauses.congested) | u32::from(flow.terminated) << 1 | in_a_row << 2
}

/// The row of a flow.
#[must_use]
pub fn row_of(flow: &FlowRecord) -> FlowRow {
    let HopWaits(waits) = flow.waits;
    [
        pair(flow.flow.0, u32::from(flow.tag)),
        pair(flow.source.0, flow.destination.0),
        flow.size.0,
        flow.start.0,
        flow.end.unwrap_or(Time::NEVER).0,
        flow.ideal.0,
        flow.delivered.0,
        flow.retransmitted.0,
        pair(flow.timeouts, flow.dupacks),
        pair(flow.dupacks_reorder, flow.out_of_order),
        pair(flow.displacement, flow.gro_batches),
        pair(flow.ecn_marks, flow.cnps_sent),
        pair(flow.cnps, flow.nacks),
        pair(flow.pauses.packets, flags_of(flow)),
        flow.pauses.held.0,
        flow.pauses.at_host.0,
        flow.displaced,
        flow.acknowledged.unwrap_or(Time::NEVER).0,
        pair(flow.listed.unwrap_or(u32::MAX), flow.syn_timeouts),
        flow.important.0,
        pair(waits[0], waits[1]),
        pair(waits[2], waits[3]),
        pair(waits[4], waits[5]),
        pair(waits[6], waits[7]),
        flow.deadline.map_or(u64::MAX, |deadline| deadline.0),
    ]
}

/// The flow of a row.
#[must_use]
pub fn flow_of(row: &FlowRow) -> FlowRecord {
    let (flow, tag) = apart(row[0]);
    let (source, destination) = apart(row[1]);
    let (timeouts, dupacks) = apart(row[8]);
    let (dupacks_reorder, out_of_order) = apart(row[9]);
    let (displacement, gro_batches) = apart(row[10]);
    let (ecn_marks, cnps_sent) = apart(row[11]);
    let (cnps, nacks) = apart(row[12]);
    let (packets, flags) = apart(row[13]);
    let (listed, syn_timeouts) = apart(row[18]);
    let instant = |time: u64| (time != Time::NEVER.0).then_some(Time(time));
    let (held, at_host) = (Span(row[14]), Span(row[15]));
    FlowRecord {
        flow: FlowId(flow),
        listed: (listed != u32::MAX).then_some(listed),
        tag: tag as u16,
        source: HostId(source),
        destination: HostId(destination),
        size: Bytes(row[2]),
        start: Time(row[3]),
        end: instant(row[4]),
        acknowledged: instant(row[17]),
        ideal: Span(row[5]),
        delivered: Bytes(row[6]),
        retransmitted: Bytes(row[7]),
        important: Bytes(row[19]),
        timeouts,
        syn_timeouts,
        timeouts_in_a_row: flags >> 2,
        dupacks,
        dupacks_reorder,
        out_of_order,
        displacement,
        displaced: row[16],
        gro_batches,
        ecn_marks,
        cnps_sent,
        cnps,
        nacks,
        pauses: FlowPauses { held, packets, at_host, congested: flags & 1 == 1 },
        waits: HopWaits(std::array::from_fn(|hop| {
            let (even, odd) = apart(row[20 + hop / 2]);
            if hop % 2 == 0 { even } else { odd }
        })),
        deadline: (row[24] != u64::MAX).then_some(Span(row[24])),
        terminated: flags & 2 == 2,
    }
}

/// The part of a flow that statistics need, ordered by size, then number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) size: u64,
    pub(crate) flow: u32,
    pub(crate) tag: u16,
    /// Not negative.
    pub(crate) fct_us: f64,
    /// The time alone in the empty network; zero: unknown.
    pub(crate) alone_us: f64,
    /// The completion time as seen by the sender.
    pub(crate) acknowledged_us: Option<f64>,
}

impl Sample {
    /// As `derived::slowdown`.
    pub(crate) fn slowdown(&self) -> f64 {
        if self.alone_us > 0.0 { self.fct_us / self.alone_us } else { 1.0 }
    }

    pub(crate) fn row(&self) -> Words<5> {
        let named = pair(self.flow, u32::from(self.tag));
        let acknowledged = self.acknowledged_us.map_or(u64::MAX, f64::to_bits);
        [self.size, named, self.fct_us.to_bits(), self.alone_us.to_bits(), acknowledged]
    }

    pub(crate) fn of(row: &Words<5>) -> Sample {
        let (flow, tag) = apart(row[1]);
        let [fct_us, alone_us] = [row[2], row[3]].map(f64::from_bits);
        let acknowledged_us = (row[4] != u64::MAX).then_some(f64::from_bits(row[4]));
        Sample { size: row[0], flow, tag: tag as u16, fct_us, alone_us, acknowledged_us }
    }
}

/// The groups of flows that a flow belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowGroups {
    /// Small, medium or large.
    pub(crate) bucket: u8,
    /// Its size class.
    pub(crate) class: u8,
    /// Its traffic entry.
    pub(crate) tag: u16,
}

/// A row for a non-negative figure, ordered by it: the bits of such numbers sort like the numbers.
pub(crate) fn figure_row(figure: f64, groups: FlowGroups) -> Words<2> {
    let FlowGroups { bucket, class, tag } = groups;
    [figure.to_bits(), pair(u32::from(tag), u32::from(bucket) << 8 | u32::from(class))]
}

pub(crate) fn figure_of(row: &Words<2>) -> (f64, FlowGroups) {
    let (tag, rest) = apart(row[1]);
    let [bucket, class] = [rest >> 8, rest].map(|part| part as u8);
    (f64::from_bits(row[0]), FlowGroups { bucket, class, tag: tag as u16 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_flow_is_lost() {
        let flow = FlowRecord {
            flow: FlowId(u32::MAX - 1),
            listed: None,
            tag: u16::MAX - 2,
            source: HostId(3),
            destination: HostId(4),
            size: Bytes(5),
            start: Time(6),
            end: None,
            ideal: Span(7),
            delivered: Bytes(8),
            retransmitted: Bytes(9),
            important: Bytes(27),
            acknowledged: None,
            timeouts: 10,
            syn_timeouts: 25,
            timeouts_in_a_row: 29,
            dupacks: 11,
            dupacks_reorder: 12,
            out_of_order: 13,
            displacement: 14,
            displaced: 24,
            gro_batches: 15,
            ecn_marks: 16,
            cnps_sent: 18,
            cnps: 19,
            nacks: 20,
            pauses: FlowPauses { held: Span(21), packets: 22, at_host: Span(23), congested: true },
            waits: HopWaits([28, 29, 30, 31, 32, 33, 34, 35]),
            deadline: None,
            terminated: true,
        };
        let ended = FlowRecord {
            listed: Some(27),
            end: Some(Time(17)),
            acknowledged: Some(Time(26)),
            deadline: Some(Span(28)),
            terminated: false,
            ..flow.clone()
        };
        assert_eq!([&flow, &ended].map(|flow| flow_of(&row_of(flow))), [flow, ended]);
        for acknowledged_us in [None, Some(0.2)] {
            let sample =
                Sample { size: 1 << 40, flow: 7, tag: u16::MAX, fct_us: 0.1, alone_us: 1.5, acknowledged_us };
            assert_eq!(Sample::of(&sample.row()), sample);
        }
        let groups = FlowGroups { bucket: 2, class: 19, tag: 0xfffe };
        assert_eq!(figure_of(&figure_row(0.3, groups)), (0.3, groups));
    }

    #[test]
    fn rows_have_the_order_of_what_they_mean() {
        let groups = FlowGroups { bucket: 0, class: 0, tag: 0 };
        let figures = [0.0, 1e-300, 0.9, 1.0, 1.5, 2.0, 1e9, f64::INFINITY];
        assert!(figures.windows(2).all(|two| figure_row(two[0], groups) < figure_row(two[1], groups)));
        let sample = |size, flow| {
            Sample { size, flow, tag: 9, fct_us: 1.0, alone_us: 1.0, acknowledged_us: None }.row()
        };
        assert!(sample(1, 9) < sample(2, 3) && sample(2, 3) < sample(2, 4));
    }
}
