//! The ciphers: their keys, and how they seal and open.

use std::fmt;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit};
use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use hmac::{Hmac, Mac};
use sha1::Sha1;

/// A cipher with its keys.
#[derive(Clone)]
pub struct EspCipher(Keys);

#[derive(Clone)]
enum Keys {
    Gcm128(Box<Aes128Gcm>, [u8; 4]),
    Gcm256(Box<Aes256Gcm>, [u8; 4]),
    CbcHmacSha1(Box<Aes128>, Box<Hmac<Sha1>>),
}

/// Keys are never shown.
impl fmt::Debug for EspCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.0 {
            Keys::Gcm128(..) => "AES-128-GCM",
            Keys::Gcm256(..) => "AES-256-GCM",
            Keys::CbcHmacSha1(..) => "AES-128-CBC with HMAC-SHA1",
        };
        write!(f, "{name} (secret)")
    }
}

/// Bytes of the check value of HMAC-SHA1-96.
const SHA1_CHECK: usize = 12;
/// A block of AES.
const BLOCK: usize = 16;

impl EspCipher {
    /// AES-128-GCM: 16 bytes of key, then 4 of salt.
    #[must_use]
    pub fn aes_128_gcm(keys: &[u8; 20]) -> EspCipher {
        let (key, salt) = split::<16, 4>(keys);
        EspCipher(Keys::Gcm128(Box::new(Aes128Gcm::new(&key.into())), salt))
    }

    /// AES-256-GCM: 32 bytes of key, then 4 of salt.
    #[must_use]
    pub fn aes_256_gcm(keys: &[u8; 36]) -> EspCipher {
        let (key, salt) = split::<32, 4>(keys);
        EspCipher(Keys::Gcm256(Box::new(Aes256Gcm::new(&key.into())), salt))
    }

    /// AES-128-CBC: 16 bytes of key, then 20 of HMAC-SHA1.
    #[must_use]
    pub fn aes_128_cbc_hmac_sha1(keys: &[u8; 36]) -> EspCipher {
        let (key, integrity) = split::<16, 20>(keys);
        let integrity = <Hmac<Sha1> as KeyInit>::new_from_slice(&integrity);
        let integrity = integrity.unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"));
        EspCipher(Keys::CbcHmacSha1(Box::new(Aes128::new(&key.into())), Box::new(integrity)))
    }

    /// Whether both encrypt with the same key, whatever their salts and integrity keys. Two associations with one key
    /// would eventually seal two packets with the same vector, which reveals their content (RFC 4106, section 2; RFC 5116,
    /// section 3.1; NIST SP 800-38A, section 6.2).
    #[must_use]
    pub fn has_the_key_of(&self, other: &EspCipher) -> bool {
        self.sample() == other.sample()
    }

    /// A block encrypted with the key: in GCM, the first of the key stream behind a zero nonce. It is compared and never sent.
    fn sample(&self) -> [u8; BLOCK] {
        let (mut block, nonce) = ([0; BLOCK], [0; 12].into());
        let sealed = match &self.0 {
            Keys::Gcm128(cipher, _) => cipher.encrypt_inout_detached(&nonce, &[], block[..].as_mut().into()),
            Keys::Gcm256(cipher, _) => cipher.encrypt_inout_detached(&nonce, &[], block[..].as_mut().into()),
            Keys::CbcHmacSha1(key, _) => {
                let mut counter = u128::to_be_bytes(2).into();
                key.encrypt_block(&mut counter);
                return counter.into();
            }
        };
        sealed.map_or_else(|_| unreachable!("GCM seals a block"), |_| block)
    }

    /// Bytes of the initialisation vector in a packet.
    #[must_use]
    pub const fn vector(&self) -> usize {
        match self.0 {
            Keys::CbcHmacSha1(..) => BLOCK,
            _ => 8,
        }
    }

    /// Bytes of the check value at the end of a packet.
    #[must_use]
    pub const fn check(&self) -> usize {
        match self.0 {
            Keys::CbcHmacSha1(..) => SHA1_CHECK,
            _ => 16,
        }
    }

    /// The encrypted part is a multiple of this.
    #[must_use]
    pub const fn block(&self) -> usize {
        match self.0 {
            Keys::CbcHmacSha1(..) => BLOCK,
            _ => 4,
        }
    }

    /// The vector of the packet with this number, which must never recur for a key. For CBC it cannot be predicted
    /// (NIST SP 800-38A, appendix C: the number, encrypted).
    pub(crate) fn write_vector(&self, number: u64, place: &mut [u8]) {
        match &self.0 {
            Keys::CbcHmacSha1(key, _) => {
                let mut block = [0; BLOCK];
                block[8..].copy_from_slice(&number.to_be_bytes());
                let mut block = block.into();
                key.encrypt_block(&mut block);
                place.copy_from_slice(&block);
            }
            _ => place.copy_from_slice(&number.to_be_bytes()),
        }
    }

    /// Encrypts a text, whole blocks, into a packet behind its header and vector, and writes the check value behind
    /// it. `None`: the packet's length does not match, or the text is too long.
    #[inline]
    pub(crate) fn seal(&self, text: &[u8], packet: &mut [u8]) -> Option<()> {
        let (head, rest) = packet.split_at_mut_checked(HEADER + self.vector())?;
        let (place, tag) = rest.split_at_mut_checked(text.len())?;
        if tag.len() != self.check() {
            return None;
        }
        let text = InOutBuf::new(text, place).ok()?;
        match &self.0 {
            Keys::Gcm128(cipher, salt) => {
                let check =
                    cipher.encrypt_inout_detached(&nonce(*salt, head)?, &head[..HEADER], text).ok()?;
                tag.copy_from_slice(&check);
            }
            Keys::Gcm256(cipher, salt) => {
                let check =
                    cipher.encrypt_inout_detached(&nonce(*salt, head)?, &head[..HEADER], text).ok()?;
                tag.copy_from_slice(&check);
            }
            Keys::CbcHmacSha1(key, integrity) => {
                let vector: [u8; BLOCK] = head[HEADER..].try_into().ok()?;
                let mut mode = cbc::Encryptor::<Aes128>::inner_iv_init((**key).clone(), &vector.into());
                let (blocks, _) = text.into_chunks();
                mode.encrypt_blocks_inout(blocks);
                let mut mac = (**integrity).clone();
                mac.update(head);
                mac.update(place);
                tag.copy_from_slice(&mac.finalize().into_bytes()[..SHA1_CHECK]);
            }
        }
        Some(())
    }

    /// Checks a packet and decrypts its text into the first bytes of `place`. `None`: it has been altered, belongs to
    /// another key, or there is no room.
    #[inline]
    pub(crate) fn open<'a>(&self, packet: &[u8], place: &'a mut [u8]) -> Option<&'a [u8]> {
        let (signed, tag) = packet.split_at_checked(packet.len().checked_sub(self.check())?)?;
        let (head, text) = signed.split_at_checked(HEADER + self.vector())?;
        let place = place.get_mut(..text.len())?;
        if text.is_empty() || text.len() % self.block() != 0 {
            return None;
        }
        let check: Option<[u8; 16]> = tag.try_into().ok();
        let text = InOutBuf::new(text, &mut *place).ok()?;
        match &self.0 {
            Keys::Gcm128(cipher, salt) => {
                let nonce = nonce(*salt, head)?;
                cipher.decrypt_inout_detached(&nonce, &head[..HEADER], text, &check?.into()).ok()?;
            }
            Keys::Gcm256(cipher, salt) => {
                let nonce = nonce(*salt, head)?;
                cipher.decrypt_inout_detached(&nonce, &head[..HEADER], text, &check?.into()).ok()?;
            }
            Keys::CbcHmacSha1(key, integrity) => {
                let mut mac = (**integrity).clone();
                mac.update(signed);
                // Takes the same time wherever they differ.
                mac.verify_truncated_left(tag).ok()?;
                let vector: [u8; BLOCK] = head[HEADER..].try_into().ok()?;
                let mut mode = cbc::Decryptor::<Aes128>::inner_iv_init((**key).clone(), &vector.into());
                let (blocks, _) = text.into_chunks();
                mode.decrypt_blocks_inout(blocks);
            }
        }
        Some(place)
    }
}

/// Bytes of the ESP header: index of the association, sequence number.
pub(crate) const HEADER: usize = 8;

fn split<const A: usize, const B: usize>(keys: &[u8]) -> ([u8; A], [u8; B]) {
    (std::array::from_fn(|n| keys[n]), std::array::from_fn(|n| keys[A + n]))
}

/// Salt and vector.
fn nonce<N: From<[u8; 12]>>(salt: [u8; 4], head: &[u8]) -> Option<N> {
    let vector: [u8; 8] = head.get(HEADER..)?.try_into().ok()?;
    Some(N::from(std::array::from_fn(|n| if n < 4 { salt[n] } else { vector[n - 4] })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        (0..hexadecimal.len() / 2)
            .map(|n| u8::from_str_radix(&hexadecimal[2 * n..2 * n + 2], 16).unwrap())
            .collect()
    }

    /// Case 2 of the published vectors of GCM: key, nonce and text of zeros; the text does not depend on what else is signed.
    #[test]
    fn gcm_gives_the_published_text() {
        let mut packet = [0; HEADER + 8 + 16 + 16];
        EspCipher::aes_128_gcm(&[0; 20]).seal(&[0; 16], &mut packet).unwrap();
        assert_eq!(packet[16..32], bytes("0388dace60b6a392f328c2b971b2fe78"));
        let mut packet = [0; HEADER + 8 + 16 + 16];
        EspCipher::aes_256_gcm(&[0; 36]).seal(&[0; 16], &mut packet).unwrap();
        assert_eq!(packet[16..32], bytes("cea7403d4d606b6e074ec5d3baf39d18"));
    }

    /// NIST SP 800-38A, F.2.1, and RFC 2202, case 1 of HMAC-SHA1.
    #[test]
    fn cbc_and_hmac_give_the_published_values() {
        let key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
        let keys: [u8; 36] = [key, vec![0x0b; 20]].concat().try_into().unwrap();
        let vector = bytes("000102030405060708090a0b0c0d0e0f");
        let mut packet = [vec![0; HEADER], vector, vec![0; 16 + SHA1_CHECK]].concat();
        let cipher = EspCipher::aes_128_cbc_hmac_sha1(&keys);
        cipher.seal(&bytes("6bc1bee22e409f96e93d7e117393172a"), &mut packet).unwrap();
        assert_eq!(packet[24..40], bytes("7649abac8119b246cee98e9b12e9197d"));
        let Keys::CbcHmacSha1(_, integrity) = cipher.0 else { panic!() };
        let mut mac = (*integrity).clone();
        mac.update(b"Hi There");
        assert_eq!(mac.finalize().into_bytes()[..], bytes("b617318655057264e28bc0b6fb378c8ef146be00"));
    }

    #[test]
    fn ciphers_with_one_encryption_key_are_recognised() {
        let with = |at: usize| std::array::from_fn(|n| u8::from(n == at));
        let keys = [0, 15]
            .map(|at| (EspCipher::aes_256_gcm(&with(at)), EspCipher::aes_128_cbc_hmac_sha1(&with(at))));
        let [(gcm, cbc), (other_gcm, other_cbc)] = &keys;
        let short = |at: usize| EspCipher::aes_128_gcm(&std::array::from_fn(|n| u8::from(n == at)));
        for (one, other, same) in [
            (gcm, other_gcm, false),
            (gcm, gcm, true),
            (gcm, &EspCipher::aes_256_gcm(&std::array::from_fn(|n| u8::from(n == 0 || n > 31))), true),
            (cbc, other_cbc, false),
            (
                cbc,
                &EspCipher::aes_128_cbc_hmac_sha1(&std::array::from_fn(|n| u8::from(n == 0 || n > 15))),
                true,
            ),
            (cbc, &short(0), true),
            (cbc, &short(15), false),
            (&short(16), &short(19), true),
            (gcm, cbc, false),
        ] {
            assert_eq!(
                (one.has_the_key_of(other), other.has_the_key_of(one)),
                (same, same),
                "{one:?}, {other:?}"
            );
        }
    }

    #[test]
    fn keys_are_never_shown() {
        let shown = format!("{:?}", EspCipher::aes_128_gcm(&[0xab; 20]));
        assert_eq!(shown, "AES-128-GCM (secret)");
    }
}
