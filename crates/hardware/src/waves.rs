//! The waveform of the book: an engine of the hardware model before and after a link failure. Must not depend on
//! Verilog simulators: the co-simulation shows that they agree.

use std::fmt::Write;

use crate::pipeline::{ClockInputs, EngineOutputs, Pipeline};
use crate::reference::{ComponentRow, PacketRequest};
use crate::set::{SETS, Set};
use weft_draw::svg;

/// The path of the picture.
pub const PICTURE: &str = "docs/src/images/hardware/waves.svg";
/// Clocks in the picture.
const CLOCKS: usize = 26;
/// The clock in which port 2 fails.
const FAILS: usize = 9;
/// Clocks in which the answer is not accepted.
const BUSY: [usize; 2] = [17, 18];
/// Seed of the shift register; with it, port 2 is chosen before it fails.
const SEED: u64 = 1_948_005_844;
const WIDTH: usize = 30;
const HEIGHT: usize = 34;
const LEFT: usize = 110;

/// A signal, clock by clock.
enum Signal {
    Level(Vec<bool>),
    /// A value, where it is valid.
    Value(Vec<Option<String>>),
}

/// The picture.
#[must_use]
pub fn draw() -> String {
    let signals = record(SEED);
    let (width, height) = (LEFT + CLOCKS * WIDTH + 10, 40 + signals.len() * HEIGHT);
    let mut parts = String::new();
    for clock in 0..CLOCKS {
        let x = LEFT + clock * WIDTH;
        let middle = x + WIDTH / 2;
        let _ = writeln!(parts, "<path d=\"M{x} 20V{height}\" stroke=\"#ddd\"/>");
        let place = (middle.to_string(), "14");
        parts += &svg::text((&place.0, place.1), "text-anchor=\"middle\" fill=\"#777\"", &clock.to_string());
    }
    for (row, (name, signal)) in signals.iter().enumerate() {
        let y = 28 + row * HEIGHT;
        parts += &svg::text(("4", &(y + 16).to_string()), "", name);
        match signal {
            Signal::Level(levels) => level(&mut parts, y, levels),
            Signal::Value(values) => value(&mut parts, y, values),
        }
    }
    let title = "Requests and answers of an engine when a link fails";
    svg::document((width as f64, height as f64), 11, title, &parts)
}

fn level(parts: &mut String, y: usize, levels: &[bool]) {
    let at = |high: bool| if high { y + 2 } else { y + 20 };
    let mut path = format!("M{LEFT} {}", at(levels[0]));
    for (clock, high) in levels.iter().enumerate() {
        let _ = write!(path, "V{}H{}", at(*high), LEFT + (clock + 1) * WIDTH);
    }
    let _ = writeln!(parts, "<path d=\"{path}\" fill=\"none\" stroke=\"#06c\" stroke-width=\"1.5\"/>");
}

fn value(parts: &mut String, y: usize, values: &[Option<String>]) {
    for (clock, text) in values.iter().enumerate() {
        let x = LEFT + clock * WIDTH;
        match text {
            Some(text) => {
                let _ = writeln!(
                    parts,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"18\" fill=\"#eef\" stroke=\"#06c\"/>",
                    x + 1,
                    y + 2,
                    WIDTH - 2
                );
                let place = (x + WIDTH / 2, y + 15);
                let (x, y) = (place.0.to_string(), place.1.to_string());
                *parts += &svg::text((&x, &y), "text-anchor=\"middle\"", text);
            }
            None => {
                let _ = writeln!(parts, "<path d=\"M{x} {}h{WIDTH}\" stroke=\"#bbb\"/>", y + 11);
            }
        }
    }
}

/// Records a few packets through an engine with four ports.
fn record(seed: u64) -> Vec<(&'static str, Signal)> {
    let mut pipeline = Pipeline::new(small(), seed);
    let mut next = 0;
    let mut signals: [Vec<bool>; 6] = Default::default();
    let mut values = [Vec::new(), Vec::new()];
    let members = vec![0, 1, 2, 3];
    let write = ClockInputs { write: Some((0, ComponentRow { members, weight: 1 })), ..quiet() };
    pipeline.clock(&write);
    (0..8).for_each(|_| drop(pipeline.clock(&quiet())));
    for clock in 0..CLOCKS {
        let request = (next < 12).then_some(PacketRequest { group: 0, flow: next, size: 1 });
        let taken = !BUSY.contains(&clock);
        let flip = (clock == FAILS).then_some(2);
        let inputs = ClockInputs { flip, engines: vec![(request, taken)], ..ClockInputs::default() };
        let (outputs, decided) = pipeline.clock(&inputs);
        let EngineOutputs { ready, answer } = outputs[0];
        let levels = [request.is_some(), ready, answer.is_some(), taken, clock < FAILS, !decided.is_empty()];
        signals.iter_mut().zip(levels).for_each(|(signal, level)| signal.push(level));
        values[0].push(request.map(|_| format!("p{next}")));
        values[1].push(answer.map(|(port, _)| port.map_or("-".to_owned(), |port| port.to_string())));
        next += u32::from(request.is_some() && ready);
    }
    let [req_valid, req_ready, rsp_valid, rsp_ready, up, decides] = signals.map(Signal::Level);
    let [request, port] = values.map(Signal::Value);
    vec![
        ("req_valid_i", req_valid),
        ("req_ready_o", req_ready),
        ("request", request),
        ("up_i[2]", up),
        ("pick_valid_o", decides),
        ("rsp_valid_o", rsp_valid),
        ("rsp_ready_i", rsp_ready),
        ("rsp_port_o", port),
    ]
}

fn quiet() -> ClockInputs {
    ClockInputs { engines: vec![(None, true)], ..ClockInputs::default() }
}

/// One engine, four ports, one group.
fn small() -> Set {
    Set { ports: 4, groups: 1, components: 1, ..SETS[0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_after_the_failure_names_the_port_that_failed() {
        let signals = record(SEED);
        let Some((_, Signal::Value(ports))) = signals.last() else { panic!("ports are values") };
        let named = |clocks: &[Option<String>]| clocks.iter().flatten().any(|port| port == "2");
        assert!(named(&ports[..=FAILS]), "{ports:?}");
        assert!(!named(&ports[FAILS + 1..]), "{ports:?}");
        assert!(ports[FAILS + 1..].iter().flatten().count() > 5, "{ports:?}");
    }
}
