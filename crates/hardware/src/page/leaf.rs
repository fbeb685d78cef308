//! How evenly the hardware fills the queues of a leaf, beside published figures.

use crate::slotted::{SlottedChance, SlottedLeaf};

/// Slots of a run.
const SLOTS: u64 = 40_000;
/// The load that reproduces the published model's column of 80 %: its pauses are a slot shorter than 80 % requires.
const MET: f64 = 5.0 / 6.0;

/// d and m, and the published values at 30 % and 80 %, each with 1 and 48 engines.
const PUBLISHED: [((usize, usize), [f64; 4]); 8] = [
    ((1, 0), [0.259, 0.264, 2.70, 2.73]),
    ((1, 1), [0.223, 0.195, 0.901, 0.870]),
    ((2, 1), [0.056, 0.199, 0.500, 0.781]),
    ((4, 1), [0.003, 0.208, 0.298, 0.820]),
    ((12, 1), [0.000, 0.201, 0.037, 0.838]),
    ((20, 1), [0.000, 0.208, 0.004, 0.836]),
    ((1, 2), [0.156, 0.184, 0.742, 0.756]),
    ((1, 20), [0.000, 0.206, 0.453, 0.907]),
];

fn deviation((samples, memory): (usize, usize), engines: usize, load: f64, chance: SlottedChance) -> f64 {
    SlottedLeaf { samples, memory, engines, load, chance, seed: 1 }.deviation(SLOTS)
}

fn hardware(policy: (usize, usize), engines: usize, load: f64) -> f64 {
    deviation(policy, engines, load, SlottedChance::Registers)
}

/// The published table beside the hardware's.
pub(super) fn deviations() -> String {
    let mut text = "| d, m | 30 %, 1 engine: model | hardware | 30 %, 48 engines: model | hardware | 80 %, 1 engine: model | \
                    hardware | at 83.3 % | 80 %, 48 engines: model | hardware | at 83.3 % |\n\
                    |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        .to_owned();
    for (policy, [light_one, light_many, heavy_one, heavy_many]) in PUBLISHED {
        let of = |engines, load| hardware(policy, engines, load);
        text += &format!(
            "\n| {}, {} | {light_one:.3} | {:.3} | {light_many:.3} | {:.3} | {heavy_one:.3} | {:.3} | {:.3} | {heavy_many:.3} | \
             {:.3} | {:.3} |",
            policy.0,
            policy.1,
            of(1, 0.3),
            of(48, 0.3),
            of(1, 0.8),
            of(1, MET),
            of(48, 0.8),
            of(48, MET)
        );
    }
    text
}

/// A statement of the paper on two policies: the change of the mean deviation from `second` to `first`.
struct PaperStatement {
    name: &'static str,
    /// d and m.
    first: (usize, usize),
    second: (usize, usize),
    engines: usize,
    load: f64,
    change: &'static str,
}

/// The paper's statement about `first` against `second`.
const fn statement(
    name: &'static str,
    [first, second]: [(usize, usize); 2],
    (engines, load): (usize, f64),
    change: &'static str,
) -> PaperStatement {
    PaperStatement { name, first, second, engines, load, change }
}

const STATEMENTS: [PaperStatement; 6] = [
    statement("D1: (2, 1) against random, 80 %, 1 engine", [(2, 1), (1, 0)], (1, 0.8), "below -65 %"),
    statement("D1: (2, 1) against random, 80 %, 48 engines", [(2, 1), (1, 0)], (48, 0.8), "below -65 %"),
    statement("D3: (2, 1) against random, 30 %, 48 engines", [(2, 1), (1, 0)], (48, 0.3), "about -20 %"),
    statement("D4: (2, 1) against random, 30 %, 1 engine", [(2, 1), (1, 0)], (1, 0.3), "about -75 %"),
    statement("D5: (1, 2) against (1, 1), 80 %, 48 engines", [(1, 2), (1, 1)], (48, 0.8), "about -11 %"),
    statement("D6: (1, 20) against (1, 1), 80 %, 48 engines", [(1, 20), (1, 1)], (48, 0.8), "about +8 %"),
];

/// The paper's statements beside the hardware, and beside those engines with the simulator's random streams.
pub(super) fn statements() -> String {
    let mut text =
        "| statement | paper | hardware | simulator's random streams |\n|---|---:|---:|---:|".to_owned();
    for PaperStatement { name, first, second, engines, load, change: paper } in STATEMENTS {
        let change = |chance| {
            100.0 * (deviation(first, engines, load, chance) / deviation(second, engines, load, chance) - 1.0)
        };
        let (ours, streams) = (change(SlottedChance::Registers), change(SlottedChance::Streams));
        text += &format!("\n| {name} | {paper} | {ours:+.1} % | {streams:+.1} % |");
    }
    text
}
