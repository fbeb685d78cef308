//! Packets that one association seals another opens, and no others.

use proptest::prelude::*;
use weft_esp::{EspCipher, EspError, InboundAssociation, OutboundAssociation};

fn ciphers() -> [fn(u8) -> EspCipher; 3] {
    [
        |key| EspCipher::aes_128_gcm(&[key; 20]),
        |key| EspCipher::aes_256_gcm(&[key; 36]),
        |key| EspCipher::aes_128_cbc_hmac_sha1(&[key; 36]),
    ]
}

fn sealed(association: &OutboundAssociation, packet: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    association.seal(4, packet, &mut out).unwrap();
    out
}

#[test]
fn packets_of_every_length_come_out_as_they_went_in() {
    for cipher in ciphers() {
        let (sends, receives) =
            (OutboundAssociation::new(300, cipher(1), 9), InboundAssociation::new(300, cipher(1), 64));
        let mut opened = Vec::new();
        for length in 0..200 {
            let packet: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let bytes = sealed(&sends, &packet);
            assert!(bytes.len() <= length + sends.overhead());
            assert!(sends.fits(bytes.len()) >= length && sends.fits(bytes.len() - 1) < length.max(1) + 16);
            assert_eq!((receives.open(&bytes, &mut opened), &opened), (Ok(4), &packet));
            assert_eq!(receives.open(&bytes, &mut opened), Err(EspError::Replayed));
        }
    }
}

#[test]
fn the_longest_packet_that_fits_fits() {
    for cipher in ciphers() {
        let sends = OutboundAssociation::new(300, cipher(1), 9);
        for room in 100..200 {
            let most = sends.fits(room);
            assert!(sealed(&sends, &vec![0; most]).len() <= room);
            assert!(sealed(&sends, &vec![0; most + 1]).len() > room);
        }
    }
}

#[test]
fn no_two_packets_look_alike() {
    for cipher in ciphers() {
        let sends = OutboundAssociation::new(300, cipher(1), 9);
        let mut vectors: Vec<Vec<u8>> =
            (0..1000).map(|_| sealed(&sends, b"the same")[8..16].to_vec()).collect();
        vectors.sort_unstable();
        vectors.dedup();
        assert_eq!(vectors.len(), 1000);
    }
}

#[test]
fn threads_share_an_association_without_a_number_twice() {
    let sends = OutboundAssociation::new(300, EspCipher::aes_128_gcm(&[1; 20]), 9);
    let receives = InboundAssociation::new(300, EspCipher::aes_128_gcm(&[1; 20]), 4096);
    let packets: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..500).map(|_| sealed(&sends, b"x")).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut opened = Vec::new();
    assert!(packets.iter().all(|packet| receives.open(packet, &mut opened) == Ok(4)));
    assert!(packets.iter().all(|packet| receives.open(packet, &mut opened) == Err(EspError::Replayed)));
}

proptest! {
    /// A changed packet is not opened, does not move the window, and the true one still is.
    #[test]
    fn a_changed_packet_is_refused(which in 0_usize..3, at in 0_usize..90, change in 1_u8.., packet in proptest::collection::vec(any::<u8>(), 40)) {
        let cipher = ciphers()[which];
        let (sends, receives) = (OutboundAssociation::new(300, cipher(1), 9), InboundAssociation::new(300, cipher(1), 64));
        let bytes = sealed(&sends, &packet);
        let mut changed = bytes.clone();
        let at = at % changed.len();
        changed[at] ^= change;
        let mut opened = Vec::new();
        prop_assert!(receives.open(&changed, &mut opened).is_err());
        prop_assert_eq!(receives.open(&bytes, &mut opened), Ok(4));
    }

    #[test]
    fn any_bytes_are_refused(which in 0_usize..3, bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let receives = InboundAssociation::new(300, ciphers()[which](1), 64);
        let mut own = 300_u32.to_be_bytes().to_vec();
        own.extend(&bytes);
        let mut opened = Vec::new();
        prop_assert!(receives.open(&bytes, &mut opened).is_err());
        prop_assert!(receives.open(&own, &mut opened).is_err());
    }

    #[test]
    fn another_key_opens_nothing(which in 0_usize..3, packet in proptest::collection::vec(any::<u8>(), 0..100)) {
        let cipher = ciphers()[which];
        let (sends, receives) = (OutboundAssociation::new(300, cipher(1), 9), InboundAssociation::new(300, cipher(2), 64));
        prop_assert_eq!(receives.open(&sealed(&sends, &packet), &mut Vec::new()), Err(EspError::NotAuthentic));
    }
}
