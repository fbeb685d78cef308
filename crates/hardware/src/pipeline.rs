//! The clocked pipeline around the reference: four stages and an answer per engine, back pressure, and the rotation of
//! all stages when a link or a row changes (`drill_engine.sv`). Must not decide which port a packet takes.

use crate::lfsr::{Registers, Word};
use crate::reference::{ComponentRow, PacketRequest, ReferenceSwitch};
use crate::set::Set;

/// Stages before the decision.
const STAGES: usize = 4;

/// Inputs of the hardware in one clock cycle.
#[derive(Clone, Debug, Default)]
pub struct ClockInputs {
    /// Resets everything except rows and links.
    pub reset: bool,
    /// A row that is written.
    pub write: Option<(usize, ComponentRow)>,
    /// A link that fails or returns.
    pub flip: Option<u16>,
    /// Packets that depart: port and size.
    pub leaves: Vec<(u16, u16)>,
    /// By engine: a request, and whether the answer is accepted.
    pub engines: Vec<(Option<PacketRequest>, bool)>,
}

/// Outputs of an engine in one clock cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EngineOutputs {
    /// A request would be accepted.
    pub ready: bool,
    /// The offered answer: port, if there is one, and tag.
    pub answer: Option<(Option<u16>, u8)>,
}

/// A request in the pipeline.
#[derive(Clone, Debug)]
struct Packet {
    request: PacketRequest,
    word: Option<Word>,
}

/// An engine's stages, oldest last, and its answer.
struct Stages {
    packets: [Option<Packet>; STAGES],
    answer: Option<(Option<u16>, u8)>,
    registers: Registers,
}

/// The whole of `drill.sv`.
pub struct Pipeline {
    set: Set,
    seed: u64,
    reference: ReferenceSwitch,
    engines: Vec<Stages>,
    rows: Vec<ComponentRow>,
    /// Whether rows have been written that the reference does not have yet.
    dirty: bool,
    up: Vec<bool>,
    /// The state of the links as known to the stages.
    known: Vec<bool>,
    stale: bool,
    /// Number of steps by which the stages must still rotate.
    turn: usize,
    clock: u64,
}

impl Pipeline {
    /// The state after a reset, with empty rows.
    #[must_use]
    pub fn new(set: Set, seed: u64) -> Pipeline {
        Pipeline {
            seed,
            reference: ReferenceSwitch::new(set),
            engines: (0..set.engines).map(|engine| Stages::new(&set, seed, engine)).collect(),
            rows: vec![ComponentRow::default(); set.groups * set.components],
            dirty: false,
            up: vec![true; set.ports],
            known: vec![true; set.ports],
            stale: false,
            turn: 0,
            clock: 0,
            set,
        }
    }

    /// One clock: returns the outputs of the engines, and the decided packets by port and size.
    pub fn clock(&mut self, inputs: &ClockInputs) -> (Vec<EngineOutputs>, Vec<(u16, u16)>) {
        self.clock += 1;
        self.take(inputs);
        let change = inputs.write.is_some() || self.up != self.known;
        let halted = change || self.stale || self.turn > 0;
        let ready = |(engine, taken): (&Stages, bool)| !halted && (engine.answer.is_none() || taken);
        let advance: Vec<_> =
            self.engines.iter().zip(inputs.engines.iter().map(|(_, taken)| *taken)).map(ready).collect();
        let outputs = self.engines.iter().zip(&advance);
        let outputs =
            outputs.map(|(engine, ready)| EngineOutputs { ready: *ready, answer: engine.answer }).collect();
        if inputs.reset {
            self.reset();
            return (outputs, Vec::new());
        }
        let decided = self.edge(inputs, &advance);
        inputs.leaves.iter().for_each(|(port, size)| self.reference.leaves(*port, *size));
        self.control(change);
        (outputs, decided)
    }

    /// Takes the links and rows of this clock. Nothing is decided before all stages have them.
    fn take(&mut self, inputs: &ClockInputs) {
        if let Some(port) = inputs.flip {
            let up = &mut self.up[usize::from(port)];
            *up = !*up;
            self.reference.set_port(port, *up);
        }
        if let Some((number, row)) = &inputs.write {
            self.rows[*number] = row.clone();
            self.dirty = true;
        } else if std::mem::take(&mut self.dirty) {
            self.reference.install(&self.rows);
        }
    }

    /// The clock edge of all engines.
    fn edge(&mut self, inputs: &ClockInputs, advance: &[bool]) -> Vec<(u16, u16)> {
        let mut decided = Vec::new();
        for (number, engine) in self.engines.iter_mut().enumerate() {
            let (request, taken) = inputs.engines[number];
            if self.turn > 0 {
                engine.rotate();
            }
            if advance[number] {
                let oldest = engine.shift(request.map(|request| Packet { request, word: None }));
                engine.answer = oldest.map(|packet| {
                    let Packet { request, word } = packet;
                    let mut word = word.expect("drawn on the way to stage 3");
                    let port = self.reference.choose(number, request, self.clock, &mut word);
                    decided.extend(port.map(|port| (number, port, request.size)));
                    (port, request.hash() as u8)
                });
            } else if taken {
                engine.answer = None;
            }
        }
        for (number, port, size) in &decided {
            self.reference.joins(*number, self.clock, *port, *size);
        }
        decided.into_iter().map(|(_, port, size)| (port, size)).collect()
    }

    fn control(&mut self, change: bool) {
        let start = self.stale && !change && self.turn == 0;
        if self.turn == 0 {
            self.known.clone_from(&self.up);
        }
        self.stale = !start && (self.stale || change);
        self.turn = if start { STAGES } else { self.turn.saturating_sub(1) };
    }

    fn reset(&mut self) {
        self.reference.reset();
        for (number, engine) in self.engines.iter_mut().enumerate() {
            *engine = Stages::new(&self.set, self.seed, number);
        }
        self.known.clone_from(&self.up);
        (self.stale, self.turn) = (false, 0);
    }
}

impl Stages {
    fn new(set: &Set, seed: u64, engine: usize) -> Stages {
        let registers = Registers::new(seed, engine, set.samples, set.random_bits());
        Stages { packets: [const { None }; STAGES], answer: None, registers }
    }

    /// Advances all packets by a stage; returns the oldest.
    fn shift(&mut self, packet: Option<Packet>) -> Option<Packet> {
        if let Some(packet) = &mut self.packets[1] {
            packet.word = Some(self.registers.draw());
        }
        self.packets.rotate_right(1);
        std::mem::replace(&mut self.packets[0], packet)
    }

    /// Advances all packets by a stage; the oldest starts again.
    fn rotate(&mut self) {
        let oldest = self.shift(None);
        self.packets[0] = oldest;
    }
}
