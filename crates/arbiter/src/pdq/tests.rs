//! A link of 10 Gb/s and requests that pass it, in both directions.

use weft_core::HostId;

use super::*;

const LINE: Rate = Rate::from_gbps(10);
const TRIP: Span = Span::from_us(100);
const OWN: u64 = 7;

struct Link {
    pdq: PdqArbiter,
    now: Time,
}

fn key(flow: u32) -> FlowKey {
    FlowKey { ports: flow, source: HostId(flow), destination: HostId(99) }
}

impl Link {
    fn new(change: impl FnOnce(&mut PdqArbiterSettings)) -> Link {
        let mut settings = PdqArbiterSettings { dampening: 0.0, ..Default::default() };
        change(&mut settings);
        let site = ArbiterSite { number: OWN, line: LINE, full_packet: Bytes(1_538) };
        Link { pdq: PdqArbiter::new(&settings, site), now: Time::ZERO }
    }

    fn passing(&self, flow: u32) -> Passing {
        Passing { now: self.now, flow: key(flow), wire: 84 }
    }

    /// A request of a flow that needs this number of round trips at line rate, to the link and back. Returns the grant.
    fn ask(&mut self, flow: u32, trips: u64, paused_by: u64) -> SchedulingHeader {
        let mut header = SchedulingHeader {
            role: Role::Request,
            rate: LINE,
            paused_by,
            remaining: TRIP * trips,
            round_trip: TRIP,
            ..SchedulingHeader::NONE
        };
        self.pdq.forward(&self.passing(flow), &mut header);
        self.pdq.reverse(&self.passing(flow), &mut header);
        header
    }
}

#[test]
fn the_most_critical_flow_has_the_line_and_the_others_pause() {
    let mut link = Link::new(|_| ());
    assert_eq!(link.ask(1, 50, 0).rate, LINE);
    let second = link.ask(2, 60, 0);
    assert_eq!((second.rate, second.paused_by), (Rate(0), OWN), "it is larger");
    assert_eq!(link.ask(3, 10, 0).rate, LINE, "it is smaller");
    let first = link.ask(1, 49, 0);
    assert_eq!((first.rate, first.paused_by), (Rate(0), OWN), "and is pushed aside");
}

#[test]
fn deadlines_come_before_sizes_and_flows_that_started_first_before_equals() {
    let mut link = Link::new(|_| ());
    let ask = |link: &mut Link, flow, deadline| {
        let mut header =
            SchedulingHeader { role: Role::Request, rate: LINE, deadline, ..SchedulingHeader::NONE };
        (header.remaining, header.round_trip) = (TRIP * 10, TRIP);
        link.pdq.forward(&link.passing(flow), &mut header);
        link.pdq.reverse(&link.passing(flow), &mut header);
        header.rate
    };
    assert_eq!(ask(&mut link, 5, Time::NEVER), LINE);
    assert_eq!(ask(&mut link, 4, Time::NEVER), LINE, "a lower number");
    assert_eq!(ask(&mut link, 6, Time(5_000)), LINE, "a deadline");
    assert_eq!(ask(&mut link, 7, Time(4_000)), LINE, "an earlier one");
    assert_eq!(ask(&mut link, 8, Time(4_500)), Rate(0));
}

/// Flows that need less than K round trips together no longer count; the first that exceeds K still does.
#[test]
fn early_start_ignores_flows_that_are_about_to_finish() {
    let mut link = Link::new(|settings| settings.early_start = 2.0);
    assert_eq!(link.ask(1, 1, 0).rate, LINE);
    assert_eq!(link.ask(2, 50, 0).rate, LINE, "the first needs one round trip");
    assert_eq!(link.ask(3, 60, 0).rate, Rate(0), "the second needs fifty");
    let mut strict = Link::new(|settings| settings.early_start = 0.0);
    assert_eq!(strict.ask(1, 1, 0).rate, LINE);
    assert_eq!(strict.ask(2, 50, 0).rate, Rate(0));
}

#[test]
fn after_an_admission_no_other_flow_is_admitted_for_a_while() {
    let mut link = Link::new(|settings| settings.dampening = 0.5);
    assert_eq!(link.ask(1, 50, 0).rate, LINE);
    link.now += TRIP / 4;
    assert_eq!(link.ask(2, 40, 0).rate, Rate(0));
    assert_eq!(link.ask(1, 49, 0).rate, LINE, "the admitted flow goes on");
    link.now += TRIP / 4;
    assert_eq!(link.ask(2, 40, 0).rate, LINE);
}

/// While another link paused the flow, it was not on this link's list; the other link has just released it.
#[test]
fn a_flow_that_sends_already_does_not_wait_for_an_admission() {
    let mut link = Link::new(|settings| settings.dampening = 0.5);
    assert_eq!(link.ask(1, 50, 0).rate, LINE);
    link.now += TRIP / 4;
    let mut header = SchedulingHeader {
        role: Role::Request,
        rate: LINE,
        sends: true,
        remaining: TRIP * 40,
        round_trip: TRIP,
        ..SchedulingHeader::NONE
    };
    link.pdq.forward(&link.passing(2), &mut header);
    assert_eq!((header.rate, header.paused_by), (LINE, 0));
}

#[test]
fn a_flow_paused_elsewhere_is_forgotten_and_its_line_is_free() {
    let mut link = Link::new(|_| ());
    assert_eq!(link.ask(1, 10, 0).rate, LINE);
    assert_eq!(link.ask(2, 20, 0).rate, Rate(0));
    let elsewhere = link.ask(1, 10, OWN + 1);
    assert_eq!(elsewhere.paused_by, OWN + 1, "its header is left alone");
    assert_eq!(link.ask(2, 20, OWN).rate, LINE);
}

/// The n-th flow of the list probes every 0.2 n round trips, at all links of its path the most seldom counts.
#[test]
fn less_critical_flows_probe_less_often() {
    let mut link = Link::new(|_| ());
    let gaps: Vec<u32> = (1..=5).map(|flow| link.ask(flow, 100 * u64::from(flow), 0).probe_gap).collect();
    assert_eq!(gaps, [2, 4, 6, 8, 10], "tenths of a round trip");
}

/// With n flows sending the list holds 2 n, at least `least_list` and never more than `most_list`.
#[test]
fn the_list_is_bounded() {
    let mut link = Link::new(|settings| (settings.least_list, settings.most_list) = (3, 5));
    (1..=10).for_each(|flow| {
        link.ask(flow, 100 + u64::from(flow), 0);
    });
    assert_eq!(link.pdq.flows.len(), 3, "one sends");
    assert_eq!(link.ask(11, 50, 0).rate, LINE, "a more critical one replaces the last");
    assert_eq!(link.pdq.flows.len(), 3);
    let mut short = Link::new(|settings| settings.early_start = 1_000.0);
    (1..=40).for_each(|flow| {
        short.ask(flow, 1, 0);
    });
    assert_eq!(short.pdq.flows.sending(), 40, "all are about to finish");
    assert_eq!(short.pdq.flows.len(), 40);
}

/// C = r - q / (2 RTT), and never less than one packet per round trip.
#[test]
fn the_capacity_drains_the_queue_within_two_round_trips() {
    let mut link = Link::new(|_| ());
    link.ask(1, 1_000, 0);
    let capacity = |link: &mut Link, waiting| {
        link.now = link.pdq.due();
        link.pdq.tick(link.now, waiting);
        link.ask(1, 1_000, 0).rate
    };
    let half = LINE.bytes_in(TRIP);
    assert_eq!(capacity(&mut link, half), Rate::from_gbps(5), "a bandwidth-delay product");
    assert_eq!(capacity(&mut link, Bytes(0)), LINE);
    let least = Rate((1_538.0 * 8.0 / TRIP.seconds()) as u64);
    assert_eq!(capacity(&mut link, half * 100), least);
    assert_eq!(link.pdq.due(), link.now + TRIP * 2);
}

#[test]
fn the_timer_runs_while_a_flow_is_known() {
    let mut link = Link::new(|_| ());
    assert_eq!(link.pdq.due(), Time::NEVER);
    link.ask(1, 10, 0);
    assert_eq!(link.pdq.due(), Time::ZERO + TRIP * 2);
    let mut leave = SchedulingHeader { role: Role::Leave, ..SchedulingHeader::NONE };
    link.pdq.forward(&link.passing(1), &mut leave);
    link.pdq.tick(link.pdq.due(), Bytes::ZERO);
    assert_eq!(link.pdq.due(), Time::NEVER);
}

#[test]
fn silent_flows_are_forgotten() {
    let mut link = Link::new(|settings| settings.forget = Span::from_ms(1));
    link.ask(1, 10, 0);
    assert_eq!(link.ask(2, 20, 0).rate, Rate(0));
    for _ in 0..6 {
        link.now = link.pdq.due();
        link.pdq.tick(link.now, Bytes::ZERO);
        link.ask(2, 20, 0);
    }
    assert_eq!(link.ask(2, 20, 0).rate, LINE, "after {:?}", link.now);
}

/// Capacity that listed flows cannot use goes to the flows beyond the list.
#[test]
fn flows_beyond_the_list_share_what_it_leaves() {
    let mut link = Link::new(|settings| (settings.least_list, settings.most_list) = (1, 1));
    let mut slow =
        SchedulingHeader { role: Role::Request, rate: Rate::from_gbps(4), ..SchedulingHeader::NONE };
    (slow.remaining, slow.round_trip) = (TRIP, TRIP);
    link.pdq.forward(&link.passing(1), &mut slow);
    link.pdq.reverse(&link.passing(1), &mut slow);
    let unlisted = link.ask(2, 50, 0);
    assert_eq!((unlisted.rate, unlisted.paused_by), (Rate::from_gbps(6), 0));
    let mut greedy = Link::new(|settings| (settings.least_list, settings.most_list) = (1, 1));
    greedy.ask(1, 10, 0);
    assert_eq!(greedy.ask(2, 50, 0).paused_by, OWN, "nothing is left");
}
