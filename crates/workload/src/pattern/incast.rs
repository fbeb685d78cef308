//! Incast: many hosts reply to one host at the same time, periodically. Requests are not modelled: the replies are
//! the flows.

use super::{Late, Pattern, Stream};
use crate::Flow;
use crate::site::{Pairs, Participants, PatternSite};
use std::sync::Arc;
use weft_core::Problem;
use weft_core::{HostId, Purpose, Random, Span, Time};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Periodically, many hosts send to one, all at once";

weft_core::settings! {
    /// Incast.
    pub struct IncastSettings {
        /// Number of senders per event.
        fan_in: u32 [1, 1000000000],
        /// What each sender sends: a size, a bundled name, a file of points or a formula.
        sizes: String,
        /// Flows from each sender in one event.
        flows_per_sender: u32 [1, 1000] = 1,
        /// Number of events.
        count: u32 [1, 1000000000] = 1,
        /// Time from one event to the next.
        period: Span = Span::from_ms(10),
        /// Each flow starts at random within this time after the event; not longer than the period.
        jitter: Span = Span::ZERO,
        /// The receiving host; absent: redrawn for every event.
        receiver: Option<u32> = None,
        /// The position of senders relative to the receiver.
        pairs: Pairs = Pairs::Any,
    }
}

/// Periodic incast.
pub struct Incast(IncastSettings);

impl Incast {
    /// Events as in `settings`.
    #[must_use]
    pub fn new(settings: &IncastSettings, _site: ()) -> Incast {
        Incast(settings.clone())
    }

    fn receiver(&self, site: &PatternSite<'_>) -> Result<Option<HostId>, Problem> {
        site.partners(self.0.pairs)?;
        let fixed = self.0.receiver.map(|n| site.host(n, "receiver")).transpose()?;
        let among = fixed.map_or_else(|| site.hosts.all().to_vec(), |host| vec![host]);
        let fewest = among.iter().map(|&host| site.hosts.partners(host, self.0.pairs)).min().unwrap_or(0);
        match self.0.fan_in <= fewest {
            true => Ok(fixed),
            false => Err(Problem::new(
                "fan_in",
                format!("{} senders are asked for, but only {fewest} hosts can send", self.0.fan_in),
            )),
        }
    }
}

impl Pattern for Incast {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        let (sizes, receiver) = (site.sizes(&self.0.sizes), self.receiver(site));
        let late = (self.0.jitter > self.0.period && self.0.count > 1)
            .then(|| Problem::new("jitter", format!("it is longer than the period of {}", self.0.period)));
        let (sizes, receiver) = match (sizes, receiver, late) {
            (Ok(sizes), Ok(receiver), None) => (sizes, receiver),
            (sizes, receiver, late) => {
                return Err([sizes.err(), receiver.err(), late].into_iter().flatten().collect());
            }
        };
        let (hosts, settings, tag) = (Arc::clone(&site.hosts), self.0.clone(), site.tag);
        let [mut who, mut when, mut how_much] =
            [Purpose::Pairs, Purpose::Arrivals, Purpose::Sizes].map(|purpose| site.random(purpose));
        let mut now = site.start;
        let event = move |_| {
            let to = receiver.unwrap_or_else(|| hosts.draw(&mut who));
            let mut flows = Vec::new();
            let senders = senders(&hosts, to, &settings, &mut who).into_iter();
            let each = settings.flows_per_sender as usize;
            for from in senders.flat_map(|from| std::iter::repeat_n(from, each)) {
                let late = Span((settings.jitter.0 as f64 * when.unit()) as u64);
                flows.push(Flow::new(tag, now + late, (from, to), sizes.draw(&mut how_much)));
            }
            flows.sort_by_key(|flow| flow.start);
            now += settings.period;
            flows
        };
        Ok(Stream { flows: Box::new((0..self.0.count).flat_map(event)), endless: false })
    }

    /// Events that begin before `end` and whose jitter reaches it may be partly late.
    fn late(&self, site: &PatternSite<'_>, end: Time) -> Option<Late> {
        let settings = &self.0;
        let each = u64::from(settings.fan_in) * u64::from(settings.flows_per_sender);
        let time = end.0.saturating_sub(site.start.0);
        let begun = settings.events_before(time);
        let complete = if settings.jitter == Span::ZERO {
            begun
        } else {
            settings.events_before(time.saturating_add(1).saturating_sub(settings.jitter.0))
        };
        let late = |events: u64| (u64::from(settings.count) - events) * each;
        Some(Late { least: late(begun), most: late(complete), all: late(0) })
    }
}

impl IncastSettings {
    /// Events that begin earlier than `time` picoseconds after the first.
    fn events_before(&self, time: u64) -> u64 {
        let events = match self.period.0 {
            0 => u64::from(self.count) * time.min(1),
            period => time.div_ceil(period),
        };
        events.min(u64::from(self.count))
    }
}

/// Different hosts, drawn without replacement.
fn senders(hosts: &Participants, to: HostId, settings: &IncastSettings, random: &mut Random) -> Vec<HostId> {
    let drawn = random.distinct(settings.fan_in, hosts.partners(to, settings.pairs));
    drawn.into_iter().map(|n| hosts.partner(to, settings.pairs, n)).collect()
}
