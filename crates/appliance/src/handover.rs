//! Frames handed from worker to worker through rings, where a device has fewer queues than the router has workers.
//! Must not depend on applications.
//!
//! Worker *w* of a device with Q queues belongs to the owner of queue *w* mod Q. The owner divides what arrives among
//! itself and its members by the Toeplitz hash, so that each flow stays on one worker and in order, and sends what
//! they send.
//!
//! ```text
//! device -> owner -> hash -> its own worker
//!                         -> ring -> member
//! device <- owner <- ring <- member
//! ```
//!
//! A ring has one producer and one consumer; a full one loses frames, which are counted. At the end owners stop
//! reading their devices, members process what is in their rings, and owners send what members have sent.

use std::io;
use std::os::fd::RawFd;

use weft_packet::rss::FlowQueues;
use weft_router::backend::{DeviceLosses, Ending};
use weft_router::{Backend, Frame, FrameBatch, FramePool};

mod bell;
mod lane;

use bell::Listener;
use lane::{LaneEnd, LaneStart, SendAccount, lane};

/// Each worker's back end of the port `port`; the first workers own a queue each.
pub(crate) fn divide(
    queues: Vec<Box<dyn Backend>>,
    (port, workers): (u16, u16),
) -> io::Result<Vec<Box<dyn Backend>>> {
    let count = queues.len();
    if count >= usize::from(workers) {
        return Ok(queues);
    }
    let mut owners = queues.into_iter().map(OwnerPort::new).collect::<io::Result<Vec<_>>>()?;
    let mut members: Vec<Box<dyn Backend>> = Vec::new();
    for worker in count..usize::from(workers) {
        members.push(Box::new(owners[worker % count].admit(port)?));
    }
    let owners = owners.into_iter().map(|owner| Box::new(owner) as Box<dyn Backend>);
    Ok(owners.chain(members).collect())
}

/// A queue of a device, with the members it serves.
struct OwnerPort {
    device: Box<dyn Backend>,
    members: Vec<ServedMember>,
    flows: FlowQueues,
    listener: Listener,
    arrived: FrameBatch,
    leaving: Vec<Frame>,
    losses: DeviceLosses,
    /// It takes nothing more from the device.
    ends: bool,
}

/// A member, as its owner sees it.
struct ServedMember {
    arrivals: LaneStart,
    departures: LaneEnd,
    account: SendAccount,
}

impl OwnerPort {
    fn new(device: Box<dyn Backend>) -> io::Result<OwnerPort> {
        Ok(OwnerPort {
            device,
            members: Vec::new(),
            flows: FlowQueues::among(1),
            listener: Listener::new()?,
            arrived: FrameBatch::default(),
            leaving: Vec::new(),
            losses: DeviceLosses::default(),
            ends: false,
        })
    }

    /// A new member of this queue, for the port `port`.
    fn admit(&mut self, port: u16) -> io::Result<MemberPort> {
        let listener = Listener::new()?;
        let (arrivals, own_arrivals) = lane(listener.bell());
        let (own_departures, departures) = lane(self.listener.bell());
        let account = SendAccount::default();
        self.members.push(ServedMember { arrivals, departures, account: account.clone() });
        let losses = DeviceLosses::default();
        Ok(MemberPort { port, arrivals: own_arrivals, departures: own_departures, account, listener, losses })
    }

    /// Sends the packets of the members.
    fn relay(&mut self, pool: &mut FramePool) -> io::Result<()> {
        // From here on, every sender that puts something into a ring rings as well.
        self.listener.listen();
        let mut result = Ok(());
        for member in &mut self.members {
            let leaving = &mut self.leaving;
            member
                .departures
                .take(pool.free().min(weft_router::BATCH), |bytes| leaving.extend(pool.store(bytes, 0)));
            if self.leaving.is_empty() {
                continue;
            }
            let (count, bytes) =
                (self.leaving.len(), self.leaving.iter().map(|frame| u64::from(frame.length)).sum());
            match self.device.transmit(pool, &mut self.leaving) {
                Ok(0) => {}
                Ok(lost) => member.account.lose(lost as u64, &mut self.losses, self.device.losses()),
                Err(error) => {
                    let losses = DeviceLosses { unsent_bytes: bytes, ..self.device.losses() };
                    member.account.lose(count as u64, &mut self.losses, losses);
                    result = Err(error);
                }
            }
        }
        // The remaining packets must not wait for a bell that has already rung.
        if self.members.iter().any(|member| !member.departures.is_empty()) {
            self.listener.bell().ring();
        }
        result
    }

    /// Keeps or hands over the frames from the device.
    fn deal(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) {
        let places = self.members.len() as u16 + 1;
        for frame in self.arrived.frames() {
            let bytes = pool.bytes(*frame);
            let Some(member) = usize::from(self.flows.apart(bytes, places)).checked_sub(1) else {
                batch.push(*frame);
                continue;
            };
            let is_in = self.members[member].arrivals.put(bytes);
            if !is_in {
                self.losses.crowded_out += 1;
                self.losses.arrived_bytes += u64::from(frame.length);
            }
            pool.give(frame.buffer);
        }
        self.members.iter_mut().for_each(|member| member.arrivals.ring());
    }
}

impl Backend for OwnerPort {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        let relayed = self.relay(pool);
        if self.ends {
            return relayed;
        }
        self.arrived.limit(batch.room());
        let received = self.device.receive(pool, &mut self.arrived);
        self.deal(pool, batch);
        relayed.and(received)
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        self.device.transmit(pool, frames)
    }

    fn losses(&mut self) -> DeviceLosses {
        let mut losses = std::mem::take(&mut self.losses);
        losses += self.device.losses();
        losses
    }

    fn send_calls(&self) -> u64 {
        self.device.send_calls()
    }

    fn descriptors(&self) -> Vec<RawFd> {
        let mut all = self.device.descriptors();
        all.push(self.listener.descriptor());
        all
    }

    fn end(&mut self, ending: Ending) -> bool {
        self.ends = true;
        match ending {
            Ending::Arrivals => {
                self.members.iter_mut().for_each(|member| member.arrivals.end());
                false
            }
            Ending::Departures => {
                let (ended, going): (Vec<_>, Vec<_>) =
                    self.members.iter().partition(|member| member.departures.has_ended());
                ended.iter().for_each(|member| member.account.settle());
                !going.is_empty()
            }
        }
    }
}

/// The port of a worker without a queue, which receives from its owner and sends through it.
struct MemberPort {
    port: u16,
    arrivals: LaneEnd,
    departures: LaneStart,
    account: SendAccount,
    listener: Listener,
    losses: DeviceLosses,
}

impl Backend for MemberPort {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        let port = self.port;
        let most = batch.room().min(pool.free());
        let mut take = |arrivals: &mut LaneEnd| {
            arrivals.take(most, |bytes| {
                pool.store(bytes, port).map(|frame| batch.push(frame));
            })
        };
        if take(&mut self.arrivals) == 0 {
            self.listener.listen();
            // A sender that has put something into the ring in between has not rung.
            take(&mut self.arrivals);
        }
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        let mut lost = 0;
        for frame in frames.drain(..) {
            if !self.departures.put(pool.bytes(frame)) {
                lost += 1;
                self.losses.unsent_bytes += u64::from(frame.length);
            }
            pool.give(frame.buffer);
        }
        self.losses.crowded_in += lost as u64;
        self.departures.ring();
        Ok(lost)
    }

    fn losses(&mut self) -> DeviceLosses {
        let mut losses = std::mem::take(&mut self.losses);
        losses += self.account.take();
        losses
    }

    fn descriptors(&self) -> Vec<RawFd> {
        vec![self.listener.descriptor()]
    }

    fn end(&mut self, ending: Ending) -> bool {
        match ending {
            Ending::Arrivals => !self.arrivals.has_ended(),
            Ending::Departures => {
                self.departures.end();
                !self.account.is_settled() && !self.departures.is_abandoned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};
    use std::sync::{Arc, Mutex};

    use weft_core::Time;
    use weft_packet::{EtherType, EthernetHeader, Ipv4Header, Mac, ports};
    use weft_router::app::forward::{CrossConnect, Forwarding};
    use weft_router::{DropCause, RouterCounters, RouterWorker};

    use super::*;

    /// A device with frames that arrive and frames that have left; it refuses frames above 400 bytes.
    #[derive(Clone, Default)]
    struct Device(Shelves, DeviceLosses);

    /// The arriving frames, and those that have left.
    type Shelves = Arc<Mutex<(VecDeque<Vec<u8>>, Vec<Vec<u8>>)>>;

    impl Backend for Device {
        fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
            let mut state = self.0.lock().unwrap();
            while batch.room() > 0 {
                let Some(bytes) = state.0.pop_front() else { break };
                assert!(batch.push(pool.store(&bytes, 0).unwrap()));
            }
            Ok(())
        }

        fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
            let mut lost = 0;
            for frame in frames.drain(..) {
                let bytes = pool.bytes(frame).to_vec();
                pool.give(frame.buffer);
                if bytes.len() <= 400 {
                    self.0.lock().unwrap().1.push(bytes);
                } else {
                    lost += 1;
                    self.1 += DeviceLosses {
                        unsent_bytes: bytes.len() as u64,
                        refused: 1,
                        ..DeviceLosses::default()
                    };
                }
            }
            Ok(lost)
        }

        fn losses(&mut self) -> DeviceLosses {
            std::mem::take(&mut self.1)
        }
    }

    /// A datagram of a flow, with its number.
    fn datagram(flow: u16, number: u32, length: usize) -> Vec<u8> {
        let ip = Ipv4Header::between([10, 1, 0, 2].into(), [10, 2, 0, 2].into());
        let ethernet =
            EthernetHeader { destination: Mac([2; 6]), source: Mac([4; 6]), kind: EtherType::IPV4 };
        let mut data = vec![0; length];
        data[..4].copy_from_slice(&number.to_be_bytes());
        [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (flow, 53), &data)].concat()
    }

    fn number_of(frame: &[u8]) -> (u16, u32) {
        let number = u32::from_be_bytes(*frame[42..].first_chunk().unwrap());
        (u16::from_be_bytes([frame[34], frame[35]]), number)
    }

    /// Workers that send back by the port by which frames came.
    fn workers(device: &Device, count: u16) -> Vec<RouterWorker<Forwarding>> {
        let ports = divide(vec![Box::new(device.clone())], (0, count)).unwrap();
        let wire = CrossConnect::new(0, Mac([2; 6]), Mac([4; 6]));
        let worker = |port| RouterWorker::new(vec![port], FramePool::new(256), Forwarding::new(vec![wire]));
        ports.into_iter().map(worker).collect()
    }

    fn total(workers: &[RouterWorker<Forwarding>]) -> RouterCounters {
        let mut total = RouterCounters::default();
        workers.iter().for_each(|worker| total.add(worker.counters()));
        total
    }

    /// Each worker polls, one after the other, some times.
    fn poll(workers: &mut [RouterWorker<Forwarding>], times: usize) {
        for _ in 0..times {
            for worker in &mut *workers {
                worker.poll(Time::ZERO).unwrap();
            }
        }
    }

    #[test]
    fn each_flow_has_one_worker_and_leaves_in_order() {
        let device = Device::default();
        let mut workers = workers(&device, 3);
        for number in 0..50 {
            let frames = (0..40).map(|flow| datagram(flow, number, 20));
            device.0.lock().unwrap().0.extend(frames);
            // Workers poll at different paces.
            for round in 0..6 {
                poll(&mut workers[..=round % 3], 1);
            }
        }
        poll(&mut workers, 20);
        let mut next: BTreeMap<u16, u32> = BTreeMap::new();
        for frame in &device.0.lock().unwrap().1 {
            let (flow, number) = number_of(frame);
            let expected = next.entry(flow).or_default();
            assert_eq!(number, *expected, "flow {flow}");
            *expected += 1;
        }
        assert!(next.len() == 40 && next.values().all(|count| *count == 50), "{next:?}");
        let flows = FlowQueues::among(1);
        for (place, worker) in workers.iter().enumerate() {
            let own = (0..40).filter(|flow| usize::from(flows.apart(&datagram(*flow, 0, 20), 3)) == place);
            let own = own.count() as u64;
            assert!(own > 5, "flows spread");
            assert_eq!(worker.counters().received, 50 * own, "worker {place} has all packets of its flows");
            assert_eq!((worker.counters().sent, worker.free_buffers()), (50 * own, 256));
        }
        assert_eq!(total(&workers).inside(), 0);
    }

    /// A member that does not poll loses the packets that its ring cannot hold; those it has not polled are still
    /// there.
    #[test]
    fn a_full_ring_loses_frames_and_counts_them() {
        let device = Device::default();
        let mut workers = workers(&device, 2);
        let flows = FlowQueues::among(1);
        let flow = (0..40).find(|flow| flows.apart(&datagram(*flow, 0, 20), 2) == 1).unwrap();
        let sent = lane::LANE as u32 + 100;
        device.0.lock().unwrap().0.extend((0..sent).map(|number| datagram(flow, number, 20)));
        for place in [0, 1, 0] {
            poll(&mut workers[place..=place], 20);
        }
        let published = publish(workers);
        let total = published.iter().fold(RouterCounters::default(), |mut total, one| {
            total.add(one);
            total
        });
        assert_eq!((total.received, total.dropped(DropCause::Handover)), (u64::from(sent), 100));
        assert_eq!((total.sent, total.inside()), (lane::LANE as u64, 0));
        assert_eq!(device.0.lock().unwrap().1.len(), lane::LANE);
    }

    /// Ends the workers, each on a thread of its own, and returns their last counters.
    fn publish(workers: Vec<RouterWorker<Forwarding>>) -> Vec<RouterCounters> {
        let stop = std::sync::atomic::AtomicBool::new(true);
        let clock = weft_router::clock::RouterClock::start();
        std::thread::scope(|scope| {
            let end = |mut worker: RouterWorker<Forwarding>| {
                let stop = &stop;
                scope.spawn(move || {
                    let published = Mutex::default();
                    worker.run(clock, stop, &published).unwrap();
                    published.into_inner().unwrap()
                })
            };
            let threads: Vec<_> = workers.into_iter().map(end).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// Packets in the rings when the router ends are still forwarded; packets that the owner cannot send are counted
    /// by the worker that sent them.
    #[test]
    fn rings_are_empty_at_the_end() {
        let device = Device::default();
        let mut workers = workers(&device, 4);
        let lengths = (0..60).map(|flow| datagram(flow, 0, if flow % 3 == 0 { 500 } else { 20 }));
        device.0.lock().unwrap().0.extend(lengths);
        workers[0].poll(Time::ZERO).unwrap();
        assert!(workers[0].counters().received < 30, "the rest waits in rings");
        let mut sum = RouterCounters::default();
        publish(workers).iter().for_each(|counted| sum.add(counted));
        assert_eq!((sum.received, sum.sent, sum.inside()), (60, 40, 0), "{sum}");
        assert_eq!((sum.dropped(DropCause::Refused), sum.sent_bytes), (20, 40 * 62), "{sum}");
        assert_eq!(device.0.lock().unwrap().1.len(), 40);
    }

    /// Two threads sleep in turn until the other rings, many times: a lost wake-up would take a minute.
    #[test]
    fn no_wake_up_is_lost() {
        let rounds = 20_000;
        let clock = weft_router::clock::RouterClock::start();
        let (left, right) = (Listener::new().unwrap(), Listener::new().unwrap());
        let (there, here) = lane(right.bell());
        let (back, home) = lane(left.bell());
        let play = move |mut own: Listener, mut from: LaneEnd, mut to: LaneStart| {
            for _ in 0..rounds {
                while from.take(1, |_| ()) == 0 {
                    own.listen();
                    if from.is_empty() {
                        weft_router::backend::system::wait_readable(&[own.descriptor()], 60_000).unwrap();
                    }
                }
                assert!(to.put(&[1]));
                to.ring();
            }
        };
        let mut first = there;
        assert!(first.put(&[1]));
        std::thread::scope(|scope| {
            scope.spawn(move || play(right, here, back));
            scope.spawn(move || play(left, home, first));
        });
        assert!(clock.now() < Time::ZERO + weft_core::Span::from_s(50));
    }
}
