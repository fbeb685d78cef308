//! Flow hashes as switches compute them: CRC and Toeplitz over the five-tuple, with seeds, and a well-mixed hash as the
//! ideal. As in hardware, two stages with one hash and seed polarise.

use weft_core::crc32::crc32;
use weft_core::random::mix;
use weft_core::toeplitz::{PUBLISHED_KEY, Toeplitz};
use weft_core::{Header, Purpose, Random, Tuple, choice};

use crate::BalancerSite;

choice! {
    /// The hash function over the five-tuple.
    pub enum HashFunction {
        /// A 64-bit finaliser with full avalanche: the ideal.
        Mix = "mix",
        /// CRC-32 (IEEE 802.3, reflected); the seed is the initial value. A CRC is linear: seeds change the hashes of all
        /// packets by the same bits, so that two stages polarise whatever their seeds.
        Crc32 = "crc32",
        /// CRC-16-CCITT (polynomial 0x1021); the seed is the initial value, and as with `crc32` two stages polarise.
        Crc16 = "crc16",
        /// Toeplitz, as network cards and switches use it (Microsoft's RSS specification); the seed changes the key.
        Toeplitz = "toeplitz",
    }
}

/// A hash function with its seed, ready for packets.
#[derive(Clone, Debug)]
pub enum FlowHash {
    /// See [`HashFunction::Mix`].
    Mix(u64),
    /// See [`HashFunction::Crc32`].
    Crc32(u32),
    /// See [`HashFunction::Crc16`].
    Crc16(u16),
    /// See [`HashFunction::Toeplitz`].
    Toeplitz(Toeplitz<12>),
}

impl FlowHash {
    /// The function with a seed. Seed 0 gives the function as standardised.
    #[must_use]
    pub fn new(function: HashFunction, seed: u64) -> FlowHash {
        match function {
            HashFunction::Mix => FlowHash::Mix(seed),
            HashFunction::Crc32 => FlowHash::Crc32(!(seed as u32)),
            HashFunction::Crc16 => FlowHash::Crc16(!(seed as u16)),
            HashFunction::Toeplitz => FlowHash::Toeplitz(Toeplitz::new(&toeplitz_key(seed))),
        }
    }

    /// The function with the seed of a switch; all its engines share it, as they share one hash function in hardware.
    #[must_use]
    pub fn of_switch(function: HashFunction, site: BalancerSite) -> FlowHash {
        FlowHash::new(function, Random::new(site.seed, Purpose::Hash, u64::from(site.switch.0)).bits())
    }

    /// The position of a packet's flow among `places`, uniformly distributed.
    #[must_use]
    #[inline]
    pub fn spread(&self, packet: &Header, places: usize) -> usize {
        match self {
            FlowHash::Mix(seed) => {
                ((u64::from(mixed(&packet.tuple(), *seed)) * places as u64) >> 32) as usize
            }
            _ => self.spread_by_bytes(packet, places),
        }
    }

    #[inline(never)]
    fn spread_by_bytes(&self, packet: &Header, places: usize) -> usize {
        ((u64::from(self.of_bytes(&packet.tuple())) * places as u64) >> self.bits()) as usize
    }

    /// 32 hash bits of a flow.
    #[must_use]
    #[inline]
    pub fn of(&self, tuple: &Tuple) -> u32 {
        if let FlowHash::Mix(seed) = self { mixed(tuple, *seed) } else { self.of_bytes(tuple) }
    }

    #[inline(never)]
    fn of_bytes(&self, tuple: &Tuple) -> u32 {
        let bytes = tuple.to_bytes();
        match self {
            FlowHash::Mix(seed) => mixed(tuple, *seed),
            FlowHash::Crc32(seed) => crc32(*seed, &bytes),
            FlowHash::Crc16(seed) => u32::from(crc16(*seed, &bytes)),
            FlowHash::Toeplitz(toeplitz) => toeplitz.hash(&bytes),
        }
    }

    /// How many low bits of the hash carry information.
    #[must_use]
    #[inline]
    pub fn bits(&self) -> u32 {
        if matches!(self, FlowHash::Crc16(_)) { 16 } else { 32 }
    }
}

#[inline]
fn mixed(tuple: &Tuple, seed: u64) -> u32 {
    let addresses = u64::from(tuple.source.0) << 32 | u64::from(tuple.destination.0);
    let rest = u64::from(tuple.ports) << 8 | u64::from(tuple.protocol);
    (mix(mix(addresses ^ seed) ^ rest.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32) as u32
}

const CRC16_TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut value = (n as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 0x8000 != 0 { value << 1 ^ 0x1021 } else { value << 1 };
            bit += 1;
        }
        table[n] = value;
        n += 1;
    }
    table
};

fn crc16(initial: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(initial, |crc, byte| crc << 8 ^ CRC16_TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

/// The key with a seed: seed 0 is the published key, others change every byte.
fn toeplitz_key(seed: u64) -> [u8; 40] {
    let mut key = PUBLISHED_KEY;
    if seed != 0 {
        for (n, byte) in key.iter_mut().enumerate() {
            *byte ^= mix(seed.wrapping_add(n as u64)) as u8;
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::HostId;

    #[test]
    fn crc_check_values_of_the_standards() {
        assert_eq!(crc16(!0, b"123456789"), 0x29b1);
    }

    #[test]
    fn toeplitz_vectors_of_the_rss_specification() {
        let toeplitz = Toeplitz::<12>::new(&toeplitz_key(0));
        let vector = |source: [u8; 4], destination: [u8; 4], ports: [u16; 2]| {
            let ports: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
            toeplitz.hash(&[&source[..], &destination[..], &ports[..]].concat())
        };
        assert_eq!(vector([66, 9, 149, 187], [161, 142, 100, 80], [2794, 1766]), 0x51cc_c178);
        assert_eq!(vector([199, 92, 111, 2], [65, 69, 140, 83], [14230, 4739]), 0xc626_b0ea);
        assert_eq!(vector([24, 19, 198, 95], [12, 22, 207, 184], [12898, 38024]), 0x5c2b_394a);
    }

    fn tuple(n: u32) -> Tuple {
        Tuple { source: HostId(n % 100), destination: HostId(n / 100), ports: n << 16 | 80, protocol: 6 }
    }

    #[test]
    fn every_function_spreads_flows_and_depends_on_its_seed() {
        for (function, _) in HashFunction::WORDS {
            use weft_core::settings::{Setting, Value};
            let function = HashFunction::from_value(&Value::Text((*function).into()));
            let (a, b) = (FlowHash::new(function, 1), FlowHash::new(function, 2));
            let mut counts = [0u32; 4];
            for n in 0..4000 {
                counts[(a.of(&tuple(n)) % 4) as usize] += 1;
            }
            assert!(counts.iter().all(|count| (800..1200).contains(count)), "{function:?} {counts:?}");
            assert!((0..100).any(|n| a.of(&tuple(n)) != b.of(&tuple(n))));
        }
    }

    /// The choices of a second stage, given those of the first: independent with the ideal hash and different seeds.
    #[test]
    fn stages_with_different_seeds_are_uncorrelated() {
        let (first, second) = (FlowHash::new(HashFunction::Mix, 1), FlowHash::new(HashFunction::Mix, 2));
        let flows: Vec<_> = (0..8000).map(tuple).filter(|flow| first.of(flow) % 2 == 0).collect();
        let share = flows.iter().filter(|flow| second.of(flow) % 2 == 0).count() as f64 / flows.len() as f64;
        assert!((share - 0.5).abs() < 0.03, "{share}");
        let same = flows.iter().filter(|flow| first.of(flow) % 2 == 0).count();
        assert_eq!(same, flows.len(), "equal hash and seed polarise completely");
    }
}
