//! Ends the bins of the run over time, with the counts of a domain's nodes: see [`SeriesWatch`]. Everything is read
//! from counters that exist anyway; recording changes nothing.

use weft_core::record::TimeSeries;
use weft_core::{Bytes, LinkId, PortId, Span, SwitchId, Time};
use weft_recorder::series::{LinkCounts, RunCounts, SeriesWatch, together};
use weft_switch::PortLook;
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

    /// Ends all bins of a run that ended at `ended`, the last one with all events before `after`. Nothing has
    /// happened since the bins that are still due; otherwise the domain would have ended them.
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
            ..RunCounts::default()
        };
        self.look_at_cards(&mut series);
        self.look_at_ports(&mut series, (after, now));
        let paused = self.look_at_pauses(&mut counted, now);
        series.add(counted, &paused);
        self.series = Some(series);
    }

    /// Reads what hosts sent.
    fn look_at_cards(&self, series: &mut SeriesWatch) {
        for card in 0..series.cards.len() {
            let link = series.cards[card];
            let wire = &self.cx.wires[link];
            if let Node::Host(host) = wire.from {
                let marked = self.hosts.counters_of_card(host, self.cx.now).marked;
                series.read(link, LinkCounts { sent: wire.sent, marked, byte_time: 0 }, Bytes::ZERO);
            }
        }
    }

    /// Reads the counters of switch ports.
    fn look_at_ports(&mut self, series: &mut SeriesWatch, instant: (Time, Time)) {
        for own in self.devices.all_mut() {
            let first = own.first_link;
            own.switch.look(instant, |port, PortLook { marked, byte_time, peak, waiting }| {
                let link = LinkId(first + u32::from(port.0));
                let sent = self.cx.wires[link].sent - waiting;
                series.read(link, LinkCounts { sent, marked, byte_time }, peak);
            });
        }
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
        peaks.map_or(Bytes::ZERO, |(series, link)| series.peak(link))
    }
}

/// The series of all domains together, with the last bin, which ends with the run. Must be called before anything is
/// taken back from the counters.
pub(crate) fn gathered(domains: &mut [Domain], ended: Time, after: Time) -> Option<TimeSeries> {
    domains.iter_mut().for_each(|domain| domain.end_bins(ended, after));
    let all = domains.iter_mut().filter_map(|domain| Some(domain.series.as_mut()?.finish()));
    together(all)
}
