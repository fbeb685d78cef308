//! A flow's packets as a table, one row per event, for people and as CSV.

use crate::WireProtocol;
use std::fmt::Write;

use weft_core::record::{FlowSample, RunRecord};
use weft_core::segment::{Flags, Segment};
use weft_core::trace::{FlowTrace, TraceEvent, TraceStep, TracedPacket};
use weft_core::{PacketKind, Time};
use weft_draw::Columns;
use weft_draw::text::count;
use weft_table::csv::quoted;

/// The columns of the CSV: name and meaning.
pub const TRACE_COLUMNS: [(&str, &str); 18] = [
    ("time_ps", "when"),
    ("event", "sent, queued (arrived at a switch), left, dropped or received"),
    ("node", "where"),
    ("packet", "number of the packet in the order of sending"),
    ("direction", "data: from the flow's sender; ack: towards it"),
    (
        "flags",
        "TCP: SYN, FIN, ECE, CWR; RoCE: asks (for an answer at once), NAK, CNP; both: again (a retransmission)",
    ),
    ("sequence", "first payload byte; empty where the transport has no byte sequence"),
    ("payload_bytes", "payload; 0 of a packet that a switch has trimmed"),
    ("ack", "next payload byte expected"),
    ("wire_bytes", "size on the wire"),
    ("marked", "1 with a congestion mark"),
    ("wait_ps", "time in the queue of the switch that it leaves"),
    ("reason", "why it was dropped"),
    ("cwnd_bytes", "the sender's congestion window after the packet; received by the sender only"),
    ("in_flight_bytes", "payload in flight as the sender knows it; likewise"),
    ("rate_bps", "the rate at which it may send, where a rate limits it; likewise"),
    ("class", "priority class when it was sent, 0 (served first) to 7"),
    ("red", "1 if a switch with colour-aware dropping may drop it first (TLT)"),
];

/// The first line of every table: the names of the columns.
#[must_use]
pub fn header() -> String {
    TRACE_COLUMNS.map(|(name, _)| name).join(",") + "\n"
}

/// The table as comma-separated values, with a header.
#[must_use]
pub fn csv(trace: &FlowTrace, record: &RunRecord, protocol: WireProtocol) -> String {
    let mut text = header();
    for (event, wait) in with_waits(trace) {
        let packet = &trace.packets[event.packet as usize];
        let or_empty = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
        let sender = event.sender.as_ref();
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            event.time.0,
            event.step.name(),
            quoted(&node(record, event.node)),
            event.packet,
            if packet.forward { "data" } else { "ack" },
            flags(packet, protocol),
            or_empty(sequence(packet)),
            packet.payload_at(event),
            or_empty(acknowledged(packet)),
            event.wire,
            u8::from(event.marked),
            or_empty(wait),
            reason(event.step),
            or_empty(sender.map(|sender| sender.cwnd.0)),
            or_empty(sender.map(|sender| sender.in_flight.0)),
            or_empty(sender.and_then(|sender| Some(sender.rate?.0))),
            packet.header.class.0,
            u8::from(is_red(packet)),
        );
    }
    text
}

/// The table for a terminal.
#[must_use]
pub fn text(trace: &FlowTrace, record: &RunRecord, protocol: WireProtocol) -> String {
    let header = ["time", "node", "event", "packet", "what"];
    // If all packets have the same class and the same colour, neither is shown.
    let (classes, reds) = (several(trace, |packet| packet.header.class.0), several(trace, is_red));
    let row = |(event, wait): (&TraceEvent, Option<u64>)| {
        let packet = &trace.packets[event.packet as usize];
        let time = format!("{:.3} us", event.time.0 as f64 / 1e6);
        let event_words = match (event.step, wait) {
            (TraceStep::Left, Some(wait)) if wait > 0 => format!("left after {:.3} us", wait as f64 / 1e6),
            (TraceStep::Dropped(_), _) => format!("dropped: {}", reason(event.step).replace('_', " ")),
            (step, _) => step.name().to_owned(),
        };
        let state = event.sender.as_ref().map_or(String::new(), sender);
        let mark = if event.marked { " marked" } else { "" };
        let class = if classes { format!(" class {}", packet.header.class.0) } else { String::new() };
        let red = if reds && is_red(packet) { " red" } else { "" };
        let trim = if packet.payload_at(event) < packet.payload { " trimmed" } else { "" };
        vec![
            time,
            node(record, event.node),
            event_words,
            event.packet.to_string(),
            format!("{}{class}{red}{trim}{mark}{state}", what(packet, protocol)),
        ]
    };
    let rows: Vec<Vec<String>> = with_waits(trace).map(row).collect();
    Columns::table(&header, &rows)
}

/// Whether packets with payload differ in a property.
fn several<T: PartialEq>(trace: &FlowTrace, of: impl Fn(&TracedPacket) -> T) -> bool {
    let mut values = trace.packets.iter().filter(|packet| packet.payload > 0).map(of);
    values.next().is_some_and(|first| values.any(|other| other != first))
}

fn is_red(packet: &TracedPacket) -> bool {
    packet.header.kind == PacketKind::Red
}

/// Events; those at which a packet leaves a switch show the time it spent there.
fn with_waits(trace: &FlowTrace) -> impl Iterator<Item = (&TraceEvent, Option<u64>)> {
    let mut arrived: Vec<Option<Time>> = vec![None; trace.packets.len()];
    trace.events.iter().map(move |event| {
        let since = &mut arrived[event.packet as usize];
        let wait = match event.step {
            TraceStep::Queued => {
                *since = Some(event.time);
                None
            }
            TraceStep::Left => since.take().map(|since| event.time.since(since).0),
            _ => None,
        };
        (event, wait)
    })
}

fn node(record: &RunRecord, node: u32) -> String {
    record.nodes.get(node as usize).map_or_else(|| format!("node{node}"), |node| node.name.clone())
}

fn reason(step: TraceStep) -> &'static str {
    match step {
        TraceStep::Dropped(reason) => reason.name(),
        _ => "",
    }
}

/// The flags of TLT (`weft_tlt::flags`): payload sent although the window was closed; an answer to an important packet, and to
/// such payload.
const FORCED: (Flags, &str) = (Flags::ECE, "forced");
const ECHO: (Flags, &str) = (Flags::CWR, "echo");
const FORCED_ECHO: (Flags, &str) = (Flags::DATAGRAM, "forced");

/// Names of flags, by protocol and direction: queue pairs and TLT use the bits of TCP with meanings of their own.
fn flags(packet: &TracedPacket, protocol: WireProtocol) -> String {
    let Some(segment) = packet.segment else { return String::new() };
    let opens = segment.flags.has(Flags::SYN);
    let named: &[(Flags, &str)] = match (protocol, packet.payload > 0) {
        (WireProtocol::Roce, true) => &[(Flags::CWR, "asks"), (Flags::AGAIN, "again"), FORCED],
        (WireProtocol::Roce, false) if packet.forward => &[(Flags::CWR, "asks"), FORCED],
        (WireProtocol::Roce, false) => &[(Flags::SYN, "NAK"), (Flags::ECE, "CNP"), FORCED_ECHO, ECHO],
        (WireProtocol::Tcp(_), true) => {
            &[(Flags::FIN, "FIN"), (Flags::CWR, "CWR"), (Flags::AGAIN, "again"), FORCED]
        }
        (WireProtocol::Tcp(_), false) if !opens && !packet.forward => {
            &[(Flags::FIN, "FIN"), (Flags::ECE, "ECE"), (Flags::AGAIN, "again"), FORCED_ECHO, ECHO]
        }
        _ => &[
            (Flags::SYN, "SYN"),
            (Flags::FIN, "FIN"),
            (Flags::ECE, "ECE"),
            (Flags::CWR, "CWR"),
            (Flags::AGAIN, "again"),
        ],
    };
    let names: Vec<&str> =
        named.iter().filter(|(flag, _)| segment.flags.has(*flag)).map(|(_, name)| *name).collect();
    names.join(" ")
}

fn sequence(packet: &TracedPacket) -> Option<u64> {
    packet.segment.filter(|_| packet.forward).map(|segment| segment.sequence)
}

/// The acknowledgement number; a receiver that has everything names none.
fn acknowledged(packet: &TracedPacket) -> Option<u64> {
    packet
        .segment
        .filter(|_| !packet.forward)
        .map(|segment| segment.ack)
        .filter(|ack| *ack != Segment::EVERYTHING)
}

/// `data 1460..2920`, `ack 2920 ECE`.
fn what(packet: &TracedPacket, protocol: WireProtocol) -> String {
    let flags = flags(packet, protocol);
    let flags = if flags.is_empty() { flags } else { format!(" {flags}") };
    let body = match (packet.forward, packet.segment) {
        (true, Some(segment)) if packet.payload > 0 => {
            format!("data {}..{}", segment.sequence, segment.end())
        }
        (true, _) if packet.payload > 0 => format!("data, {} B", count(packet.payload)),
        (true, _) => "control".to_owned(),
        (false, _) => match acknowledged(packet) {
            Some(ack) => format!("ack {ack}"),
            None if packet.segment.is_some() => "ack of everything".to_owned(),
            None => "answer".to_owned(),
        },
    };
    body + &flags
}

/// `, cwnd 14600 B, 2920 B in flight`.
fn sender(sender: &FlowSample) -> String {
    match sender.rate {
        Some(rate) => format!(", rate {:.3} Gbps", rate.gbps()),
        None => format!(", cwnd {} B, {} B in flight", sender.cwnd.0, sender.in_flight.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::{NodeRecord, Reason};
    use weft_core::{Class, FlowId, Span};

    const TCP: WireProtocol =
        WireProtocol::Tcp(crate::TcpOnWire { timestamps: false, sack: true, receive_window: None });

    fn trace() -> (FlowTrace, RunRecord) {
        let segment = Segment { sequence: 1_460, length: 1_460, ..Segment::default() };
        let data =
            TracedPacket { forward: true, payload: 1_460, segment: Some(segment), ..TracedPacket::default() };
        let event = |micros: u64, step, node| TraceEvent {
            time: Time::ZERO + Span::from_us(micros),
            step,
            node,
            packet: 0,
            marked: false,
            wire: 1_538,
            sender: None,
        };
        let events = vec![
            event(1, TraceStep::Sent, 0),
            event(3, TraceStep::Queued, 1),
            event(8, TraceStep::Left, 1),
            event(9, TraceStep::Dropped(Reason::LinkDown), 1),
        ];
        let node = |name: &str, tier| NodeRecord { name: name.into(), tier };
        let record = RunRecord { nodes: vec![node("host0", 0), node("leaf0", 1)], ..RunRecord::default() };
        (FlowTrace { flow: FlowId(0), packets: vec![data], events }, record)
    }

    #[test]
    fn a_row_tells_where_a_packet_waited_and_why_it_was_lost() {
        let (trace, record) = trace();
        let csv = csv(&trace, &record, TCP);
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!(rows[3], "8000000,left,leaf0,0,data,,1460,1460,,1538,0,5000000,,,,,0,0");
        assert_eq!(rows[4], "9000000,dropped,leaf0,0,data,,1460,1460,,1538,0,,link_down,,,,0,0");
        let text = text(&trace, &record, TCP);
        assert!(text.contains("left after 5.000 us") && text.contains("data 1460..2920"), "{text}");
        assert!(text.contains("dropped: link down"), "{text}");
    }

    /// A flow that falls to a lower class, with some red packets.
    #[test]
    fn classes_and_colours_are_shown_where_they_differ() {
        let (mut trace, record) = trace();
        assert!(!text(&trace, &record, TCP).contains("class"), "one packet, one class");
        trace.packets.push(trace.packets[0]);
        trace.packets[1].header.class = Class(3);
        trace.packets[1].header.kind = PacketKind::Red;
        trace.events[3].packet = 1;
        let text = text(&trace, &record, TCP);
        assert_eq!(text.matches(" class 0").count(), 3, "{text}");
        assert_eq!(text.matches(" class 3 red").count(), 1, "{text}");
        assert!(csv(&trace, &record, TCP).ends_with(",3,1\n"));
    }

    #[test]
    fn flags_have_the_names_of_their_protocol() {
        let answer = |flags| TracedPacket {
            segment: Some(Segment { flags, ..Segment::default() }),
            ..TracedPacket::default()
        };
        let names = |flags| [WireProtocol::Roce, TCP].map(|protocol| super::flags(&answer(flags), protocol));
        assert_eq!(names(Flags::SYN), ["NAK", "SYN"]);
        assert_eq!(names(Flags::ECE), ["CNP", "ECE"]);
        let both = Flags::CWR.with(Flags::ECE);
        let data = |flags| TracedPacket { payload: 1, forward: true, ..answer(flags) };
        assert_eq!(super::flags(&data(both.with(Flags::AGAIN)), WireProtocol::Roce), "asks again forced");
        // What TLT says in the bits of congestion notification is not one of TCP's.
        assert_eq!(super::flags(&data(both), TCP), "CWR forced");
        assert_eq!(super::flags(&answer(both.with(Flags::DATAGRAM)), TCP), "ECE forced echo");
        assert_eq!(super::flags(&answer(both.with(Flags::SYN)), TCP), "SYN ECE CWR");
    }

    #[test]
    fn names_with_commas_stay_one_value() {
        let (trace, mut record) = trace();
        record.nodes.iter_mut().for_each(|node| node.name = "rack 1, host 2".to_owned());
        for row in csv(&trace, &record, TCP).lines().skip(1) {
            assert!(row.contains(",\"rack 1, host 2\","), "{row}");
        }
    }

    /// A packet trimmed by a switch has no payload from there on.
    #[test]
    fn a_trimmed_packet_is_shown_as_such() {
        let (mut trace, record) = trace();
        trace.packets[0].header.wire = 1_538;
        (trace.events[2].wire, trace.events[2].time) = (84, trace.events[1].time);
        let csv = csv(&trace, &record, TCP);
        let payload = |row: &str| row.split(',').nth(7).map(str::to_owned);
        let payloads: Vec<_> = csv.lines().skip(1).take(3).filter_map(payload).collect();
        assert_eq!(payloads, ["1460", "1460", "0"]);
        let text = text(&trace, &record, TCP);
        assert_eq!(text.matches("data 1460..2920 trimmed").count(), 1, "{text}");
    }
}
