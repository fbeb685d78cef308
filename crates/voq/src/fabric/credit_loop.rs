//! The loop of requests and credits: the events of an output, one after the other.

use weft_core::{Ecn, Headers, PacketId, PortId, Random, Time};
use weft_mark::{Action, Sight};

use super::{VoqFabric, number};
use crate::egress::{ByShaping, Due, PacketCrossing};
use crate::key::VoqKey;

impl VoqFabric {
    /// Processes events due at an output before `end`, up to the first packet that a marker drops, which is returned.
    pub(super) fn process(
        &mut self,
        end: Time,
        (port, mut behind): (PortId, impl FnMut(Time) -> ByShaping),
        headers: &mut Headers,
        random: &mut Random,
    ) -> Option<PacketId> {
        loop {
            let output = &mut self.outputs[port.index()];
            let (at, due) = output.due.pop_if(|(at, _)| *at < end)?;
            let dropped = match due {
                Due::Request(key) => {
                    output.credits.request(usize::from(key.class), key.group);
                    if output.may_grant_at_once(at) {
                        self.grant(at, port, behind(at));
                    } else {
                        output.grant_soon(at);
                    }
                    None
                }
                Due::Withdrawal(key) => {
                    output.credits.withdraw(usize::from(key.class), key.group);
                    None
                }
                Due::Grant => {
                    self.grant(at, port, behind(at));
                    None
                }
                Due::Credit(key) => {
                    output.credit_arrived(key.class, self.credit);
                    let number = number(key, self.classes, self.queues_per_group());
                    self.voqs[number].balance += self.credit as i64;
                    self.spend((at, key), headers, random)
                }
                Due::Spending(key) => self.spend((at, key), headers, random),
            };
            if dropped.is_some() {
                return dropped;
            }
        }
    }

    /// Grants a credit, unless enough is on its way.
    fn grant(&mut self, now: Time, port: PortId, behind: ByShaping) {
        let output = &mut self.outputs[port.index()];
        output.granting = false;
        let open = output.open_classes(behind, self.output);
        if open == 0 {
            output.credits.skip(now);
        } else if let Some((class, group)) = output.credits.grant(now, open) {
            let key = VoqKey { group, port, class: class as u8 };
            output.add_under_way(key.class, self.credit);
            output.add(now + self.credit_delay, Due::Credit(key));
        } else if output.shaped != 0 {
            output.credits.skip(now);
        }
        output.grant_soon(now);
    }

    /// Sends the packets of a queue that its credit allows, up to the first one that its marker drops, which is
    /// returned; the rest of the credit waits for the next packets.
    fn spend(
        &mut self,
        (now, key): (Time, VoqKey),
        headers: &mut Headers,
        random: &mut Random,
    ) -> Option<PacketId> {
        let number = number(key, self.classes, self.queues_per_group());
        while self.voqs[number].may_send() {
            let dropped = self.send((now, key), headers, random);
            if dropped.is_some() {
                self.outputs[key.port.index()].due.push_front((now, Due::Spending(key)));
                return dropped;
            }
        }
        if self.voqs[number].rests() {
            self.outputs[key.port.index()].add(now + self.credit_delay, Due::Withdrawal(key));
        }
        None
    }

    /// Sends the first packet of a queue to the output, on credit. Returns the packet if its marker drops it.
    pub(super) fn send(
        &mut self,
        (now, key): (Time, VoqKey),
        headers: &mut Headers,
        random: &mut Random,
    ) -> Option<PacketId> {
        let number = number(key, self.classes, self.queues_per_group());
        let (voq, output) = (&mut self.voqs[number], &mut self.outputs[key.port.index()]);
        let (packet, written) = voq.pop(headers)?;
        let header = headers.get_mut(packet);
        let wire = header.wire;
        output.waiting -= u64::from(wire);
        output.deep -= usize::from(written.is_some());
        let on_chip = match written {
            Some(written) => self.memory.read(now, written, wire),
            None => {
                self.memory.take(usize::from(key.group), wire);
                now
            }
        };
        let sight = Sight::new(now, header, (voq.queue.bytes, output.waiting));
        let action = voq.marker.leaving(&sight, random);
        if action == Action::Drop {
            return Some(packet);
        }
        voq.balance -= i64::from(wire);
        let marked = action == Action::Mark;
        if marked {
            header.marks.ecn = Ecn::Marked;
        }
        output.add_under_way(key.class, u64::from(wire));
        let (at, shaped) = (voq.leaves(on_chip) + self.crossing, output.is_shaped(key.class));
        output.cross(PacketCrossing { at, packet, wire, marked, shaped });
        None
    }
}
