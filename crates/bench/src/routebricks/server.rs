//! Figures of one server, on rings in memory and packet sockets of this machine: rates as the best of some passes.

use std::io;
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use weft::Error;
use weft_esp::{EspCipher, OutboundAssociation};
use weft_router::backend::memory::{MemoryRing, MemoryTraffic};
use weft_router::{Backend, Frame, FrameBatch, FramePool};

use super::{Figures, doorbell, pipeline};
use crate::router::{self, Polled};
use crate::{clock, count};

/// Names of these figures: million packets per second, unless the name says otherwise.
pub const SERVER_FIGURES: &[&str] = &[
    "server.forward",
    "server.forward_on_two",
    "server.route",
    "server.route_on_two",
    "server.route_burst_1",
    "server.route_burst_8",
    "server.route_burst_32",
    "server.locked",
    "server.sealed",
    "server.pipeline",
    "server.parallel",
    "server.instructions_8",
    "server.instructions_32",
    "server.instructions_64",
    "server.sent_one_by_one",
    "server.sent_by_sixteen",
    "server.calls_one_by_one",
    "server.calls_by_sixteen",
];

/// A ring behind a lock that several workers receive from and send to.
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

/// Measures the figures. Counting instructions needs valgrind, and packet sockets need the right to open one;
/// otherwise these figures are left out.
///
/// # Errors
/// A count fails, or `progress` ends the measurement.
pub(super) fn measure(passes: usize, progress: &dyn Fn(&str) -> Result<(), Error>) -> Result<Figures, Error> {
    let mut figures = Figures::new();
    let mut note = |name: &str, value: f64| {
        figures.insert(format!("server.{name}"), value);
    };
    for (name, case, cores) in [
        ("forward", "forward", 1),
        ("forward_on_two", "forward", 2),
        ("route", "route-256k", 1),
        ("route_on_two", "route-256k", 2),
        ("route_burst_1", "route-256k-1", 1),
        ("route_burst_8", "route-256k-8", 1),
        ("route_burst_32", "route-256k-32", 1),
    ] {
        progress(&format!("{case} on {cores} of the cores"))?;
        note(name, router::mpps(case, cores, passes));
    }
    progress("two workers that share a ring behind a lock")?;
    note("locked", (0..passes).map(|_| locked_mpps()).fold(0.0, f64::max));
    progress("sealing")?;
    note("sealed", (0..passes).map(|_| sealed_mpps()).fold(0.0, f64::max));
    progress("two cores in a pipeline, and side by side")?;
    let pairs: Vec<[f64; 2]> = (0..passes).map(|_| pipeline::mpps()).collect();
    for (at, name) in ["pipeline", "parallel"].into_iter().enumerate() {
        note(name, pairs.iter().map(|pair| pair[at]).fold(0.0, f64::max));
    }
    progress("frames through a packet socket, one by one and by sixteen")?;
    let sent: Vec<_> = (0..passes).filter_map(|_| doorbell::measure()).collect();
    for (at, name) in ["one_by_one", "by_sixteen"].into_iter().enumerate() {
        if let Some(best) = sent.iter().map(|pair| pair[at]).max_by(|a, b| a.0.total_cmp(&b.0)) {
            note(&format!("sent_{name}"), best.0);
            note(&format!("calls_{name}"), best.1);
        }
    }
    if count::available().is_ok() {
        for (frames, case) in [(8, "route-256k-8"), (32, "route-256k-32"), (64, "route-256k")] {
            progress(&format!("{case}: counting instructions"))?;
            note(&format!("instructions_{frames}"), router::instructions(case)?);
        }
    }
    Ok(figures)
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
    let (mut text, mut out) = ([0x45; 64], [0; 128]);
    let ((), seconds) = clock::timed(|| {
        for _ in 0..SEALED {
            let sealed = association.seal_into(4, (std::hint::black_box(&mut text), 46), &mut out);
            std::hint::black_box(sealed).expect("numbers are left");
        }
    });
    f64::from(SEALED) / seconds / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_ring_and_a_sealer_process_packets() {
        assert!(locked_mpps() > 0.0 && sealed_mpps() > 0.0);
    }
}
