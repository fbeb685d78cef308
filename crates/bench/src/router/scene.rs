//! What the router is measured with: its interface, frames, tables of routes, and destinations.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use weft_core::{Purpose, Random, Time};
use weft_fib::IpPrefix;
use weft_packet::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Mac, ports};
use weft_router::Interface;
use weft_router::control::{Control, ControlState, NextHop};
use weft_router::neighbours::{Announcement, NeighbourLimits};

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IpFamily {
    V4,
    V6,
}

/// Stations to which routes lead.
const STATIONS: u8 = 16;
pub(super) const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
/// The ends of the tunnel: this router, and a station of its link.
pub(super) const ENDS: (IpAddr, IpAddr) =
    (IpAddr::V4(Ipv4Addr::new(10, 255, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 255, 1, 1)));
pub(super) const STATION: Mac = Mac([2, 0, 0, 0, 1, 0]);
/// Destinations in a list: enough that tables do not stay in the fast caches.
const DESTINATIONS: usize = 1 << 18;

/// Blocks of 32 bits in which the prefixes of IPv6 lie, as those of the Internet lie in what registries have allocated, and parts of
/// a block that are in use.
const BLOCKS_V6: u32 = 8192;
const PARTS_V6: u32 = 4;

/// A router with a table, and destinations for it in random order.
pub(super) struct RoutedScene {
    pub(super) control: Arc<Control>,
    pub(super) destinations: Arc<[u128]>,
}

impl RoutedScene {
    /// A table of random prefixes, most of them 24 bits long as in the Internet, and a default route, over a few
    /// stations. All addresses are equally likely as destinations.
    pub(super) fn v4(prefixes: usize) -> RoutedScene {
        let control = control(|n| IpAddr::from([10, 255, 1, n]));
        let mut random = Random::new(1, Purpose::Test, 0);
        control.change(|state| fill_v4(state, prefixes, &mut random));
        let destinations = (0..DESTINATIONS).map(|_| random.bits() as u32).map(u128::from).collect();
        RoutedScene { control, destinations }
    }

    /// The same for IPv6: about half of the prefixes are 48 bits long, and they lie close together, as in the Internet. Every
    /// destination lies in a prefix, since addresses drawn from all would lie in none.
    pub(super) fn v6(prefixes: usize) -> RoutedScene {
        let control = control(station_v6);
        let mut random = Random::new(1, Purpose::Test, 0);
        let known = control.change(|state| fill_v6(state, prefixes, &mut random));
        let mut inside = || {
            let (network, length) = known[random.below(known.len() as u32) as usize];
            network | wide(&mut random) >> length
        };
        let destinations = (0..DESTINATIONS).map(|_| inside()).collect();
        RoutedScene { control, destinations }
    }
}

fn station_v6(n: u8) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 1, n.into()))
}

/// 128 random bits.
fn wide(random: &mut Random) -> u128 {
    u128::from(random.bits()) << 64 | u128::from(random.bits())
}

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

/// The same in IPv6.
pub(super) fn frame_v6(size: usize) -> Vec<u8> {
    let header = EthernetHeader { destination: OWN, source: STATION, kind: EtherType::IPV6 };
    let [source, destination] = [1, 2].map(|n| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, n));
    let ip = Ipv6Header::between(source, destination);
    let datagram = ports::udp_v6(ip, (4000, 53), &vec![0; size - 4 - EthernetHeader::LEN - 48]);
    [&header.to_bytes()[..], &datagram].concat()
}

/// The first bytes of a frame, in which all its headers lie.
pub(super) fn begin_of(frame: &[u8]) -> [u8; 64] {
    std::array::from_fn(|n| frame.get(n).copied().unwrap_or_default())
}

/// A router without routes that knows its stations.
fn control(address: impl Fn(u8) -> IpAddr) -> Arc<Control> {
    let control = Arc::new(Control::new(interfaces(), NeighbourLimits::default()).expect("one address"));
    for n in 0..STATIONS {
        drop(control.learn(Time::ZERO, (0, address(n)), Mac([2, 0, 0, 0, 2, n]), Announcement::Question));
    }
    control
}

fn fill_v4(state: &mut ControlState, prefixes: usize, random: &mut Random) {
    let mut set = |address: u32, length, n: u8| {
        let prefix = IpPrefix::around(IpAddr::V4(address.into()), length).expect("at most 32 bits");
        // A table full of long prefixes still accepts others.
        let _ = state.set_route(prefix, NextHop::Station((0, IpAddr::from([10, 255, 1, n]))));
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
}

/// Also returns the prefixes: address and length.
fn fill_v6(state: &mut ControlState, prefixes: usize, random: &mut Random) -> Vec<(u128, u8)> {
    let mut set = |address: u128, length, n: u8| {
        let prefix = IpPrefix::around(IpAddr::V6(address.into()), length).expect("at most 128 bits");
        let _ = state.set_route(prefix, NextHop::Station((0, station_v6(n))));
    };
    set(0, 0, 0);
    // Global unicast addresses, 2000::/3.
    let blocks: Vec<u32> = (0..BLOCKS_V6).map(|_| random.bits() as u32 >> 3 | 1 << 29).collect();
    let mut draw = || {
        let length = match random.below(100) {
            0..=47 => 48,
            48..=61 => 32,
            62..=80 => 36 + 4 * random.below(3) as u8,
            _ => 29 + random.below(20) as u8,
        };
        let block = blocks[random.below(BLOCKS_V6) as usize];
        let inside = random.below(PARTS_V6) << 24 | random.below(1 << 16) << 8;
        let address = u128::from(block) << 96 | u128::from(inside) << 64;
        let network = address >> (128 - length) << (128 - length);
        set(network, length, random.below(STATIONS.into()) as u8);
        (network, length)
    };
    (0..prefixes).map(|_| draw()).collect()
}
