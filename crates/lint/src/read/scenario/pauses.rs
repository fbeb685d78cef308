//! Pauses: lossless classes with their limits and headroom, the classes in which hosts send, and cycles of lossless
//! links on the routes of the scenario.

use std::rc::Rc;

use super::Reader;
use weft_config::place::Placed;
use weft_core::{Bytes, Class, Grouping, Span, SwitchId};
use weft_device_config::model::{
    Circle, GroupBinding, MapEntries, MapKind, MemoryPool, Notifications, PriorityGroup, Profile,
    SwitchConfig, Threshold,
};
use weft_scenario::{payload_queues, switch_site};
use weft_switch::PriorityGroups;
use weft_switch::pause::{needed, needs, set_aside};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::SharingSettings;
use weft_topology::Node;
use weft_topology::dependency::circle;
use weft_topology::{Routes, plan, timeline};
use weft_transport::TransportSettings;

/// Maximum product of links, leaves and states of the network: a fat tree of about 7000 hosts without failures.
const MOST_WORK: usize = 20_000_000;

impl Reader<'_> {
    /// Adds pauses to a switch: a group with its limits for each port and its lossless classes.
    pub(super) fn pause(&self, switch: &mut SwitchConfig, id: SwitchId) {
        let settings = &self.device.switch;
        let site = switch_site(&self.case.settings, self.graph, id);
        let room = settings.buffer.map(|buffer| Bytes(buffer.0.saturating_sub(set_aside(settings, &site).0)));
        let pool = switch.pools.len();
        let groups = PriorityGroups::new(settings);
        let maps = self.group_maps(&groups);
        let mut promised = Bytes::ZERO;
        for number in 0..switch.ports.len() {
            let own_needs = needed(settings, &site, number);
            let headroom = settings.pfc.headroom.unwrap_or(own_needs);
            promised += headroom * settings.lossless_groups();
            let profile = self.lossless_profile(&mut switch.profiles, pool, headroom);
            let port = &mut switch.ports[number];
            port.needs = Some(own_needs);
            port.pfc = self.classes();
            let group = PriorityGroup { at: self.spot("switch.pfc"), bound: GroupBinding::Profile(profile) };
            port.groups =
                port.pfc.iter().map(|class| (groups.of(class.value.into()) as u8, group.clone())).collect();
            port.maps.extend(maps.iter().cloned());
            // Lossless queues are limited by their groups alone.
            for class in port.pfc.iter().map(|class| class.value) {
                port.queues.entry(class).and_modify(|queue| queue.profile = None);
            }
        }
        // Chip memory management reserves a pool that all ports share.
        let headroom = Some(match &settings.sharing {
            SharingSettings::Mmu(own) if own.headroom_pool.is_some() => {
                self.placed(needs(own, settings, &site).headroom, "switch.sharing.mmu.headroom_pool")
            }
            _ => self.placed(promised, "switch.pfc.headroom"),
        });
        switch.pools[0].size = room;
        switch.pools.push(MemoryPool {
            at: self.spot("switch.buffer"),
            name: "shared memory".to_owned(),
            size: room,
            headroom,
            ingress: true,
            egress: false,
        });
        (switch.knows_groups, switch.knows_headroom) = (true, true);
        switch.port_limit = self.port_limit().filter(|_| !settings.pfc.all_lossless(settings.queues));
    }

    /// The maps from queues to priority groups, if some queues share one.
    fn group_maps(&self, groups: &PriorityGroups) -> Vec<(MapKind, Rc<MapEntries>)> {
        if !groups.are_shared() {
            return Vec::new();
        }
        let entry = |queue: u8| (queue, self.placed(groups.of(queue.into()) as u8, "switch.group_map"));
        let map: Rc<MapEntries> = Rc::new((0..self.device.switch.queues as u8).map(entry).collect());
        vec![(MapKind::Group, Rc::clone(&map)), (MapKind::PauseGroup, map)]
    }

    fn classes(&self) -> Vec<Placed<u8>> {
        let classes = self.device.switch.pfc.classes.iter();
        classes.map(|class| self.placed(*class as u8, "switch.pfc.classes")).collect()
    }

    /// The number of the profile with this headroom.
    fn lossless_profile(&self, profiles: &mut Vec<Profile>, pool: usize, headroom: Bytes) -> usize {
        let same = |profile: &Profile| {
            profile.lossless && profile.headroom.as_ref().is_some_and(|own| own.value == headroom)
        };
        if let Some(number) = profiles.iter().position(same) {
            return number;
        }
        let pfc = &self.device.switch.pfc;
        let (threshold, path) = match pfc.xoff {
            Some(limit) => (Threshold::Static(limit), "switch.pfc.xoff"),
            None => (Threshold::Dynamic(pfc.alpha), "switch.pfc.alpha"),
        };
        profiles.push(Profile {
            at: self.spot("switch.pfc"),
            name: "switch.pfc".to_owned(),
            pool: Some(pool),
            reserved: Bytes::ZERO,
            threshold: Some(self.placed(threshold, path)),
            headroom: Some(self.placed(headroom, "switch.pfc.headroom")),
            xon: None,
            xon_offset: Some(self.placed(pfc.xon_offset, "switch.pfc.xon_offset")),
            made_for: None,
            lossless: true,
        });
        profiles.len() - 1
    }

    /// With a static XOFF lossless classes have their own memory; with a dynamic one they count towards the sharing
    /// rule.
    fn port_limit(&self) -> Option<Placed<Bytes>> {
        let settings = &self.device.switch;
        match &settings.sharing {
            SharingSettings::Fixed(own) if settings.pfc.xoff.is_none() => {
                Some(self.placed(own.per_port, "switch.sharing.static.per_port"))
            }
            _ => None,
        }
    }

    /// The queue of a class.
    fn queue(&self, class: u8) -> u8 {
        self.device.switch.queue_of(Class(class)) as u8
    }

    /// The queues, or with `queue` as the identity the classes, in which some transports send payload in any entry, lowest
    /// first; `None` stands for datagrams.
    pub(super) fn carried(
        &self,
        queue: impl Fn(Class) -> usize,
        chosen: impl Fn(Option<&TransportSettings>) -> bool,
    ) -> Vec<u8> {
        let set = payload_queues((&self.case.settings, self.graph), queue, chosen);
        (0..8).filter(|queue| set & (1 << queue) != 0).collect()
    }

    pub(super) fn notifications(&self) -> Option<Placed<Notifications>> {
        let TransportSettings::Dcqcn(own) = &self.stack.transport else { return None };
        let queue = self.queue(0);
        let one_line = matches!(self.device.switch.schedule, SchedulerSettings::Fifo(_));
        let payload = self.carried(
            |class| self.device.switch.queue_of(class),
            |stack| stack == Some(&self.stack.transport),
        );
        let behind_payload = one_line || payload.iter().any(|class| queue >= *class);
        let notifications = Notifications { queue, behind_payload, delay: own.notification.cnp_delay };
        Some(self.placed(notifications, "switch.schedule"))
    }

    /// Whether the law goes by round trips, or by the reports of links.
    pub(super) fn needs_no_marks(&self) -> bool {
        use TransportSettings::{Hpcc, PatchedTimely, Timely, TimelyPi};
        matches!(self.stack.transport, Hpcc(_) | Timely(_) | PatchedTimely(_) | TimelyPi(_))
    }

    pub(super) fn transport(&self, setting: &str) -> String {
        format!("transport.{}.{setting}", self.stack.transport.name())
    }

    /// Whether all routes can be searched within seconds, or nothing pauses.
    pub(super) fn is_small(&self) -> bool {
        let states = 1 + 2 * self.case.settings.failure.len();
        let work = self.graph.links().len() * self.graph.leaves().len() * states;
        work <= MOST_WORK || !self.devices.iter().any(|device| device.switch.pfc.is_on())
    }

    /// The first cycle of lossless links under any routes of the run, with the failures of the first seed.
    pub(super) fn circle(&self) -> Option<Circle> {
        let settings = &self.case.settings;
        if !self.devices.iter().any(|device| device.switch.pfc.is_on()) {
            return None;
        }
        let seed = settings.seeds.first().copied().unwrap_or(1);
        let plan = plan(self.graph, &settings.failure, seed).ok()?;
        let course = timeline(self.graph, &plan, &settings.routing, Grouping::Together);
        course.states.iter().enumerate().find_map(|(state, routes)| self.circle_of(routes, state, seed))
    }

    fn circle_of(&self, routes: &Routes, state: usize, seed: u64) -> Option<Circle> {
        let links = circle(self.graph, routes)?;
        let from = |link: &weft_core::LinkId| self.graph.links()[link.index()].from;
        let pauses = |node| {
            let own = self
                .devices
                .iter()
                .find(|device| device.switches.iter().any(|own| Node::Switch(*own) == node));
            own.is_some_and(|device| device.switch.pfc.is_on())
        };
        if !links.iter().all(|link| pauses(from(link))) {
            return None;
        }
        let watched =
            |device: &weft_scenario::Device| device.switch.pfc.watchdog.is_some_and(|time| time > Span::ZERO);
        let pausing = self.devices.iter().filter(|device| device.switch.pfc.is_on());
        let name = |link: weft_core::LinkId| self.graph.name(from(&link));
        let settings = &self.case.settings;
        let when = match (settings.failure.is_empty(), state) {
            (true, _) => "on the routes of this network".to_owned(),
            (false, 0) => format!("on the routes at the start, with the failures of seed {seed}"),
            (false, _) => {
                format!("on the routes after change {state} of the network, with the failures of seed {seed}")
            }
        };
        Some(Circle {
            at: self.spot("switch.pfc.classes"),
            switches: links.into_iter().map(name).collect(),
            watched: pausing.into_iter().all(watched),
            when,
        })
    }
}
