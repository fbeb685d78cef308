//! The interfaces of a router: names, stations, addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use weft_fib::IpPrefix;
use weft_packet::{EthernetHeader, Mac};

/// A port from the viewpoint of routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its MAC address.
    pub mac: Mac,
    /// Longest IP packet of its link, bytes.
    pub mtu: u16,
    /// Its addresses, each with the length of its link's prefix. The link-local IPv6 address need not be among them.
    pub addresses: Vec<(IpAddr, u8)>,
}

impl Interface {
    /// The longest packet that a buffer holds.
    pub const MOST_MTU: u16 = 2048;

    /// Its link-local IPv6 address, derived from the MAC address (RFC 4291, appendix A).
    #[must_use]
    pub fn link_local(&self) -> Ipv6Addr {
        let [a, b, c, d, e, f] = self.mac.0;
        let id = u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
        Ipv6Addr::from(0xfe80 << 112 | u128::from(id))
    }

    /// Its first IPv4 address.
    #[must_use]
    pub fn v4(&self) -> Option<Ipv4Addr> {
        self.addresses.iter().find_map(|(address, _)| match address {
            IpAddr::V4(address) => Some(*address),
            IpAddr::V6(_) => None,
        })
    }

    /// Its first IPv6 address that is not link-local; otherwise the link-local one.
    #[must_use]
    pub fn v6(&self) -> Ipv6Addr {
        let global = self.addresses.iter().find_map(|(address, _)| match address {
            IpAddr::V6(address) => Some(*address),
            IpAddr::V4(_) => None,
        });
        global.unwrap_or_else(|| self.link_local())
    }

    /// The source address of its requests for `target`: one on the same link, if there is one.
    #[must_use]
    pub fn source_for(&self, target: IpAddr) -> Option<IpAddr> {
        let on_link = |(own, length): &&(IpAddr, u8)| {
            IpPrefix::around(*own, *length).is_some_and(|prefix| prefix.contains(target))
        };
        let near = self.addresses.iter().find(on_link).map(|(own, _)| *own);
        near.or_else(|| match target {
            IpAddr::V4(_) => self.v4().map(IpAddr::V4),
            IpAddr::V6(_) => Some(IpAddr::V6(self.link_local())),
        })
    }

    /// Whether an address is one of its own.
    #[must_use]
    pub fn owns(&self, address: IpAddr) -> bool {
        self.addresses.iter().any(|(own, _)| *own == address) || address == IpAddr::V6(self.link_local())
    }

    /// Whether an address is that of all stations of its link.
    #[must_use]
    pub fn is_broadcast(&self, address: IpAddr) -> bool {
        let links = self.addresses.iter().filter_map(|(own, length)| IpPrefix::around(*own, *length));
        links.filter_map(broadcasts).flatten().any(|all| all == address)
    }

    /// The source address of errors sent to the next hop `next`: one on that hop's link, if there is one. For IPv6 it
    /// is the link-local one, if there is no other.
    #[must_use]
    pub fn source_of_errors(&self, next: IpAddr, to: IpAddr) -> Option<IpAddr> {
        let near = self.source_for(next).filter(|own| own.is_ipv4() == to.is_ipv4());
        match to {
            IpAddr::V4(_) => near.or_else(|| self.v4().map(IpAddr::V4)),
            IpAddr::V6(_) if is_link_local(to) => Some(IpAddr::V6(self.link_local())),
            IpAddr::V6(_) => near.filter(|own| !is_link_local(*own)).or(Some(IpAddr::V6(self.v6()))),
        }
    }

    /// Whether an address is on its link.
    #[must_use]
    pub fn reaches(&self, address: IpAddr) -> bool {
        let on_link = |(own, length): &(IpAddr, u8)| {
            IpPrefix::around(*own, *length).is_some_and(|prefix| prefix.contains(address))
        };
        self.addresses.iter().any(on_link) || is_link_local(address)
    }
}

/// The addresses of all stations of a link: its first, an obsolete form (RFC 1812, section 5.3.5.3), and its last. IPv6
/// has none, and neither has a link between two stations (RFC 3021).
#[must_use]
pub fn broadcasts(link: IpPrefix) -> Option<[IpAddr; 2]> {
    match link.address() {
        IpAddr::V4(first) if link.length() < 31 => {
            Some([first, (u32::from(first) | u32::MAX >> link.length()).into()].map(IpAddr::V4))
        }
        _ => None,
    }
}

/// Whether an address is link-local.
#[must_use]
pub fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// The longest frame without FCS for an MTU.
pub(crate) fn longest_frame(mtu: u16) -> u16 {
    mtu.saturating_add(EthernetHeader::LEN as u16)
}
