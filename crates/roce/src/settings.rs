//! The settings that all RoCE transports share. Nothing is computed here.

use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, choice, settings};
use weft_tlt::settings::QueuePairTltSettings;

choice! {
    /// What is sent again.
    pub enum RoceRecovery {
        /// Everything from the missing packet on; the receiver drops what comes out of order (RoCEv2).
        GoBackN = "go-back-n",
        /// What is missing; the receiver keeps what comes out of order and names it (IRN, SIGCOMM 2018).
        Selective = "selective",
    }
}

settings! {
    /// Queue pairs, whatever the rate law.
    pub struct QueuePairSettings {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// A shorter frame is padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20, UDP 8, base transport header 12 and invariant check 4.
        header: Bytes = Bytes(44),
        /// Priority class of payload; 0 is served first.
        class: u32 [0, 7] = 3,
        /// Priority class of acknowledgements. Congestion notifications always have class 0.
        ack_class: u32 [0, 7] = 0,
        /// What is sent again after a loss.
        recovery: RoceRecovery = RoceRecovery::GoBackN,
        /// Payload that arrived out of order and is kept until the gap is filled, by cards that restore the order themselves;
        /// absent: none. With `go-back-n` only.
        reorder_buffer: Option<Bytes> = None,
        /// How long such a card waits for the gap to be filled before it calls the packet missing.
        reorder_timeout: Span = Span::from_us(100),
        /// Packets per acknowledgement.
        ack_every: u32 [1, 1024] = 1,
        /// Payload in flight at most (IRN's cap at the bandwidth-delay product); absent: any amount.
        window: Option<Bytes> = None,
        /// Without progress for so long, sending begins anew at the first packet that is not acknowledged.
        retry_timeout: Span = Span::from_ms(4),
        /// The same while no more than `low_packets` are in flight (IRN's low time-out); absent: no difference.
        retry_timeout_low: Option<Span> = None,
        /// So few packets in flight use the low time-out.
        low_packets: u32 [1, 1000000] = 3,
        /// Each time-out in a row is twice as long as the one before, up to this. From the second on it is up to an eighth
        /// longer than that, drawn anew each time: cards have clocks of their own, and senders whose bursts drop each other would
        /// otherwise try again in step for ever.
        retry_timeout_max: Span = Span::from_ms(64),
        /// A negative acknowledgement cuts the rate as a congestion notification does, as some public models do; otherwise only
        /// marks and round trips move it, never the order of arrival.
        cut_on_nack: bool = false,
        /// Answers leave the receiver up to so much later, drawn uniformly for each: congestion notifications where the law
        /// goes by them, otherwise acknowledgements.
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
