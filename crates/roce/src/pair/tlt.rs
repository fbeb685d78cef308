//! TLT over queue pairs: no time-out is needed while green packets arrive.

use super::*;
use weft_core::{PacketKind, Purpose, Random};
use weft_tlt::settings::QueuePairTltSettings;

use crate::flags;

fn tlt(settings: &mut QueuePairSettings) {
    settings.tlt = Some(QueuePairTltSettings { every: 10 });
}

fn by_window(settings: &mut QueuePairSettings) {
    tlt(settings);
    settings.recovery = RoceRecovery::Selective;
    settings.window = Some(weft_core::Bytes(15_000));
}

/// Red packets are lost with this chance; answers and green packets arrive.
fn run(pairs: &Arc<QueuePairs>, size: u64, (share, seed): (f64, u64)) -> Pair {
    let mut pair = Pair::new(pairs, size);
    let mut random = Random::new(seed, Purpose::Test, 1);
    let mut fate = |red: bool| if red && random.chance(share) { Fate::Lose } else { Fate::Pass };
    while !pair.sender.needs().done && pair.now < Time(1_000_000_000_000) {
        pair.step_colored(&mut fate);
        let important = pair.important();
        assert!(important <= 1 || !pairs.selective(), "{important} important at {:?}", pair.now);
        let done = pair.sender.needs().done;
        let sends = pair.sender.needs().ready || pair.receiver.needs().ready;
        let begun = pair.sent.iter().any(|(_, header, _)| header.kind == PacketKind::Data);
        let here = important == 1 || sends || !begun || done;
        assert!(here || !pairs.selective(), "none important at {:?}", pair.now);
    }
    assert!(pair.sender.needs().done, "stuck: {:?}", pair.sender.report());
    assert_eq!(pair.receiver.report().delivered.0, size);
    pair
}

#[test]
fn whatever_red_packets_are_lost_no_timer_expires() {
    for seed in 0..200 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let share = [0.01, 0.1, 0.5, 1.0][random.below(4) as usize];
        let size = 1 + u64::from(random.below(120_000));
        for pairs in [plain(tlt), plain(by_window)] {
            let pair = run(&pairs, size, (share, seed));
            let selective = pairs.selective();
            assert_eq!(pair.sender.report().timeouts, 0, "seed {seed}, selective: {selective}");
        }
    }
}

/// The tail of a message is lost, and a packet is sent again. With rates, the last packet is green and its answer
/// asks for the rest; with a window, the echo proves the loss.
#[test]
fn a_lost_tail_needs_no_time_out_and_plain_queue_pairs_do() {
    for change in [tlt as fn(&mut QueuePairSettings), by_window] {
        let pairs = plain(change);
        let mut pair = Pair::new(&pairs, 20_000);
        let mut left = 3;
        let mut fate = |red: bool, segment: &Segment| {
            let loses = red && left > 0 && segment.sequence >= 17_000;
            left -= i32::from(loses);
            if loses { Fate::Lose } else { Fate::Pass }
        };
        while !pair.sender.needs().done {
            pair.step_by(&mut |payload, header: &Header, segment: &Segment| {
                fate(payload && header.kind == PacketKind::Red, segment)
            });
        }
        assert_eq!(pair.sender.report().timeouts, 0);
        assert!(pair.now < Time::ZERO + Span::from_us(80), "{:?}", pair.now);
    }
    let mut pair = Pair::new(&plain(selective), 20_000);
    pair.run(|payload, n, _| if payload && (17..20).contains(&n) { Fate::Lose } else { Fate::Pass });
    assert_eq!(pair.sender.report().timeouts, 1);
}

/// With a window, an empty packet asks for an echo if nothing is likely to be lost.
#[test]
fn without_losses_nothing_is_sent_again() {
    for change in [tlt as fn(&mut QueuePairSettings), by_window] {
        let pair = run(&plain(change), 100_000, (0.0, 1));
        let again: Vec<_> =
            pair.sent.iter().filter(|(_, _, segment)| !segment.flags.has(flags::FORCED)).collect();
        assert_eq!(again.len(), 100, "every packet once");
    }
}
