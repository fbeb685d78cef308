//! CoDel against its control law.

use weft_core::{Ecn, Header, Purpose};

use super::super::tests::{LINE, packet};
use super::*;

const INTERVAL: f64 = 1e-3;

/// A marker and a line on which a packet leaves every microsecond.
struct Bench {
    codel: Codel,
    random: Random,
    now: u64,
}

impl Bench {
    fn new(settings: &CodelSettings) -> Bench {
        Bench { codel: Codel::new(settings, LINE), random: Random::new(3, Purpose::Test, 0), now: 1_000 }
    }

    fn leave(&mut self, waited: u64, behind: u64, ecn: Ecn) -> Action {
        let at = |us: u64| Time::ZERO + Span::from_us(us);
        let packet = Header { arrived: at(self.now - waited), ..packet(ecn) };
        let sight = Sight::new(at(self.now), &packet, (behind, behind));
        self.now += 1;
        self.codel.leaving(&sight, &mut self.random)
    }

    /// When packets are marked in the next microseconds, if all wait this long.
    fn marks(&mut self, for_us: u64, waited: u64) -> Vec<u64> {
        let begin = self.now;
        let marked = (0..for_us).filter(|_| self.leave(waited, 100_000, Ecn::Capable) == Action::Mark);
        let marked: Vec<u64> = marked.collect();
        assert_eq!(self.now, begin + for_us);
        marked
    }
}

/// The first mark after an interval, and the next after another interval over the root of 1, 2, 3 and so on.
#[test]
fn marks_follow_the_control_law() {
    let marks = Bench::new(&CodelSettings::default()).marks(10_000, 51);
    let mut due = INTERVAL;
    for (n, mark) in marks.iter().enumerate() {
        assert_eq!(*mark as f64, (due * 1e6 - 1e-3).ceil(), "mark {n}");
        due += INTERVAL / (n as f64 + 1.0).sqrt();
    }
    assert!(marks.len() > 25, "{}", marks.len());
}

#[test]
fn a_packet_that_waited_less_or_leaves_little_behind_ends_it() {
    for (waited, behind) in [(49, 100_000), (51, 1_538)] {
        let mut bench = Bench::new(&CodelSettings::default());
        assert_eq!(bench.marks(1_001, 51), [1_000]);
        assert_eq!(bench.leave(waited, behind, Ecn::Capable), Action::Pass);
        assert_eq!(bench.marks(1_000, 51), [] as [u64; 0], "a whole interval again");
        assert_eq!(bench.marks(1, 51), [0]);
    }
    let mut bench = Bench::new(&CodelSettings::default());
    assert_eq!(bench.marks(5_000, 49), [] as [u64; 0]);
    assert_eq!(bench.marks(1_001, 50), [1_000], "the target itself is too long");
}

/// An episode with ten marks, a pause, and another: does it begin at the rate where the first ended?
#[test]
fn an_episode_soon_after_another_resumes_its_rate() {
    for (pause, resumes) in [(1_000, true), (14_000, true), (17_000, false)] {
        let mut bench = Bench::new(&CodelSettings::default());
        let mut marked = 0;
        while marked < 10 {
            marked += usize::from(bench.leave(51, 100_000, Ecn::Capable) == Action::Mark);
        }
        bench.marks(pause, 10);
        let marks = bench.marks(1_900, 51);
        let gap = marks.get(1).map(|second| second - marks[0]);
        // Nine more than the first: the new count is 9.
        let due = INTERVAL * 1e6 / 3.0;
        assert_eq!(gap.is_some(), resumes, "{marks:?}");
        assert!(gap.is_none_or(|gap| gap == due.ceil() as u64), "{gap:?}");
    }
}

#[test]
fn what_cannot_be_marked_is_dropped_or_passes() {
    for (non_ect, action) in [(NonEct::Drop, Action::Drop), (NonEct::Pass, Action::Pass)] {
        let mut bench = Bench::new(&CodelSettings { non_ect, ..Default::default() });
        bench.marks(1_000, 51);
        assert_eq!(bench.leave(51, 100_000, Ecn::NotCapable), action);
    }
}
