//! The settings of TCP that all congestion laws share: they are in the same table as the law's own. Nothing is
//! computed here.

use weft_core::settings::Amount;
use weft_core::{Bytes, Span, choice, settings};

use crate::rto::RtoFloor;
use crate::tagging::PiasSettings;
use weft_tlt::settings::WindowTltSettings;

use crate::{flowcells::FlowcellSettings, gro::GroSettings, shim::ShimSettings};

choice! {
    /// When a segment counts as lost.
    pub enum LossDetection {
        /// After `dup_threshold` duplicate acknowledgements, or equivalent selective acknowledgements beyond it (RFC
        /// 5681, RFC 6675).
        DupThresh = "dupthresh",
        /// When a segment sent later has arrived and a reordering window has passed (RACK, RFC 8985), as in Linux.
        Rack = "rack",
    }
}

choice! {
    /// How the window shrinks during recovery.
    pub enum Recovery {
        /// In proportion to deliveries, over a round trip (PRR, RFC 6937), with the reduction bound of Linux and RFC 9937.
        Prr = "prr",
        /// At once (RFC 5681, RFC 6675).
        Halve = "rfc6675",
    }
}

choice! {
    /// Explicit congestion notification, for laws that leave the choice open. The host that opens a connection asks, and the
    /// other agrees or not; then both directions use ECN as in RFC 3168, or neither does.
    pub enum EcnUse {
        /// Neither asks nor agrees: packets cannot be marked (`tcp_ecn = 0` of Linux).
        Off = "off",
        /// Agrees if the other end asks (`tcp_ecn = 2`, the default of Linux).
        Accept = "accept",
        /// Asks and agrees (`tcp_ecn = 1`): a mark counts as one loss, at most once per window.
        On = "on",
    }
}

choice! {
    /// What the reordering buffer waits for.
    pub enum ShimRule {
        /// Any gap, for a fixed time (DRILL with shim).
        TimeOut = "time-out",
        /// Gaps at flowcell boundaries, for a learnt time (Presto); needs `balance.presto`.
        Flowcells = "flowcells",
    }
}

settings! {
    /// A receive window that tunes itself, as in Linux (dynamic right-sizing): twice the amount that arrives in a
    /// round trip, and more while that grows. It never shrinks.
    pub struct AutotuneSettings {
        /// The window at the start; Linux: half of the second figure of `tcp_rmem`.
        initial: Bytes = Bytes(65_536),
        /// The largest window; Linux: half of the third figure of `tcp_rmem`, 6 MiB by default.
        max: Bytes = Bytes(3_145_728),
    }
}

settings! {
    /// TCP, with any congestion law.
    pub struct Tcp {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// Shorter frames are padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP and TCP header without options.
        header: Bytes = Bytes(40),
        /// Carry the time stamp option (RFC 7323): 12 more bytes per packet, and round trips are also measured on
        /// retransmissions.
        timestamps: bool = false,
        /// Open with SYN and SYN-ACK; otherwise payload is sent at once.
        handshake: bool = true,
        /// Close with FIN on the last payload and its acknowledgement; otherwise a flow ends silently.
        close: bool = true,
        /// Window at the start (IW); ten segments by RFC 6928.
        initial_window: Amount = Amount::Packets(10),
        /// Segments by which one acknowledgement may open the window in slow start (L); 1 in RFC 5681; absent:
        /// everything that it acknowledges, as in Linux.
        slow_start_limit: Option<u32> = None,
        /// Window at which slow start ends if nothing was lost or marked before (initial ssthresh); absent:
        /// arbitrarily high, as RFC 5681 advises. htsim has 100 packets.
        initial_ssthresh: Option<Amount> = None,
        /// Payload beyond its in-order data that the receiver accepts; absent: no limit.
        receive_window: Option<Bytes> = None,
        /// Let the receive window tune itself instead (`autotune = {}`), as in Linux; off unless given.
        autotune: Option<AutotuneSettings> = None,
        /// Selective acknowledgements (RFC 2018); without them recovery is NewReno's (RFC 6582).
        sack: bool = true,
        /// When a segment counts as lost; RFC 6675 by default, which exposes the effect of reordering.
        loss_detection: LossDetection = LossDetection::DupThresh,
        /// Duplicate acknowledgements that mean a loss (DupThresh), RFC 5681.
        dup_threshold: u32 [1, 1000] = 3,
        /// Observed reordering raises `dup_threshold`, at most to this, until a time-out; absent: never. Linux has
        /// 127, since 3.19 300.
        max_reordering: Option<u32> = None,
        /// Restore the window after a recovery in which every retransmitted segment proved to have arrived twice
        /// (DSACK, RFC 3708), as in Linux.
        undo: bool = false,
        /// Send new data on the first duplicate acknowledgements (RFC 3042).
        limited_transmit: bool = true,
        /// How the window shrinks during recovery.
        recovery: Recovery = Recovery::Prr,
        /// The threshold after a reduction is a whole number of segments, rounded down, as Linux counts windows;
        /// otherwise bytes.
        whole_segments: bool = false,
        /// The window grows by payload that an acknowledgement reports for the first time, as in Linux, not by
        /// everything that it covers: the one that ends a recovery covers a window that selective acknowledgements
        /// had already reported.
        grow_by_delivered: bool = false,
        /// Without selective acknowledgements: only the first partial acknowledgement restarts the timer (RFC 6582, section 4).
        impatient: bool = false,
        /// Added to the timer after which RACK considers a segment lost if no further acknowledgement arrives; needs
        /// `rack`. Linux has 2 ms, RFC 8985 nothing. Losses revealed by an acknowledgement are not delayed.
        rack_slack: Span = Span::ZERO,
        /// Tail loss probe (RFC 8985, section 7); needs `rack`.
        tlp: bool = false,
        /// Added to the two round trips after which the probe is sent; Linux has two ticks of 1 ms, RFC 8985 nothing.
        tlp_slack: Span = Span::from_ms(2),
        /// Added instead when one segment is in flight, because the receiver may delay its acknowledgement
        /// (WCDelAckT, RFC 8985).
        tlp_delayed_ack: Span = Span::from_ms(200),
        /// Time-out before the first round-trip measurement; RFC 6298. If it is 1 s or more and a SYN was lost, payload waits for
        /// at least 3 s (section 5.7).
        initial_rto: Span = Span::from_s(1),
        /// Minimum time-out (RTO_min); Linux has 200 ms, data-centre studies 1 ms to 10 ms.
        min_rto: Span = Span::from_ms(200),
        /// Maximum time-out; Linux has 120 s.
        max_rto: Span = Span::from_s(120),
        /// How the minimum time-out applies.
        rto_floor: RtoFloor = RtoFloor::Linux,
        /// Full segments per acknowledgement (m); 1 acknowledges each packet, 2 is RFC 5681.
        delayed_ack: u32 [1, 64] = 2,
        /// Maximum delay of an acknowledgement; Linux starts at 40 ms.
        delayed_ack_timeout: Span = Span::from_ms(40),
        /// Mean time (exponential) until the receiving application has read arrived payload. In Linux the
        /// acknowledgement of full segments waits for that, so a busy host acknowledges more of them at once; absent:
        /// no wait.
        read_delay: Option<Span> = None,
        /// Data packets at the start of a flow that are acknowledged at once; Linux has 16.
        quick_acks: u32 [0, 1000000] = 16,
        /// Use of congestion marks, for laws that do not prescribe it. Those that do always ask and agree; where the other end
        /// has `off`, they run as NewReno without marks.
        ecn: EcnUse = EcnUse::Accept,
        /// Send in bursts, as hosts with segmentation offload do: wait until a good part of the window is open, then
        /// send it back to back.
        tso: bool = false,
        /// Maximum payload of a burst.
        tso_limit: Bytes = Bytes(64 << 10),
        /// Fraction of the window worth a burst: 1 / this; Linux has 3.
        tso_divisor: u32 [1, 1000] = 3,
        /// A burst is at most the amount that the sender's pacing rate carries in this time; absent: no such limit.
        /// Linux has 1/1024 s.
        tso_time: Option<Span> = None,
        /// Minimum burst in segments that `tso_time` always allows; Linux has 2.
        tso_min_segments: u32 [1, 1000] = 1,
        /// Nearby hosts may send larger bursts: `tso_limit`, halved for each multiple of 2^this in the smallest round
        /// trip in microseconds, is added to what `tso_time` allows; 0: nothing is added. Linux has 9, which gives
        /// hosts within 512 us the whole limit.
        tso_rtt_log: u32 [0, 31] = 0,
        /// Longest wait for a burst, from the last segment sent or, for a paced sender, from the end of its time
        /// slot; absent: no limit. No timer ends the wait: the sender checks at its next event, usually an
        /// acknowledgement. Linux does the same, with 1 ms.
        tso_wait: Option<Span> = None,
        /// Spread sending over the round trip, burst by burst, like Linux with the queueing discipline fq.
        pacing: bool = false,
        /// Pacing rate in slow start, until half the threshold is reached, in windows per round trip; Linux has 2.
        pacing_slow_start: f64 [0.1, 100.0] = 2.0,
        /// Pacing rate afterwards, in windows per round trip; Linux has 1.2.
        pacing_avoidance: f64 [0.1, 100.0] = 1.2,
        /// Receive offload merges packets before TCP sees them, so that one acknowledgement covers a batch.
        gro: bool = false,
        /// How receive offload forms batches; they are counted in any case.
        batches: GroSettings [flatten],
        /// A buffer below the receiving TCP that restores packet order (Presto, DRILL with shim).
        reorder_shim: bool = false,
        /// What the buffer waits for.
        shim_rule: ShimRule = ShimRule::TimeOut,
        /// The parameters of the fixed time.
        shim: ShimSettings [flatten],
        /// The parameters of the learnt time.
        hold: FlowcellSettings [flatten],
        /// Flows are demoted through priority classes as they send (PIAS); off unless thresholds are given.
        pias: PiasSettings = PiasSettings::default(),
        /// Timeout-less transport: the packets whose loss would cause a time-out are green, the rest red; off unless given (`tlt = {}`).
        tlt: Option<WindowTltSettings> = None,
    }
}
