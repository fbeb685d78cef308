//! Fragmentation of IPv4 packets (RFC 791, section 3.2). IPv6 routers never fragment.

use crate::checksum;
use crate::ipv4::{Ipv4Header, Ipv4Packet};

/// Flag of an option that every fragment carries.
const COPIED: u8 = 0x80;
/// Options of one byte.
const END: u8 = 0;
const NOTHING: u8 = 1;

/// Cuts a packet into fragments of at most `mtu` bytes. `None` if it must not be fragmented, is malformed, or a fragment
/// would carry nothing.
#[must_use]
pub fn fragments(bytes: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let packet = Ipv4Packet::parse(bytes).ok().filter(|packet| !packet.dont_fragment)?;
    let first_head = Ipv4Header::LEN + packet.options.len();
    let later_options = copied(packet.options);
    let room = |head: usize| mtu.checked_sub(head).map(|room| room / 8 * 8).filter(|room| *room > 0);
    let (mut rest, mut at, mut found) = (packet.payload, packet.fragment.0, Vec::new());
    while !rest.is_empty() {
        // A packet that is itself a later fragment has already lost its other options.
        let options = if found.is_empty() { packet.options } else { &later_options };
        let head = if found.is_empty() { first_head } else { Ipv4Header::LEN + later_options.len() };
        let fits = rest.len() + head <= mtu;
        let (now, later) = rest.split_at(if fits { rest.len() } else { room(head)? });
        let more = !later.is_empty() || packet.fragment.1;
        found.push(fragment(bytes, options, (now, at), more));
        (rest, at) = (later, at.checked_add(now.len() as u16)?);
    }
    Some(found)
}

/// A fragment with the header of `bytes`.
fn fragment(bytes: &[u8], options: &[u8], (payload, at): (&[u8], u16), more: bool) -> Vec<u8> {
    let head = Ipv4Header::LEN + options.len();
    let mut fragment = [&bytes[..Ipv4Header::LEN], options, payload].concat();
    fragment[0] = 0x40 | (head / 4) as u8;
    fragment[2..4].copy_from_slice(&((head + payload.len()) as u16).to_be_bytes());
    let place = at >> 3 | if more { 0x2000 } else { 0 };
    fragment[6..8].copy_from_slice(&place.to_be_bytes());
    fragment[10..12].fill(0);
    let sum = checksum::of(&fragment[..head]);
    fragment[10..12].copy_from_slice(&sum.to_be_bytes());
    fragment
}

/// The options that every fragment carries, padded to four bytes.
fn copied(mut options: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    while let Some(kind) = options.first().copied().filter(|kind| *kind != END) {
        let length =
            if kind == NOTHING { 1 } else { options.get(1).map_or(0, |length| usize::from(*length)) };
        let Some(option) = options.get(..length).filter(|_| kind == NOTHING || length >= 2) else { break };
        if kind & COPIED != 0 {
            found.extend_from_slice(option);
        }
        options = &options[length..];
    }
    found.resize(found.len().next_multiple_of(4), END);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipv4::Ipv4Header;
    use proptest::prelude::*;

    fn packet(options: &[u8], payload: &[u8], dont_fragment: bool) -> Vec<u8> {
        let header = Ipv4Header {
            dont_fragment,
            identification: 77,
            ..Ipv4Header::between([10, 1, 0, 2].into(), [10, 2, 0, 2].into())
        };
        fragment(&[&header.to_bytes()[..], payload].concat(), options, (payload, 0), false)
    }

    #[test]
    fn a_packet_with_the_flag_or_no_room_is_not_cut() {
        let refuses = packet(&[], &[1; 100], true);
        // The helper clears the flag; it is set again, with the checksum.
        let mut refuses_again = refuses.clone();
        refuses_again[6] |= 0x40;
        refuses_again[10..12].fill(0);
        let sum = checksum::of(&refuses_again[..20]).to_be_bytes();
        refuses_again[10..12].copy_from_slice(&sum);
        assert!(fragments(&refuses, 68).is_some());
        assert_eq!(fragments(&refuses_again, 68), None);
        assert_eq!(fragments(&packet(&[], &[1; 100], false), 27), None);
    }

    #[test]
    fn only_some_options_are_carried_by_all_fragments() {
        // Record route is not, a security option is.
        let options = [7, 7, 4, 0, 0, 0, 0, 130, 4, 1, 2, 1];
        let all = fragments(&packet(&options, &[9; 100], false), 68).unwrap();
        assert_eq!(Ipv4Packet::parse(&all[0]).unwrap().options, options);
        for later in &all[1..] {
            assert_eq!(Ipv4Packet::parse(later).unwrap().options, [130, 4, 1, 2]);
        }
    }

    proptest! {
        /// Fragments are sound, short enough, and put together they are the packet again; so are fragments of fragments.
        #[test]
        fn the_parts_are_the_whole(payload in proptest::collection::vec(any::<u8>(), 1..3000), mtu in 28_usize..1500, again in 28_usize..1500) {
            let whole = packet(&[], &payload, false);
            let mut together = vec![0; payload.len()];
            let mut last = 0;
            for once in fragments(&whole, mtu).unwrap() {
                prop_assert!(once.len() <= mtu.max(28));
                for part in fragments(&once, again).unwrap() {
                    prop_assert!(part.len() <= again.max(28));
                    let part = Ipv4Packet::parse(&part).unwrap();
                    prop_assert_eq!((part.identification, part.ttl, part.protocol), (77, 64, 0));
                    let at = usize::from(part.fragment.0);
                    together[at..at + part.payload.len()].copy_from_slice(part.payload);
                    last += usize::from(!part.fragment.1);
                }
            }
            prop_assert_eq!(together, payload);
            prop_assert_eq!(last, 1, "one part is the last");
        }
    }
}
