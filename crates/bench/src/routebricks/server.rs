//! Figures of one server, on rings in memory and packet sockets of this machine. Rates are compared only with rates
//! measured in turn with them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use weft::Error;
use weft_esp::{EspCipher, OutboundAssociation};
use weft_router::backend::memory::{MemoryRing, MemoryTraffic};
use weft_router::{Backend, Frame, FrameBatch, FramePool};

use super::rounds::Rounds;
use super::{Figures, doorbell, pipeline};
use crate::crew::{Crew, Polled};
use crate::{count, router};

/// Names of these figures: how many times as fast one form of work is as another, and counts per packet.
pub const SERVER_FIGURES: &[&str] = &[
    "server.own_queues_per_locked",
    "server.pipeline_per_parallel",
    "server.batch_8_per_1",
    "server.batch_32_per_8",
    "server.batch_64_per_32",
    "server.batch_64_per_1",
    "server.sixteen_per_one",
    "server.calls_one_by_one",
    "server.calls_by_sixteen",
    "server.route_per_forward",
    "server.sealed_per_route",
    "server.forward_two_per_one",
    "server.route_two_per_one",
    "server.instructions_8",
    "server.instructions_32",
    "server.instructions_64",
];

/// Rounds of a comparison for each pass that is asked for.
const ROUNDS: usize = 8;

/// A comparison: the figure's name after `server.`, and the forms whose rates it divides.
type Comparison = (&'static str, usize, usize);

/// Forms that are measured in turn.
struct FormGroup {
    about: &'static str,
    /// The most cores that one of them takes.
    cores: usize,
    crews: fn() -> Result<Vec<Crew>, String>,
    compared: &'static [Comparison],
    /// Figures that are system calls per frame, and their forms.
    calls: &'static [(&'static str, usize)],
}

const GROUPS: &[FormGroup] = &[
    FormGroup {
        about: "forwarding on one core, on two, and on two that share a ring behind a lock",
        cores: 2,
        crews: || Ok(vec![router::crew("forward", 1), router::crew("forward", 2), Crew::paced(locked())]),
        compared: &[("forward_two_per_one", 1, 0), ("own_queues_per_locked", 1, 2)],
        calls: &[],
    },
    FormGroup {
        about: "routing on one core and on two",
        cores: 2,
        crews: || Ok(vec![router::crew("route-256k", 1), router::crew("route-256k", 2)]),
        compared: &[("route_two_per_one", 1, 0)],
        calls: &[],
    },
    FormGroup {
        about: "forwarding, routing and sealing on one core",
        cores: 1,
        crews: || {
            let sealer: Vec<Box<dyn Polled>> = vec![Box::new(Sealer::new())];
            Ok(vec![router::crew("forward", 1), router::crew("route-256k", 1), Crew::paced(sealer)])
        },
        compared: &[("route_per_forward", 1, 0), ("sealed_per_route", 2, 1)],
        calls: &[],
    },
    FormGroup {
        about: "routing 1, 8, 32 and 64 frames at a time",
        cores: 1,
        crews: || {
            let cases = ["route-256k-1", "route-256k-8", "route-256k-32", "route-256k"];
            Ok(cases.map(|case| router::crew(case, 1)).into())
        },
        compared: &[
            ("batch_8_per_1", 1, 0),
            ("batch_32_per_8", 2, 1),
            ("batch_64_per_32", 3, 2),
            ("batch_64_per_1", 3, 0),
        ],
        calls: &[],
    },
    FormGroup {
        about: "two cores in a pipeline, and side by side",
        cores: 2,
        crews: || Ok(pipeline::crews().into()),
        compared: &[("pipeline_per_parallel", 0, 1)],
        calls: &[],
    },
    FormGroup {
        about: "frames through a packet socket, one by one and by sixteen",
        cores: 1,
        crews: || doorbell::crews().map_err(|cause| format!("a packet socket cannot be opened: {cause}")),
        compared: &[("sixteen_per_one", 1, 0)],
        calls: &[("calls_one_by_one", 0), ("calls_by_sixteen", 1)],
    },
];
/// The counts of instructions, and their cases.
const COUNTED: [(&str, &str); 3] = [
    ("instructions_8", "route-256k-8"),
    ("instructions_32", "route-256k-32"),
    ("instructions_64", "route-256k"),
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

/// Packets sealed in a poll.
const SEALED: u64 = 64;

/// Measures the figures. Those that this machine does not allow are missing, with the reason.
///
/// # Errors
/// A count fails, or `progress` ends the measurement.
pub(super) fn measure(passes: usize, progress: &dyn Fn(&str) -> Result<(), Error>) -> Result<Figures, Error> {
    let mut figures = Figures::default();
    for group in GROUPS {
        progress(group.about)?;
        compare(group, passes * ROUNDS, &mut figures);
    }
    let counting = count::available();
    for (name, case) in COUNTED {
        let name = format!("server.{name}");
        match &counting {
            Ok(()) => {
                progress(&format!("{case}: counting instructions"))?;
                figures.note(name, Ok(router::instructions(case)?));
            }
            Err(cause) => figures.note(name, Err(cause.to_string())),
        }
    }
    Ok(figures)
}

/// Measures the forms of a group in turn.
fn compare(group: &FormGroup, rounds: usize, figures: &mut Figures) {
    let mut note = |name: &str, figure| figures.note(format!("server.{name}"), figure);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let begun = match cores >= group.cores {
        true => (group.crews)(),
        false => Err(format!("it takes {} cores, and there is {cores}", group.cores)),
    };
    let mut crews = match begun {
        Ok(crews) => crews,
        Err(why) => return group.compared.iter().for_each(|(name, ..)| note(name, Err(why.clone()))),
    };
    let measured = Rounds::measure(&mut crews, rounds);
    for (name, form, base) in group.compared {
        note(name, measured.ratio(*form, *base));
    }
    for (name, form) in group.calls {
        note(name, Ok(crews[*form].calls_per_frame()));
    }
}

/// Two workers that share one ring behind a lock and take one frame at a time.
fn locked() -> Vec<Box<dyn Polled>> {
    let frame = router::frame(64);
    let fill =
        |pool: &mut FramePool| MemoryRing::filled(pool, router::RING, (0, &frame), MemoryTraffic::Same);
    let ring = Arc::new(Mutex::new(fill(&mut router::pool())));
    let worker = |_| -> Box<dyn Polled> {
        // Every worker has the same frames in the same buffers, so that the ring can name those of either.
        let mut pool = router::pool();
        drop(fill(&mut pool));
        Box::new(router::forwarding(Box::new(LockedRing(Arc::clone(&ring))), pool, 1))
    };
    (0..2).map(worker).collect()
}

/// Seals the packet of a 64-byte frame with AES-128-GCM, over and over.
struct Sealer {
    association: OutboundAssociation,
    text: [u8; 64],
    out: [u8; 128],
}

impl Sealer {
    fn new() -> Sealer {
        let association = OutboundAssociation::new(256, EspCipher::aes_128_gcm(&[7; 20]), 0);
        Sealer { association, text: [0x45; 64], out: [0; 128] }
    }
}

impl Polled for Sealer {
    fn polls(&mut self, polls: usize) -> u64 {
        let packets = polls as u64 * SEALED;
        for _ in 0..packets {
            let text = std::hint::black_box(&mut self.text);
            let sealed = self.association.seal_into(4, (text, 46), &mut self.out);
            std::hint::black_box(sealed).expect("numbers are left");
        }
        packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is timed here.
    #[test]
    fn every_form_does_all_its_packets() {
        for mut worker in locked() {
            assert_eq!(worker.polls(10), 10);
        }
        assert_eq!(Sealer::new().polls(2), 2 * SEALED);
    }

    #[test]
    fn every_figure_comes_from_a_group_or_a_count() {
        let compared = GROUPS.iter().flat_map(|group| group.compared).map(|(name, ..)| *name);
        let counted = COUNTED
            .iter()
            .map(|(name, _)| *name)
            .chain(GROUPS.iter().flat_map(|group| group.calls).map(|(name, _)| *name));
        let mut made: Vec<String> = compared.chain(counted).map(|name| format!("server.{name}")).collect();
        let mut named: Vec<&str> = SERVER_FIGURES.to_vec();
        made.sort();
        named.sort_unstable();
        assert_eq!(made, named);
    }
}
