//! Random transports. Timers are those of data centres, so that idle waiting stays short.

use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Random, Rate, Span};
use weft_transport::RtoFloor;
use weft_transport::congestion::{
    cubic::{self, CubicSettings},
    dctcp::{self, DctcpSettings},
    htcp::{self, HtcpSettings},
    l2dct::L2dctSettings,
    newreno::NewRenoSettings,
};
use weft_transport::protocols::{
    self,
    ndp::{self, NdpSettings},
    pase::PaseSettings,
    pdq::PdqSettings,
    pfabric::{self, PfabricSettings},
    udp::UdpSettings,
};
use weft_transport::rate::{
    dcqcn,
    fixed::FixedRateSettings,
    hpcc,
    notification::{self, NotificationSettings},
    patched_timely, timely, timely_pi,
};
use weft_transport::settings::{AutotuneSettings, EcnUse, LossDetection, Recovery, ShimRule, Tcp};
use weft_transport::{
    TransportSettings, flowcells::FlowcellSettings, gro::GroSettings, roce, shim::ShimSettings,
};

use super::{one_in, pick};

/// One of all transports.
pub(super) fn transport(random: &mut Random) -> TransportSettings {
    if one_in(random, 10) {
        let rate = one_in(random, 2).then(|| Rate::from_mbps(u64::from(500 + random.below(20_000))));
        let mtu = Bytes(pick(random, &[576, 1_500, 9_000]));
        return TransportSettings::Udp(UdpSettings { mtu, rate, ..Default::default() });
    }
    let tcp = tcp(random);
    match random.below(5) {
        0 => TransportSettings::NewReno(protocols::newreno::TcpNewRenoSettings {
            law: NewRenoSettings {},
            tcp,
        }),
        1 => TransportSettings::Cubic(protocols::cubic::TcpCubicSettings { law: cubic(random), tcp }),
        2 => TransportSettings::Htcp(protocols::htcp::TcpHtcpSettings { law: htcp(random), tcp }),
        3 => TransportSettings::L2dct(protocols::l2dct::TcpL2dctSettings {
            law: L2dctSettings::default(),
            tcp,
        }),
        _ => TransportSettings::Dctcp(protocols::dctcp::TcpDctcpSettings { law: dctcp(random), tcp }),
    }
}

/// One out of all choices, for worlds with several.
pub(super) fn any(random: &mut Random) -> TransportSettings {
    let first = transport(random);
    let others = [later(random), ranked(random), receiver_driven(random), granted(random)];
    let mut chosen = others.into_iter().flatten().last().unwrap_or(first);
    read_late_and_cut(&mut chosen, random);
    chosen
}

/// RoCE was added later, with a random stream of its own, so that the worlds of most seeds are unchanged.
pub(super) fn later(random: &mut Random) -> Option<TransportSettings> {
    if !one_in(random, 4) {
        return None;
    }
    let pairs = queue_pairs(random);
    let law = FixedRateSettings {
        initial_rates: pick(random, &[None, Some(Rate::from_gbps(2))]).into_iter().collect(),
    };
    Some(match random.below(6) {
        0 => TransportSettings::Roce(protocols::roce::RoceFixedSettings { law, pairs }),
        1 => TransportSettings::Timely(protocols::timely::RoceTimelySettings { law: timely(random), pairs }),
        2 => TransportSettings::PatchedTimely(protocols::patched_timely::RocePatchedTimelySettings {
            law: patched_timely::PatchedTimelySettings {
                measured: timely(random).measured,
                ..Default::default()
            },
            pairs,
        }),
        3 => TransportSettings::TimelyPi(protocols::timely_pi::RoceTimelyPiSettings {
            law: timely_pi::TimelyPiSettings { measured: timely(random).measured, ..Default::default() },
            pairs,
        }),
        _ => TransportSettings::Dcqcn(protocols::dcqcn::RoceDcqcnSettings {
            law: dcqcn(random),
            notification: notification(random),
            pairs,
        }),
    })
}

/// The same holds for pFabric.
pub(super) fn ranked(random: &mut Random) -> Option<TransportSettings> {
    if !one_in(random, 8) {
        return None;
    }
    Some(TransportSettings::Pfabric(PfabricSettings {
        mtu: Bytes(pick(random, &[576, 1_500, 9_000])),
        initial_window: pick(random, &[1, 12, 70]),
        max_window: pick(random, &[70, 200]),
        rto: Span::from_us(pick(random, &[45, 250, 3_000])),
        probe_after: pick(random, &[1, 5, 1_000]),
        rank: pick(random, &[pfabric::RankBy::Remaining, pfabric::RankBy::Sent, pfabric::RankBy::Size]),
        class: pick(random, &[0, 0, 1]),
        control_class: pick(random, &[0, 0, 1]),
        ..Default::default()
    }))
}

/// The same holds for NDP.
pub(super) fn receiver_driven(random: &mut Random) -> Option<TransportSettings> {
    if !one_in(random, 6) {
        return None;
    }
    let rto = Span::from_us(pick(random, &[200, 1_000, 3_000]));
    Some(TransportSettings::Ndp(NdpSettings {
        mtu: Bytes(pick(random, &[576, 1_500, 9_000])),
        initial_window: pick(random, &[1, 8, 30]),
        class: pick(random, &[1, 1, 2, 0]),
        control_class: pick(random, &[0, 0, 1]),
        pull_order: pick(random, &[ndp::PullOrder::Fair, ndp::PullOrder::Fifo]),
        rto,
        pull_timeout: rto * pick(random, &[1, 8]),
        ..Default::default()
    }))
}

/// The same holds for PDQ.
pub(super) fn granted(random: &mut Random) -> Option<TransportSettings> {
    if !one_in(random, 8) {
        return None;
    }
    Some(TransportSettings::Pdq(PdqSettings {
        mtu: Bytes(pick(random, &[576, 1_500, 9_000])),
        round_trip: Span::from_us(pick(random, &[10, 100])),
        probe_interval: pick(random, &[10.0, 20.0, 50.0]),
        rto: Span::from_us(pick(random, &[300, 1_000, 4_000])),
        class: pick(random, &[0, 0, 1]),
        control_class: pick(random, &[0, 0, 1]),
        ..Default::default()
    }))
}

/// The same holds for HPCC.
pub(super) fn reported(random: &mut Random) -> Option<TransportSettings> {
    if !one_in(random, 8) {
        return None;
    }
    let law = hpcc::HpccSettings {
        base_rtt: Span::from_us(pick(random, &[2, 13, 100])),
        target: pick(random, &[0.5, 0.95, 1.0]),
        most_stages: pick(random, &[0, 5, 50]),
        additive_step: Bytes(pick(random, &[0, 80, 2_000])),
        ..Default::default()
    };
    let pairs = queue_pairs(random);
    Some(TransportSettings::Hpcc(protocols::hpcc::RoceHpccSettings { law, pairs }))
}

/// The same holds for PASE.
pub(super) fn arbitrated(random: &mut Random) -> Option<TransportSettings> {
    if !one_in(random, 10) {
        return None;
    }
    let rto = Span::from_us(pick(random, &[500, 2_000]));
    Some(TransportSettings::Pase(PaseSettings {
        mtu: Bytes(pick(random, &[576, 1_500, 9_000])),
        arbitration: !one_in(random, 6),
        queues: 2 + random.below(7),
        round_trip: Span::from_us(pick(random, &[10, 100])),
        interval: pick(random, &[0.5, 1.0, 4.0]),
        initial_window: pick(random, &[1, 10, 70]),
        dup_threshold: pick(random, &[1, 3, 1000]),
        rto,
        low_rto: rto * pick(random, &[1, 4]),
        class: pick(random, &[0, 0, 1]),
        ..Default::default()
    }))
}

fn queue_pairs(random: &mut Random) -> roce::settings::QueuePairSettings {
    use roce::settings::RoceRecovery;
    let mtu = pick(random, &[1_068, 1_500, 4_140]);
    let retry = Span::from_us(pick(random, &[200, 500, 4_000]));
    roce::settings::QueuePairSettings {
        mtu: Bytes(mtu),
        class: pick(random, &[3, 1, 0]),
        ack_class: pick(random, &[0, 0, 3]),
        recovery: pick(random, &[RoceRecovery::GoBackN, RoceRecovery::Selective]),
        reorder_buffer: one_in(random, 3).then(|| Bytes(pick(random, &[1, 8, 100]) * mtu)),
        reorder_timeout: Span::from_us(u64::from(1 + random.below(100))),
        ack_every: pick(random, &[1, 2, 16]),
        window: one_in(random, 3).then(|| Bytes(pick(random, &[1, 10_000, 100_000]))),
        retry_timeout: retry,
        retry_timeout_low: one_in(random, 2).then(|| retry / 4),
        retry_timeout_max: retry * pick(random, &[1, 16]),
        tlt: one_in(random, 3).then(Default::default),
        cut_on_nack: one_in(random, 4),
        feedback_jitter: Span::from_us(pick(random, &[0, 0, 20])),
        nack_every: one_in(random, 4).then(|| Span::from_us(u64::from(1 + random.below(500)))),
        ..Default::default()
    }
}

fn notification(random: &mut Random) -> NotificationSettings {
    use notification::{NotificationPacing, NotificationScope};
    let per_port = one_in(random, 4);
    NotificationSettings {
        cnp_interval: Span::from_us(pick(random, &[50, 4])),
        np_mode: if per_port {
            NotificationPacing::Paper
        } else {
            pick(random, &[NotificationPacing::Paper, NotificationPacing::Ticker])
        },
        np_scope: if per_port { NotificationScope::Port } else { NotificationScope::Flow },
        cnp_delay: Span::from_us(pick(random, &[0, 0, 55])),
    }
}

fn dcqcn(random: &mut Random) -> dcqcn::DcqcnSettings {
    use dcqcn::{CutBy, HyperIncrease, ReactionTiming, RecoveryCount};
    dcqcn::DcqcnSettings {
        byte_counter: Bytes(pick(random, &[10_000_000, 150_000, 1_000])),
        recovery_count: pick(random, &[RecoveryCount::Fluid, RecoveryCount::Ns3]),
        hyper_increase: pick(random, &[HyperIncrease::Both, HyperIncrease::Timer, HyperIncrease::Off]),
        min_rate: Rate::from_mbps(pick(random, &[10, 500])),
        cut_by: pick(random, &[CutBy::Old, CutBy::Updated]),
        clamp_target: one_in(random, 2),
        reset_byte_meter: one_in(random, 2),
        collapse_target: one_in(random, 2),
        timing: pick(random, &[ReactionTiming::Paper, ReactionTiming::FreeRunning]),
        first_cut: pick(random, &[1.0, 0.5]),
        ..Default::default()
    }
}

fn timely(random: &mut Random) -> timely::TimelySettings {
    use weft_transport::rate::segments::{self, Pacing};
    timely::TimelySettings {
        hai_after: pick(random, &[5, 0]),
        scale_by_min_rtt: one_in(random, 2),
        measured: timely::TimelySharedSettings {
            low: Span::from_us(pick(random, &[50, 5])),
            segments: segments::SegmentSettings {
                segment: Bytes(pick(random, &[16_000, 64_000, 1])),
                pacing: pick(random, &[Pacing::PerPacket, Pacing::PerBurst]),
                base_rtt: Span::from_us(pick(random, &[0, 4])),
            },
            ..Default::default()
        },
        ..Default::default()
    }
}

fn cubic(random: &mut Random) -> CubicSettings {
    CubicSettings {
        scaling: pick(random, &[0.4, 4.0, 1e6]),
        beta: Share(pick(random, &[0.7, 0.5, 0.9])),
        fast_convergence: one_in(random, 2),
        fast_probing: one_in(random, 2),
        arithmetic: pick(random, &[cubic::CubicArithmetic::Exact, cubic::CubicArithmetic::Linux]),
        tcp_friendliness: one_in(random, 2),
        hystart: one_in(random, 2),
        hystart_paced: one_in(random, 2),
        hz: pick(random, &[100, 250, 1000]),
    }
}

fn htcp(random: &mut Random) -> HtcpSettings {
    use htcp::{RttScaling, Variant};
    HtcpSettings {
        variant: pick(random, &[Variant::Linux, Variant::Draft]),
        rtt_scaling: pick(random, &[RttScaling::AsVariant, RttScaling::On, RttScaling::Off]),
        bandwidth_switch: one_in(random, 2),
        adaptive_backoff: one_in(random, 2),
    }
}

fn dctcp(random: &mut Random) -> DctcpSettings {
    DctcpSettings {
        gain: Share(pick(random, &[1.0 / 16.0, 0.5, 1.0])),
        initial_alpha: Share(pick(random, &[1.0, 0.0])),
        minimum_window: pick(random, &[1, 2]),
        arithmetic: pick(random, &[dctcp::DctcpArithmetic::Exact, dctcp::DctcpArithmetic::Linux]),
        cut: dctcp::Cut::Once,
    }
}

/// Applications that read late, and other times at which DCTCP cuts.
pub(super) fn read_late_and_cut(transport: &mut TransportSettings, random: &mut Random) {
    let read_delay = one_in(random, 5).then(|| Span::from_us(u64::from(1 + random.below(100))));
    match transport {
        TransportSettings::NewReno(settings) => settings.tcp.read_delay = read_delay,
        TransportSettings::Cubic(settings) => settings.tcp.read_delay = read_delay,
        TransportSettings::Htcp(settings) => settings.tcp.read_delay = read_delay,
        TransportSettings::Dctcp(settings) => {
            settings.tcp.read_delay = read_delay;
            settings.law.cut =
                pick(random, &[dctcp::Cut::Once, dctcp::Cut::EveryWindow, dctcp::Cut::EveryMark]);
        }
        _ => {}
    }
}

/// Every setting of TCP, each as likely to differ from its default as not.
fn tcp(random: &mut Random) -> Tcp {
    let rack = one_in(random, 3);
    let sack = !one_in(random, 4);
    let mtu = pick(random, &[1_500, 1_500, 576, 9_000]);
    let us = |random: &mut Random, most: u32| Span::from_us(u64::from(1 + random.below(most)));
    let (constant, tuned) = (one_in(random, 4), one_in(random, 4));
    let autotune =
        AutotuneSettings { initial: Bytes(2 * mtu), max: Bytes(pick(random, &[2, 20, 200]) * mtu) };
    Tcp {
        mtu: Bytes(mtu),
        timestamps: one_in(random, 2),
        handshake: one_in(random, 2),
        close: one_in(random, 2),
        initial_window: Amount::Packets(pick(random, &[1, 2, 10, 100])),
        slow_start_limit: one_in(random, 2).then_some(1),
        receive_window: constant.then(|| Bytes(pick(random, &[mtu / 2, mtu, 3 * mtu, 10 * mtu]))),
        autotune: (tuned && !constant).then_some(autotune),
        sack,
        tlt: (sack && one_in(random, 3)).then(Default::default),
        loss_detection: if rack { LossDetection::Rack } else { LossDetection::DupThresh },
        dup_threshold: pick(random, &[3, 1, 10]),
        max_reordering: one_in(random, 2).then_some(127),
        undo: one_in(random, 2),
        limited_transmit: one_in(random, 2),
        recovery: pick(random, &[Recovery::Prr, Recovery::Halve]),
        impatient: one_in(random, 2),
        rack_slack: us(random, 100),
        grow_by_delivered: one_in(random, 2),
        tlp: rack && one_in(random, 2),
        tlp_slack: us(random, 100),
        tlp_delayed_ack: us(random, 300),
        initial_rto: us(random, 3_000),
        min_rto: us(random, 1_000),
        max_rto: Span::from_us(u64::from(1_000 + random.below(7_000))),
        rto_floor: pick(random, &[RtoFloor::Linux, RtoFloor::Rfc]),
        delayed_ack: pick(random, &[1, 2, 2, 4]),
        delayed_ack_timeout: us(random, 500),
        quick_acks: pick(random, &[0, 16]),
        ecn: pick(random, &[EcnUse::Off, EcnUse::On]),
        tso: one_in(random, 3),
        tso_limit: Bytes(pick(random, &[64 << 10, 4 * mtu])),
        tso_divisor: pick(random, &[1, 3]),
        tso_time: one_in(random, 3).then(|| us(random, 1_000)),
        tso_min_segments: pick(random, &[1, 2]),
        tso_rtt_log: pick(random, &[0, 9]),
        tso_wait: one_in(random, 2).then(|| us(random, 1_000)),
        pacing: one_in(random, 3),
        pacing_slow_start: pick(random, &[2.0, 0.5]),
        pacing_avoidance: pick(random, &[1.2, 0.3]),
        whole_segments: one_in(random, 2),
        initial_ssthresh: one_in(random, 5).then(|| Amount::Packets(pick(random, &[2, 20]))),
        gro: one_in(random, 3),
        batches: GroSettings {
            gro_limit: Bytes(pick(random, &[64 << 10, 3 * mtu])),
            gro_budget: pick(random, &[64, 3]),
            gro_flush: us(random, 20),
        },
        reorder_shim: one_in(random, 3),
        shim: ShimSettings {
            shim_timeout: us(random, 100),
            shim_limit: Bytes(pick(random, &[64 << 10, 3 * mtu])),
        },
        shim_rule: pick(random, &[ShimRule::TimeOut, ShimRule::Flowcells]),
        hold: FlowcellSettings {
            hold_alpha: pick(random, &[0.0, 2.0, 10.0]),
            hold_initial: us(random, 100),
            ..Default::default()
        },
        ..Tcp::default()
    }
}
