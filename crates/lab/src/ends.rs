//! The flows: one thread that opens a connection for each at its start, writes and reads, and records when the last
//! byte has been read.
//!
//! Sockets belong to the namespace in which they were created, whichever thread uses them, so one clock times both
//! ends.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use weft_core::segment::ports;
use weft_core::{Bytes, FlowId, HostId, Time};
use weft_plan::Setup;
use weft_workload::Flow;

use crate::clock::LabClock;
use crate::host_tcp::HostTcp;
use crate::system::{self, Awaited, TcpCounts};
use crate::testbed::{Testbed, address};

/// The port of all receivers, as in the simulator's flows, so that switches hash both alike.
pub(crate) const PORT: u16 = 5_001;
/// Bytes written or read at once.
const CHUNK: usize = 64 << 10;
/// How long a system that has no room for more connections is left alone.
const BREATHER: Duration = Duration::from_millis(5);
/// The priority of the thread among those that run first, below that of the switches.
const PRIORITY: i32 = 40;

/// A flow and its two sockets.
#[derive(Debug)]
pub(crate) struct SocketFlow {
    /// The flow.
    pub(crate) flow: Flow,
    unwritten: u64,
    sender: Option<TcpStream>,
    receiver: Option<TcpStream>,
    /// Payload read.
    pub(crate) delivered: u64,
    /// When the last byte was read.
    pub(crate) end: Option<Time>,
    /// The kernel's counters at the sender, if there was one.
    pub(crate) counted: Option<TcpCounts>,
    /// Why the connection ended early.
    pub(crate) failure: Option<String>,
}

/// The parameters of the flows' ends.
pub(crate) struct FlowEnds<'a> {
    setup: &'a Setup,
    testbed: &'a Testbed,
    clock: LabClock,
    /// The congestion control of each flow's sender.
    laws: Vec<&'a str>,
    is_paced: bool,
    /// Whether switches divide packets by class.
    has_classes: bool,
    listeners: Vec<(HostId, TcpListener)>,
    /// All flows; those before `next` have started.
    pub(crate) transfers: Vec<SocketFlow>,
    next: usize,
    writing: Vec<usize>,
    reading: Vec<usize>,
    /// Flows that have started and are neither done nor given up.
    open: BTreeSet<usize>,
    /// Payload read of the flows that count: those that start after the warm-up.
    delivered: Bytes,
    /// The value of `delivered` when the last flow started; `None` before.
    pub(crate) delivered_in_arrivals: Option<Bytes>,
    buffer: Vec<u8>,
    /// The system had no room for a connection, so listeners wait for a moment.
    crowded: bool,
}

/// The meaning of a descriptor.
#[derive(Clone, Copy)]
enum Awaiting {
    Listener(usize),
    Sender(usize),
    Receiver(usize),
}

impl<'a> FlowEnds<'a> {
    /// Listens on every host that receives.
    ///
    /// # Errors
    /// A socket cannot be opened.
    pub(crate) fn new(
        setup: &'a Setup,
        (testbed, tcp): (&'a Testbed, &HostTcp),
        clock: LabClock,
        law_of: impl Fn(&Flow) -> &'a str,
    ) -> io::Result<FlowEnds<'a>> {
        let flows: Vec<Flow> = setup.flows.iter().collect();
        let mut receivers: Vec<HostId> = flows.iter().map(|flow| flow.destination).collect();
        receivers.sort_unstable();
        receivers.dedup();
        let listen = |host: HostId| {
            testbed.hosts[host.index()].within(|| {
                let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
                listener.set_nonblocking(true)?;
                Ok((host, listener))
            })
        };
        Ok(FlowEnds {
            setup,
            testbed,
            clock,
            laws: flows.iter().map(law_of).collect(),
            is_paced: tcp.paced,
            has_classes: setup.switch_kinds().any(|switch| switch.queues > 1),
            listeners: receivers.into_iter().map(listen).collect::<io::Result<_>>()?,
            transfers: flows.into_iter().map(SocketFlow::new).collect(),
            next: 0,
            writing: Vec::new(),
            reading: Vec::new(),
            open: BTreeSet::new(),
            delivered: Bytes(0),
            delivered_in_arrivals: None,
            buffer: vec![0; CHUNK],
            crowded: false,
        })
    }

    /// Runs until all flows are done, the setup's time is over, or `stop` is set. `ended` counts flows that have
    /// finished or failed.
    ///
    /// # Errors
    /// The system fails; failed connections are recorded instead.
    pub(crate) fn run(&mut self, stop: &AtomicBool, ended: &AtomicUsize) -> io::Result<()> {
        // Without the privilege, only punctuality suffers.
        let _ = system::run_first(PRIORITY);
        while !stop.load(Ordering::Relaxed) && self.clock.now() < self.setup.until {
            self.start_due()?;
            if self.next == self.transfers.len() {
                self.delivered_in_arrivals.get_or_insert(self.delivered);
            }
            let done = self.next - self.open.len();
            ended.store(done, Ordering::Relaxed);
            if done == self.transfers.len() {
                break;
            }
            let (mut awaited, meanings) = self.awaited();
            let next = self.transfers.get(self.next).map_or(Time(u64::MAX), |transfer| transfer.flow.start);
            let most = if std::mem::take(&mut self.crowded) { BREATHER } else { Duration::MAX };
            system::wait(&mut awaited, self.clock.until(next.min(self.setup.until)).min(most))?;
            for (_, meaning) in
                awaited.iter().zip(meanings).filter(|(awaited, _)| system::has_happened(awaited))
            {
                match meaning {
                    Awaiting::Listener(number) => self.accept(number)?,
                    Awaiting::Sender(number) => self.write(number),
                    Awaiting::Receiver(number) => self.read(number),
                }
            }
        }
        Ok(())
    }

    /// Opens the connections of all flows that start by now.
    fn start_due(&mut self) -> io::Result<()> {
        while self
            .transfers
            .get(self.next)
            .is_some_and(|transfer| self.clock.until(transfer.flow.start).is_zero())
        {
            let number = self.next;
            self.next += 1;
            self.open.insert(number);
            match self.connect(number) {
                Ok(sender) => {
                    self.transfers[number].sender = Some(sender);
                    self.writing.push(number);
                }
                Err(cause) => self.give_up(number, &cause),
            }
        }
        Ok(())
    }

    fn connect(&self, number: usize) -> io::Result<TcpStream> {
        let flow = &self.transfers[number].flow;
        let ports = ports(FlowId(number as u32));
        self.testbed.hosts[flow.source.index()].enter()?;
        let socket = system::tcp_socket()?;
        system::set_congestion_control(&socket, self.laws[number])?;
        if self.is_paced {
            system::set_paced(&socket)?;
        }
        let class = self.setup.sender(flow).classes(self.setup.class_of(flow), None).sender.iter().next();
        if let Some(class) = class.filter(|_| self.has_classes) {
            system::set_code_point(&socket, class.0 << 3)?;
        }
        let (from, to) = ((ports >> 16) as u16, ports as u16);
        system::connect(socket, (address(flow.source), from), (address(flow.destination), to))
    }

    /// All descriptors to wait for.
    fn awaited(&self) -> (Vec<Awaited>, Vec<Awaiting>) {
        let open = if self.crowded { &[] } else { self.listeners.as_slice() };
        let listeners = open
            .iter()
            .enumerate()
            .map(|(n, (_, own))| (system::awaited(own.as_raw_fd(), false), Awaiting::Listener(n)));
        let of = |stream: &Option<TcpStream>| stream.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let writing = self
            .writing
            .iter()
            .map(|n| (system::awaited(of(&self.transfers[*n].sender), true), Awaiting::Sender(*n)));
        let reading = self
            .reading
            .iter()
            .map(|n| (system::awaited(of(&self.transfers[*n].receiver), false), Awaiting::Receiver(*n)));
        listeners.chain(writing).chain(reading).unzip()
    }

    /// Takes new connections; the port of the sender names the flow.
    fn accept(&mut self, number: usize) -> io::Result<()> {
        let first = ports(FlowId(0)) >> 16;
        loop {
            let (stream, peer) = match self.listeners[number].1.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(error) if system::is_crowded(&error) => {
                    self.make_room(&error);
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(true)?;
            let flow = u32::from(peer.port()).checked_sub(first).map_or(usize::MAX, |flow| flow as usize);
            // the sender may have given up before its connection was accepted
            if self.open.contains(&flow) {
                self.transfers[flow].receiver = Some(stream);
                self.reading.push(flow);
            }
        }
    }

    /// The system has no room for a connection, so it waits until another has ended. If none can, because none has been accepted,
    /// the flow that started last gives way.
    fn make_room(&mut self, cause: &io::Error) {
        self.crowded = true;
        if self.reading.is_empty()
            && let Some(last) = self.open.last()
        {
            self.give_up(*last, cause);
        }
    }

    /// Writes as much as the kernel takes.
    fn write(&mut self, number: usize) {
        let transfer = &mut self.transfers[number];
        let Some(sender) = &mut transfer.sender else { return };
        let result = loop {
            if transfer.unwritten == 0 {
                break sender.shutdown(Shutdown::Write).map(|()| true);
            }
            let most = transfer.unwritten.min(CHUNK as u64) as usize;
            match sender.write(&self.buffer[..most]) {
                Ok(written) => transfer.unwritten -= written as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(false),
                Err(error) => break Err(error),
            }
        };
        match result {
            Ok(false) => {}
            Ok(true) => self.writing.retain(|other| *other != number),
            Err(cause) => self.give_up(number, &cause),
        }
    }

    /// Reads what has arrived.
    fn read(&mut self, number: usize) {
        let transfer = &mut self.transfers[number];
        let Some(receiver) = &mut transfer.receiver else { return };
        let size = transfer.flow.size.0;
        let counts = transfer.flow.start >= self.setup.warm_up;
        let ends = loop {
            match receiver.read(&mut self.buffer) {
                Ok(0) => break Err(io::Error::from(ErrorKind::UnexpectedEof)),
                Ok(count) => {
                    transfer.delivered += count as u64;
                    self.delivered.0 += u64::from(counts) * count as u64;
                    if transfer.delivered >= size {
                        break Ok(true);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(false),
                Err(error) => break Err(error),
            }
        };
        match ends {
            Ok(false) => {}
            Ok(true) => {
                transfer.end = Some(self.clock.now());
                self.close(number);
            }
            Err(cause) => self.give_up(number, &cause),
        }
    }

    fn give_up(&mut self, number: usize, cause: &io::Error) {
        self.transfers[number].failure.get_or_insert_with(|| cause.to_string());
        self.close(number);
    }

    /// Ends a flow, unless it has ended.
    fn close(&mut self, number: usize) {
        if !self.open.remove(&number) {
            return;
        }
        self.transfers[number].count();
        self.writing.retain(|other| *other != number);
        self.reading.retain(|other| *other != number);
        (self.transfers[number].sender, self.transfers[number].receiver) = (None, None);
    }
}

impl SocketFlow {
    pub(crate) fn new(flow: Flow) -> SocketFlow {
        SocketFlow {
            flow,
            unwritten: flow.size.0,
            sender: None,
            receiver: None,
            delivered: 0,
            end: None,
            counted: None,
            failure: None,
        }
    }

    /// Reads the kernel's counters, while possible.
    pub(crate) fn count(&mut self) {
        if let Some(sender) = &self.sender {
            self.counted = system::counted(sender).or(self.counted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;
    use weft_core::{Grouping, Span};
    use weft_topology::{FailurePlan, RoutingSettings, TopologySettings, build, timeline};
    use weft_transport::{Transport, TransportSettings};

    fn setup() -> Setup {
        let graph = build(&TopologySettings::default()).expect("it is a network");
        let plan = FailurePlan::default();
        let timeline = timeline(&graph, &plan, &RoutingSettings::default(), Grouping::Together);
        Setup::new(graph, timeline, Transport::new(&TransportSettings::default()))
    }

    fn ends<'a>(setup: &'a Setup, testbed: &'a Testbed, flows: usize) -> FlowEnds<'a> {
        let flow = |n| {
            let start = Time::ZERO + Span::from_us(n as u64);
            SocketFlow::new(Flow::new(0, start, (HostId(0), HostId(1)), Bytes(1_000)))
        };
        FlowEnds {
            setup,
            testbed,
            clock: LabClock::start(1),
            laws: vec!["reno"; flows],
            is_paced: false,
            has_classes: false,
            listeners: Vec::new(),
            transfers: (0..flows).map(flow).collect(),
            next: flows,
            writing: (0..flows).collect(),
            reading: Vec::new(),
            open: (0..flows).collect(),
            delivered: Bytes(0),
            delivered_in_arrivals: None,
            buffer: Vec::new(),
            crowded: false,
        }
    }

    fn testbed() -> Testbed {
        Testbed { switches: Space::own().expect("it exists"), hosts: Vec::new(), missing: Vec::new() }
    }

    /// Its sender gives up while its connection waits to be accepted; then its receiver fails too. The other flow is still awaited.
    #[test]
    fn a_flow_that_fails_at_both_ends_ends_once() {
        let (setup, testbed) = (setup(), testbed());
        let mut ends = ends(&setup, &testbed, 2);
        ends.reading = vec![1];
        for cause in [ErrorKind::TimedOut, ErrorKind::ConnectionReset] {
            ends.give_up(0, &cause.into());
        }
        assert_eq!((ends.open.len(), ends.writing, ends.reading), (1, vec![1], vec![1]));
        assert_eq!(
            ends.transfers[0].failure,
            Some(io::Error::from(ErrorKind::TimedOut).to_string()),
            "the first cause"
        );
    }

    /// With too few descriptors, a connection waits for others to end; one that keeps all others from being accepted gives way.
    #[test]
    fn connections_for_which_there_is_no_room_wait() {
        let (setup, testbed) = (setup(), testbed());
        let mut ends = ends(&setup, &testbed, 3);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        ends.listeners.push((HostId(1), listener));
        let full = io::Error::from_raw_os_error(24);
        assert!(system::is_crowded(&full) && !system::is_crowded(&ErrorKind::InvalidInput.into()));
        ends.reading = vec![0];
        ends.make_room(&full);
        assert_eq!((ends.open.len(), ends.awaited().0.len()), (3, 4), "the listener is not awaited");
        ends.crowded = false;
        assert_eq!(ends.awaited().0.len(), 5);
        ends.reading.clear();
        ends.make_room(&full);
        assert_eq!((ends.open, ends.writing), (BTreeSet::from([0, 1]), vec![0, 1]));
        assert_eq!(ends.transfers[2].failure, Some(full.to_string()));
    }
}
