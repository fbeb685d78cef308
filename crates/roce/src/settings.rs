//! The settings that all RoCE transports share. Nothing is computed here.

use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, choice, settings};
use weft_tlt::settings::QueuePairTltSettings;

choice! {
    /// What is retransmitted after a loss.
    pub enum RoceRecovery {
        /// Everything from the missing packet on; the receiver drops what arrives out of order (RoCEv2).
        GoBackN = "go-back-n",
        /// Only missing packets; the receiver keeps packets that arrive out of order and reports them (IRN, SIGCOMM
        /// 2018).
        Selective = "selective",
    }
}

settings! {
    /// Queue pairs, with any rate law.
    pub struct QueuePairSettings {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// Shorter frames are padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20, UDP 8, base transport header 12 and invariant check 4.
        header: Bytes = Bytes(44),
        /// Priority class of payload; 0 is served first.
        class: u32 [0, 7] = 3,
        /// Priority class of acknowledgements. Congestion notifications always have class 0.
        ack_class: u32 [0, 7] = 0,
        /// What is retransmitted after a loss.
        recovery: RoceRecovery = RoceRecovery::GoBackN,
        /// Payload that the receiver keeps when it arrives out of order until the gap is filled, on cards that restore
        /// order themselves; absent: none. Only with `go-back-n`.
        reorder_buffer: Option<Bytes> = None,
        /// Time that such a card waits for the gap to fill before it reports the packet missing.
        reorder_timeout: Span = Span::from_us(100),
        /// Packets per acknowledgement.
        ack_every: u32 [1, 1024] = 1,
        /// Maximum payload in flight (IRN's cap at the bandwidth-delay product); absent: no limit.
        window: Option<Bytes> = None,
        /// After this long without progress, sending restarts at the first unacknowledged packet.
        retry_timeout: Span = Span::from_ms(4),
        /// The time-out while at most `low_packets` are in flight (IRN's low time-out); absent: `retry_timeout`.
        retry_timeout_low: Option<Span> = None,
        /// At most this many packets in flight use the low time-out.
        low_packets: u32 [1, 1000000] = 3,
        /// Whether each consecutive time-out is twice as long as the one before, and from the second on longer by a random part of
        /// up to an eighth: cards have independent clocks, and senders whose bursts drop each other would otherwise retry in
        /// lockstep forever. Without it all are equal, as in some public models.
        retry_backoff: bool = true,
        /// Maximum time-out with `retry_backoff`.
        retry_timeout_max: Span = Span::from_ms(64),
        /// A negative acknowledgement cuts the rate like a congestion notification, as in some public models;
        /// otherwise only marks and round trips change it, never the order of arrival.
        cut_on_nack: bool = false,
        /// With `go-back-n`, a receiver repeats its negative acknowledgement after this long if packets beyond the gap still
        /// arrive, as in the HPCC simulator (500 us); absent: once per gap, as in the standard.
        nack_every: Option<Span> = None,
        /// Feedback leaves the receiver later by a uniform random time of at most this: congestion notifications if
        /// the law uses them, otherwise acknowledgements.
        feedback_jitter: Span = Span::ZERO,
        /// Timeout-less transport: the packets whose loss would cause a time-out are green, the rest red; off unless given
        /// (`tlt = {}`). With `recovery = "selective"` it needs a `window`.
        tlt: Option<QueuePairTltSettings> = None,
    }
}

impl QueuePairSettings {
    /// The sizes of packets.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes { mtu: self.mtu, header: self.header, framing: self.framing, least_wire: self.least_wire }
    }
}
