//! One switch, two drivers: the simulator, whose arrivals at a switch a tap records, and the router, to which the same arrivals come as
//! frames. Both must send the same packets by the same ports with the same marks, and drop the same.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use weft_core::{Bytes, Class, Ecn, Header, PortId, Span, SwitchId, Time};
use weft_packet::{EtherType, EthernetHeader, Ipv4Header, Ipv4Packet, Mac};
use weft_plan::Setup;
use weft_router::app::switch::{SharedSwitch, SwitchPort, SwitchShape, Switching};
use weft_router::driver::{QueueReading, SwitchDriver, SwitchOutcome};
use weft_router::{Backend, DropCause, Frame, FrameBatch, FramePool, RouterCounters, RouterWorker};
use weft_sim::{Seen, Simulation, Tap};
use weft_switch::PortCounters;
use weft_topology::Node;

/// A packet that left a switch: its number among the arrivals, and whether it says that it met congestion.
pub type Sent = (u32, bool);

/// What happened at a switch: what each port sent, in order, and the number of packets dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// By port.
    pub sent: Vec<Vec<Sent>>,
    /// By reason, in the order of [`weft_core::record::Reason::ALL`].
    pub dropped: Vec<u64>,
}

/// Runs the setup with a tap on a switch.
///
/// # Panics
/// A flow does not finish, so that the end of the run would cut off what the switch does.
#[must_use]
pub fn simulated(setup: &Setup, switch: SwitchId) -> (Vec<Seen>, Deeds) {
    let (record, tap) = Simulation::new(setup.clone()).run_tapped(Tap::new(switch));
    assert!(record.flows.iter().all(|flow| flow.end.is_some()), "every flow finishes");
    let mut deeds = Deeds {
        sent: vec![Vec::new(); setup.port_rates(switch).len()],
        dropped: vec![0; weft_core::record::Reason::ALL.len()],
    };
    for seen in &tap.seen {
        match *seen {
            Seen::Arrived { .. } => {}
            Seen::Left { port, packet, ecn, .. } => {
                deeds.sent[port.index()].push((packet, ecn == Ecn::Marked));
            }
            Seen::Dropped { reason, .. } => deeds.dropped[reason as usize] += 1,
        }
    }
    (tap.seen, deeds)
}

/// Frames on their way to and from a worker, by port.
type Shelf = Arc<Mutex<VecDeque<Vec<u8>>>>;

struct ShelfPort {
    port: u16,
    from: Shelf,
    to: Shelf,
}

impl Backend for ShelfPort {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        while let Some(bytes) = self.from.lock().expect("nobody panics").pop_front() {
            assert!(batch.push(pool.store(&bytes, self.port).expect("there are buffers")));
        }
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        for frame in frames.drain(..) {
            self.to.lock().expect("nobody panics").push_back(pool.bytes(frame).to_vec());
            pool.give(frame.buffer);
        }
        Ok(0)
    }
}

/// A router that plays one switch, with frames laid on its ports by hand.
pub struct Played {
    workers: Vec<RouterWorker<Switching>>,
    shared: Arc<SharedSwitch>,
    /// By worker and port.
    arriving: Vec<Vec<Shelf>>,
    leaving: Vec<Vec<Shelf>>,
    readers: Vec<usize>,
}

/// The router's own station at every port, and every station behind them.
const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
const FAR: Mac = Mac([2, 0, 0, 0, 0, 2]);

impl Played {
    /// With a number of workers. Code point n is class n.
    #[must_use]
    pub fn new(setup: &Setup, switch: SwitchId, workers: u16) -> Played {
        let links = setup.graph.links_of(Node::Switch(switch));
        let host = |node| match node {
            Node::Host(host) => Some(host),
            Node::Switch(_) => None,
        };
        let ports =
            links.iter().map(|link| SwitchPort::new(link.port, OWN, host(link.to), Some(FAR))).collect();
        let shape = SwitchShape {
            build: &|| setup.build_switch(switch),
            rates: setup.port_rates(switch),
            workers,
            hosts: setup.graph.hosts(),
            class_of: std::array::from_fn(|code_point| Class(code_point as u8)),
        };
        let shared = Arc::new(SharedSwitch::new(shape, ports));
        let shelves = || -> Vec<Vec<Shelf>> {
            (0..workers).map(|_| links.iter().map(|_| Shelf::default()).collect()).collect()
        };
        let (arriving, leaving) = (shelves(), shelves());
        let worker = |number: u16| {
            let port = |port: usize| {
                let (from, to) = (&arriving[usize::from(number)][port], &leaving[usize::from(number)][port]);
                let (from, to) = (Arc::clone(from), Arc::clone(to));
                Box::new(ShelfPort { port: port as u16, from, to }) as Box<dyn Backend>
            };
            let app = Switching::new(Arc::clone(&shared), number);
            RouterWorker::new((0..links.len()).map(port).collect(), FramePool::new(4096), app)
        };
        let workers_built = (0..workers).map(worker).collect();
        let readers = Played::readers(setup, switch, workers);
        Played { workers: workers_built, shared, arriving, leaving, readers }
    }

    /// Plays arrivals at their times, then waits until the switch is empty. Returns what each worker sent by each port, and the drops.
    ///
    /// # Panics
    /// A worker fails.
    #[must_use]
    pub fn play(&mut self, arrivals: &[Seen]) -> (Vec<Deeds>, RouterCounters) {
        let (mut number, mut end) = (0, Time::ZERO);
        for arrival in arrivals {
            let Seen::Arrived { time, port, header } = arrival else { continue };
            self.arrive(*time, *port, &frame(header, number));
            (number, end) = (number + 1, *time);
        }
        while self.shared.inside() > 0 {
            end += Span::from_us(1);
            self.poll(end);
        }
        self.poll(end);
        let mut counters = RouterCounters::default();
        self.workers.iter().for_each(|worker| counters.add(worker.counters()));
        (self.deeds(), counters)
    }

    /// Plays arrivals on a thread for each worker, each at its own pace, then waits until the switch is empty. Returns the
    /// number of arrivals, and the counters of all workers.
    ///
    /// # Panics
    /// A worker fails.
    #[must_use]
    pub fn race(mut self, arrivals: &[Seen]) -> (u64, RouterCounters) {
        let mut number = 0;
        let mut of_worker = vec![Vec::new(); self.workers.len()];
        for arrival in arrivals {
            let Seen::Arrived { time, port, header } = arrival else { continue };
            of_worker[self.readers[port.index()]].push((*time, port.index(), frame(header, number)));
            number += 1;
        }
        let (shared, workers) = (&self.shared, self.workers.iter_mut());
        let counters = std::thread::scope(|scope| {
            let threads: Vec<_> = workers
                .zip(&self.arriving)
                .zip(of_worker)
                .map(|((worker, shelves), own)| {
                    scope.spawn(move || {
                        let mut now = Time::ZERO;
                        for (time, port, bytes) in own {
                            shelves[port].lock().expect("nobody panics").push_back(bytes);
                            now = time;
                            worker.poll(now).expect("shelves do not fail");
                        }
                        while shared.inside() > 0 {
                            now += Span::from_us(1);
                            worker.poll(now).expect("shelves do not fail");
                            std::thread::yield_now();
                        }
                        worker.poll(now).expect("shelves do not fail");
                        worker.counters().clone()
                    })
                })
                .collect();
            let mut sum = RouterCounters::default();
            threads.into_iter().for_each(|thread| sum.add(&thread.join().expect("no thread panics")));
            sum
        });
        (u64::from(number), counters)
    }

    fn arrive(&mut self, time: Time, port: PortId, bytes: &[u8]) {
        let worker = self.readers[port.index()];
        self.arriving[worker][port.index()].lock().expect("nobody panics").push_back(bytes.to_vec());
        self.workers[worker].poll(time).expect("shelves do not fail");
    }

    fn poll(&mut self, time: Time) {
        for worker in &mut self.workers {
            worker.poll(time).expect("shelves do not fail");
        }
    }

    /// By worker.
    fn deeds(&self) -> Vec<Deeds> {
        let dropped: Vec<u64> =
            weft_core::record::Reason::ALL.iter().map(|reason| self.shared.dropped(*reason)).collect();
        let sent =
            |shelf: &Shelf| shelf.lock().expect("nobody panics").iter().map(|bytes| seen(bytes)).collect();
        let deeds =
            |ports: &Vec<Shelf>| Deeds { sent: ports.iter().map(sent).collect(), dropped: dropped.clone() };
        self.leaving.iter().map(deeds).collect()
    }

    /// By port: what it has dropped, its peak in bytes, and its queues.
    #[must_use]
    pub fn ports(&self) -> Vec<((u64, Bytes), Vec<QueueReading>)> {
        let port = |port: usize| PortId(port as u16);
        let reading = |number: usize| {
            let (_, PortCounters { dropped, peak, .. }) = self.shared.port(port(number));
            ((dropped, peak), self.shared.queues(port(number)))
        };
        (0..self.readers.len()).map(reading).collect()
    }

    /// The worker that reads each port: the one with the engine of its packets.
    #[must_use]
    pub fn readers(setup: &Setup, switch: SwitchId, workers: u16) -> Vec<usize> {
        let built = setup.build_switch(switch);
        let reader =
            |port: usize| built.engine_of(PortId(port as u16)).unwrap_or(port) % usize::from(workers);
        (0..setup.port_rates(switch).len()).map(reader).collect()
    }
}

/// What a switch does by itself with packets whose headers are those of arrivals: what leaves by each port, in order.
#[must_use]
pub fn switched(setup: &Setup, switch: SwitchId, arrivals: &[(Time, PortId, Header)]) -> Vec<Vec<u32>> {
    let mut driver = SwitchDriver::new(setup.build_switch(switch), setup.port_rates(switch), None);
    for (number, (time, port, header)) in (0..).zip(arrivals) {
        driver.receive(*time, *port, (0, Frame { buffer: number, ..Frame::default() }), *header);
    }
    while driver.next_due().is_some() {
        driver.step();
    }
    let mut sent = vec![Vec::new(); setup.port_rates(switch).len()];
    for (_, outcome) in driver.outcomes().drain(..) {
        if let SwitchOutcome::Sent { port, frame, .. } = outcome {
            sent[port.index()].push(frame.buffer);
        }
    }
    sent
}

/// The arrivals at a switch.
#[must_use]
pub fn arrivals(seen: &[Seen]) -> Vec<(Time, PortId, Header)> {
    let arrived = |seen: &Seen| match *seen {
        Seen::Arrived { time, port, header } => Some((time, port, header)),
        _ => None,
    };
    seen.iter().filter_map(arrived).collect()
}

/// A packet with this header as bytes: addresses, ports and protocol, and a number that it carries.
#[must_use]
pub fn frame(header: &Header, number: u32) -> Vec<u8> {
    let ethernet = EthernetHeader { destination: OWN, source: FAR, kind: EtherType::IPV4 };
    let tuple = header.tuple();
    let address = |host: weft_core::HostId| (0x0a00_0000 | host.0).into();
    let ecn = match header.marks.ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    };
    let ip = Ipv4Header {
        traffic_class: header.class.0 << 2 | ecn,
        protocol: tuple.protocol,
        // Preamble, gap and FCS are not part of a frame.
        payload: header.wire - 24 - (EthernetHeader::LEN + Ipv4Header::LEN) as u16,
        ..Ipv4Header::between(address(tuple.source), address(tuple.destination))
    };
    // The ports begin the headers of TCP and UDP alike; a switch reads no more of them.
    let mut data = vec![0; usize::from(ip.payload)];
    data[..4].copy_from_slice(&header.ports.to_be_bytes());
    data[8..12].copy_from_slice(&number.to_be_bytes());
    [&ethernet.to_bytes()[..], &ip.to_bytes(), &data].concat()
}

/// The number of a sent packet, and whether it is marked; the packet must be sound and one hop older.
fn seen(bytes: &[u8]) -> Sent {
    assert_eq!(bytes[..12], [FAR.0, OWN.0].concat(), "to the far station, from the router's own");
    let packet = Ipv4Packet::parse(&bytes[EthernetHeader::LEN..]).expect("a sound packet");
    assert_eq!(packet.ttl, 63);
    let number = packet.payload[8..].first_chunk().expect("a number");
    (u32::from_be_bytes(*number), packet.traffic_class & 3 == 3)
}

/// Packets that met congestion.
#[must_use]
pub fn marked(deeds: &Deeds) -> usize {
    deeds.sent.iter().flatten().filter(|(_, marked)| *marked).count()
}

/// Frames that a router dropped in its switch.
#[must_use]
pub fn dropped(counters: &RouterCounters) -> u64 {
    counters.dropped(DropCause::Switch)
}
