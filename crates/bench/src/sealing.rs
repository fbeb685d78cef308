//! IPsec in the router's measurements: the tunnel of a case, and the same cipher of the library alone on payloads of the
//! same size, as the bound.

use std::net::IpAddr;

use aes::Aes128;
use aes::cipher::{BlockModeEncrypt, InnerIvInit, KeyInit};
use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use hmac::{Hmac, Mac};
use sha1::Sha1;
use weft_esp::{EspCipher, InboundAssociation, OutboundAssociation};
use weft_router::tunnel::{Tunnel, Tunnels};

/// The ciphers of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CipherSuite {
    Gcm128,
    Gcm256,
    CbcHmacSha1,
}

/// Bytes of header and vector in front of the encrypted part.
const HEADER: usize = 8;
const BLOCK: usize = 16;

impl CipherSuite {
    fn cipher(self) -> EspCipher {
        match self {
            CipherSuite::Gcm128 => EspCipher::aes_128_gcm(&[7; 20]),
            CipherSuite::Gcm256 => EspCipher::aes_256_gcm(&[7; 36]),
            CipherSuite::CbcHmacSha1 => EspCipher::aes_128_cbc_hmac_sha1(&[7; 36]),
        }
    }

    /// A tunnel between two addresses, number 0.
    pub(crate) fn tunnels(self, ends: (IpAddr, IpAddr)) -> Tunnels {
        Tunnels::new(vec![Tunnel {
            name: "ring".to_owned(),
            ends,
            udp: None,
            outbound: OutboundAssociation::new(256, self.cipher(), 1),
            inbound: InboundAssociation::new(257, self.cipher(), 64),
        }])
    }

    /// Bytes that are encrypted of an IP packet: padded, with two bytes of trailer.
    pub(crate) fn text(self, packet: usize) -> usize {
        (packet + 2).next_multiple_of(self.cipher().block())
    }

    /// Encrypts and signs a text the given number of times with the library alone, each time with another vector.
    pub(crate) fn alone(self, text: &mut [u8], times: u64) {
        match self {
            CipherSuite::Gcm128 => gcm(&Aes128Gcm::new(&[7; 16].into()), text, times),
            CipherSuite::Gcm256 => gcm(&Aes256Gcm::new(&[7; 32].into()), text, times),
            CipherSuite::CbcHmacSha1 => cbc_hmac_sha1(text, times),
        }
    }
}

fn gcm<C: AeadInOut>(cipher: &C, text: &mut [u8], times: u64)
where
    aes_gcm::aead::Nonce<C>: From<[u8; 12]>,
{
    for number in 0..times {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        let tag = cipher.encrypt_inout_detached(&nonce.into(), &[0; HEADER], InOutBuf::from(&mut *text));
        std::hint::black_box(tag.expect("the text is short"));
    }
}

fn cbc_hmac_sha1(text: &mut [u8], times: u64) {
    let key = Aes128::new(&[7; 16].into());
    let integrity = <Hmac<Sha1> as KeyInit>::new_from_slice(&[7; 20]).expect("HMAC takes keys of any length");
    for number in 0..times {
        let mut vector = [0; BLOCK];
        vector[8..].copy_from_slice(&number.to_be_bytes());
        let mut mode = cbc::Encryptor::<Aes128>::inner_iv_init(key.clone(), &vector.into());
        let (blocks, _) = InOutBuf::from(&mut *text).into_chunks();
        mode.encrypt_blocks_inout(blocks);
        let mut mac = integrity.clone();
        mac.update(&[0; HEADER]);
        mac.update(&vector);
        mac.update(text);
        std::hint::black_box(mac.finalize());
    }
}
