//! Vector files of a parameter set: the inputs of the hardware clock by clock, and the outputs expected. A bench reads
//! them with `$readmemh`; the layout is in `hdl/drill/README.md`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::line::VectorLine;
use crate::pipeline::{ClockInputs, EngineOutputs, Pipeline};
use crate::set::Set;
use crate::traffic::VectorTraffic;

/// Bits of a tag: the low bits of the hash.
const TAG: usize = 8;
/// The seed of the shift registers in the first stream.
const SEED: u64 = 0x5745_4654_4452_494c;

/// The size of the written vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Lines.
    pub clocks: u64,
    /// Decisions in them.
    pub decisions: u64,
}

/// Writes the vectors of a set into a folder, with at least `decisions` decisions. Each `stream` has its own traffic, and its own
/// seed of the shift registers.
///
/// # Errors
/// If a file cannot be written.
pub fn write(set: &Set, (decisions, stream): (u64, u64), folder: &Path) -> io::Result<Written> {
    fs::create_dir_all(folder)?;
    let create = |name| File::create(folder.join(name)).map(BufWriter::new);
    let mut files = Files {
        stimulus: create("stimulus.mem")?,
        expected: create("expected.mem")?,
        rows: create("rows.mem")?,
    };
    let seed = SEED.wrapping_add(stream);
    let mut pipeline = Pipeline::new(*set, seed);
    let mut traffic = VectorTraffic::new(*set, 1 + stream);
    let mut written = Written { clocks: 0, decisions: 0 };
    let mut rows = 0;
    while written.decisions < decisions {
        let inputs = traffic.draw();
        let (outputs, decided) = pipeline.clock(&inputs);
        traffic.saw(&outputs, &decided);
        files.clock(set, &inputs, &outputs)?;
        written.clocks += 1;
        written.decisions += decided.len() as u64;
        rows += u64::from(inputs.write.is_some());
    }
    files.finish()?;
    fs::write(folder.join("parameters.svh"), parameters(set, written, (rows, seed)))?;
    Ok(written)
}

struct Files {
    stimulus: BufWriter<File>,
    expected: BufWriter<File>,
    rows: BufWriter<File>,
}

impl Files {
    fn clock(&mut self, set: &Set, inputs: &ClockInputs, outputs: &[EngineOutputs]) -> io::Result<()> {
        writeln!(self.stimulus, "{}", stimulus(set, inputs))?;
        writeln!(self.expected, "{}", expected(outputs))?;
        if let Some((number, row)) = &inputs.write {
            let mut line = VectorLine::default();
            line.field(*number as u64, width_of(set.groups * set.components));
            line.set(&row.members, set.ports).field(row.weight, set.weight_bits);
            writeln!(self.rows, "{}", line.hex())?;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.stimulus.flush()?;
        self.expected.flush()?;
        self.rows.flush()
    }
}

/// Bits of a number below `count`.
fn width_of(count: usize) -> usize {
    (count.next_power_of_two().trailing_zeros() as usize).max(1)
}

fn stimulus(set: &Set, inputs: &ClockInputs) -> String {
    let mut line = VectorLine::default();
    line.flag(inputs.reset).flag(inputs.write.is_some());
    line.flag(inputs.flip.is_some()).field(u64::from(inputs.flip.unwrap_or(0)), 8);
    for place in 0..=set.engines {
        let leave = inputs.leaves.get(place);
        let (port, size) = leave.copied().unwrap_or((0, 0));
        line.flag(leave.is_some()).field(u64::from(port), 8).field(u64::from(size), set.size_bits);
    }
    for (request, taken) in inputs.engines.iter().rev() {
        line.flag(request.is_some()).flag(*taken);
        let fields = request.map_or((0, 0, 0), |request| (request.group, request.hash(), request.size));
        line.field(u64::from(fields.0), 16).field(u64::from(fields.1), 32);
        line.field(u64::from(fields.2), set.size_bits);
    }
    line.hex()
}

fn expected(outputs: &[EngineOutputs]) -> String {
    let mut line = VectorLine::default();
    for output in outputs.iter().rev() {
        let (port, tag) = output.answer.unwrap_or((None, 0));
        line.flag(output.ready).flag(output.answer.is_some()).flag(output.answer.is_some() && port.is_none());
        line.field(u64::from(port.unwrap_or(0)), 8).field(u64::from(tag), TAG);
    }
    line.hex()
}

fn parameters(set: &Set, written: Written, (rows, seed): (u64, u64)) -> String {
    let numbers = [
        ("NP", set.ports as u64),
        ("NE", set.engines as u64),
        ("QW", set.queue_bits as u64),
        ("SW", set.size_bits as u64),
        ("D", set.samples as u64),
        ("M", set.memory as u64),
        ("NG", set.groups as u64),
        ("NC", set.components as u64),
        ("WW", set.weight_bits as u64),
        ("TIE", u64::from(set.tie_number())),
        ("VIS", set.hidden as u64),
        ("OWN", u64::from(set.own)),
        ("CLOCKS", written.clocks),
        ("DECISIONS", written.decisions),
        ("ROWS", rows),
    ];
    let defines: String = numbers.iter().map(|(name, value)| format!("`define {name} {value}\n")).collect();
    format!(
        "// {}: {}. Written by weft vectors drill.\n{defines}`define SEED 64'h{seed:x}\n",
        set.name, set.purpose
    )
}
