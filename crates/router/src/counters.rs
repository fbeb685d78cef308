//! The counters of a worker: every frame that arrives is sent, answered, kept or dropped for a reason.

use std::fmt;

use crate::backend::DeviceLosses;

macro_rules! drops {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Why a frame is dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum DropCause { $($(#[$doc])* $name,)* }

        impl DropCause {
            /// All causes.
            pub const ALL: &[DropCause] = &[$(DropCause::$name,)*];

            /// Its name in reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(DropCause::$name => $text,)* }
            }
        }
    };
}

drops! {
    /// An invalid packet.
    Malformed = "malformed",
    /// Addressed to another station.
    OtherStation = "other-station",
    /// Neither IPv4 nor IPv6 nor ARP, or with a VLAN tag.
    Unsupported = "unsupported",
    /// To a group of stations, by its address or by that of its frame.
    Multicast = "multicast",
    /// From an address that no sender has, such as one of the loopback network.
    Source = "source",
    /// Its hop limit has expired.
    Expired = "expired",
    /// No route.
    NoRoute = "no-route",
    /// Its route rejects packets.
    Rejected = "rejected",
    /// Longer than the next link carries.
    TooBig = "too-big",
    /// The next hop does not answer.
    Unreachable = "unreachable",
    /// Too many packets wait for next hops to be resolved.
    WaitingFull = "waiting-full",
    /// Addressed to the router, which does not process it.
    Local = "local",
    /// Sealed for an association that does not exist.
    EspUnknown = "esp-unknown",
    /// Sealed, and received before or too old.
    EspReplay = "esp-replay",
    /// Sealed, but not authentic, or no packet inside.
    EspInvalid = "esp-invalid",
    /// Between other ends than the tunnel's, from a sender that does not use it, or with a mark that is lost.
    EspPolicy = "esp-policy",
    /// All sequence numbers of the tunnel have been used.
    EspExhausted = "esp-exhausted",
    /// A message of IKE at the UDP port of a tunnel: the router speaks none.
    Ike = "ike",
    /// Keeps the mapping of a NAT in front of the other end of a tunnel alive, and says nothing else.
    NatKeepalive = "nat-keepalive",
    /// No buffer was free.
    NoBuffer = "no-buffer",
    /// The device did not accept it, because it was full or down.
    DeviceFull = "device-full",
    /// The device refused it, and would again: longer than its MTU, or forbidden.
    Refused = "refused",
    /// It arrived and found no room in front of the router.
    Missed = "missed",
    /// It arrived longer than a buffer.
    Oversized = "oversized",
    /// The ring between two workers had no room for it.
    Handover = "handover",
    /// The switch dropped it: no room, or an early drop.
    Switch = "switch",
}

/// The counters of one worker, or sums over workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterCounters {
    /// Frames received, including those lost in front of the router.
    pub received: u64,
    /// Bytes received, without FCS and without frames lost in front of the router.
    pub received_bytes: u64,
    /// Frames handed to devices.
    pub sent: u64,
    /// Bytes handed to devices.
    pub sent_bytes: u64,
    /// Frames that the router originated: replies, errors, requests.
    pub made: u64,
    /// Received frames that the router itself consumed: ARP, neighbour discovery, echo.
    pub consumed: u64,
    /// Packets sealed for tunnels.
    pub sealed: u64,
    /// Packets opened that came out of tunnels; the routes may still refuse their senders.
    pub opened: u64,
    /// ICMP errors not sent because of the rate limit.
    pub errors_suppressed: u64,
    /// Polls, and polls that found frames.
    pub polls: (u64, u64),
    drops: [u64; DropCause::ALL.len()],
}

impl Default for RouterCounters {
    fn default() -> RouterCounters {
        RouterCounters {
            received: 0,
            received_bytes: 0,
            sent: 0,
            sent_bytes: 0,
            made: 0,
            consumed: 0,
            sealed: 0,
            opened: 0,
            errors_suppressed: 0,
            polls: (0, 0),
            drops: [0; DropCause::ALL.len()],
        }
    }
}

impl RouterCounters {
    /// Frames dropped for this cause.
    #[must_use]
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.drops[cause as usize]
    }

    /// Frames dropped for any cause.
    #[must_use]
    pub fn dropped_in_all(&self) -> u64 {
        self.drops.iter().sum()
    }

    /// Counts dropped frames.
    pub fn drop(&mut self, cause: DropCause, count: u64) {
        self.drops[cause as usize] += count;
    }

    /// Counts what a device has lost. Of what it should have sent, `unsent` frames are lost, and those that it has lost since.
    #[cold]
    pub fn lose(&mut self, unsent: u64, losses: DeviceLosses) {
        let DeviceLosses { unsent_bytes, refused, missed, oversized, tagged, .. } = losses;
        let DeviceLosses { unsent_later, crowded_in, crowded_out, .. } = losses;
        let unsent = unsent + unsent_later;
        self.sent -= unsent;
        self.sent_bytes -= unsent_bytes;
        self.received += missed + oversized + tagged + crowded_out;
        for (cause, count) in [
            (DropCause::DeviceFull, unsent.saturating_sub(refused + crowded_in)),
            (DropCause::Refused, refused),
            (DropCause::Missed, missed),
            (DropCause::Oversized, oversized),
            (DropCause::Unsupported, tagged),
            (DropCause::Handover, crowded_in + crowded_out),
        ] {
            self.drop(cause, count);
        }
    }

    /// Adds another worker's counters.
    pub fn add(&mut self, other: &RouterCounters) {
        self.received += other.received;
        self.received_bytes += other.received_bytes;
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.made += other.made;
        self.consumed += other.consumed;
        self.sealed += other.sealed;
        self.opened += other.opened;
        self.errors_suppressed += other.errors_suppressed;
        self.polls = (self.polls.0 + other.polls.0, self.polls.1 + other.polls.1);
        self.drops.iter_mut().zip(other.drops).for_each(|(own, other)| *own += other);
    }

    /// Received frames that are neither sent nor consumed nor dropped: zero when nothing waits inside the router.
    #[must_use]
    pub fn inside(&self) -> i64 {
        (self.received + self.made) as i64 - (self.sent + self.consumed + self.dropped_in_all()) as i64
    }
}

impl fmt::Display for RouterCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "received   {:>14} frames {:>16} bytes", self.received, self.received_bytes)?;
        writeln!(f, "sent       {:>14} frames {:>16} bytes", self.sent, self.sent_bytes)?;
        writeln!(f, "own        {:>14} made   {:>16} consumed", self.made, self.consumed)?;
        if self.sealed + self.opened > 0 {
            writeln!(f, "tunnels    {:>14} sealed {:>16} opened", self.sealed, self.opened)?;
        }
        writeln!(f, "dropped    {:>14} frames", self.dropped_in_all())?;
        for cause in DropCause::ALL.iter().filter(|cause| self.dropped(**cause) > 0) {
            writeln!(f, "  {:<16} {:>7}", cause.name(), self.dropped(*cause))?;
        }
        if self.errors_suppressed > 0 {
            writeln!(f, "{} ICMP errors were not sent because of the rate limit", self.errors_suppressed)?;
        }
        Ok(())
    }
}
