//! Security associations: one for each direction.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use crate::cipher::{EspCipher, HEADER};
use crate::window::ReplayWindow;

/// Why a packet is neither sealed nor opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EspError {
    /// All sequence numbers have been used: the association needs new keys.
    #[error("all sequence numbers have been used")]
    Exhausted,
    /// Longer than a packet can be.
    #[error("the packet is too long")]
    TooLong,
    /// Too short, or its padding contradicts it.
    #[error("the packet is no ESP")]
    Malformed,
    /// It has been received before, or is too old.
    #[error("the packet has been replayed, or is too old")]
    Replayed,
    /// It has been altered, or its sender has another key.
    #[error("the packet is not authentic")]
    NotAuthentic,
}

/// The index of the association that sealed a packet.
#[must_use]
pub fn spi_of(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|index| u32::from_be_bytes(*index))
}

/// Seals packets. Several threads may use it.
#[derive(Debug)]
pub struct OutboundAssociation {
    spi: u32,
    cipher: EspCipher,
    /// Sequence numbers given so far.
    sent: AtomicU64,
    first_vector: u64,
}

impl OutboundAssociation {
    /// An association with the security parameter index `spi`. Vectors count from `first_vector`, which must lie
    /// beyond every vector ever used with these keys, as the time in nanoseconds does.
    #[must_use]
    pub fn new(spi: u32, cipher: EspCipher, first_vector: u64) -> OutboundAssociation {
        OutboundAssociation { spi, cipher, sent: AtomicU64::new(0), first_vector }
    }

    /// Maximum number of bytes that sealing adds to a packet.
    #[must_use]
    pub fn overhead(&self) -> usize {
        HEADER + self.cipher.vector() + self.cipher.block() - 1 + TRAILER + self.cipher.check()
    }

    /// The longest packet that fits into `room` bytes.
    #[must_use]
    pub fn fits(&self, room: usize) -> usize {
        let text = room.saturating_sub(HEADER + self.cipher.vector() + self.cipher.check());
        (text / self.cipher.block() * self.cipher.block()).saturating_sub(TRAILER)
    }

    /// Appends the sealed packet to `out`; `next` is its protocol (4 for IPv4, 41 for IPv6). Copies the packet: see
    /// [`OutboundAssociation::seal_into`].
    ///
    /// # Errors
    /// All sequence numbers have been used, or the packet is too long.
    pub fn seal(&self, next: u8, packet: &[u8], out: &mut Vec<u8>) -> Result<(), EspError> {
        let mut text = packet.to_vec();
        text.resize(packet.len() + self.trailer(), 0);
        let start = out.len();
        out.resize(start + packet.len() + self.overhead(), 0);
        let sealed = self.seal_into(next, (&mut text, packet.len()), &mut out[start..]);
        out.truncate(start + sealed.unwrap_or_default());
        sealed.map(|_| ())
    }

    /// Maximum number of bytes in the trailer behind a packet: padding, its length, the protocol.
    #[must_use]
    pub fn trailer(&self) -> usize {
        self.cipher.block() - 1 + TRAILER
    }

    /// Seals the packet in the first `length` bytes of `text` into `out`; returns how many bytes that takes. The
    /// trailer is written behind the packet; encryption is the only copy.
    ///
    /// # Errors
    /// All sequence numbers have been used, or there is no room for the trailer or for the sealed packet.
    #[inline]
    pub fn seal_into(
        &self,
        next: u8,
        (text, length): (&mut [u8], usize),
        out: &mut [u8],
    ) -> Result<usize, EspError> {
        let (vector, block) = (self.cipher.vector(), self.cipher.block());
        let padded = (length + TRAILER).next_multiple_of(block);
        let text = text.get_mut(..padded).ok_or(EspError::TooLong)?;
        let sealed = HEADER + vector + padded + self.cipher.check();
        let out = out.get_mut(..sealed).ok_or(EspError::TooLong)?;
        let number = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
        let sequence = u32::try_from(number).map_err(|_| EspError::Exhausted)?;
        out[..4].copy_from_slice(&self.spi.to_be_bytes());
        out[4..HEADER].copy_from_slice(&sequence.to_be_bytes());
        let place = &mut out[HEADER..HEADER + vector];
        self.cipher.write_vector(self.first_vector.wrapping_add(number), place);
        let padding = padded - length - TRAILER;
        text[length..].iter_mut().zip(1..).for_each(|(byte, n)| *byte = n);
        text[padded - TRAILER..].copy_from_slice(&[padding as u8, next]);
        self.cipher.seal(text, out).ok_or(EspError::TooLong)?;
        Ok(sealed)
    }
}

/// Length of the padding, and the protocol.
const TRAILER: usize = 2;

/// Opens packets. Several threads may use it.
#[derive(Debug)]
pub struct InboundAssociation {
    spi: u32,
    cipher: EspCipher,
    window: Mutex<ReplayWindow>,
}

impl InboundAssociation {
    /// An association with the index `spi` and an anti-replay window of this many packets.
    #[must_use]
    pub fn new(spi: u32, cipher: EspCipher, window: u32) -> InboundAssociation {
        InboundAssociation { spi, cipher, window: Mutex::new(ReplayWindow::new(window)) }
    }

    /// Its index.
    #[must_use]
    pub fn spi(&self) -> u32 {
        self.spi
    }

    /// Replaces `opened` by the packet inside; returns its protocol.
    ///
    /// # Errors
    /// It is not authentic, was received before, or is malformed.
    pub fn open(&self, sealed: &[u8], opened: &mut Vec<u8>) -> Result<u8, EspError> {
        opened.resize(sealed.len(), 0);
        let (length, next) = self.open_into(sealed, opened)?;
        opened.truncate(length);
        Ok(next)
    }

    /// Decrypts the packet inside into the first bytes of `opened`, which must be as long as what was sealed; returns how long
    /// the packet is, and its protocol.
    ///
    /// # Errors
    /// It is not authentic, was received before, or is malformed. The content of `opened` is then undefined.
    #[inline]
    pub fn open_into(&self, sealed: &[u8], opened: &mut [u8]) -> Result<(usize, u8), EspError> {
        let sequence = sealed.get(4..8).and_then(<[u8]>::first_chunk).ok_or(EspError::Malformed)?;
        let sequence = u32::from_be_bytes(*sequence);
        // Replays are rejected before they cost a decryption; the decision after it is the final one.
        if spi_of(sealed) != Some(self.spi) {
            return Err(EspError::NotAuthentic);
        }
        let window = || self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if !window().is_new(sequence) {
            return Err(EspError::Replayed);
        }
        let text = self.cipher.open(sealed, opened).ok_or(EspError::NotAuthentic)?;
        if !window().accept(sequence) {
            return Err(EspError::Replayed);
        }
        content(text).ok_or(EspError::Malformed)
    }
}

/// The length of a packet in front of its padding, and its protocol.
fn content(text: &[u8]) -> Option<(usize, u8)> {
    let [.., padding, next] = *text else { return None };
    let padding = usize::from(padding);
    let length = text.len().checked_sub(TRAILER + padding)?;
    let is_counted = text[length..length + padding].iter().zip(1..).all(|(byte, n)| u32::from(*byte) == n);
    is_counted.then_some((length, next))
}
