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
    /// Addressed to a group of stations, by its own address or that of its frame.
    Multicast = "multicast",
    /// From an address that no sender can have, such as one of the loopback network.
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
    /// It waited for a next hop, or in the switch, when the router ended.
    Ended = "ended",
    /// Addressed to the router, which does not process it.
    Local = "local",
    /// Sealed for an association that does not exist.
    EspUnknown = "esp-unknown",
    /// Sealed, and received before or too old.
    EspReplay = "esp-replay",
    /// Sealed, but not authentic or without a valid packet inside.
    EspInvalid = "esp-invalid",
    /// Between ends other than the tunnel's, from a sender that does not use it, or with a mark that would be lost.
    EspPolicy = "esp-policy",
    /// A fragment of a sealed packet: the router does not reassemble fragments.
    EspFragment = "esp-fragment",
    /// A dummy from the other end of a tunnel, which hides how much it sends.
    EspDummy = "esp-dummy",
    /// All sequence numbers of the tunnel have been used.
    EspExhausted = "esp-exhausted",
    /// A message of IKE at the UDP port of a tunnel: the router does not speak IKE.
    Ike = "ike",
    /// A keepalive for the NAT mapping of the other end of a tunnel, without other content.
    NatKeepalive = "nat-keepalive",
    /// No buffer was free.
    NoBuffer = "no-buffer",
    /// The device did not accept it, because it was full or down.
    DeviceFull = "device-full",
    /// The device refused it and always would: longer than its MTU, or forbidden.
    Refused = "refused",
    /// It arrived longer than a buffer, or longer than its link carries and did not fit the next link.
    Oversized = "oversized",
    /// The ring between two workers had no room for it.
    Handover = "handover",
    /// The switch dropped it: no room, or an early drop.
    Switch = "switch",
}

/// The counters of one worker at one port, or of all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// Frames taken in, and their bytes without FCS.
    pub received: (u64, u64),
    /// Frames handed to the device, and their bytes without FCS.
    pub sent: (u64, u64),
    /// Frames that the device had no room for before the router could take them.
    pub missed: u64,
    drops: [u64; DropCause::ALL.len()],
}

impl InterfaceCounters {
    /// Frames that arrived here, or should have left here, and were dropped for this cause.
    #[must_use]
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.drops[cause as usize]
    }

    fn add(&mut self, other: &InterfaceCounters) {
        self.received = (self.received.0 + other.received.0, self.received.1 + other.received.1);
        self.sent = (self.sent.0 + other.sent.0, self.sent.1 + other.sent.1);
        self.missed += other.missed;
        self.drops.iter_mut().zip(other.drops).for_each(|(own, other)| *own += other);
    }
}

/// The counters of one worker, or sums over workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterCounters {
    /// Frames taken in.
    pub received: u64,
    /// Their bytes, without FCS.
    pub received_bytes: u64,
    /// Frames that devices had no room for before the router could take them: neither among those received nor among
    /// those dropped.
    pub missed: u64,
    /// Frames handed to devices.
    pub sent: u64,
    /// Bytes handed to devices.
    pub sent_bytes: u64,
    /// Frames that the router originated: replies, errors, requests.
    pub made: u64,
    /// Received frames for the router itself (ARP, neighbour discovery, echo), or for the kernel, which has a copy of them.
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
    interfaces: Vec<InterfaceCounters>,
    /// The port whose frames are being processed.
    current: Option<usize>,
}

impl RouterCounters {
    /// Zero counters for a router with this many ports.
    #[must_use]
    pub fn of_ports(ports: usize) -> RouterCounters {
        RouterCounters { interfaces: vec![InterfaceCounters::default(); ports], ..RouterCounters::default() }
    }

    /// The counters of each port.
    #[must_use]
    pub fn interfaces(&self) -> &[InterfaceCounters] {
        &self.interfaces
    }

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

    /// From now on, counts belong to frames of a port, or of none.
    #[inline]
    pub(crate) fn begin(&mut self, port: Option<usize>) {
        self.current = port;
    }

    /// Counts frames of a port that were taken in.
    #[inline]
    pub(crate) fn receive(&mut self, port: usize, (frames, bytes): (u64, u64)) {
        (self.received, self.received_bytes) = (self.received + frames, self.received_bytes + bytes);
        if let Some(own) = self.interfaces.get_mut(port) {
            own.received = (own.received.0 + frames, own.received.1 + bytes);
        }
    }

    /// Counts frames handed to the device of a port.
    #[inline]
    pub(crate) fn send(&mut self, port: usize, (frames, bytes): (u64, u64)) {
        (self.sent, self.sent_bytes) = (self.sent + frames, self.sent_bytes + bytes);
        if let Some(own) = self.interfaces.get_mut(port) {
            own.sent = (own.sent.0 + frames, own.sent.1 + bytes);
        }
    }

    /// Counts dropped frames of the port whose frames are being processed.
    pub fn drop(&mut self, cause: DropCause, count: u64) {
        self.drop_of(self.current, cause, count);
    }

    /// Counts dropped frames of a port.
    pub fn drop_at(&mut self, port: u16, cause: DropCause, count: u64) {
        self.drop_of(Some(port.into()), cause, count);
    }

    fn drop_of(&mut self, port: Option<usize>, cause: DropCause, count: u64) {
        self.drops[cause as usize] += count;
        if let Some(own) = port.and_then(|port| self.interfaces.get_mut(port)) {
            own.drops[cause as usize] += count;
        }
    }

    /// Counts the losses of the device of a port: `unsent` frames that it should have sent, and those lost since.
    #[cold]
    pub fn lose(&mut self, port: usize, unsent: u64, losses: DeviceLosses) {
        let DeviceLosses { unsent_bytes, refused, missed, oversized, tagged, .. } = losses;
        let DeviceLosses { unsent_later, crowded_in, crowded_out, arrived_bytes, .. } = losses;
        let unsent = unsent + unsent_later;
        self.sent -= unsent;
        self.sent_bytes -= unsent_bytes;
        self.missed += missed;
        if let Some(own) = self.interfaces.get_mut(port) {
            own.sent = (own.sent.0 - unsent, own.sent.1 - unsent_bytes);
            own.missed += missed;
        }
        self.receive(port, (oversized + tagged + crowded_out, arrived_bytes));
        for (cause, count) in [
            (DropCause::DeviceFull, unsent.saturating_sub(refused + crowded_in)),
            (DropCause::Refused, refused),
            (DropCause::Oversized, oversized),
            (DropCause::Unsupported, tagged),
            (DropCause::Handover, crowded_in + crowded_out),
        ] {
            self.drop_of(Some(port), cause, count);
        }
    }

    /// Adds another worker's counters.
    pub fn add(&mut self, other: &RouterCounters) {
        self.received += other.received;
        self.received_bytes += other.received_bytes;
        self.missed += other.missed;
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.made += other.made;
        self.consumed += other.consumed;
        self.sealed += other.sealed;
        self.opened += other.opened;
        self.errors_suppressed += other.errors_suppressed;
        self.polls = (self.polls.0 + other.polls.0, self.polls.1 + other.polls.1);
        self.drops.iter_mut().zip(other.drops).for_each(|(own, other)| *own += other);
        self.interfaces
            .resize(self.interfaces.len().max(other.interfaces.len()), InterfaceCounters::default());
        self.interfaces.iter_mut().zip(&other.interfaces).for_each(|(own, other)| own.add(other));
    }

    /// Received frames that are neither sent nor consumed nor dropped; zero when nothing waits inside the router.
    #[must_use]
    pub fn inside(&self) -> i64 {
        (self.received + self.made) as i64 - (self.sent + self.consumed + self.dropped_in_all()) as i64
    }
}

impl fmt::Display for RouterCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "received   {:>14} frames {:>16} bytes", self.received, self.received_bytes)?;
        if self.missed > 0 {
            writeln!(f, "missed     {:>14} frames", self.missed)?;
        }
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
