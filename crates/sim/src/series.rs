//! Ends the bins of the run over time, with what the nodes of a domain have counted: see [`SeriesWatch`]. Everything is read
//! from counters that exist anyway; recording changes nothing.

use weft_core::record::{GroupBin, TimeSeries};
use weft_core::{Bytes, LinkId, PortId, Span, SwitchId, Time};
use weft_recorder::series::{RunCounts, SeriesWatch, together};
use weft_topology::Node;

use crate::domain::Domain;

impl Domain {
    /// Ends a bin, after all events of `now`, if one is due.
    pub(crate) fn look_at_series(&mut self, now: Time) {
        if self.series.as_ref().is_some_and(|series| series.clock.next() == now) {
            self.end_due_bin(now);
        }
    }

    /// Ends the bin that is due at `now`.
    fn end_due_bin(&mut self, now: Time) {
        self.end_bin(Time(now.0 + 1), now);
        if let Some(series) = &mut self.series {
            series.advance();
        }
    }

    /// Ends all bins of a run that ended at `ended`, the last one with all events before `after`. Nothing has happened since the
    /// bins that are still due: otherwise the domain would have looked.
    fn end_bins(&mut self, ended: Time, after: Time) {
        while let Some(due) =
            self.series.as_ref().map(|series| series.clock.next()).filter(|due| *due < ended)
        {
            self.end_due_bin(due);
        }
        if self.series.as_ref().is_some_and(|series| series.is_open(ended)) {
            self.end_bin(after, ended);
        }
    }

    /// Ends a bin with all events before `after`; time integrals run up to `now`.
    fn end_bin(&mut self, after: Time, now: Time) {
        let Some(mut series) = self.series.take() else { return };
        let mut counted = RunCounts {
            delivered: self.hosts.ends.received(),
            dropped: self.cx.tally.dropped_by_reason(),
            sent: vec![Bytes::ZERO; series.groups()],
            byte_time: vec![0; series.groups()],
            ..RunCounts::default()
        };
        for link in &series.cards {
            let wire = &self.cx.wires[*link];
            counted.sent[usize::from(series.group_of[link.index()])] += wire.sent;
            if let Node::Host(host) = wire.from {
                counted.marked += self.hosts.marked_by_card(host);
            }
        }
        let queues = self.look_at_ports(&mut series, &mut counted, (after, now));
        let paused = self.look_at_pauses(&mut counted, now);
        series.add(counted, queues, &paused);
        self.series = Some(series);
    }

    /// Counts what ports of switches did; returns their longest queues by group.
    fn look_at_ports(
        &mut self,
        series: &mut SeriesWatch,
        counted: &mut RunCounts,
        (after, now): (Time, Time),
    ) -> Vec<GroupBin> {
        let mut queues = vec![GroupBin::default(); series.groups()];
        for own in self.devices.all_mut() {
            own.switch.settle(after);
            for port in (0..own.switch.reading().ports()).map(|port| PortId(port as u16)) {
                let link = own.link(port);
                let group = usize::from(series.group_of[link.index()]);
                let (_, waiting) = own.switch.reading().waiting(after, port);
                counted.sent[group] += self.cx.wires[link].sent - waiting;
                let counters = own.switch.reading().counters(now, port);
                counted.marked += counters.marked;
                counted.byte_time[group] += counters.byte_time;
                let peak = own.switch.restart_peak(port);
                queues[group].note_peak(peak, link);
                let longest = &mut series.peaks[link.index()];
                *longest = (*longest).max(peak);
            }
        }
        queues
    }

    /// Counts pauses; returns the time that each link was paused so far, if it was.
    fn look_at_pauses(&self, counted: &mut RunCounts, now: Time) -> Vec<(LinkId, Span)> {
        let Some(pauses) = &self.cx.pauses else { return Vec::new() };
        let mut found = Vec::new();
        for (number, transmitter) in pauses.links.iter().enumerate() {
            let (times, total) = transmitter.paused_so_far(now);
            counted.stops += times;
            counted.paused += total;
            if times > 0 {
                found.push((LinkId(number as u32), total));
            }
        }
        found
    }

    /// The longest queue of a port of this domain before its counter was last restarted.
    pub(crate) fn peak_before(&self, switch: SwitchId, port: PortId) -> Bytes {
        let link = self.devices.get(switch).map(|own| own.link(port));
        let peaks = self.series.as_ref().zip(link);
        peaks.map_or(Bytes::ZERO, |(series, link)| series.peaks[link.index()])
    }
}

/// The series of all domains together, with the last bin, which ends with the run. Must come before anything is taken back from
/// the counters.
pub(crate) fn gathered(domains: &mut [Domain], ended: Time, after: Time) -> Option<TimeSeries> {
    domains.iter_mut().for_each(|domain| domain.end_bins(ended, after));
    let all = domains.iter_mut().filter_map(|domain| Some(domain.series.as_mut()?.finish()));
    together(all)
}
