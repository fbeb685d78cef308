//! The event list: a wheel of buckets for what happens on links, a nearly sorted queue for everything else, called the
//! heap here. A link has at most one pending arrival and one pending end of a transmission, so that a bucket is a list
//! through one table with a row for each, and, on request, a third row for a timer; a bucket with several rows is
//! sorted when it is opened. The order of events is that of [`EventOrder`] alone; bucket width and count affect speed,
//! never results.

use weft_core::{FlowId, LinkId, NearlySorted, PacketId, Span, Time};

use crate::event::{Entry, Event, EventName, EventOrder};

mod ahead;
mod sort;
mod wheel;

use wheel::{BUCKETS, REACH, Wheel};

/// Steps allowed to insert an event into the open bucket; an event that belongs further back goes to the heap.
const STEPS: u32 = 32;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// The row of an event without one.
const FAR: u32 = u32::MAX;
/// The content of a pending timer's row in place of a packet.
const PENDING: PacketId = PacketId::new(0);

/// A pending event of a link.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: Time,
    /// The next row of the bucket.
    next: u32,
    /// For an arrival: the packet.
    packet: PacketId,
}

/// The result of [`Calendar::pop`]: the time, the row of the event, and the packet that arrives.
pub(crate) type Next = (Time, u32, PacketId);

/// Pending events.
pub(crate) struct Calendar {
    /// Until this instant the wheel alone holds the next event: the heap has none so early, and the run does not end
    /// earlier.
    limit: Time,
    /// The open bucket, counted from time zero; bucket n covers `n << shift ..`. It is sorted, and all before it are
    /// empty.
    number: u64,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    /// Arrivals have the first rows, ends of transmissions the next, timers (if they have rows) the last; by link.
    links: u32,
    rows: Box<[Row]>,
    order: EventOrder,
    /// Events from this instant on are not returned.
    end: Time,
    /// See [`Calendar::set_seen`].
    unseen: Time,
    /// Timers, flow starts, and events of links beyond the wheel's reach.
    heap: NearlySorted,
    /// The first of the heap.
    heap_first: Time,
    /// The last event taken that has no row.
    far: Event,
    wheel: Box<Wheel>,
    /// Rows of the bucket being sorted; reused.
    several: Vec<u32>,
    /// Their keys; reused.
    keys: Vec<u64>,
}

impl Calendar {
    /// An empty calendar for this many links with buckets of about `width`.
    pub(crate) fn new(order: EventOrder, links: usize, width: Span) -> Calendar {
        let empty = Row { time: Time::NEVER, next: NONE, packet: PacketId::NONE };
        Calendar {
            limit: Time::ZERO,
            number: 0,
            shift: width.0.max(1).ilog2(),
            links: u32::try_from(links).expect("fewer than 2^32 links"),
            rows: vec![empty; 2 * links].into(),
            order,
            end: Time::ZERO,
            unseen: Time::NEVER,
            heap: NearlySorted::default(),
            heap_first: Time::NEVER,
            far: Event::FlowStart(FlowId(0)),
            wheel: Wheel::new(),
            several: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Gives each link a row for a timer. Must be called before any event is added.
    pub(crate) fn give_rows_to_timers(&mut self) {
        let empty = Row { time: Time::NEVER, next: NONE, packet: PacketId::NONE };
        self.rows = vec![empty; 3 * self.links as usize].into();
    }

    /// From now on, [`Calendar::pop`] returns events before `end`, which must not be zero.
    pub(crate) fn set_end(&mut self, end: Time) {
        self.end = end;
        self.set_limit();
    }

    /// Events are returned before this instant.
    pub(crate) fn end(&self) -> Time {
        self.end
    }

    fn set_limit(&mut self) {
        self.limit = self.end.min(self.heap_first).min(self.unseen);
    }

    /// The scout has seen all buckets up to this one and must look again before later events are taken:
    /// [`Calendar::pop`] returns nothing for them, and [`Calendar::is_unseen`] is true.
    pub(crate) fn set_seen(&mut self, bucket: Option<u64>) {
        self.unseen = bucket.map_or(Time::NEVER, |bucket| Time((bucket + 1) << self.shift));
        self.set_limit();
    }

    /// Whether the next event lies beyond what the scout has seen.
    pub(crate) fn is_unseen(&self) -> bool {
        self.unseen != Time::NEVER && self.next_time() >= self.unseen
    }

    /// The time of the next event; [`Time::NEVER`] if nothing is pending.
    pub(crate) fn next_time(&self) -> Time {
        let mut first = self.heap_first;
        let mut row = self.first().unwrap_or(NONE);
        while row != NONE {
            let Row { time, next, .. } = *self.row(row);
            (first, row) = (first.min(time), next);
        }
        first
    }

    /// Schedules the arrival of a packet over a link with no other pending arrival, not before the last event taken.
    #[inline]
    pub(crate) fn push_arrival(&mut self, time: Time, link: LinkId, packet: PacketId) {
        self.push_row(time, link.0, packet);
    }

    /// Schedules the end of a transmission on a link with no such event pending, not before the last event taken.
    #[inline]
    pub(crate) fn push_transmitted(&mut self, time: Time, link: LinkId) {
        self.push_row(time, self.links + link.0, PacketId::NONE);
    }

    /// Removes the packet from the pending arrival of a link: the event remains, and nothing arrives.
    pub(crate) fn lose_arrival(&mut self, link: LinkId) -> PacketId {
        std::mem::replace(&mut self.row_mut(link.0).packet, PacketId::NONE)
    }

    /// The packet of a link's pending arrival; meaningless if there is none.
    pub(crate) fn arriving(&self, link: LinkId) -> PacketId {
        self.row(link.0).packet
    }

    #[inline(always)]
    fn push_row(&mut self, time: Time, row: u32, packet: PacketId) {
        let bucket = time.0 >> self.shift;
        // Wraps around for the open bucket and earlier ones.
        if bucket.wrapping_sub(self.number + 1) < REACH {
            *self.row_mut(row) = Row { time, next: self.wheel.first_of(bucket), packet };
            self.wheel.put_first(bucket, row);
        } else {
            self.row_mut(row).packet = packet;
            self.push_aside(bucket, time, row);
        }
    }

    /// Adds a timer of the node that transmits on a link: to the wheel if its row is free.
    pub(crate) fn push_wake(&mut self, time: Time, link: LinkId) {
        let row = 2 * self.links + link.0;
        let free = self.rows.get(row as usize).is_some_and(|own| own.packet == PacketId::NONE);
        if free && (time.0 >> self.shift).wrapping_sub(self.number + 1) < REACH {
            self.push_row(time, row, PENDING);
        } else {
            self.push_far(Entry::new(time, Event::Wake(link)));
        }
    }

    /// Called when the timer of a link has expired: if it was in the wheel, which is asked before the heap, its row
    /// is free.
    pub(crate) fn take_wake(&mut self, now: Time, link: LinkId) {
        let row = (2 * self.links + link.0) as usize;
        if let Some(own) = self.rows.get_mut(row).filter(|own| own.time == now) {
            own.packet = PacketId::NONE;
        }
    }

    /// Adds any other event.
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        debug_assert!(!matches!(event, Event::Arrive(_) | Event::Transmitted(_)), "links have rows");
        self.push_far(Entry::new(time, event));
    }

    /// Takes the next event before the end if it is in the wheel; otherwise use [`Calendar::pop_aside`].
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Next> {
        let found = self.wheel.occupied_from(self.number)?;
        let mut row = self.wheel.first[found.slot()];
        let Row { mut time, mut next, mut packet } = *self.row(row);
        let bucket = time.0 >> self.shift;
        if next != NONE && bucket != self.number {
            row = self.open(bucket, row);
            Row { time, next, packet } = *self.row(row);
        }
        if time >= self.limit {
            return None;
        }
        self.number = bucket;
        self.wheel.take_first(found, next);
        Some((time, row, packet))
    }

    /// The first row of the wheel.
    fn first(&self) -> Option<u32> {
        self.wheel.occupied_from(self.number).map(|found| self.wheel.first[found.slot()])
    }

    #[inline]
    #[allow(unsafe_code, reason = "3 instructions of every event")]
    fn row(&self, row: u32) -> &Row {
        debug_assert!((row as usize) < self.rows.len(), "rows are those of the network's links");
        // SAFETY: a row is read only if a list names it, and lists name rows that `row_mut` has written before.
        unsafe { self.rows.get_unchecked(row as usize) }
    }

    #[inline]
    #[allow(unsafe_code, reason = "3 instructions of every hop")]
    fn row_mut(&mut self, row: u32) -> &mut Row {
        debug_assert!((row as usize) < self.rows.len(), "rows are those of the network's links");
        // SAFETY: there are two rows for each link, and a third where timers have rows. A row that is written belongs
        // to a link of the network (`push_link` gets no others) or is named by a list.
        unsafe { self.rows.get_unchecked_mut(row as usize) }
    }

    /// The link of an arrival's row.
    #[inline]
    pub(crate) fn arrival(&self, row: u32) -> Option<LinkId> {
        (row < self.links).then_some(LinkId(row))
    }

    /// The link of the row of a transmission's end.
    #[inline]
    pub(crate) fn transmission(&self, row: u32) -> Option<LinkId> {
        let number = row.wrapping_sub(self.links);
        (number < self.links).then_some(LinkId(number))
    }

    /// The event of a row.
    pub(crate) fn event(&self, row: u32) -> Event {
        match (self.arrival(row), self.transmission(row)) {
            (Some(link), _) => Event::Arrive(link),
            (None, Some(link)) => Event::Transmitted(link),
            _ if row == FAR => self.far,
            _ => Event::Wake(LinkId(row - 2 * self.links)),
        }
    }

    fn entry(&self, row: u32) -> Entry {
        Entry::new(self.row(row).time, self.event(row))
    }

    /// Adds an event of a link to the open bucket or, beyond the reach of the wheel, to the heap.
    #[inline(never)]
    fn push_aside(&mut self, bucket: u64, time: Time, row: u32) {
        if bucket == self.number {
            self.insert(time, row);
        } else {
            self.push_far(Entry::new(time, self.event(row)));
        }
    }

    /// Adds an event to the open bucket.
    fn insert(&mut self, time: Time, row: u32) {
        let (mut next, mut before) = (self.wheel.first_of(self.number), NONE);
        self.row_mut(row).time = time;
        let entry = self.entry(row);
        let mut steps = 0;
        while next != NONE && self.order.precedes(self.entry(next), entry) {
            (before, next) = (next, self.row(next).next);
            steps += 1;
            if steps == STEPS {
                return self.push_far(entry);
            }
        }
        self.row_mut(row).next = next;
        match before {
            NONE => self.wheel.put_first(self.number, row),
            _ => self.row_mut(before).next = row,
        }
    }

    fn push_far(&mut self, entry: Entry) {
        self.heap.push(NearlySorted::key(entry.time, self.order.rank(entry).0));
        if entry.time < self.heap_first {
            self.heap_first = entry.time;
            self.set_limit();
        }
    }

    /// Takes the next event before the end, from the wheel or from the heap, after [`Calendar::pop`] has found none.
    #[inline(never)]
    pub(crate) fn pop_aside(&mut self) -> Option<Next> {
        let found = self.wheel.occupied_from(self.number);
        let near = self.first();
        if near.map_or(self.heap_first != Time::NEVER, |near| self.far_precedes(near)) {
            return (self.heap_first < self.end).then(|| self.pop_far(near));
        }
        let (row, found) = near.zip(found).filter(|(row, _)| self.row(*row).time < self.end)?;
        let Row { time, next, packet } = *self.row(row);
        self.number = time.0 >> self.shift;
        self.wheel.take_first(found, next);
        Some((time, row, packet))
    }

    /// Opens a bucket with several rows, sorts them, and returns the first.
    #[inline(never)]
    fn open(&mut self, bucket: u64, first: u32) -> u32 {
        self.number = bucket;
        let Row { time, next: second, .. } = *self.row(first);
        let other = *self.row(second);
        if other.next != NONE {
            return self.sort(first);
        }
        if time < other.time || time == other.time && self.goes_first(first, second) {
            return first;
        }
        self.row_mut(second).next = first;
        self.row_mut(first).next = NONE;
        self.wheel.first[bucket as usize % BUCKETS] = second;
        second
    }

    /// Whether one of two rows at one instant comes before the other: arrivals before ends of transmissions, these before timers.
    #[inline]
    fn goes_first(&self, row: u32, other: u32) -> bool {
        match (row < self.links, other < self.links) {
            (arrives, also) if arrives != also => arrives,
            (false, _) if self.is_timer(row) != self.is_timer(other) => !self.is_timer(row),
            _ => self.wins_tie(row, other),
        }
    }

    /// Whether a row is that of a timer.
    #[inline]
    fn is_timer(&self, row: u32) -> bool {
        row >= 2 * self.links
    }

    /// Whether `row` comes before `other`, both being of one kind and at one instant.
    #[inline(never)]
    fn wins_tie(&self, row: u32, other: u32) -> bool {
        self.order.wins_draw(self.row(row).time, self.name(row), self.name(other))
    }

    /// The name of a row's event.
    fn name(&self, row: u32) -> EventName {
        match row {
            _ if row < self.links => EventName::arrival(row),
            _ if self.is_timer(row) => EventName::wake(row - 2 * self.links),
            _ => EventName::transmitted(row - self.links),
        }
    }

    /// Takes the first event of the heap, which precedes everything else; `near` is the first row of the wheel.
    fn pop_far(&mut self, near: Option<u32>) -> Next {
        let far = self.far_entry();
        self.heap.pop();
        (self.heap_first, _) = NearlySorted::parts(self.heap.first());
        self.set_limit();
        if near.is_none() {
            self.number = self.number.max(far.time.0 >> self.shift);
        }
        self.far = far.name.event();
        match self.far {
            Event::Arrive(link) => (far.time, link.0, self.arriving(link)),
            _ => (far.time, FAR, PacketId::NONE),
        }
    }
}

/// A width that gives one bucket per event at `rate` events per second, but is wide enough for the wheel to cover the
/// delay of links.
pub(crate) fn width_for(rate: f64, ahead: Span) -> Span {
    let width = Span::from_seconds_rounded(0.5 / rate.max(1.0));
    let least = Span((ahead.0 / REACH + 1).next_power_of_two());
    width.clamp(least, least.max(Span(1 << 24)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{FlowId, Purpose, Random};

    /// A random event that is not pending yet.
    fn event(random: &mut Random, list: &[Entry]) -> Event {
        loop {
            let number = random.below(3_000);
            let event = match random.below(4) {
                0 => Event::Arrive(LinkId(number)),
                1 => Event::Transmitted(LinkId(number)),
                2 => return Event::Wake(LinkId(number)),
                _ => return Event::SenderWake(FlowId(number)),
            };
            if list.iter().all(|entry| entry.name.event() != event) {
                return event;
            }
        }
    }

    fn pop(calendar: &mut Calendar) -> Option<(Time, Event)> {
        let (time, row, packet) = calendar.pop().or_else(|| calendar.pop_aside())?;
        let event = calendar.event(row);
        if let Event::Wake(link) = event {
            calendar.take_wake(time, link);
            return Some((time, event));
        }
        let expected = if let Event::Arrive(link) = event { PacketId::new(link.0) } else { PacketId::NONE };
        assert_eq!(packet, expected, "an arrival brings its packet");
        Some((time, event))
    }

    fn taken(entry: Entry) -> (Time, Event) {
        (entry.time, entry.name.event())
    }

    /// Whatever is pushed and popped in between, up to whatever instant, the calendar gives what a sorted list gives.
    #[test]
    fn agrees_with_a_sorted_list() {
        for (seed, width) in [(1, Span(1)), (2, Span(1 << 10)), (3, Span(1 << 16)), (4, Span(1 << 24))] {
            let mut random = Random::new(seed, Purpose::Test, 0);
            let order = EventOrder::new(seed);
            let (mut calendar, mut list) = (Calendar::new(order, 3_000, width), Vec::<Entry>::new());
            if seed % 2 == 0 {
                calendar.give_rows_to_timers();
            }
            let mut now = Time::ZERO;
            for _ in 0..20_000 {
                let reach = [10, 100_000, 1 << 30, 1 << 40][random.below(4) as usize];
                let time = now + Span(random.bits() % reach);
                if random.chance(0.51) {
                    let event = event(&mut random, &list);
                    match event {
                        Event::Arrive(link) => calendar.push_arrival(time, link, PacketId::new(link.0)),
                        Event::Transmitted(link) => calendar.push_transmitted(time, link),
                        Event::Wake(link) => calendar.push_wake(time, link),
                        _ => calendar.push(time, event),
                    }
                    let entry = Entry::new(time, event);
                    let place = list.partition_point(|other| order.precedes(entry, *other));
                    list.insert(place, entry);
                } else {
                    let end = if random.chance(0.5) { Time::NEVER } else { Time(time.0 + 1) };
                    let expected = list.pop_if(|entry| entry.time < end);
                    calendar.set_end(end);
                    assert_eq!(pop(&mut calendar), expected.map(taken));
                    now = expected.map_or(now, |entry| entry.time);
                }
                assert_eq!(calendar.next_time(), list.last().map_or(Time::NEVER, |entry| entry.time));
            }
            calendar.set_end(Time::NEVER);
            while let Some(entry) = list.pop() {
                assert_eq!(pop(&mut calendar), Some(taken(entry)));
            }
            assert!(pop(&mut calendar).is_none() && calendar.next_time() == Time::NEVER);
        }
    }
}
