//! How flows start at their hosts, and how they end: one is drawn ahead, and some wait for their turn.

use weft_core::{FlowId, HostId};
use weft_plan::Setup;
use weft_transport::settings::Tcp;
use weft_transport::{FlowSite, Sender};
use weft_workload::Flow;

use super::Hosts;
use crate::context::Context;
use crate::ends::FlowEnd;
use crate::event::Event;

impl Hosts {
    /// Schedules the next start of a flow from here.
    pub(crate) fn schedule_next_flow(&mut self, cx: &mut Context) {
        self.draw_next_flow(cx);
        if let Some((flow, spec)) = self.upcoming {
            cx.schedule(spec.start.max(cx.now), Event::FlowStart(flow));
        }
    }

    /// Finds the next flow from here.
    fn draw_next_flow(&mut self, cx: &Context) {
        let (drawn, next) = &mut self.flows;
        let partition = &cx.plan.partition;
        let mut numbered = drawn.map(|spec| (FlowId(std::mem::replace(next, *next + 1)), spec));
        self.upcoming = numbered.find(|(_, spec)| partition.of_host(spec.source) == cx.number);
    }

    /// Whether a flow has yet to start here, or a job has something to do.
    pub(crate) fn is_expecting(&self) -> bool {
        self.upcoming.is_some() || self.jobs.as_ref().is_some_and(|jobs| jobs.is_expecting())
    }

    /// Takes a flow that is due but has not started: first those whose turn has come, then later ones, one at a time.
    pub(crate) fn next_unsent(&mut self, cx: &Context) -> Option<(FlowId, Flow)> {
        let called = self.turns.as_mut().and_then(|turns| turns.next_called());
        called.or_else(|| self.jobs.as_mut().and_then(|jobs| jobs.next_left())).or_else(|| {
            let next = self.upcoming.take();
            self.draw_next_flow(cx);
            next
        })
    }

    /// The site of a flow's end at a host.
    pub(super) fn site_of(&self, setup: &Setup, host: HostId, spec: &Flow) -> FlowSite {
        let (class, ecn) = (setup.class_of(spec), setup.ecn_consent(spec));
        FlowSite { class, ecn, ..self.cards[host.index()].site(setup.seed) }
    }

    /// The application starts a flow, or its turn has come.
    pub(crate) fn flow_start(&mut self, cx: &mut Context, flow: FlowId) {
        match self.upcoming.take_if(|(upcoming, _)| *upcoming == flow) {
            Some((_, spec)) => {
                let waits = self.turns.as_mut().is_some_and(|turns| turns.has_to_wait(flow, spec));
                self.schedule_next_flow(cx);
                if !waits {
                    self.begin(cx, flow, spec);
                }
            }
            None => {
                let turn = self.turns.as_mut().and_then(|turns| turns.take(flow));
                let called = turn.or_else(|| self.jobs.as_mut().and_then(|jobs| jobs.take(flow)));
                self.begin(cx, flow, called.expect("a flow starts once"));
            }
        }
    }

    /// Opens a flow; its sender may send.
    fn begin(&mut self, cx: &mut Context, flow: FlowId, spec: Flow) {
        let setup = &cx.plan.setup;
        let receive_window = setup.receiver(&spec).tcp().and_then(Tcp::first_receive_window);
        let site = FlowSite { receive_window, ..self.site_of(setup, spec.source, &spec) };
        self.cards[spec.source.index()].open += 1;
        let (queues, _) = setup.pausable_queues_of(&spec);
        self.ends.open_sender((flow, spec), (setup.sender(&spec), &site, queues), cx.now);
        match cx.plan.partition.of_host(spec.destination) {
            here if here == cx.number => self.ends.expect(flow, spec),
            there => cx.outbox.announce(there, flow, spec),
        }
        if let Some((seat, _)) = Sender::slab(&mut self.ends).seated(flow) {
            self.attend::<Sender>(cx, seat, spec.source);
        }
    }

    /// Closes a sender; the next flow that waits for its turn may start.
    pub(super) fn sender_done(&mut self, cx: &mut Context, flow: FlowId) {
        let at_host = self.held_at_host(cx, flow);
        let spec = self.ends.close_sender(flow, cx.now, at_host);
        let Some((turns, spec)) = self.turns.as_mut().zip(spec) else { return };
        if let Some(never) = turns.end(&spec, cx.now) {
            self.ends.completed += never;
            self.end_if_done(cx);
        } else if let Some(next) = turns.call_next(&spec, cx.now) {
            cx.schedule(cx.now, Event::FlowStart(next));
        }
    }
}
