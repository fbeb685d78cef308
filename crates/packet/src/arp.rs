//! ARP for IPv4 over Ethernet (RFC 826).

use std::net::Ipv4Addr;

use crate::ethernet::Mac;
use crate::field::{four_at, split, u16_at};
use crate::malformed::Malformed;

/// Whether a message is a request or a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArpOperation {
    /// Asks who has the target address.
    Request,
    /// States that the sender has it.
    Reply,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArpMessage {
    /// What it does.
    pub operation: ArpOperation,
    /// The sender's addresses.
    pub sender: (Mac, Ipv4Addr),
    /// The target's addresses; in a request the MAC address is unknown.
    pub target: (Mac, Ipv4Addr),
}

/// Hardware type Ethernet, protocol IPv4, lengths 6 and 4.
const FIXED: [u8; 6] = [0, 1, 8, 0, 6, 4];

impl ArpMessage {
    /// Bytes of a message.
    pub const LEN: usize = 28;

    /// Parses a message; padding may follow.
    ///
    /// # Errors
    /// The bytes are too few, concern other hardware or another protocol, or are neither a request nor a reply.
    pub fn parse(bytes: &[u8]) -> Result<ArpMessage, Malformed> {
        let (message, _) = split::<{ ArpMessage::LEN }>(bytes, "ARP")?;
        if let Some(n) = (0..FIXED.len()).find(|n| message[*n] != FIXED[*n]) {
            let value = u32::from(message[n]);
            return Err(Malformed::Forbidden { header: "ARP", field: "hardware or protocol type", value });
        }
        let operation = match u16_at(message, 6) {
            1 => ArpOperation::Request,
            2 => ArpOperation::Reply,
            value => {
                return Err(Malformed::Forbidden { header: "ARP", field: "operation", value: value.into() });
            }
        };
        let mac = |at: usize| Mac(std::array::from_fn(|n| message[at + n]));
        let ip = |at: usize| Ipv4Addr::from(four_at(message, at));
        Ok(ArpMessage { operation, sender: (mac(8), ip(14)), target: (mac(18), ip(24)) })
    }

    /// The message as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; ArpMessage::LEN] {
        let mut bytes = [0; ArpMessage::LEN];
        bytes[..6].copy_from_slice(&FIXED);
        bytes[7] = if self.operation == ArpOperation::Request { 1 } else { 2 };
        bytes[8..14].copy_from_slice(&self.sender.0.0);
        bytes[14..18].copy_from_slice(&self.sender.1.octets());
        bytes[18..24].copy_from_slice(&self.target.0.0);
        bytes[24..].copy_from_slice(&self.target.1.octets());
        bytes
    }

    /// The reply to this request from the station `mac`.
    #[must_use]
    pub fn answer(&self, mac: Mac) -> ArpMessage {
        ArpMessage { operation: ArpOperation::Reply, sender: (mac, self.target.1), target: self.sender }
    }
}
