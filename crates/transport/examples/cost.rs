//! Measures the cost of both ends of one flow: one DCTCP sender and one receiver over a pipe with a bottleneck.
//! Prints only packets; the instructions are counted from outside, so that the pipe itself is excluded:
//!
//! ```sh
//! valgrind --tool=callgrind --toggle-collect='cost::ends::*' target/release/examples/cost card 20000
//! ```
//!
//! `card`: the sender's card is the bottleneck, the window is never the limit. `marks`: a queue behind the card
//! marks, and the window is. `each`: as `card`, with an acknowledgement for each packet. The calls of a host, and
//! their frequency, are as in the simulator. Must not depend on the network.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::stack::Layout;
use weft_core::{Bytes, Ecn, FlowId, Header, Rate, Span, Time};
use weft_transport::protocols::dctcp::TcpDctcpSettings;
use weft_transport::{Body, FlowSite, Receiver, Sender, Transport, TransportSettings};

/// Delay each way.
const DELAY: Span = Span::from_us(20);
/// Queue length, in packets, at which marking begins.
const MARK_FROM: u64 = 40;

/// The calls of a host, not inlined, so that their instructions can be told from those of the pipe.
mod ends {
    use super::*;

    #[inline(never)]
    pub(crate) fn sender_takes(end: &mut Sender, now: Time, header: &Header, body: &Body) {
        end.receive(now, header, body);
    }

    #[inline(never)]
    pub(crate) fn sender_gives(end: &mut Sender, now: Time, header: &mut Header, body: &mut Body) {
        end.send(now, header, body);
    }

    #[inline(never)]
    pub(crate) fn receiver_takes(end: &mut Receiver, now: Time, header: &Header, body: &Body) {
        end.receive(now, header, body);
    }

    #[inline(never)]
    pub(crate) fn receiver_gives(end: &mut Receiver, now: Time, header: &mut Header, body: &mut Body) {
        end.send(now, header, body);
    }

    #[inline(never)]
    pub(crate) fn wake(sender: &mut Sender, receiver: &mut Receiver, now: Time) {
        if sender.needs().wake <= now {
            sender.on_wakeup(now);
        }
        if receiver.needs().wake <= now {
            receiver.on_wakeup(now);
        }
    }
}

/// A packet and when it arrives.
type InFlight = VecDeque<(Time, Header, Body)>;

/// Both ends and everything between them.
struct Pipe {
    sender: Sender,
    receiver: Receiver,
    now: Time,
    /// The card sends a packet until then.
    card_free: Time,
    /// The bottleneck is busy until then; at least the card's rate.
    queue_free: Time,
    bottleneck: Rate,
    forward: InFlight,
    backward: InFlight,
    data: u64,
    acks: u64,
    marks: u64,
}

impl Pipe {
    fn new(transport: &Arc<Transport>, size: u64, bottleneck: Rate) -> Pipe {
        let line_rate = Rate::from_gbps(10);
        let site = FlowSite { flow: FlowId(1), size: Bytes(size), line_rate, ..FlowSite::default() };
        Pipe {
            sender: Sender::new(transport, &site, Time::ZERO),
            receiver: Receiver::new(transport, &site, Time::ZERO),
            now: Time::ZERO,
            card_free: Time::ZERO,
            queue_free: Time::ZERO,
            bottleneck,
            forward: VecDeque::new(),
            backward: VecDeque::new(),
            data: 0,
            acks: 0,
            marks: 0,
        }
    }

    /// Runs until the sender has closed; false if it never does.
    fn run(&mut self) -> bool {
        while !self.sender.needs().done {
            self.send();
            let next = self.next();
            if next == Time::NEVER {
                return false;
            }
            self.now = next;
            self.arrive();
        }
        true
    }

    /// When something happens next.
    fn next(&self) -> Time {
        let first = |way: &InFlight| way.front().map_or(Time::NEVER, |(time, _, _)| *time);
        let card = if self.sender.needs().ready { self.card_free } else { Time::NEVER };
        let packets = first(&self.forward).min(first(&self.backward)).min(card);
        packets.min(self.sender.needs().wake).min(self.receiver.needs().wake)
    }

    /// All that can be sent now.
    fn send(&mut self) {
        let (mut header, mut body) = (Header::default(), Body::default());
        while self.receiver.needs().ready {
            ends::receiver_gives(&mut self.receiver, self.now, &mut header, &mut body);
            self.backward.push_back((self.now + DELAY, header, body));
            self.acks += 1;
        }
        while self.sender.needs().ready && self.card_free <= self.now {
            ends::sender_gives(&mut self.sender, self.now, &mut header, &mut body);
            self.enqueue(header, body);
        }
    }

    /// A packet leaves the card and waits for the bottleneck.
    fn enqueue(&mut self, mut header: Header, body: Body) {
        let wire = Bytes(u64::from(header.wire));
        self.card_free = self.now + Rate::from_gbps(10).time_for(wire);
        let waiting = self.queue_free.since(self.card_free).0 / self.bottleneck.time_for(wire).0;
        if header.marks.ecn == Ecn::Capable && waiting >= MARK_FROM {
            header.marks.ecn = Ecn::Marked;
            self.marks += 1;
        }
        self.queue_free = self.queue_free.max(self.card_free) + self.bottleneck.time_for(wire);
        self.forward.push_back((self.queue_free + DELAY, header, body));
        self.data += u64::from(body.payload() > 0);
    }

    /// Everything that arrives now, and timers.
    fn arrive(&mut self) {
        let now = self.now;
        while let Some((_, header, body)) = self.forward.pop_front_if(|(time, _, _)| *time <= now) {
            ends::receiver_takes(&mut self.receiver, now, &header, &body);
        }
        while let Some((_, header, body)) = self.backward.pop_front_if(|(time, _, _)| *time <= now) {
            ends::sender_takes(&mut self.sender, now, &header, &body);
        }
        if self.sender.needs().wake.min(self.receiver.needs().wake) <= now {
            ends::wake(&mut self.sender, &mut self.receiver, now);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_else(|| "card".to_owned());
    let packets: u64 = arguments.next().map_or(20_000, |count| count.parse().expect("a number of packets"));
    let mut settings = TcpDctcpSettings::default();
    settings.tcp.delayed_ack = if mode == "each" { 1 } else { 2 };
    let bottleneck = Rate::from_gbps(if mode == "marks" { 5 } else { 10 });
    let transport = Arc::new(Transport::new(&TransportSettings::Dctcp(settings)));
    let mut pipe = Pipe::new(&transport, packets * transport.mss(), bottleneck);
    let finished = pipe.run();
    let report = (pipe.sender.report(), pipe.receiver.report());
    assert!(finished && pipe.receiver.completed().is_some(), "the flow must end: {report:?}");
    println!("{} data packets, {} acknowledgements, {} marks", pipe.data, pipe.acks, pipe.marks);
    println!("{report:?}");
    println!("sender {} bytes, receiver {} bytes", size_of::<Sender>(), size_of::<Receiver>());
}
