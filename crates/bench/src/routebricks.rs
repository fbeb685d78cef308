//! RouteBricks' claims about one server (SOSP 2009), measured again: R1, R3, R5, R6 and R7, on rings in memory. Only ratios are
//! judged, because the machine is another.

use std::fmt::Write;
use std::io;
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use weft::Error;
use weft_esp::{EspCipher, OutboundAssociation};
use weft_router::backend::memory::{MemoryRing, MemoryTraffic};
use weft_router::{Backend, Frame, FrameBatch, FramePool};

use crate::router::{self, Polled};
use crate::{clock, count};

/// A claim about one server.
#[derive(Clone, Debug)]
pub struct ServerClaim {
    /// Its number.
    pub id: &'static str,
    /// What is claimed.
    pub claim: &'static str,
    /// The published value.
    pub published: &'static str,
    /// The measured ratios, each with its name; none if it could not be measured.
    pub measured: Vec<(String, f64)>,
    /// When it counts as reproduced.
    pub band: &'static str,
    /// Whether it is reproduced; none if it was not measured.
    pub reproduced: Option<bool>,
}

/// A ring behind a lock, from which several workers receive and to which they send.
struct LockedRing(Arc<Mutex<MemoryRing>>);

impl Backend for LockedRing {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).receive(pool, batch)
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).transmit(pool, frames)
    }
}

/// Polls of a worker that shares its ring.
const LOCKED_POLLS: usize = 400_000;
/// Packets sealed.
const SEALED: u32 = 1_000_000;

/// Measures the claims, each rate as the best of some passes.
///
/// # Errors
/// A count fails.
pub fn measure(passes: usize, progress: fn(&str)) -> Result<Vec<ServerClaim>, Error> {
    let rate = |name: &str, cores: u64| {
        progress(&format!("{name} on {cores} of the cores"));
        router::mpps(name, cores, passes)
    };
    let [forward, route, burst_1, burst_8, burst_32] =
        ["forward", "route-256k", "route-256k-1", "route-256k-8", "route-256k-32"].map(|name| rate(name, 1));
    let [forward_on_two, route_on_two] = ["forward", "route-256k"].map(|name| rate(name, 2));
    progress("two workers that share a ring behind a lock");
    let locked = (0..passes).map(|_| locked_mpps()).fold(0.0, f64::max);
    progress("sealing");
    let sealed = (0..passes).map(|_| sealed_mpps()).fold(0.0, f64::max);
    let steps = [burst_8 / burst_1, burst_32 / burst_8, route / burst_32];
    let named = |name: &str, value: f64| (name.to_owned(), value);
    let ratio = |name: &str, value: f64| vec![named(name, value)];
    let r1 = forward_on_two / locked;
    Ok(vec![
        ServerClaim {
            id: "R1",
            claim: "own queues and batching against one locked queue",
            published: "6.7",
            measured: ratio("two cores", r1),
            band: "at least 3",
            reproduced: Some(r1 >= 3.0),
        },
        ServerClaim {
            id: "R3",
            claim: "batching multiplies the rate, and saturates",
            published: "3.4",
            measured: vec![named("64 : 1", route / burst_1), named("last step", steps[2])],
            band: "at least 2, rising, last step the smallest",
            reproduced: Some(
                route / burst_1 >= 2.0
                    && steps[..2].iter().all(|step| *step > 1.0)
                    && steps[2] < steps[0].min(steps[1])
                    && steps[2] > 0.95,
            ),
        },
        ServerClaim {
            id: "R5",
            claim: "forwarding is faster than routing, routing than IPsec",
            published: "routing : forwarding 0.65",
            measured: vec![
                named("routing : forwarding", route / forward),
                named("sealing : routing", sealed / route),
            ],
            band: "order; 0.45 to 0.85",
            reproduced: Some(sealed < route && (0.45..=0.85).contains(&(route / forward))),
        },
        constant_cost(progress)?,
        ServerClaim {
            id: "R7",
            claim: "the rate grows with the cores",
            published: "linear",
            measured: vec![
                named("forwarding", forward_on_two / forward),
                named("routing", route_on_two / route),
            ],
            band: "at least 1.8 on two",
            reproduced: Some(forward_on_two / forward >= 1.8 && route_on_two / route >= 1.8),
        },
    ])
}

/// R6: what a packet costs does not depend on the load, here on how many frames a poll finds.
fn constant_cost(progress: fn(&str)) -> Result<ServerClaim, Error> {
    let mut measured = Vec::new();
    if count::available().is_ok() {
        for (frames, name) in [(8, "route-256k-8"), (32, "route-256k-32"), (64, "route-256k")] {
            progress(&format!("{name}: counting instructions"));
            measured.push((format!("{frames} frames a poll"), router::instructions(name)?));
        }
    }
    let values = || measured.iter().map(|(_, value)| *value);
    let spread = values().fold(0.0, f64::max) / values().fold(f64::INFINITY, f64::min);
    let reproduced = (!measured.is_empty()).then_some(spread <= 1.1);
    let (claim, band) = ("instructions per packet do not depend on the load", "within 10 %");
    Ok(ServerClaim { id: "R6", claim, published: "constant", measured, band, reproduced })
}

/// Million packets per second of two workers that share one ring behind a lock and take one frame at a time.
fn locked_mpps() -> f64 {
    let frame = router::frame(64);
    let fill =
        |pool: &mut FramePool| MemoryRing::filled(pool, router::RING, (0, &frame), MemoryTraffic::Same);
    let ring = Arc::new(Mutex::new(fill(&mut router::pool())));
    let barrier = Barrier::new(2);
    let worker = || {
        // Every worker has the same frames in the same buffers, so that the ring can name those of either.
        let mut pool = router::pool();
        drop(fill(&mut pool));
        let mut worker = router::forwarding(Box::new(LockedRing(Arc::clone(&ring))), pool, 1);
        worker.polls(1_000);
        barrier.wait();
        clock::timed(|| worker.polls(LOCKED_POLLS))
    };
    std::thread::scope(|scope| {
        let running = [scope.spawn(worker), scope.spawn(worker)];
        let rates = running.into_iter().map(|thread| thread.join().expect("workers do not panic"));
        rates.map(|(sent, seconds)| sent as f64 / seconds / 1e6).sum()
    })
}

/// Million packets per second that one core seals with AES-128-GCM: the packet of a 64-byte frame.
fn sealed_mpps() -> f64 {
    let association = OutboundAssociation::new(256, EspCipher::aes_128_gcm(&[7; 20]), 0);
    let (packet, mut out) = ([0x45; 46], Vec::new());
    let ((), seconds) = clock::timed(|| {
        for _ in 0..SEALED {
            out.clear();
            association.seal(4, std::hint::black_box(&packet), &mut out).expect("numbers are left");
        }
    });
    f64::from(SEALED) / seconds / 1e6
}

/// The claims as a table.
#[must_use]
pub fn table(claims: &[ServerClaim]) -> String {
    let mut text = String::from("RouteBricks: one server, on rings in memory (claims R1, R3, R5, R6, R7)\n");
    for ServerClaim { id, claim, published, measured, band, reproduced } in claims {
        let verdict = match reproduced {
            Some(true) => "reproduced",
            Some(false) => "not reproduced",
            None => "not measured: valgrind is missing",
        };
        let values: Vec<String> = measured.iter().map(|(name, value)| format!("{name} {value:.2}")).collect();
        let _ = writeln!(text, "\n{id}  {claim}\n    published  {published}");
        let _ = writeln!(text, "    measured   {}", values.join(", "));
        let _ = writeln!(text, "    band       {band}\n    {verdict}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_ring_and_a_sealer_process_packets() {
        assert!(locked_mpps() > 0.0 && sealed_mpps() > 0.0);
    }

    #[test]
    fn the_table_names_verdicts() {
        let claim = |reproduced| ServerClaim {
            id: "R1",
            claim: "it scales",
            published: "2",
            measured: vec![("on two".to_owned(), 1.5)],
            band: "1.8",
            reproduced,
        };
        let text = table(&[claim(Some(true)), claim(Some(false)), claim(None)]);
        for words in ["on two 1.50", "    reproduced\n", "not reproduced", "not measured"] {
            assert!(text.contains(words), "{text}");
        }
    }
}
