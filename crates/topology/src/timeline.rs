//! When each switch learns of a failure and installs new routes. Must not depend on packets: the engine plays the
//! timeline.
//!
//! A cable goes down or up at an instant. After `detection` both of its switches remove the port from all groups (or
//! restore it). Then link-state messages flood over the cables that are up: propagation plus `flooding` per hop.
//! `spf_delay` after the last message of that instant a switch recomputes, from all that it has heard by then, and
//! after `install` it replaces all groups at once by those of the new state. Ports known to be down locally stay
//! excluded even then. Between failure and installation, packets may be sent into dead ends; modelling this is the
//! purpose.
//!
//! Simplification: all cables that change at one instant make one new state, and a switch that learns of a later
//! change first skips the earlier one.

use crate::failure::FailurePlan;
use crate::graph::{Cable, Graph, Node};
use crate::live::LinkState;
use crate::routes::Routes;
use std::collections::{BTreeMap, BTreeSet};
use weft_core::{Grouping, PortId, Span, SwitchId, Time};

weft_core::choice! {
    /// How switches learn of failures.
    pub enum Convergence {
        /// By detection, flooding, recomputation and installation, each with its delay.
        Flooded = "flooded",
        /// At the instant of the failure, everywhere (IDEAL-DRILL of the DRILL paper); the delays are not used.
        Instant = "instant",
    }
}

weft_core::settings! {
    /// The reaction of routing to failures.
    pub struct RoutingSettings {
        /// How switches learn of failures.
        convergence: Convergence = Convergence::Flooded,
        /// Time from the failure until the switches at its ends notice; 0 is carrier loss, three missed BFD packets
        /// 9.9 ms.
        detection: Span = Span::ZERO,
        /// Processing time of a link-state message per hop, without propagation.
        flooding: Span = Span::from_us(10),
        /// Time from the arrival of the message to the computation of shortest paths (OSPF implementations: 50 ms).
        spf_delay: Span = Span::from_ms(50),
        /// Time from the computation to the use of the new table.
        install: Span = Span::ZERO,
    }
}

/// A change of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A cable fails: packets on it, or queued for it, are lost.
    CableDown(usize),
    /// A cable works again.
    CableUp(usize),
    /// A switch stops using one of its ports.
    LocalDown {
        /// The switch that noticed.
        switch: SwitchId,
        /// Its port at the failed cable.
        port: PortId,
    },
    /// A switch may use one of its ports again if its routes contain it.
    LocalUp {
        /// The switch that noticed.
        switch: SwitchId,
        /// Its port at the repaired cable.
        port: PortId,
    },
    /// A switch replaces its table by that of a later state.
    Install {
        /// The switch.
        switch: SwitchId,
        /// Index in [`Timeline::states`].
        state: usize,
    },
}

impl Change {
    /// The cable that fails or works again, and whether it is then up; `None` for changes of switches.
    #[must_use]
    pub fn cable(&self) -> Option<(usize, bool)> {
        match self {
            Change::CableDown(cable) => Some((*cable, false)),
            Change::CableUp(cable) => Some((*cable, true)),
            Change::LocalDown { .. } | Change::LocalUp { .. } | Change::Install { .. } => None,
        }
    }
}

/// All changes of the network during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The cables when the run starts.
    pub initial: LinkState,
    /// Routes after each instant of change; the first are those in force at the start.
    pub states: Vec<Routes>,
    /// Sorted by time, then in the order of [`Change`].
    pub changes: Vec<(Time, Change)>,
}

impl Timeline {
    /// When each of `cables` is down, in order: from, until; [`Time::NEVER`] if it stays down.
    #[must_use]
    pub fn downtimes(&self, cables: usize) -> Vec<Vec<(Time, Time)>> {
        let initial =
            |cable| if self.initial.is_up(cable) { Vec::new() } else { vec![(Time::ZERO, Time::NEVER)] };
        let mut found: Vec<Vec<(Time, Time)>> = (0..cables).map(initial).collect();
        for (at, (cable, up)) in self.changes.iter().filter_map(|(at, change)| Some((*at, change.cable()?))) {
            let open = found[cable].last_mut().filter(|(_, until)| *until == Time::NEVER);
            match (open, up) {
                (Some(open), true) => open.1 = at,
                (None, false) => found[cable].push((at, Time::NEVER)),
                _ => {}
            }
        }
        found
    }
}

/// Plays the failures against the routing protocol; groups are as the balancer requires.
#[must_use]
pub fn timeline(
    graph: &Graph,
    plan: &FailurePlan,
    routing: &RoutingSettings,
    grouping: Grouping,
) -> Timeline {
    let initial = plan.initial(graph);
    let mut builder = Builder { graph, routing, heard: BTreeMap::new(), changes: Vec::new() };
    let mut states = vec![Routes::new(graph, &initial, grouping)];
    let mut state = initial.clone();
    for (at, cables) in instants(plan) {
        cables.iter().for_each(|&(cable, up)| state.set(cable, up));
        builder.instant(at, &cables, (&state, states.len()));
        states.push(Routes::new(graph, &state, grouping));
    }
    Timeline { initial, states, changes: builder.finish() }
}

/// The cables that change at each instant, in order, with their new state. A cable whose repair and next failure fall on one
/// instant stays down: it does not change.
fn instants(plan: &FailurePlan) -> BTreeMap<Time, Vec<(usize, bool)>> {
    let mut changes: BTreeMap<Time, BTreeMap<usize, BTreeSet<bool>>> = BTreeMap::new();
    for outage in &plan.outages {
        for (time, up) in [(outage.at, false), (outage.repair, true)] {
            let Some(time) = time else { continue };
            let cables = changes.entry(time).or_default();
            outage.cables.iter().for_each(|&cable| {
                cables.entry(cable).or_default().insert(up);
            });
        }
    }
    let one = |(cable, ups): (usize, BTreeSet<bool>)| match ups.len() {
        1 => ups.first().map(|&up| (cable, up)),
        _ => None,
    };
    let kept = changes.into_iter().map(|(time, cables)| (time, cables.into_iter().filter_map(one).collect()));
    kept.filter(|(_, cables): &(Time, Vec<_>)| !cables.is_empty()).collect()
}

struct Builder<'a> {
    graph: &'a Graph,
    routing: &'a RoutingSettings,
    /// For each switch, when it learns of each state.
    heard: BTreeMap<SwitchId, BTreeSet<(Time, usize)>>,
    changes: Vec<(Time, Change)>,
}

impl Builder<'_> {
    fn instant(&mut self, at: Time, cables: &[(usize, bool)], (state, index): (&LinkState, usize)) {
        let flooded = self.routing.convergence == Convergence::Flooded;
        let noticed = if flooded { at + self.routing.detection } else { at };
        // the last message of this instant at a switch; one that gets none is cut off and keeps its routes
        let mut heard = vec![if flooded { None } else { Some(noticed) }; self.graph.switches().len()];
        for &(cable, up) in cables {
            self.changes.push((at, if up { Change::CableUp(cable) } else { Change::CableDown(cable) }));
            let ends = self.local(cable, up, noticed);
            if flooded {
                let news = flood(self.graph, state, self.routing.flooding, (&ends, noticed));
                heard.iter_mut().zip(news).for_each(|(heard, news)| *heard = (*heard).max(news));
            }
        }
        for (switch, heard) in heard.into_iter().enumerate() {
            if let Some(heard) = heard {
                self.heard.entry(SwitchId(switch as u32)).or_default().insert((heard, index));
            }
        }
    }

    /// Notifies both ends; returns the switches among them.
    fn local(&mut self, cable: usize, up: bool, noticed: Time) -> Vec<SwitchId> {
        let Cable { a, b, .. } = self.graph.cables()[cable];
        let mut switches = Vec::new();
        for end in [a, b] {
            if let Node::Switch(switch) = end.node {
                let port = end.port;
                let change =
                    if up { Change::LocalUp { switch, port } } else { Change::LocalDown { switch, port } };
                self.changes.push((noticed, change));
                switches.push(switch);
            }
        }
        switches
    }

    /// A computation uses everything that the switch has heard by then, not only the news that started it.
    fn finish(mut self) -> Vec<(Time, Change)> {
        let (compute, install) = match self.routing.convergence {
            Convergence::Flooded => (self.routing.spf_delay, self.routing.install),
            Convergence::Instant => (Span::ZERO, Span::ZERO),
        };
        for (switch, heard) in self.heard {
            let mut newest = 0;
            for (first, _) in &heard {
                let at = *first + compute;
                let known = heard.iter().take_while(|(heard, _)| *heard <= at).map(|(_, state)| *state);
                let state = known.max().unwrap_or(0);
                if state > newest {
                    newest = state;
                    self.changes.push((at + install, Change::Install { switch, state }));
                }
            }
        }
        self.changes.sort_unstable();
        self.changes
    }
}

/// When each switch gets the messages that `origins` send at `start`; `None`: never, because it is cut off.
fn flood(
    graph: &Graph,
    state: &LinkState,
    processing: Span,
    (origins, start): (&[SwitchId], Time),
) -> Vec<Option<Time>> {
    let mut heard = vec![None; graph.switches().len()];
    let mut waiting: BTreeSet<(Time, SwitchId)> = origins.iter().map(|&switch| (start, switch)).collect();
    while let Some((at, switch)) = waiting.pop_first() {
        if heard[switch.index()].is_some() {
            continue;
        }
        heard[switch.index()] = Some(at);
        for link in graph.links_of(Node::Switch(switch)) {
            if let (Node::Switch(to), true) = (link.to, state.is_up(link.cable)) {
                waiting.insert((at + link.delay + processing, to));
            }
        }
    }
    heard
}
