//! The memory management of chips: closed forms of the thresholds on both sides, separate pools, shared headroom, and
//! consistent accounts.

use super::*;
use crate::pause::Charges;
use crate::pause::PauseFrame;
use crate::share::SharingSettings;
use crate::share::dynamic::DynamicSharingSettings;
use crate::share::mmu::{MmuSettings, PoolSettings};
use weft_core::settings::Share;

const BUFFER: u64 = 4_500_000;
const PORTS: u16 = 16;

/// No minima and no limits on egress; class 0 is lossy, class 1 lossless.
fn bare() -> MmuSettings {
    MmuSettings {
        group_minimum: Bytes(0),
        queue_minimum: Bytes(0),
        queue_alpha: 1024.0,
        lossy_alpha: 1024.0,
        ..MmuSettings::default()
    }
}

fn pfc(alpha: f64) -> crate::PfcSettings {
    let (classes, xon_offset, headroom) = (vec![1], Bytes(3_000), Some(Bytes(5_000)));
    crate::PfcSettings { classes, alpha, xon_offset, headroom, ..crate::PfcSettings::default() }
}

fn bench(own: MmuSettings, pfc: crate::PfcSettings) -> Bench {
    grouped(own, pfc, &[])
}

fn grouped(own: MmuSettings, pfc: crate::PfcSettings, group_map: &[u32]) -> Bench {
    let sharing = SharingSettings::Mmu(own);
    let settings = SwitchSettings {
        sharing,
        group_map: group_map.to_vec(),
        pfc,
        queues: 2,
        buffer: Some(Bytes(BUFFER)),
        ..BenchOptions::default().settings
    };
    BenchOptions { settings, ports: PORTS, uplinks: vec![0], ..BenchOptions::default() }.build()
}

impl Bench {
    /// Hands over a packet and returns why it was dropped, if it was.
    fn offer(&mut self, from: u16, header: Header) -> Option<Reason> {
        let packet = self.receive(from, header);
        let lost = self.drops().first().copied();
        if lost.is_some() {
            self.pool.remove(packet);
        }
        lost
    }

    fn charges(&self) -> Charges {
        self.switch.reading().charges().expect("memory is managed")
    }

    /// Offers packets in turn until each has been refused many times; returns the last reason.
    fn fill(&mut self, ports: impl Iterator<Item = (u16, Header)> + Clone) -> Option<Reason> {
        let mut last = None;
        for _ in 0..2 * BUFFER / u64::from(FULL) {
            for (from, header) in ports.clone() {
                last = self.offer(from, header).or(last);
            }
        }
        last
    }

    /// The pause frames due at a port.
    fn frame(&mut self, port: u16) -> Option<PauseFrame> {
        let (switch, mut turn) = self.turn();
        switch.outputs.finish_service(&mut turn, PortId(port));
        switch.outputs.next_frame(PortId(port))
    }
}

/// n classes of ports, or n queues, that want all they can get hold alpha B / (1 + n alpha) each.
#[test]
fn n_equal_claims_settle_at_alpha_b_over_one_plus_n_alpha() {
    for (alpha, n) in [(1.0, 1_u16), (1.0, 4), (8.0, 4), (0.25, 14), (1.0, 14)] {
        let off = crate::PfcSettings::default();
        let expected = alpha * BUFFER as f64 / (1.0 + f64::from(n) * alpha);
        let near = |held: u64| (held as f64 - expected).abs() <= (2.0 + alpha) * 1_000.0 * f64::from(n);

        let mut inward = bench(MmuSettings { lossy_alpha: alpha, ..bare() }, off.clone());
        let why = inward.fill((0..n).map(|port| (port, to(15, FULL))));
        assert_eq!(why, Some(Reason::Ingress));
        let held = inward.charges().shared.0 / u64::from(n);
        assert!(near(held), "in, {n}, alpha {alpha}: {held}, expected {expected}");

        let mut outward = bench(MmuSettings { queue_alpha: alpha, ..bare() }, off);
        let why = outward.fill((0..n).map(|port| (15, to(port, FULL))));
        assert_eq!(why, Some(Reason::Threshold));
        let queued = outward.queued();
        assert!((0..usize::from(n)).all(|port| near(queued[port])), "out, {n}: {queued:?} {expected}");
    }
}

/// XOFF falls at alpha B / (1 + alpha) of what is not headroom; XON 3000 B below; then headroom is empty.
#[test]
fn a_lossless_class_stops_its_sender_at_the_closed_form_and_goes_on_an_offset_lower() {
    let alpha = 0.0625;
    let mut bench = bench(bare(), pfc(alpha));
    let reserved = u64::from(PORTS) * (5_000 + u64::from(FULL));
    let xoff = alpha * (BUFFER - reserved) as f64 / (1.0 + alpha);
    let lossless = class(1, to(15, FULL));
    let mut before = 0;
    while bench.frame(0).is_none() {
        before = bench.charges().shared.0;
        assert_eq!(bench.offer(0, lossless), None);
        assert!(before < BUFFER, "a frame must come");
    }
    assert!((before as f64 - xoff).abs() <= 1_100.0, "stopped at {before}, expected {xoff}");
    // Later packets go into headroom, six in all; the seventh is lost.
    let after: Vec<_> = (0..6).map(|_| bench.offer(0, lossless)).collect();
    assert_eq!(after, [None, None, None, None, None, Some(Reason::Headroom)]);
    assert_eq!(bench.charges().headroom, Bytes(6_000));
    let counters = bench.switch.reading().pauses((PortId(0), 1));
    assert_eq!((counters.headroom, counters.headroom_peak), (Bytes(6_000), Bytes(6_000)));
    let mut went_on = None;
    while went_on.is_none() && bench.next(15).is_some() {
        went_on = bench.frame(0).map(|frame| (frame.quanta[1], bench.charges()));
    }
    let (quanta, charges) = went_on.expect("the sender may go on");
    assert_eq!((quanta, charges.headroom), (0, Bytes(0)));
    assert!((charges.shared.0 as f64 - (xoff - 3_000.0)).abs() <= 1_100.0, "{charges:?}");
}

/// Three ports that may each use 6000 B share 9000 B: the pool is what runs out.
#[test]
fn pooled_headroom_is_shared_and_can_run_out() {
    let own = MmuSettings { headroom_pool: Some(Bytes(9_000)), ..bare() };
    let mut bench = bench(own, crate::PfcSettings { xoff: Some(Bytes(2_000)), ..pfc(1.0) });
    let lossless = class(1, to(15, FULL));
    let mut lost = Vec::new();
    for from in 0..3 {
        lost.push((0..8).filter(|_| bench.offer(from, lossless) == Some(Reason::Headroom)).count());
    }
    assert_eq!(lost, [0, 3, 6], "2 packets within XOFF each; 6, 3 and 0 in headroom");
    assert_eq!(bench.charges().headroom, Bytes(9_000));
    while bench.next(15).is_some() {}
    assert_eq!(bench.charges().headroom, Bytes(0));
    assert_eq!((0..3).filter_map(|port| bench.frame(port)).count(), 3, "and all may go on");
}

/// A lossy class that uses up its pool leaves the other pool untouched.
#[test]
fn service_pools_keep_apart() {
    let stopped_at = |pools: Vec<PoolSettings>| {
        let mut bench = bench(MmuSettings { pools, ..bare() }, pfc(0.5));
        assert!(bench.fill((2..6).map(|port| (port, to(14, FULL)))).is_some());
        let lossy = bench.charges().shared.0;
        while bench.frame(0).is_none() {
            assert_eq!(bench.offer(0, class(1, to(15, FULL))), None);
        }
        bench.charges().shared.0 - lossy
    };
    let pool = |class, share| PoolSettings { classes: vec![class], share: Share(share) };
    let alone = (BUFFER - u64::from(PORTS) * 6_000) as f64 * 0.5 * 0.5 / 1.5;
    let apart = stopped_at(vec![pool(0, 0.5), pool(1, 0.5)]);
    assert!((apart as f64 - alone).abs() <= 1_100.0, "{apart}, expected {alone}");
    let together = stopped_at(Vec::new());
    assert!(together < 10_000, "one pool, which the lossy class has nearly filled: {together}");
}

/// However full the pools are, minima are available: of a queue on egress; of a class and a port on ingress.
#[test]
fn minima_are_always_there() {
    let greedy = MmuSettings { queue_alpha: 1e9, lossy_alpha: 1e9, ..bare() };
    let off = crate::PfcSettings::default();
    let mut out = bench(MmuSettings { queue_minimum: Bytes(4_000), ..greedy.clone() }, off.clone());
    assert_eq!(out.fill((8..14).map(|port| (port, to(15, FULL)))), Some(Reason::BufferFull));
    assert_eq!((0..20).filter(|_| out.offer(0, to(3, FULL)).is_none()).count(), 4);
    assert_eq!(out.charges().queue_minima, Bytes(8_000));

    let minima = MmuSettings { group_minimum: Bytes(3_000), port_minimum: Bytes(10_000), ..greedy };
    let mut inward = bench(minima, off);
    assert_eq!(inward.fill((8..14).map(|port| (port, to(15, FULL)))), Some(Reason::Ingress));
    let first = (0..20).filter(|_| inward.offer(1, to(4, FULL)).is_none()).count();
    let second = (0..20).filter(|_| inward.offer(1, class(1, to(6, FULL))).is_none()).count();
    assert_eq!((first, second), (7, 3), "3000 B of each class, and 4000 B of the port for who comes first");
}

/// What lies in headroom takes nothing from the pool that other classes share: with an ordinary sharing rule too, a lossy
/// queue may hold alpha times what is free beside the lossless bytes that are not in headroom.
#[test]
fn headroom_takes_nothing_from_lossy_classes() {
    let sharing = SharingSettings::Dynamic(DynamicSharingSettings { alpha: 1.0, minimum: Bytes(0) });
    let settings = SwitchSettings {
        sharing,
        pfc: pfc(0.25),
        queues: 2,
        buffer: Some(Bytes(200_000)),
        ..BenchOptions::default().settings
    };
    let mut bench = BenchOptions { settings, ports: 4, uplinks: vec![0], ..BenchOptions::default() }.build();
    let lossless = class(1, to(3, FULL));
    let stored = (0..200).filter(|_| bench.offer(0, lossless).is_none()).count() as u64 * u64::from(FULL);
    let headroom = bench.switch.reading().pauses((PortId(0), 1)).headroom_peak.0;
    assert_eq!((headroom, bench.queued()[3]), (5_000, stored), "headroom is full");
    let pool = 200_000 - 4 * (5_000 + u64::from(FULL));
    let lossy = (0..200).filter(|_| bench.offer(1, to(2, FULL)).is_none()).count() as u64;
    assert_eq!(lossy, (pool - (stored - headroom) + u64::from(FULL)) / (2 * u64::from(FULL)));
    // When all has left, nothing is counted any more: the lossy queue may hold half of the pool.
    while bench.next(3).is_some() || bench.next(2).is_some() {}
    let lossy = (0..200).filter(|_| bench.offer(1, to(2, FULL)).is_none()).count() as u64;
    assert_eq!(lossy, (pool + u64::from(FULL)) / (2 * u64::from(FULL)));
}

/// Two lossy queues of a group are one claim on the pool: alpha B / (1 + alpha) together, where two groups take twice
/// alpha B / (1 + 2 alpha).
#[test]
fn queues_of_a_group_are_one_claim() {
    for (map, claims) in [(&[][..], 2.0), (&[0, 0][..], 1.0), (&[5, 5][..], 1.0), (&[1, 0][..], 2.0)] {
        let own = MmuSettings { lossy_alpha: 0.5, ..bare() };
        let mut bench = grouped(own, crate::PfcSettings::default(), map);
        let both = [(0, to(15, FULL)), (0, class(1, to(15, FULL)))];
        assert_eq!(bench.fill(both.into_iter()), Some(Reason::Ingress));
        let (held, expected) =
            (bench.charges().shared.0, claims * 0.5 * BUFFER as f64 / (1.0 + claims * 0.5));
        assert!((held as f64 - expected).abs() <= 3_000.0, "{map:?}: {held}, expected {expected}");
    }
}

/// The bytes of both queues of a lossless group count towards one XOFF and one headroom; the group pauses and resumes both, and
/// takes memory for headroom once per port.
#[test]
fn a_lossless_group_pauses_all_its_queues() {
    let pfc = crate::PfcSettings { classes: vec![0, 1], xoff: Some(Bytes(8_000)), ..pfc(1.0) };
    for sharing in [SharingSettings::Mmu(bare()), SharingSettings::default()] {
        let settings = SwitchSettings {
            sharing,
            pfc: pfc.clone(),
            queues: 2,
            group_map: vec![4, 4],
            buffer: Some(Bytes(BUFFER)),
            ..BenchOptions::default().settings
        };
        let mut bench =
            BenchOptions { settings, ports: 4, uplinks: vec![0], ..BenchOptions::default() }.build();
        let of = |number: u8| class(number, to(3, FULL));
        assert!((0..8).all(|count| bench.offer(0, of(count % 2)).is_none()) && bench.frame(0).is_none());
        assert_eq!((bench.offer(1, of(1)), bench.offer(0, of(0))), (None, None));
        let frame = bench.frame(0).expect("9000 B from port 0 are above XOFF");
        assert_eq!((frame.classes, frame.quanta[0] > 0, frame.quanta[1] > 0), (0b11, true, true));
        assert!(bench.frame(1).is_none(), "1000 B from port 1 are not");
        assert_eq!((0..8).filter(|count| bench.offer(0, of(count % 2)).is_none()).count(), 5, "one headroom");
        let counters = [0, 1].map(|queue| bench.switch.reading().pauses((PortId(0), queue)));
        assert!(counters.iter().all(|of| of.headroom_peak == of.headroom), "{counters:?}");
        assert_eq!(counters.map(|of| (of.stops, of.resumes)), [(1, 0); 2]);
        assert_eq!(counters.map(|of| of.in_discards), [1, 2], "by queue");
        let mut resumed = None;
        while resumed.is_none() && bench.next(3).is_some() {
            resumed = bench.frame(0);
        }
        assert_eq!(
            resumed.map(|frame| (frame.classes, frame.quanta[0], frame.quanta[1])),
            Some((0b11, 0, 0))
        );
    }
}
