//! Priority flow control between transmitters: frames in flight, which transmitter they pause and for how long, when
//! they are refreshed, and the watchdog. The switch (`weft_switch::pause`) decides when a sender must be paused.
//!
//! A frame occupies its transmitter like any packet; the far end obeys it a response time after its last bit arrives.
//! It never lands as a packet, so links without priority flow control are unaffected.

use std::sync::Arc;

use weft_core::record::PauseRecord;
use weft_core::{Class, LinkId, PortId, SwitchId, Time};
use weft_recorder::deadlock::Wait;
use weft_switch::PauseOrder;
use weft_switch::pause::{FRAME, PauseFrame, WatchdogAction, quanta_time};
use weft_topology::Node;

use crate::context::Context;
use crate::domain::Domain;
use crate::event::Event;
use crate::transmitters::Transmitter;
use crate::wire::Wire;

impl Context {
    pub(crate) fn transmitter(&mut self, link: LinkId) -> &mut Transmitter {
        let pauses = self.pauses.as_mut().expect("only classes that pause are asked for their transmitters");
        &mut pauses.links[link.index()]
    }

    /// Puts the first bit of a frame on the wire at `start`. Returns when its last bit has left.
    pub(crate) fn send_frame(&mut self, link: LinkId, start: Time, frame: PauseFrame) -> Time {
        let wire = self.wires.of(link);
        let end = wire.end_of(start, FRAME);
        let (failed, away) = (wire.failure().is_some(), wire.away);
        let transmitter = self.transmitter(link);
        transmitter.frames += 1;
        transmitter.lost += u64::from(failed);
        transmitter.asked = frame.asked_after(transmitter.asked);
        if transmitter.asked == 0 {
            transmitter.refresh_at = Time::NEVER;
        }
        if frame.stops() {
            let longest = frame.quanta.into_iter().max().unwrap_or(0);
            let again = end + quanta_time(transmitter.rate, longest) / 2;
            transmitter.refresh_at = transmitter.refresh_at.min(again);
            self.schedule(again, Event::Pause(link));
        }
        if failed {
            return end;
        }
        let setup = &self.plan.setup;
        let way = &setup.graph.links()[link.index()];
        // A host responds as fast as its switch.
        let far = setup.switch_for(if matches!(way.to, Node::Host(_)) { way.from } else { way.to });
        if !far.pfc.is_on() {
            return end;
        }
        let obeyed = end + way.delay + far.pfc.response_at(way.rate);
        let stopped = setup.graph.reverse(link);
        match away {
            Some(domain) => self.outbox.pause(domain, stopped, (obeyed, frame)),
            None => self.will_pause(stopped, (obeyed, frame)),
        }
        end
    }

    /// Schedules the transmitter of a link to obey a frame.
    pub(crate) fn will_pause(&mut self, link: LinkId, landing: (Time, PauseFrame)) {
        self.transmitter(link).landing.push_back(landing);
        self.schedule(landing.0, Event::Pause(link));
    }
}

impl Domain {
    /// Handles what is due at the transmitter of a link: a frame to obey, a pause that ends or must be refreshed, the
    /// watchdog.
    pub(crate) fn pause_due(&mut self, link: LinkId) {
        let now = self.cx.now;
        while let Some((_, frame)) = self.cx.transmitter(link).landing.pop_front_if(|(at, _)| *at <= now) {
            frame.iter().for_each(|(class, quanta)| self.obey(link, class, quanta));
        }
        for class in 0..Class::COUNT {
            self.watch(link, class);
            self.update(link, class);
        }
        if self.cx.transmitter(link).refresh_at == now {
            self.cx.transmitter(link).refresh_at = Time::NEVER;
            self.refresh(link);
        }
        self.storm(link);
    }

    /// A frame is obeyed.
    fn obey(&mut self, link: LinkId, class: usize, quanta: u16) {
        let cx = &mut self.cx;
        let from = cx.wires[link].from;
        let settings = cx.plan.setup.switch_for(from);
        let (now, watchdog) = (cx.now, settings.pfc.watchdog);
        let is_switch = matches!(from, Node::Switch(_));
        if is_switch && settings.pfc.lossless(settings.queues as usize) >> class & 1 == 0 {
            return; // it does not pause for this class
        }
        let transmitter = cx.transmitter(link);
        let stopped = &mut transmitter.classes[class];
        stopped.until = now + quanta_time(transmitter.rate, quanta);
        let until = stopped.until;
        if quanta == 0 {
            return;
        }
        let begins = !std::mem::replace(&mut stopped.wanted, true);
        if begins {
            stopped.since = now;
            stopped.times += 1;
        }
        cx.schedule(until, Event::Pause(link));
        if let Some(detect) = watchdog.filter(|_| begins && is_switch) {
            cx.schedule(now + detect, Event::Pause(link));
        }
    }

    /// Lets the watchdog act on a queue of a switch that has been paused for too long.
    fn watch(&mut self, link: LinkId, class: usize) {
        let now = self.cx.now;
        let &Wire { from, port, .. } = &self.cx.wires[link];
        let own = self.cx.plan.setup.switch_for(from);
        let (pfc, queues) = (&own.pfc, own.queues as usize);
        let (Some(detect), restore, action) = (pfc.watchdog, pfc.restore(), pfc.watchdog_action) else {
            return;
        };
        let Node::Switch(switch) = from else { return };
        let stopped = &mut self.cx.transmitter(link).classes[class];
        if stopped.discards && now >= stopped.ignored_until {
            stopped.discards = false;
            self.discard(switch, (port, class), false);
        }
        let stopped = &mut self.cx.transmitter(link).classes[class];
        let watched = now >= stopped.since.max(stopped.ignored_until) + detect;
        if !stopped.held || !watched || class >= queues {
            return;
        }
        stopped.watchdog += 1;
        stopped.ignored_until = now + restore;
        stopped.discards = action == WatchdogAction::Drop;
        self.cx.schedule(now + restore, Event::Pause(link));
        self.cx.schedule(now + restore + detect, Event::Pause(link));
        if action == WatchdogAction::Drop {
            self.discard(switch, (port, class), true);
        }
    }

    fn discard(&mut self, switch: SwitchId, (port, queue): (PortId, usize), on: bool) {
        let order = PauseOrder::Discard { queue, on };
        self.devices.tell(&mut self.cx, switch, |own, turn| own.pause(turn, port, order));
    }

    /// Called when the cable of a link has failed: pauses by its far end no longer count.
    pub(crate) fn forget_pauses(&mut self, link: LinkId) {
        if self.cx.pauses.is_none() {
            return;
        }
        let now = self.cx.now;
        let transmitter = self.cx.transmitter(link);
        transmitter.landing.clear();
        transmitter.classes.iter_mut().for_each(|stopped| stopped.until = stopped.until.min(now));
        (0..Class::COUNT).for_each(|class| self.update(link, class));
    }

    /// Holds or releases a class according to the current state.
    fn update(&mut self, link: LinkId, class: usize) {
        let now = self.cx.now;
        let stopped = &mut self.cx.transmitter(link).classes[class];
        if stopped.wanted && now >= stopped.until {
            stopped.wanted = false;
            stopped.count(now);
        }
        let held = stopped.wanted && (stopped.discards || now >= stopped.ignored_until);
        if std::mem::replace(&mut stopped.held, held) != held {
            if let Some(pauses) = &mut self.cx.pauses {
                pauses.held = if held { pauses.held + 1 } else { pauses.held - 1 };
            }
            self.hold(link, class, held);
        }
    }

    fn hold(&mut self, link: LinkId, class: usize, held: bool) {
        let &Wire { from, port, .. } = &self.cx.wires[link];
        match from {
            Node::Host(host) => self.hosts.hold(&mut self.cx, host, (class, held)),
            Node::Switch(switch) if class < self.cx.plan.setup.switch_at(switch).queues as usize => {
                let after = Time(self.cx.now.0 + 1);
                self.devices.revoke_at(&mut self.cx, (switch, port), after);
                let own = &self.devices.get(switch).expect("a switch is held in its domain").switch;
                let empty = own.reading().waiting_in(&self.cx.pool.headers, (port, class)).next().is_none();
                let now = self.cx.now;
                let holds = &mut self.cx.transmitter(link).classes[class].holds;
                if held {
                    holds.begin(now, empty)
                } else {
                    holds.end(now)
                }
                let order = PauseOrder::Hold { queue: class, held };
                self.devices.tell(&mut self.cx, switch, |own, turn| own.pause(turn, port, order));
            }
            Node::Switch(_) => {}
        }
    }

    /// Refreshes pauses after half their time while they are needed.
    fn refresh(&mut self, link: LinkId) {
        let &Wire { from, port, .. } = &self.cx.wires[link];
        if let Node::Switch(switch) = from {
            self.devices.tell(&mut self.cx, switch, |own, turn| own.pause(turn, port, PauseOrder::Refresh));
        }
    }

    /// Sends the next frame of a host's pause storm.
    fn storm(&mut self, link: LinkId) {
        let now = self.cx.now;
        let Some(storm) = self.cx.transmitter(link).storm else { return };
        let Node::Host(host) = self.cx.wires[link].from else { return };
        let waits = self.cx.transmitter(link).refresh_at != Time::NEVER;
        if waits || now < storm.from || now >= storm.until {
            return;
        }
        let frame = self.cx.plan.setup.switch_for(Node::Host(host)).pfc.stop_all();
        self.hosts.send_frame(&mut self.cx, host, frame);
    }

    /// For each paused sender, the bytes that the switches of this domain cannot forward because they are paused
    /// themselves.
    pub(crate) fn waits(&self) -> Vec<Wait> {
        let Some(pauses) = self.cx.pauses.as_ref().filter(|pauses| pauses.held > 0) else {
            return Vec::new();
        };
        let graph = &self.cx.plan.setup.graph;
        let mut waits = Vec::new();
        for (number, transmitter) in pauses.links.iter().enumerate() {
            let link = LinkId(number as u32);
            let wire = &self.cx.wires[link];
            let Node::Switch(switch) = wire.from else { continue };
            let Some(own) = self.devices.get(switch) else { continue };
            let held = transmitter.classes.iter().enumerate().filter(|(_, stopped)| stopped.held);
            for (class, _) in held {
                for held in own.switch.reading().held_back(&self.cx.pool.headers, (wire.port, class)) {
                    let stopped = graph.reverse(own.link(held.from));
                    let place = |link| (link, class as u8);
                    let (stopped, holds) = (place(stopped), place(link));
                    waits.push(Wait { stopped, holds, at: switch, held });
                }
            }
        }
        waits
    }

    /// The pause records of all links of this domain, up to `end`.
    pub(crate) fn pause_records(&mut self, end: Time, records: &mut Vec<PauseRecord>) {
        let plan = Arc::clone(&self.cx.plan);
        let Some(pauses) = &mut self.cx.pauses else { return };
        for (number, transmitter) in pauses.links.iter_mut().enumerate() {
            let link = &plan.setup.graph.links()[number];
            if plan.partition.of(link.from) != self.cx.number {
                continue;
            }
            for (class, stopped) in transmitter.classes.iter_mut().enumerate() {
                if stopped.wanted {
                    stopped.count(end.min(stopped.until));
                }
                let asked = match link.from {
                    Node::Switch(switch) if class < plan.setup.switch_at(switch).queues as usize => {
                        let own = self.devices.get(switch).expect("a domain has its switches");
                        own.switch.reading().pauses((link.port, class))
                    }
                    _ => weft_switch::PauseCounters::default(),
                };
                let mut record = PauseRecord {
                    link: LinkId(number as u32),
                    class: class as u8,
                    stopped: stopped.times,
                    paused: stopped.total,
                    longest: stopped.longest,
                    watchdog: stopped.watchdog,
                    frames: transmitter.frames,
                    frames_lost: transmitter.lost,
                    ..PauseRecord::default()
                };
                (record.asked, record.resumed, record.caused) = (asked.stops, asked.resumes, asked.caused);
                (record.headroom, record.headroom_peak) = (asked.headroom, asked.headroom_peak);
                record.in_discards = asked.in_discards;
                records.extend(record.has_anything().then_some(record));
            }
        }
    }
}
