//! What the router is measured with: its interface, frames, and a table of routes.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use weft_core::{Purpose, Random, Time};
use weft_fib::IpPrefix;
use weft_packet::{EtherType, EthernetHeader, Ipv4Header, Mac, ports};
use weft_router::Interface;
use weft_router::control::{Control, NextHop};
use weft_router::neighbours::{Announcement, NeighbourLimits};

/// Stations to which routes lead.
const STATIONS: u8 = 16;
pub(super) const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
/// The ends of the tunnel: this router, and a station of its link.
pub(super) const ENDS: (IpAddr, IpAddr) =
    (IpAddr::V4(Ipv4Addr::new(10, 255, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 255, 1, 1)));
pub(super) const STATION: Mac = Mac([2, 0, 0, 0, 1, 0]);

fn interfaces() -> Arc<[Interface]> {
    // The destination is on no link of the router's: packets would wait for a station that never answers.
    let addresses = vec![([10, 255, 0, 1].into(), 32)];
    [Interface { name: "ring".to_owned(), mac: OWN, mtu: 1500, addresses }].into()
}

/// A datagram in a frame of this size including FCS, addressed to the router's station.
pub(crate) fn frame(size: usize) -> Vec<u8> {
    let header = EthernetHeader { destination: OWN, source: STATION, kind: EtherType::IPV4 };
    let ip = Ipv4Header::between([10, 255, 0, 2].into(), [192, 0, 2, 1].into());
    let datagram = ports::udp_v4(ip, (4000, 53), &vec![0; size - 4 - EthernetHeader::LEN - 28]);
    [&header.to_bytes()[..], &datagram].concat()
}

/// The first bytes of a frame, in which all its headers lie.
pub(super) fn begin_of(frame: &[u8]) -> [u8; 64] {
    std::array::from_fn(|n| frame.get(n).copied().unwrap_or_default())
}

/// A table of random prefixes, most of them 24 bits long as in the Internet, and a default route, over a few stations.
pub(super) fn control(prefixes: usize) -> Arc<Control> {
    let control = Arc::new(Control::new(interfaces(), NeighbourLimits::default()).expect("one address"));
    let station = |n: u8| (0, IpAddr::from([10, 255, 1, n]));
    for n in 0..STATIONS {
        drop(control.learn(Time::ZERO, station(n), Mac([2, 0, 0, 0, 2, n]), Announcement::Question));
    }
    let mut random = Random::new(1, Purpose::Test, 0);
    control.change(|state| {
        let mut set = |address: u32, length, n| {
            let prefix = IpPrefix::around(IpAddr::V4(address.into()), length).expect("at most 32 bits");
            // A table full of long prefixes still accepts others.
            let _ = state.set_route(prefix, NextHop::Station(station(n)));
        };
        set(0, 0, 0);
        // Destinations are drawn from all addresses, including those that a router would not forward.
        [(0, 8), (127 << 24, 8), (169 << 24 | 254 << 16, 16), (224 << 24, 3)]
            .into_iter()
            .for_each(|(address, length)| set(address, length, 0));
        for _ in 0..prefixes {
            let length = match random.below(100) {
                0..=57 => 24,
                58..=98 => 12 + random.below(12) as u8,
                _ => 25 + random.below(8) as u8,
            };
            set(random.bits() as u32, length, random.below(STATIONS.into()) as u8);
        }
    });
    control
}
