//! The data that all domains of a run share, derived once from its setup.

use weft_core::{LinkId, Span, Time};
use weft_plan::Setup;
use weft_recorder::stranded::Remains;
use weft_topology::{Change, Graph, Node, Timeline};

use crate::partition::{Partition, delays, wanted};

/// Read by all domains of a run and changed by none.
pub(crate) struct RunPlan {
    pub(crate) setup: Setup,
    pub(crate) partition: Partition,
    /// Links whose cable or port changes during the run, or that lose packets: whether a packet is lost is drawn when
    /// its transmission starts, not before.
    restless: Vec<bool>,
    /// Hosts that stay disconnected, in a run without a time limit.
    pub(crate) remains: Option<Remains>,
}

impl RunPlan {
    pub(crate) fn new(setup: Setup) -> RunPlan {
        let (graph, endless) = (&setup.graph, setup.until == Time::NEVER);
        let delays = delays(graph, |switch| setup.switch_at(switch));
        let division = (wanted(&setup, &delays), setup.division.scatter);
        RunPlan {
            partition: Partition::new(graph, &delays, division),
            restless: restless(graph, &setup.timeline),
            remains: endless.then(|| Remains::new(graph, &setup.timeline)).flatten(),
            setup,
        }
    }

    /// Whether the run ends when ports wait for each other in a cycle, because nothing else would end it.
    pub(crate) fn ends_by_deadlock(&self) -> bool {
        self.setup.until == Time::NEVER && self.setup.switch_kinds().all(|kind| kind.pfc.watchdog.is_none())
    }

    /// Whether packets whose first bit has not left can be taken off a link: they stay in the domain, and none arrives at the instant
    /// at which it leaves.
    pub(crate) fn can_take_back(&self, link: LinkId) -> bool {
        let link = &self.setup.graph.links()[link.index()];
        let stays = self.partition.of(link.from) == self.partition.of(link.to);
        stays && link.delay > Span::ZERO && link.stalls.is_none()
    }

    /// Whether a link never changes during the run.
    pub(crate) fn is_steady(&self, link: LinkId) -> bool {
        !self.restless[link.index()]
    }
}

fn restless(graph: &Graph, timeline: &Timeline) -> Vec<bool> {
    let mut restless: Vec<bool> = graph.links().iter().map(|link| link.loss > 0.0).collect();
    for (_, change) in &timeline.changes {
        match change {
            Change::CableDown(cable) | Change::CableUp(cable) => {
                for link in graph.links_of_cable(*cable) {
                    restless[link.index()] = true;
                }
            }
            Change::LocalDown { switch, port } | Change::LocalUp { switch, port } => {
                restless[graph.link_at(Node::Switch(*switch), *port).index()] = true;
            }
            Change::Install { .. } => {}
        }
    }
    restless
}
