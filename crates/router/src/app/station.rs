//! What applications do at a port with a station at its other end: answer its questions, drop its frames.

use weft_packet::{ArpMessage, EtherType, EthernetHeader};

use crate::app::Desk;
use crate::counters::DropCause;
use crate::pool::Frame;

/// Minimum bytes of a frame without FCS.
pub(crate) const LEAST_FRAME: u16 = 60;

/// The longest frame without FCS for an MTU.
pub(crate) fn longest_frame(mtu: u16) -> u16 {
    mtu.saturating_add(EthernetHeader::LEN as u16)
}

/// Drops a frame for a cause.
pub(crate) fn drop_frame(desk: &mut Desk<'_>, frame: Frame, cause: DropCause) {
    desk.counters.drop(cause, 1);
    desk.pool.give(frame.buffer);
}

/// Sends the answer in the buffer of the request.
pub(crate) fn answer(desk: &mut Desk<'_>, frame: Frame, message: &ArpMessage) {
    let header =
        EthernetHeader { destination: message.target.0, source: message.sender.0, kind: EtherType::ARP };
    let bytes = desk.pool.buffer(frame.buffer);
    bytes[..EthernetHeader::LEN].copy_from_slice(&header.to_bytes());
    bytes[EthernetHeader::LEN..][..ArpMessage::LEN].copy_from_slice(&message.to_bytes());
    bytes[EthernetHeader::LEN + ArpMessage::LEN..usize::from(LEAST_FRAME)].fill(0);
    desk.counters.consumed += 1;
    desk.counters.made += 1;
    desk.out.push(frame.port, Frame { length: LEAST_FRAME, ..frame });
}
