//! Lossless classes with an ordinary sharing rule: each has its own memory, shared among the ports.
//!
//! A packet is charged to shared memory until its sender is paused, then to headroom. The packet that crosses XOFF
//! may exceed the shared memory by its own size: for it, one full-size packet is reserved per port and lossless
//! class. Departures free headroom first.

use weft_core::Bytes;
use weft_core::record::Reason;
use weft_pfc::ResumeLimit;
use weft_pfc::headroom::occupied;

use super::arrivals::needs;
use super::reserve::headroom_of;
use crate::settings::SwitchSettings;
use crate::share::SharingSettings;
use crate::site::SwitchSite;

/// The limit of a class before its sender is paused.
#[derive(Clone, Copy, Debug)]
enum Xoff {
    /// A fixed number of bytes.
    Static(u64),
    /// A multiple of the free part of a pool.
    Dynamic { alpha: f64, pool: u64 },
}

/// One class of one port.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Bytes held.
    used: u64,
    /// Of these, charged to headroom.
    beyond: u64,
    /// Headroom set aside.
    headroom: u64,
}

/// Ingress accounting with an ordinary sharing rule.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    /// By port, then queue.
    groups: Vec<Group>,
    queues: usize,
    lossless: u8,
    xoff: Xoff,
    xon_offset: u64,
    /// Bytes in the whole switch that are not in headroom.
    shared: u64,
}

/// Memory that no rule may share: headroom and a full-size packet per port and lossless group; with a static XOFF also
/// the bytes up to XOFF; under chip memory management, the chip's minima and headroom.
#[must_use]
pub fn set_aside(settings: &SwitchSettings, site: &SwitchSite) -> Bytes {
    if let SharingSettings::Mmu(own) = &settings.sharing {
        let needs = needs(own, settings, site);
        return needs.minima + needs.headroom;
    }
    let each = occupied(site.full_packet, settings.cell) + settings.pfc.xoff.unwrap_or(Bytes::ZERO);
    let lossless = settings.lossless_groups();
    let ports = 0..site.rates.len();
    ports.fold(Bytes::ZERO, |sum, port| sum + (headroom_of(settings, site, port) + each) * lossless)
}

/// The memory that the sharing rule divides. Chip memory management does its own accounting on both sides of the
/// buffer.
pub(crate) fn to_share(settings: &SwitchSettings, site: &SwitchSite) -> Option<Bytes> {
    let set_aside = match settings.sharing {
        SharingSettings::Mmu(_) => Bytes::ZERO,
        _ => set_aside(settings, site),
    };
    settings.buffer.map(|buffer| Bytes(buffer.0.saturating_sub(set_aside.0)))
}

impl Own {
    /// The accounting of an empty switch.
    pub(crate) fn new(settings: &SwitchSettings, site: &SwitchSite) -> Own {
        let (pfc, queues) = (&settings.pfc, settings.queues as usize);
        let group = |slot: usize| Group {
            headroom: headroom_of(settings, site, slot / queues).0,
            ..Group::default()
        };
        let pool =
            settings.buffer.map_or(u64::MAX, |buffer| buffer.0.saturating_sub(set_aside(settings, site).0));
        Own {
            groups: (0..site.rates.len() * queues).map(group).collect(),
            queues,
            lossless: pfc.lossless(queues),
            xoff: pfc.xoff.map_or(Xoff::Dynamic { alpha: pfc.alpha, pool }, |bytes| Xoff::Static(bytes.0)),
            xon_offset: pfc.xon_offset.0,
            shared: 0,
        }
    }

    #[inline]
    fn is_lossless(&self, queue: usize) -> bool {
        self.lossless >> queue & 1 == 1
    }

    /// Whether lossless queues have their own memory, so that the sharing rule ignores their contents.
    #[inline]
    pub(crate) fn keeps_apart(&self) -> bool {
        matches!(self.xoff, Xoff::Static(_))
    }

    /// Whether there is room for a packet from a port; lossy packets are left to the sharing rule.
    #[inline]
    pub(crate) fn admit(
        &self,
        (port, queue): (usize, usize),
        wire: u64,
        stopped: bool,
    ) -> Result<(), Reason> {
        let group = &self.groups[port * self.queues + queue];
        let full = stopped && group.beyond + wire > group.headroom;
        if full && self.is_lossless(queue) { Err(Reason::Headroom) } else { Ok(()) }
    }

    /// Charges a stored packet. Returns `true` if the sender of its class must be paused.
    #[inline]
    pub(crate) fn stored(&mut self, (port, queue): (usize, usize), wire: u64, stopped: bool) -> bool {
        if !self.is_lossless(queue) {
            self.shared += wire;
            return false;
        }
        let group = &mut self.groups[port * self.queues + queue];
        group.used += wire;
        if stopped {
            group.beyond += wire;
            return true;
        }
        self.shared += wire;
        let used = group.used;
        real(used) > self.limit()
    }

    /// A packet has left.
    #[inline]
    pub(crate) fn released(&mut self, (port, queue): (usize, usize), wire: u64) {
        if !self.is_lossless(queue) {
            self.shared -= wire;
            return;
        }
        let group = &mut self.groups[port * self.queues + queue];
        let from_headroom = wire.min(group.beyond);
        group.used -= wire;
        group.beyond -= from_headroom;
        self.shared -= wire - from_headroom;
    }

    /// Whether the sender of a class may resume.
    pub(crate) fn is_low(&self, (port, queue): (usize, usize)) -> bool {
        let group = &self.groups[port * self.queues + queue];
        group.beyond == 0 && (group.used == 0 || (group.used + self.xon_offset) as f64 <= self.limit())
    }

    /// Bytes that a class may hold now.
    #[inline]
    fn limit(&self) -> f64 {
        match self.xoff {
            Xoff::Static(bytes) => bytes as f64,
            Xoff::Dynamic { alpha, pool } => alpha * real(pool.saturating_sub(self.shared)),
        }
    }

    /// While the switch holds at most this many bytes in total, no class exceeds its limit.
    pub(crate) fn quiet_up_to(&self) -> u64 {
        match self.xoff {
            Xoff::Static(bytes) => bytes,
            // One byte less than the x for which x = alpha (pool - x), which may have been rounded up.
            Xoff::Dynamic { alpha, pool } => ((alpha * pool as f64 / (1.0 + alpha)) as u64).saturating_sub(1),
        }
    }

    /// How many more bytes the switch, which holds `total` outside headroom, may take until a class can exceed its limit.
    /// Of the bytes of each port and group, so many more have come than are charged.
    pub(crate) fn room(&self, uncharged: &[u64], total: u64) -> u64 {
        let charged = self.groups.iter().enumerate();
        let classes = charged.filter(|(slot, _)| self.is_lossless(slot % self.queues));
        let most = classes.map(|(slot, group)| group.used + uncharged[slot]).max().unwrap_or(0);
        match self.xoff {
            Xoff::Static(bytes) => bytes.saturating_sub(most),
            // One byte less than the x for which most + x = alpha (pool - total - x), as above.
            Xoff::Dynamic { alpha, pool } => {
                let free = alpha * pool.saturating_sub(total) as f64 - most as f64;
                ((free / (1.0 + alpha)) as u64).saturating_sub(1)
            }
        }
    }

    /// Bytes in the whole switch that are not in headroom.
    #[inline]
    pub(crate) fn shared(&self) -> u64 {
        self.shared
    }

    /// When a paused sender may resume.
    pub(crate) fn resumes_at(&self) -> ResumeLimit {
        let xon_offset = Bytes(self.xon_offset);
        match self.xoff {
            Xoff::Static(bytes) => ResumeLimit::Fixed(Bytes(bytes.saturating_sub(self.xon_offset))),
            Xoff::Dynamic { alpha, pool } => {
                let (pool, minimum) = (Bytes(pool), Bytes::ZERO);
                ResumeLimit::Dynamic { alpha, pool, number: 0, minimum, xon_offset }
            }
        }
    }

    /// A class's use of headroom at a port, and its limit.
    pub(crate) fn headroom(&self, (port, queue): (usize, usize)) -> (u64, u64) {
        let group = &self.groups[port * self.queues + queue];
        (group.beyond, group.headroom)
    }
}

/// A number of bytes as a real number: a signed integer takes one instruction to convert, an unsigned one several.
#[inline]
fn real(bytes: u64) -> f64 {
    i64::try_from(bytes).map_or(bytes as f64, |bytes| bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PfcSettings;
    use weft_core::Span;

    const A: (usize, usize) = (0, 0);
    const B: (usize, usize) = (1, 0);

    /// Two ports with 2000 bytes of headroom each.
    fn own(pfc: PfcSettings, buffer: Option<Bytes>) -> Own {
        let pfc = PfcSettings { classes: vec![0], headroom: Some(Bytes(2_000)), ..pfc };
        let site = SwitchSite::of_two_ports();
        Own::new(&SwitchSettings { pfc, buffer, ..SwitchSettings::default() }, &site)
    }

    #[test]
    fn a_sender_stops_above_xoff_and_headroom_holds_what_it_says() {
        let pfc =
            PfcSettings { xoff: Some(Bytes(3_000)), xon_offset: Bytes(1_000), ..PfcSettings::default() };
        let mut own = own(pfc, None);
        assert!(!own.stored(A, 1_500, false) && !own.stored(A, 1_500, false), "at XOFF it need not stop");
        assert!(own.stored(A, 1, false));
        assert_eq!(own.admit(A, 2_000, true), Ok(()));
        assert_eq!(own.admit(A, 2_001, true), Err(Reason::Headroom));
        assert_eq!(own.admit(A, 2_001, false), Ok(()), "who has not been stopped needs no headroom");
        own.stored(A, 2_000, true);
        own.released(A, 2_000);
        assert_eq!(own.headroom(A), (0, 2_000), "headroom is freed first");
        own.released(A, 1_000);
        assert!(!own.is_low(A), "2001 + 1000 bytes are more than XOFF");
        own.released(A, 1);
        assert!(own.is_low(A));
        assert_eq!(own.shared, 2_000, "what was in headroom was never shared");
    }

    /// 10 000 bytes are shared. The limit of a port grows when another one empties; what is in headroom still counts.
    #[test]
    fn nobody_goes_on_while_headroom_is_used() {
        let pfc = PfcSettings { alpha: 1.0, xon_offset: Bytes(1_000), ..PfcSettings::default() };
        let mut own = own(pfc, Some(Bytes(17_000)));
        assert_eq!(own.resumes_at().bytes(Bytes(4_500)), Bytes(4_500), "x = 10000 - x - 1000");
        own.stored(B, 9_000, false);
        assert!(own.stored(A, 1_001, false), "9000 + 1001 leave nothing");
        own.stored(A, 500, true);
        own.released(B, 9_000);
        assert!(!own.is_low(A), "500 bytes are in headroom");
        own.released(A, 500);
        assert!(own.is_low(A), "1001 + 1000 are no more than 8999");
    }

    /// An offset above XOFF must not stop a sender forever.
    #[test]
    fn an_empty_class_goes_on() {
        let pfc = PfcSettings { xoff: Some(Bytes(500)), xon_offset: Bytes(1_000), ..PfcSettings::default() };
        let mut own = own(pfc, None);
        assert!(own.stored(A, 501, false) && !own.is_low(A));
        own.released(A, 501);
        assert!(own.is_low(A));
    }

    #[test]
    fn only_queues_that_exist_pause_and_a_watchdog_acts_twice_as_long_as_it_watches() {
        let watchdog = Some(Span::from_ms(5));
        let pfc = PfcSettings { classes: vec![0, 1, 3], watchdog, ..PfcSettings::default() };
        assert_eq!([1, 3, 4].map(|queues| pfc.lossless(queues)), [0b1, 0b11, 0b1011]);
        assert_eq!(pfc.restore(), Span::from_ms(10));
        let pfc = PfcSettings { watchdog_restore: Some(Span::from_ms(7)), ..pfc };
        assert_eq!(pfc.restore(), Span::from_ms(7));
    }
}
