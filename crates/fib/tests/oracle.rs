//! The tables against the prefix tries of another library, on random changes; and readers while the table changes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use prefix_trie::PrefixMap;
use proptest::prelude::*;
use weft_core::{Purpose, Random};
use weft_fib::{Hop, IpPrefix, RouteError, ipv4, ipv6};

fn four(address: u32, length: u8) -> IpPrefix {
    IpPrefix::around(IpAddr::V4(Ipv4Addr::from(address)), length).unwrap()
}

fn six(address: u128, length: u8) -> IpPrefix {
    IpPrefix::around(IpAddr::V6(Ipv6Addr::from(address)), length).unwrap()
}

/// Addresses that share long prefixes, so that routes cover each other.
fn near() -> impl Strategy<Value = u32> {
    (0..3_u32, 0..3_u32, any::<u8>(), any::<u8>())
        .prop_map(|(a, b, c, d)| (a * 85) << 24 | (b * 127) << 16 | u32::from(c & 0x81) << 8 | u32::from(d))
}

/// A change: insert (a hop) or remove.
type Change<T> = (T, u8, Option<u16>);

fn changes_v4() -> impl Strategy<Value = Vec<Change<u32>>> {
    prop::collection::vec((near(), 0..=32_u8, prop::option::weighted(0.6, 1..100_u16)), 1..80)
}

fn changes_v6() -> impl Strategy<Value = Vec<Change<u128>>> {
    let address =
        (near(), near()).prop_map(|(a, b)| u128::from(a) << 96 | u128::from(b) << 40 | u128::from(a & b));
    prop::collection::vec((address, 0..=128_u8, prop::option::weighted(0.6, 1..100_u16)), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn ipv4_agrees_with_the_oracle(changes in changes_v4(), asked in prop::collection::vec(near(), 100)) {
        let mut table = ipv4::table();
        let reader = table.reader();
        let mut oracle: PrefixMap<(u32, u8), u16> = PrefixMap::new();
        for (address, length, hop) in &changes {
            let prefix = four(*address, *length);
            let IpAddr::V4(first) = prefix.address() else { unreachable!() };
            let key = (u32::from(first), *length);
            let (ours, theirs) = match hop {
                Some(hop) => (table.insert(prefix, Hop(*hop)).unwrap(), oracle.insert(key, *hop)),
                None => (table.remove(prefix), oracle.remove(&key)),
            };
            prop_assert_eq!(ours.map(|hop| hop.0), theirs);
        }
        prop_assert_eq!(table.len(), oracle.len());
        let asked: Vec<u32> = asked.into_iter().chain(changes.iter().flat_map(|(a, ..)| [*a, a ^ 1, a ^ 0x100])).collect();
        let mut hops = vec![Hop::NONE; asked.len()];
        reader.lookup_all(&asked, &mut hops);
        for (address, hop) in asked.iter().zip(hops) {
            let theirs = oracle.get_lpm(&(*address, 32)).map_or(0, |(_, hop)| *hop);
            prop_assert_eq!((hop.0, reader.lookup(*address).0), (theirs, theirs));
        }
        // Every route can be removed again, in any order.
        for (address, length, _) in &changes {
            table.remove(four(*address, *length));
        }
        prop_assert!(table.is_empty());
        prop_assert!(asked.iter().all(|address| reader.lookup(*address) == Hop::NONE));
    }

    /// Changes painted a few slots at a time, with other changes in between, end in the same state as changes one by
    /// one.
    #[test]
    fn changes_painted_in_slices_agree_with_the_oracle(changes in changes_v6(), slice in 1..5_000_usize) {
        let (mut table, mut whole) = (ipv6::table(), ipv6::table());
        let (reader, oracle) = (table.reader(), whole.reader());
        for (address, length, hop) in &changes {
            let prefix = six(*address, *length);
            let (ours, theirs) = match hop {
                Some(hop) => (table.begin_insert(prefix, Hop(*hop)).unwrap(), whole.insert(prefix, Hop(*hop)).unwrap()),
                None => (table.begin_remove(prefix), whole.remove(prefix)),
            };
            prop_assert_eq!(ours, theirs);
            table.repaint(slice);
        }
        while !table.repaint(slice) {}
        for address in changes.iter().flat_map(|(a, ..)| [*a, a ^ 1, a ^ 1 << 40, a ^ 1 << 90, !a]) {
            prop_assert_eq!(reader.lookup(address), oracle.lookup(address));
        }
        for (address, length, _) in &changes {
            let _ = table.begin_remove(six(*address, *length));
        }
        while !table.repaint(slice) {}
        prop_assert!(table.is_empty());
        prop_assert!(changes.iter().all(|(address, ..)| reader.lookup(*address) == Hop::NONE));
    }

    #[test]
    fn ipv6_agrees_with_the_oracle(changes in changes_v6()) {
        let mut table = ipv6::table();
        let reader = table.reader();
        let mut oracle: PrefixMap<(u128, u8), u16> = PrefixMap::new();
        for (address, length, hop) in &changes {
            let prefix = six(*address, *length);
            let IpAddr::V6(first) = prefix.address() else { unreachable!() };
            let key = (u128::from(first), *length);
            let (ours, theirs) = match hop {
                Some(hop) => (table.insert(prefix, Hop(*hop)).unwrap(), oracle.insert(key, *hop)),
                None => (table.remove(prefix), oracle.remove(&key)),
            };
            prop_assert_eq!(ours.map(|hop| hop.0), theirs);
        }
        let asked: Vec<u128> = changes.iter().flat_map(|(a, ..)| [*a, a ^ 1, a ^ 1 << 40, a ^ 1 << 90]).collect();
        let mut hops = vec![Hop::NONE; asked.len()];
        reader.lookup_all(&asked, &mut hops);
        for (address, hop) in asked.iter().zip(hops) {
            let theirs = oracle.get_lpm(&(*address, 128)).map_or(0, |(_, hop)| *hop);
            prop_assert_eq!((hop.0, reader.lookup(*address).0), (theirs, theirs));
        }
    }
}

/// However short a prefix is, no more slots are painted at once than asked for, because a lock may be held meanwhile.
#[test]
fn a_default_route_is_painted_in_slices() {
    let mut table = ipv4::table();
    let reader = table.reader();
    assert_eq!(table.begin_insert(four(0, 0), Hop(1)), Ok(None));
    assert_eq!(reader.lookup(0x0a00_0001), Hop::NONE);
    let slices = std::iter::repeat_with(|| table.repaint(1 << 14)).take_while(|done| !done).count();
    assert_eq!(slices + 1, (1 << 24) / (1 << 14));
    assert_eq!(reader.lookup(u32::MAX), Hop(1));
    // A longer prefix overtakes it, and the rest of it does not paint over that.
    let _ = table.begin_insert(four(0, 0), Hop(2));
    assert!(!table.repaint(1 << 14));
    let _ = table.begin_insert(four(0xff00_0000, 32), Hop(3));
    assert!(!table.repaint(1) && reader.lookup(0xff00_0000) == Hop(3));
    assert_eq!((reader.lookup(0), reader.lookup(0xff00_0001)), (Hop(2), Hop(1)));
    assert!(table.repaint(usize::MAX));
    assert_eq!((reader.lookup(0xff00_0000), reader.lookup(0xff00_0001)), (Hop(3), Hop(2)));
}

/// Lengths roughly as in the routing table of the Internet: most 24, few beyond.
fn internet_length(random: &mut Random) -> u8 {
    match random.below(100) {
        0..=57 => 24,
        58..=97 => 12 + random.below(12) as u8,
        _ => 25 + random.below(8) as u8,
    }
}

#[test]
fn a_million_prefixes_agree_with_the_oracle() {
    let mut random = Random::new(1, Purpose::Test, 0);
    let mut table = ipv4::table();
    let mut oracle: PrefixMap<(u32, u8), u16> = PrefixMap::new();
    while table.len() < 1_000_000 {
        let prefix = four(random.bits() as u32, internet_length(&mut random));
        let IpAddr::V4(first) = prefix.address() else { unreachable!() };
        let hop = 1 + random.below(1_000) as u16;
        table.insert(prefix, Hop(hop)).unwrap();
        oracle.insert((first.into(), prefix.length()), hop);
    }
    let asked: Vec<u32> = (0..200_000).map(|_| random.bits() as u32).collect();
    let mut hops = vec![Hop::NONE; asked.len()];
    table.reader().lookup_all(&asked, &mut hops);
    for (address, hop) in asked.iter().zip(hops) {
        assert_eq!(hop.0, oracle.get_lpm(&(*address, 32)).map_or(0, |(_, hop)| *hop));
    }
}

#[test]
fn a_full_table_refuses_and_stays_as_it_was() {
    let mut table = ipv4::table();
    let refused = (0..40_000).find_map(|block| table.insert(four(block << 8, 32), Hop(1)).err());
    assert_eq!(refused, Some(RouteError::Full(four(32_767 << 8, 32))));
    assert_eq!((table.len(), table.nodes()), (32_767, 32_767));
    assert_eq!(table.reader().lookup(32_767 << 8), Hop::NONE);
    table.remove(four(0, 32));
    assert_eq!(
        table.insert(four(32_767 << 8, 32), Hop(2)),
        Ok(None),
        "the node of the removed route is used again"
    );
}

#[test]
fn what_does_not_belong_is_refused() {
    let mut table = ipv6::table();
    assert_eq!(table.insert(four(0, 0), Hop(1)), Err(RouteError::Family(four(0, 0))));
    assert_eq!(table.insert(six(0, 0), Hop(0)), Err(RouteError::Hop(six(0, 0))));
    assert_eq!(table.insert(six(0, 0), Hop(0x8000)), Err(RouteError::Hop(six(0, 0))));
    assert_eq!(table.remove(four(0, 0)), None);
}

/// A storm of changes: readers of addresses that it does not concern never see another hop, and readers of those it does
/// concern see the route before or after.
#[test]
fn readers_see_no_hop_of_another_prefix_during_a_storm() {
    let mut table = ipv4::table();
    let still = four(0x0a00_0000, 8);
    table.insert(still, Hop(1)).unwrap();
    let (done, looked) = (AtomicBool::new(false), AtomicU64::new(0));
    // Blocks a and b take turns at having longer prefixes, so that nodes of one are used again for the other.
    let (a, b) = (0x0a01_0100_u32, 0x0a02_0200_u32);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let reader = table.reader();
            let (done, looked) = (&done, &looked);
            scope.spawn(move || {
                let asked: Vec<u32> = (0..64).map(|n| [a + 7, b + 7, a + 9, 0x0a03_0300][n % 4]).collect();
                let mut hops = vec![Hop::NONE; 64];
                while !done.load(Ordering::Relaxed) {
                    reader.lookup_all(&asked, &mut hops);
                    for hops in hops.chunks(4) {
                        assert!(matches!(hops[0].0, 1 | 2), "{hops:?}");
                        assert!(matches!(hops[1].0, 1 | 3), "{hops:?}");
                        assert_eq!((hops[2].0, hops[3].0), (1, 1), "{hops:?}");
                    }
                    looked.fetch_add(64, Ordering::Relaxed);
                }
            });
        }
        let mut changes = 0;
        while changes < 500_000 || looked.load(Ordering::Relaxed) < 200_000 {
            table.insert(four(a + 7, 32), Hop(2)).unwrap();
            table.remove(four(a + 7, 32)).unwrap();
            table.insert(four(b + 7, 32), Hop(3)).unwrap();
            table.remove(four(b + 7, 32)).unwrap();
            changes += 4;
        }
        done.store(true, Ordering::Relaxed);
    });
    // A reader that loses its core in the middle of a batch holds up all nodes; half a million changes need 32 767 at most.
    assert!(table.nodes() <= 32_767, "{}", table.nodes());
}
