//! Whatever the settings, the losses and the order: every flow arrives complete, exactly once, and both ends close.

use weft_core::settings::Amount;
use weft_core::{Bytes, PacketKind, Purpose, Random, Rate, Span, Time};
use weft_transport::TransportSettings;
use weft_transport::protocols::{
    cubic::TcpCubicSettings, dctcp::TcpDctcpSettings, htcp::TcpHtcpSettings, newreno::TcpNewRenoSettings,
};
use weft_transport::settings::{EcnUse, LossDetection, Recovery, Tcp};

use crate::path::{Path, Setup};

fn any_tcp(random: &mut Random) -> Tcp {
    let mut flag = || random.chance(0.5);
    let mut tcp = Tcp {
        timestamps: flag(),
        handshake: flag(),
        close: flag(),
        sack: flag(),
        loss_detection: if flag() { LossDetection::Rack } else { LossDetection::DupThresh },
        limited_transmit: flag(),
        recovery: if flag() { Recovery::Prr } else { Recovery::Halve },
        impatient: flag(),
        tlp: flag(),
        ecn: if flag() { EcnUse::On } else { EcnUse::Off },
        tso: flag(),
        gro: flag(),
        reorder_shim: flag(),
        ..Tcp::default()
    };
    tcp.initial_window = Amount::Packets(1 + u64::from(random.below(40)));
    tcp.receive_window = random.chance(0.2).then(|| Bytes(1 + u64::from(random.below(60_000))));
    tcp.delayed_ack = 1 + random.below(4);
    tcp.quick_acks = random.below(20);
    tcp.delayed_ack_timeout = Span::from_ms(1);
    (tcp.min_rto, tcp.initial_rto) = (Span::from_ms(5), Span::from_ms(10));
    tcp.mtu = Bytes([576, 1_500, 9_000][random.below(3) as usize]);
    tcp
}

fn any_transport(random: &mut Random) -> TransportSettings {
    let tcp = any_tcp(random);
    match random.below(4) {
        0 => TransportSettings::NewReno(TcpNewRenoSettings { tcp, ..Default::default() }),
        1 => TransportSettings::Cubic(TcpCubicSettings { tcp, ..Default::default() }),
        2 => TransportSettings::Dctcp(TcpDctcpSettings { tcp, ..Default::default() }),
        _ => TransportSettings::Htcp(TcpHtcpSettings { tcp, ..Default::default() }),
    }
}

fn any_setup(seed: u64, random: &mut Random) -> Setup {
    let stream = |n| Random::new(seed, Purpose::Test, n);
    let (mut losses, mut ack_losses, mut delays) = (stream(1), stream(2), stream(3));
    let share = [0.0, 0.01, 0.1, 0.3][random.below(4) as usize];
    let ack_share = [0.0, 0.05, 0.3][random.below(3) as usize];
    let spread = [1, 10, 200][random.below(3) as usize];
    Setup {
        card: Rate::from_gbps(10),
        rate: Rate::from_gbps(1 + u64::from(random.below(10))),
        delay: Span::from_us(1 + u64::from(random.below(100))),
        limit: 1 + random.below(100) as usize,
        mark_from: random.below(40) as usize,
        lose: Box::new(move |_, _| losses.chance(share)),
        lose_ack: Box::new(move |_, _| ack_losses.chance(ack_share)),
        detour: Box::new(move |_, _| Span::from_us(u64::from(delays.below(spread)))),
        ..Setup::default()
    }
}

#[test]
fn every_flow_finishes_and_arrives_whole() {
    for seed in 0..600 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let settings = any_transport(&mut random);
        let setup = any_setup(seed, &mut random);
        let sizes: Vec<u64> = (0..3).map(|n| 1 + u64::from(random.below(10_u32.pow(2 + 2 * n)))).collect();
        let sizes = &sizes[..1 + random.below(3) as usize];
        let mut path = Path::new(&settings, setup, sizes);
        let finished = path.run(Time::ZERO + Span::from_s(10_000));
        let reports: Vec<_> =
            path.pairs.iter().map(|pair| (pair.sender.report(), pair.receiver.report())).collect();
        assert!(finished, "seed {seed}: {settings:?} {sizes:?} {reports:?} at {}", path.now);
        for (pair, size) in path.pairs.iter().zip(sizes) {
            assert_eq!(pair.receiver.report().delivered, Bytes(*size), "seed {seed}");
            assert_eq!(pair.sender.report().acknowledged, Bytes(*size), "seed {seed}");
            assert_eq!(pair.sender.next_wakeup(), Time::NEVER, "seed {seed}");
            let data = pair.sent.iter().filter(|(_, out)| out.kind == PacketKind::Data);
            let sent: u64 = data.map(|(_, out)| u64::from(out.segment.length)).sum();
            let again = pair.sender.report().retransmitted.0;
            assert_eq!(sent, size + again, "seed {seed}: what was sent is the flow and what was sent again");
        }
    }
}

#[test]
fn without_losses_and_reordering_nothing_is_sent_twice() {
    for seed in 0..200 {
        let mut random = Random::new(seed, Purpose::Test, 9);
        let settings = any_transport(&mut random);
        let setup = Setup {
            rate: Rate::from_gbps(1 + u64::from(random.below(10))),
            delay: Span::from_us(1 + u64::from(random.below(100))),
            mark_from: random.below(40) as usize,
            ..Setup::default()
        };
        let size = 1 + u64::from(random.below(1_000_000));
        let mut path = Path::new(&settings, setup, &[size]);
        assert!(path.run(Time::ZERO + Span::from_s(100)), "seed {seed}");
        let report = path.pairs[0].sender.report();
        let probes = u64::from(report.probes) * 9_000;
        assert!(
            report.retransmitted.0 <= probes && report.recoveries == 0,
            "seed {seed}: {report:?} {settings:?}"
        );
    }
}
