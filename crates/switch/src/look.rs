//! Reads all ports at the end of a bin of the run over time: one pass, cheap if nothing is queued.

use weft_core::{Bytes, PortId, Time};

use crate::outputs::Outputs;
use crate::port::Output;
use crate::switch::Switch;

/// The counters and the contents of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortLook {
    /// Packets marked.
    pub marked: u64,
    /// Integral of the bytes held over time, in byte-picoseconds.
    pub byte_time: u128,
    /// Peak number of bytes held since the previous reading.
    pub peak: Bytes,
    /// Wire bytes of packets whose departure is foreseen and whose first bit has not left.
    pub waiting: Bytes,
}

impl Switch {
    /// Reads the ports that have held something since the last reading, after all events before `after`; time
    /// integrals run up to `now`. Peaks start again.
    pub fn look(&mut self, (after, now): (Time, Time), mut seen: impl FnMut(PortId, PortLook)) {
        let (outputs, fabric) = (&mut self.outputs, &self.fabric);
        // pause frames are sent without being held
        let all = outputs.ingress.is_some();
        for port in 0..outputs.len() {
            let held = &outputs.ports[port].port;
            let in_front = fabric.as_ref().map(|side| &side.held[port]);
            if all || held.bytes > 0 || held.peak > 0 || in_front.is_some_and(|held| held.bytes > 0) {
                let port = PortId(port as u16);
                outputs.settle(after, port);
                outputs.settle_strict(after, port);
                let mut look = outputs.look(port, (after, now));
                if let Some(held) = in_front {
                    look.byte_time += held.counters_until(now).byte_time;
                    outputs.ports[port.index()].port.peak += held.bytes;
                }
                seen(port, look);
            }
        }
    }
}

impl Outputs {
    /// Bytes that all ports hold.
    pub(crate) fn stored(&self) -> u64 {
        self.ports.iter().map(|output| output.port.bytes).sum()
    }

    /// See [`Switch::look`]; packets that left before `after` must have been released.
    #[inline]
    fn look(&mut self, port: PortId, (after, now): (Time, Time)) -> PortLook {
        let Output { port: held, foresight, strict, in_lull, .. } = &mut self.ports[port.index()];
        let peak = Bytes(std::mem::replace(&mut held.peak, held.bytes));
        let (marked, counted) = (held.marked, held.byte_time);
        let (waiting, byte_time) = match foresight {
            None => match strict {
                Some(strict) => (strict.to_start(after).1, strict.byte_time(counted, now)),
                None => match in_lull.as_ref().filter(|foreseen| foreseen.packets() > 0) {
                    Some(foreseen) => (foreseen.waiting(after).1, counted - foreseen.byte_time_after(now)),
                    None => (0, held.counters_until(now).byte_time),
                },
            },
            Some(_) if held.bytes == 0 => (0, counted),
            Some(foresight) => {
                let (started, rest) = foresight.to_come((after, now));
                (held.bytes - started, counted - rest)
            }
        };
        PortLook { marked, byte_time, peak, waiting: Bytes(waiting) }
    }
}
