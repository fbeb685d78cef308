//! IPsec tunnels: packets of some routes travel sealed inside packets between two routers (RFC 4301, tunnel mode; congestion
//! marks by RFC 6040).

use std::collections::BTreeMap;
use std::net::IpAddr;

use weft_esp::{EspError, InboundAssociation, OutboundAssociation, PROTOCOL, spi_of};
use weft_packet::{Ipv4Header, Ipv6Header, ipv4, ipv6};

use crate::counters::DropCause;

/// A tunnel.
#[derive(Debug)]
pub struct Tunnel {
    /// Its name.
    pub name: String,
    /// The addresses of its ends: this router's, and the other's; of one family.
    pub ends: (IpAddr, IpAddr),
    /// Seals what is sent.
    pub outbound: OutboundAssociation,
    /// Opens what is received.
    pub inbound: InboundAssociation,
}

/// All tunnels of a router, shared by its workers.
#[derive(Debug, Default)]
pub struct Tunnels {
    list: Vec<Tunnel>,
    by_index: BTreeMap<u32, u16>,
}

/// Congestion experienced, in the low bits of the traffic class.
const CONGESTED: u8 = 3;

impl Tunnels {
    /// Tunnels by number; the indices of what they receive differ.
    #[must_use]
    pub fn new(list: Vec<Tunnel>) -> Tunnels {
        let by_index = list.iter().zip(0..).map(|(tunnel, number)| (tunnel.inbound.spi(), number)).collect();
        Tunnels { list, by_index }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A tunnel by number.
    #[must_use]
    pub fn get(&self, number: u16) -> Option<&Tunnel> {
        self.list.get(usize::from(number))
    }

    /// Opens a packet between `ends` (sender, receiver) with this traffic class. Returns the tunnel and the packet
    /// inside, marked if the outer one was.
    ///
    /// # Errors
    /// Why it is dropped.
    pub fn open(
        &self,
        ends: (IpAddr, IpAddr),
        traffic_class: u8,
        sealed: &[u8],
    ) -> Result<(u16, Vec<u8>), DropCause> {
        let index = spi_of(sealed).ok_or(DropCause::Malformed)?;
        let number = *self.by_index.get(&index).ok_or(DropCause::EspUnknown)?;
        let tunnel = self.get(number).ok_or(DropCause::EspUnknown)?;
        if ends != (tunnel.ends.1, tunnel.ends.0) {
            return Err(DropCause::EspPolicy);
        }
        let mut packet = Vec::new();
        let protocol = tunnel.inbound.open(sealed, &mut packet).map_err(|error| match error {
            EspError::Replayed => DropCause::EspReplay,
            _ => DropCause::EspInvalid,
        })?;
        let congested = traffic_class & CONGESTED == CONGESTED;
        // A packet that cannot carry the mark is dropped instead.
        let carries = !congested
            || class_of(&packet).is_some_and(|class| class & CONGESTED == CONGESTED)
            || match protocol {
                IPV4 => ipv4::mark_congestion(&mut packet),
                _ => ipv6::mark_congestion(&mut packet),
            };
        match protocol {
            IPV4 | IPV6 if carries => Ok((number, packet)),
            IPV4 | IPV6 => Err(DropCause::EspPolicy),
            _ => Err(DropCause::EspInvalid),
        }
    }
}

/// The traffic class of an IP packet.
fn class_of(packet: &[u8]) -> Option<u8> {
    match *packet {
        [first, class, ..] if first >> 4 == 4 => Some(class),
        [first, second, ..] => Some(first << 4 | second >> 4),
        _ => None,
    }
}

/// Protocol numbers of packets in packets.
const IPV4: u8 = 4;
const IPV6: u8 = 41;

impl Tunnel {
    /// The longest packet that enters, if the outer one may have `mtu` bytes.
    #[must_use]
    pub fn mtu(&self, mtu: u16) -> u16 {
        let header = if self.ends.0.is_ipv4() { Ipv4Header::LEN } else { Ipv6Header::LEN };
        self.outbound.fits(usize::from(mtu).saturating_sub(header)) as u16
    }

    /// The packet that carries an IP packet to the other end. Not to be fragmented, with the same traffic class.
    ///
    /// # Errors
    /// Why it cannot be sealed.
    pub fn seal(&self, packet: &[u8]) -> Result<Vec<u8>, DropCause> {
        let is_v4 = packet.first().is_some_and(|first| first >> 4 == 4);
        let class = class_of(packet).ok_or(DropCause::Malformed)?;
        let header = if self.ends.0.is_ipv4() { Ipv4Header::LEN } else { Ipv6Header::LEN };
        let mut sealed = Vec::with_capacity(header + packet.len() + self.outbound.overhead());
        sealed.resize(header, 0);
        let next = if is_v4 { IPV4 } else { IPV6 };
        self.outbound.seal(next, packet, &mut sealed).map_err(|error| match error {
            EspError::Exhausted => DropCause::EspExhausted,
            _ => DropCause::TooBig,
        })?;
        let payload = u16::try_from(sealed.len() - header).map_err(|_| DropCause::TooBig)?;
        match self.ends {
            (IpAddr::V4(own), IpAddr::V4(far)) => {
                let between = Ipv4Header::between(own, far);
                let dont_fragment = true;
                let outer = Ipv4Header {
                    protocol: PROTOCOL,
                    traffic_class: class,
                    dont_fragment,
                    payload,
                    ..between
                };
                sealed[..header].copy_from_slice(&outer.to_bytes());
            }
            (IpAddr::V6(own), IpAddr::V6(far)) => {
                let between = Ipv6Header::between(own, far);
                let outer = Ipv6Header { next: PROTOCOL, traffic_class: class, payload, ..between };
                sealed[..header].copy_from_slice(&outer.to_bytes());
            }
            _ => return Err(DropCause::NoRoute),
        }
        Ok(sealed)
    }
}
