//! Pairs of ends around one bottleneck in virtual time: each sender has its own card, all share a queue (tail drop,
//! step marking) and the delays; acknowledgements return without a queue. Losses and delays can be scripted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use weft_core::{Bytes, Ecn, EcnConsent, FlowId, PacketKind, Rate, Span, Time};
use weft_transport::segment::Flags;
use weft_transport::settings::Tcp;
use weft_transport::{Body, FlowSite, Outgoing, Receiver, Segment, Sender, Transport, TransportSettings};

/// Decides on a packet: true loses it. Gets the packet and how many of its kind and flow were sent before it.
pub(crate) type Script = Box<dyn FnMut(&Outgoing, u64) -> bool>;
/// Additional delay of a data packet behind the queue.
pub(crate) type Detour = Box<dyn FnMut(&Outgoing, u64) -> Span>;

pub(crate) struct Setup {
    /// Rate of the senders' cards.
    pub(crate) card: Rate,
    /// Rate of the bottleneck.
    pub(crate) rate: Rate,
    /// Delay each way.
    pub(crate) delay: Span,
    /// Packets that may wait at the bottleneck.
    pub(crate) limit: usize,
    /// Number of waiting packets at which arrivals begin to be marked.
    pub(crate) mark_from: usize,
    pub(crate) lose: Script,
    pub(crate) lose_ack: Script,
    /// Marks a packet if it can be marked.
    pub(crate) mark: Script,
    pub(crate) detour: Detour,
    /// Keep every packet sent, for inspection.
    pub(crate) keep: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            card: Rate::from_gbps(10),
            rate: Rate::from_gbps(10),
            delay: Span::from_us(50),
            limit: usize::MAX,
            mark_from: usize::MAX,
            lose: Box::new(|_, _| false),
            lose_ack: Box::new(|_, _| false),
            mark: Box::new(|_, _| false),
            detour: Box::new(|_, _| Span::ZERO),
            keep: true,
        }
    }
}

enum Event {
    CardFree(usize),
    AtQueue(usize, Outgoing),
    AtReceiver(usize, Outgoing),
    AtSender(usize, Outgoing),
    WakeSender(usize),
    WakeReceiver(usize),
}

/// One flow and what was seen of it.
pub(crate) struct Pair {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    receiver_gone: bool,
    card_busy: bool,
    sender_wake: Time,
    receiver_wake: Time,
    data_packets: u64,
    ack_packets: u64,
    /// Everything the sender sent.
    pub(crate) sent: Vec<(Time, Outgoing)>,
    /// Every acknowledgement that left.
    pub(crate) acks: Vec<(Time, Segment)>,
    /// Payload that reached the receiver with a mark, packet by packet.
    pub(crate) marked: u64,
    pub(crate) drops: u64,
}

pub(crate) struct Path {
    pub(crate) transport: Arc<Transport>,
    pub(crate) setup: Setup,
    pub(crate) now: Time,
    pub(crate) pairs: Vec<Pair>,
    events: BinaryHeap<Reverse<(Time, u64, usize)>>,
    bodies: Vec<Option<Event>>,
    free: Vec<usize>,
    serial: u64,
    /// When each packet in the queue begins its service.
    starts: VecDeque<Time>,
    free_at: Time,
    /// Payload that passed the queue.
    pub(crate) carried: u64,
    /// Packets waiting at each accepted arrival.
    pub(crate) waiting: Vec<(Time, usize)>,
}

impl Path {
    pub(crate) fn new(settings: &TransportSettings, setup: Setup, sizes: &[u64]) -> Path {
        Path::with_consent(settings, (setup, None), sizes)
    }

    /// The same between hosts that differ in their willingness to use ECN.
    pub(crate) fn with_consent(
        settings: &TransportSettings,
        (setup, ecn): (Setup, Option<EcnConsent>),
        sizes: &[u64],
    ) -> Path {
        let transport = Arc::new(Transport::new(settings));
        let site = |flow: usize, size: u64| FlowSite {
            flow: FlowId(flow as u32),
            size: Bytes(size),
            line_rate: setup.card,
            ecn,
            ..FlowSite::default()
        };
        let receive_window = settings.tcp().as_ref().and_then(Tcp::first_receive_window);
        let to_receiver = |flow: usize, size: u64| FlowSite { receive_window, ..site(flow, size) };
        let pair = |(flow, size): (usize, &u64)| Pair {
            sender: Sender::new(&transport, &to_receiver(flow, *size), Time::ZERO),
            receiver: Receiver::new(&transport, &site(flow, *size), Time::ZERO),
            receiver_gone: false,
            card_busy: false,
            sender_wake: Time::NEVER,
            receiver_wake: Time::NEVER,
            data_packets: 0,
            ack_packets: 0,
            sent: Vec::new(),
            acks: Vec::new(),
            marked: 0,
            drops: 0,
        };
        let pairs: Vec<Pair> = sizes.iter().enumerate().map(pair).collect();
        let mut path = Path {
            transport,
            setup,
            now: Time::ZERO,
            pairs,
            events: BinaryHeap::new(),
            bodies: Vec::new(),
            free: Vec::new(),
            serial: 0,
            starts: VecDeque::new(),
            free_at: Time::ZERO,
            carried: 0,
            waiting: Vec::new(),
        };
        (0..sizes.len()).for_each(|flow| path.serve_sender(flow));
        path
    }

    /// Important packets of payload and echoes that are in flight.
    pub(crate) fn important(&self) -> usize {
        let events = self.events.iter().filter_map(|Reverse((_, _, body))| self.bodies[*body].as_ref());
        let counts = |event: &&Event| match event {
            Event::AtQueue(_, out) | Event::AtReceiver(_, out) => out.kind == PacketKind::Data,
            Event::AtSender(_, out) => out.segment.flags.has(Flags::CWR),
            _ => false,
        };
        events.filter(counts).count()
    }

    /// Whether any event is left.
    pub(crate) fn is_over(&self) -> bool {
        self.events.is_empty()
    }

    /// Runs until no event is left or `end` is reached; true if all flows finished.
    pub(crate) fn run(&mut self, end: Time) -> bool {
        while let Some(Reverse((time, _, _))) = self.events.peek() {
            if *time > end {
                break;
            }
            self.step();
        }
        self.pairs.iter().all(|pair| pair.sender.finished() && pair.receiver.completed().is_some())
    }

    pub(crate) fn step(&mut self) {
        let Some(Reverse((time, _, body))) = self.events.pop() else { return };
        self.now = time;
        self.free.push(body);
        match self.bodies[body].take().expect("each event happens once") {
            Event::CardFree(flow) => {
                self.pairs[flow].card_busy = false;
                self.serve_sender(flow);
            }
            Event::AtQueue(flow, out) => self.at_queue(flow, out),
            Event::AtReceiver(flow, out) => self.at_receiver(flow, &out),
            Event::AtSender(flow, out) => {
                self.pairs[flow].sender.on_packet(time, out.ecn, &out.segment);
                self.serve_sender(flow);
            }
            Event::WakeSender(flow) => {
                self.pairs[flow].sender_wake = Time::NEVER;
                self.pairs[flow].sender.on_wakeup(time);
                self.serve_sender(flow);
            }
            Event::WakeReceiver(flow) => {
                self.pairs[flow].receiver_wake = Time::NEVER;
                self.pairs[flow].receiver.on_wakeup(time);
                self.serve_receiver(flow);
            }
        }
    }

    fn schedule(&mut self, time: Time, event: Event) {
        let body = self.free.pop().unwrap_or(self.bodies.len());
        if body == self.bodies.len() {
            self.bodies.push(None);
        }
        self.bodies[body] = Some(event);
        self.serial += 1;
        self.events.push(Reverse((time.max(self.now), self.serial, body)));
    }

    fn serve_sender(&mut self, flow: usize) {
        let now = self.now;
        let pair = &mut self.pairs[flow];
        if !pair.card_busy {
            assert_eq!(pair.sender.is_ready(), {
                let polled = pair.sender.poll(now);
                if let Some(out) = polled {
                    pair.card_busy = true;
                    if self.setup.keep {
                        pair.sent.push((now, out));
                    }
                    let span = self.setup.card.time_for(Bytes(u64::from(out.wire)));
                    self.schedule(now + span, Event::AtQueue(flow, out));
                    self.schedule(now + span, Event::CardFree(flow));
                }
                polled.is_some()
            });
        }
        let due = self.pairs[flow].sender.next_wakeup();
        if due < self.pairs[flow].sender_wake {
            self.pairs[flow].sender_wake = due;
            self.schedule(due, Event::WakeSender(flow));
        }
    }

    fn at_queue(&mut self, flow: usize, mut out: Outgoing) {
        let pair = &mut self.pairs[flow];
        if out.kind == PacketKind::Ack {
            return self.schedule(self.now + self.setup.delay, Event::AtReceiver(flow, out));
        }
        let nth = pair.data_packets;
        pair.data_packets += u64::from(out.kind.is_payload());
        while self.starts.front().is_some_and(|start| *start <= self.now) {
            self.starts.pop_front();
        }
        if (self.setup.lose)(&out, nth) || self.starts.len() >= self.setup.limit {
            pair.drops += 1;
            return;
        }
        let chosen = self.starts.len() >= self.setup.mark_from || (self.setup.mark)(&out, nth);
        if chosen && out.ecn == Ecn::Capable {
            out.ecn = Ecn::Marked;
        }
        self.waiting.push((self.now, self.starts.len()));
        let start = self.free_at.max(self.now);
        self.starts.push_back(start);
        self.free_at = start + self.setup.rate.time_for(Bytes(u64::from(out.wire)));
        self.carried += u64::from(out.segment.length);
        let detour = (self.setup.detour)(&out, nth);
        self.schedule(self.free_at + self.setup.delay + detour, Event::AtReceiver(flow, out));
    }

    fn at_receiver(&mut self, flow: usize, out: &Outgoing) {
        let now = self.now;
        let pair = &mut self.pairs[flow];
        if out.ecn == Ecn::Marked {
            pair.marked += u64::from(out.segment.length);
        }
        if pair.receiver_gone {
            let body = Body::from(out.segment);
            let reply = self.transport.reply_after_close(&out.header(), &body, now);
            if let Some((header, Body::Segment(segment))) = reply {
                self.send_ack(flow, Outgoing::new(&header, segment));
            }
            return;
        }
        pair.receiver.receive(now, &out.header(), &Body::from(out.segment));
        self.serve_receiver(flow);
    }

    fn serve_receiver(&mut self, flow: usize) {
        let now = self.now;
        while self.pairs[flow].receiver.is_ready() {
            let ack = self.pairs[flow].receiver.poll(now).expect("it said it was ready");
            self.send_ack(flow, ack);
        }
        let pair = &mut self.pairs[flow];
        pair.receiver_gone |= pair.receiver.closed();
        let due = pair.receiver.next_wakeup();
        if due < pair.receiver_wake {
            pair.receiver_wake = due;
            self.schedule(due, Event::WakeReceiver(flow));
        }
    }

    fn send_ack(&mut self, flow: usize, ack: Outgoing) {
        let pair = &mut self.pairs[flow];
        let nth = pair.ack_packets;
        pair.ack_packets += u64::from(!ack.segment.flags.has(Flags::SYN));
        if self.setup.keep {
            pair.acks.push((self.now, ack.segment));
        }
        if !(self.setup.lose_ack)(&ack, nth) {
            self.schedule(self.now + self.setup.delay, Event::AtSender(flow, ack));
        }
    }
}
