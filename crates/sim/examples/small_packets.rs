//! DCQCN in packets against its fluid model: senders share a port of 40 Gb/s; packets become smaller by 2, 4 and 8 while the
//! probability of a mark per byte stays. Prints rates and queues beside the fixed point of the fluid model.
//!
//! `cargo run --release -p weft-sim --example small_packets`

use weft_core::record::RunRecord;
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Grouping, HostId, Rate, Span, Time};
use weft_plan::{FlowSampling, Setup};
use weft_sim::Simulation;
use weft_switch::SwitchSettings;
use weft_switch::mark::{At, MarkerSettings, NonEct, red::RedSettings};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::SharingSettings;
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{FailurePlan, LinkSettings, RoutingSettings, TopologySettings, build, timeline};
use weft_transport::protocols::dcqcn::RoceDcqcnSettings;
use weft_transport::rate::dcqcn::HyperIncrease;
use weft_transport::{Transport, TransportSettings};
use weft_workload::Flow;

/// Payload at which a packet of the whole size has 1000 bytes on the wire: headers are 44 bytes and framing 38.
const HEADERS: u64 = 82;
const RATE: Rate = Rate::from_gbps(40);

/// Two flows need about 0.1 s to forget a difference (theorem 2 of the paper), so shares are those of a long run.
fn end(smaller: u64) -> Span {
    if smaller == 1 { Span::from_s(2) } else { Span::from_ms(400) }
}

fn transport(smaller: u64) -> TransportSettings {
    let mut settings = RoceDcqcnSettings::default();
    // Headers shrink with the packets.
    (settings.pairs.framing, settings.pairs.least_wire) = (Bytes(0), Bytes(1));
    (settings.pairs.header, settings.pairs.mtu) = (Bytes(HEADERS / smaller), Bytes(1_000 / smaller));
    settings.pairs.ack_every = 16;
    settings.law.hyper_increase = HyperIncrease::Off;
    TransportSettings::Dcqcn(settings)
}

fn switch(smaller: u64) -> SwitchSettings {
    SwitchSettings {
        latency: Span::ZERO,
        queues: 2,
        schedule: SchedulerSettings::Strict(Default::default()),
        sharing: SharingSettings::Infinite(Default::default()),
        ecn: MarkerSettings::Red(RedSettings {
            min: Amount::Bytes(Bytes(5_000)),
            max: Amount::Bytes(Bytes(200_000)),
            max_probability: Share(0.01 / smaller as f64),
            at: At::Dequeue,
            non_ect: NonEct::Pass,
            ..Default::default()
        }),
        ..SwitchSettings::default()
    }
}

fn setup(senders: u32, smaller: u64) -> Setup {
    let host_link = LinkSettings { delay: Span::from_us(1), ..LinkSettings::of(RATE) };
    let topology = SingleSwitchSettings { hosts: senders + 1, host_link };
    let graph = build(&TopologySettings::SingleSwitch(topology)).expect("a switch with hosts");
    let routes = timeline(&graph, &FailurePlan::default(), &RoutingSettings::default(), Grouping::Together);
    let flow = |source| Flow::new(0, Time::ZERO, (HostId(source), HostId(0)), Bytes(1 << 40));
    Setup {
        switch: switch(smaller),
        flows: (1..=senders).map(flow).collect::<Vec<_>>().into(),
        tags: vec!["long".into()],
        until: Time::ZERO + end(smaller),
        queues_every: Some(Span::from_us(10)),
        flow_samples: Some(FlowSampling { every: end(smaller) / 2, flows: senders }),
        ..Setup::new(graph, routes, Transport::new(&transport(smaller)))
    }
}

/// Mean and standard deviation of the queue over the second half, kilobytes. A bin counts once.
fn queue(record: &RunRecord) -> (f64, f64) {
    let series = record.queues.as_ref().expect("queues are sampled");
    let ports = series.links.len();
    let last_full = series.samples / series.samples_per_bin;
    let bins: Vec<f64> = (last_full / 2..last_full)
        .map(|bin| {
            let row = bin as usize * ports;
            series.sum[row..row + ports].iter().sum::<u64>() as f64 / series.samples_per_bin as f64 / 1e3
        })
        .collect();
    let mean = bins.iter().sum::<f64>() / bins.len() as f64;
    let variance = bins.iter().map(|bin| (bin - mean).powi(2)).sum::<f64>() / bins.len() as f64;
    (mean, variance.sqrt())
}

/// The smallest and the largest share of a flow over the second half, in parts of an equal one.
fn shares(record: &RunRecord, senders: u32) -> (f64, f64) {
    let series = record.flow_series.as_ref().expect("flows are sampled");
    let half: Vec<u64> = series.rows.iter().map(|row| row.acknowledged.0).take(senders as usize).collect();
    let gained: Vec<u64> =
        record.flows.iter().zip(half).map(|(flow, half)| flow.delivered.0 - half).collect();
    let fair = gained.iter().sum::<u64>() as f64 / f64::from(senders);
    let share = |gained: u64| gained as f64 / fair;
    (share(*gained.iter().min().expect("senders")), share(*gained.iter().max().expect("senders")))
}

fn main() {
    println!("senders  packet  least..greatest share  mean queue (sd) kB  fluid kB");
    for (senders, fluid) in [(2, 20.15), (10, 122.6)] {
        for smaller in [1, 2, 4, 8] {
            let record = Simulation::new(setup(senders, smaller)).run(&mut |_| true);
            let ((mean, deviation), (least, most)) = (queue(&record), shares(&record, senders));
            let packet = 1_000 / smaller;
            println!(
                "{senders:7}  {packet:4} B  {least:.3}..{most:.3}  {mean:8.2} ({deviation:.2})  {fluid:6.1}"
            );
        }
    }
}
