//! How congested the paths to other leaves are, as CONGA (SIGCOMM'14, section 3) measures it: each fabric link
//! estimates its rate, packets carry the highest estimate along their path, and the leaf where they arrive returns it
//! on packets of the opposite direction. Everything that a switch learns about another arrives in headers.
//!
//! Must not depend on balancers: callers ask for the metric of an uplink towards a leaf.

use std::sync::Arc;

use weft_core::settings::Share;
use weft_core::{Bytes, Header, HostId, PortId, Rate, Span, Time, settings};

mod estimate;
mod note;
mod tables;

use estimate::{Decay, Estimator};
use note::Note;
use tables::{FromLeaf, ToLeaf};

settings! {
    /// The measurement of congestion.
    pub struct CongestionSettings {
        /// Bits of a congestion metric (Q); 3 to 6 work equally well.
        metric_bits: u32 [1, 6] = 3,
        /// Time between two decays of a link's estimate (T_dre). The paper gives only the time constant tau = T_dre /
        /// alpha, 160 us; 100 us to 500 us work equally well.
        dre_period: Span = Span::from_us(16),
        /// Fraction of the estimate removed by a decay (alpha).
        dre_decay: Share [0.001, 1.0] = Share(0.1),
        /// Age at which a metric that is no longer reported starts to fade, an eighth of this per step (T_age).
        age_out: Span = Span::from_ms(10),
        /// The first uplink counts towards what a packet reports, as in the paper. Some open implementations start at
        /// the spine.
        ce_at_leaf: bool = true,
        /// Use what other leaves report; without it, only the leaf's own uplinks.
        feedback: bool = true,
    }
}

/// What a switch needs to know about its ports and hosts.
pub struct CongestionSite<'a> {
    /// Its leaf number, if it has hosts.
    pub own_leaf: Option<u16>,
    /// Leaf of every host.
    pub leaf_of_host: Arc<[u16]>,
    /// Line rate of each port.
    pub rates: &'a [Rate],
    /// Whether a port leads to another switch.
    pub fabric: Vec<bool>,
}

/// The congestion state of one switch.
pub struct Congestion {
    own_leaf: Option<u16>,
    leaf_of_host: Arc<[u16]>,
    decay: Decay,
    age_out: Span,
    ce_at_leaf: bool,
    feedback: bool,
    /// By port; `None` for ports to hosts.
    estimators: Vec<Option<Estimator>>,
    /// By port: its number among the uplinks, counted from 1; 0 for ports to hosts.
    tags: Vec<u32>,
    /// By leaf: congestion of the paths to it, by uplink.
    to: Vec<ToLeaf>,
    /// By leaf: congestion of the paths from it, by its uplink.
    from: Vec<FromLeaf>,
}

/// Memory that a leaf keeps for this many other leaves and uplinks: both tables, and an estimator per uplink.
pub fn state(leaves: u64, uplinks: u64) -> Bytes {
    Bytes(leaves * uplinks * tables::ENTRY + uplinks * size_of::<Estimator>() as u64)
}

impl Congestion {
    /// A switch that has learnt nothing yet.
    pub fn new(settings: &CongestionSettings, place: CongestionSite<'_>) -> Congestion {
        let decay = Decay::new(settings);
        let ports = place.rates.iter().zip(&place.fabric);
        let leaves = place.leaf_of_host.iter().max().map_or(0, |leaf| usize::from(*leaf) + 1);
        let mut uplinks = 0;
        let mut tag = |fabric: &bool| {
            uplinks += u32::from(*fabric);
            if *fabric && uplinks <= note::GREATEST_TAG { uplinks } else { 0 }
        };
        Congestion {
            own_leaf: place.own_leaf,
            decay,
            age_out: settings.age_out,
            ce_at_leaf: settings.ce_at_leaf,
            feedback: settings.feedback,
            estimators: ports.map(|(rate, fabric)| fabric.then(|| Estimator::new(&decay, *rate))).collect(),
            tags: place.fabric.iter().map(&mut tag).collect(),
            to: vec![ToLeaf::default(); leaves],
            from: vec![FromLeaf::default(); leaves],
            leaf_of_host: place.leaf_of_host,
        }
    }

    #[inline]
    fn leaf(&self, host: HostId) -> u16 {
        self.leaf_of_host[host.index()]
    }

    /// The destination leaf of a packet from one of this switch's own hosts.
    #[inline]
    pub fn decides(&self, header: &Header) -> Option<u16> {
        (self.own_leaf == Some(self.leaf(header.source))).then(|| self.leaf(header.destination))
    }

    /// The larger of an uplink's own estimate and the metric of the path beyond it; 0 if unknown.
    #[inline]
    pub fn metric(&mut self, now: Time, port: PortId, leaf: u16) -> u8 {
        let local = self.estimators[port.index()].as_mut().map_or(0, |own| own.metric_at(&self.decay, now));
        let tag = self.tags[port.index()];
        if !self.feedback || tag == 0 {
            return local;
        }
        local.max(self.to[usize::from(leaf)].metric(now, tag, self.age_out))
    }

    /// Called when a packet arrives. Its destination leaf records what it carries.
    #[inline]
    pub fn arrives(&mut self, now: Time, header: &mut Header) {
        if header.note == 0 || self.own_leaf != Some(self.leaf(header.destination)) {
            return;
        }
        let note = Note::of(header.note);
        header.note = 0;
        let from = usize::from(self.leaf(header.source));
        self.from[from].saw(now, note.tag, note.congestion);
        if note.told_tag > 0 {
            self.to[from].told(now, note.told_tag, note.told_metric);
        }
    }

    /// Called when a packet will leave by `port`. Its source leaf writes the note.
    #[inline]
    pub fn departs(&mut self, now: Time, port: PortId, header: &mut Header) {
        let tag = self.tags[port.index()];
        if tag == 0 {
            return;
        }
        if let Some(leaf) = self.decides(header) {
            let (told_tag, told_metric) = self.from[usize::from(leaf)].feed_back(now, self.age_out);
            header.note = Note { tag, congestion: 0, told_tag, told_metric }.packed();
        }
    }

    /// Called when a packet has joined the queue of a foreseen port at `now` and will occupy the link from `start` to
    /// `end`.
    #[inline(always)]
    pub fn will_send(&mut self, now: Time, port: PortId, (start, end): (Time, Time), header: &mut Header) {
        if let Some(own) = &mut self.estimators[port.index()] {
            let metric = own.will_send(&self.decay, now, (start, end), header.wire);
            self.note_congestion(header, metric);
        }
    }

    /// Called when the first bit of a packet leaves a port without foresight.
    #[inline]
    pub fn sends(&mut self, now: Time, port: PortId, header: &mut Header) {
        if let Some(own) = &mut self.estimators[port.index()] {
            let metric = own.sends(&self.decay, now, header.wire);
            self.note_congestion(header, metric);
        }
    }

    #[inline]
    fn note_congestion(&self, header: &mut Header, metric: u8) {
        if header.note == 0 || !self.ce_at_leaf && self.decides(header).is_some() {
            return;
        }
        let note = Note::of(header.note);
        header.note = Note { congestion: note.congestion.max(metric), ..note }.packed();
    }
}

#[cfg(test)]
mod tests;
