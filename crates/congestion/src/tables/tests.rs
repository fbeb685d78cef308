//! What is remembered of other leaves, what is reported to them, and how both age.

use super::*;

const AGE: Span = Span::from_ms(10);

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

#[test]
fn a_metric_that_is_no_longer_reported_fades_by_steps() {
    let mut to = ToLeaf::default();
    to.told(ms(5), 2, 7);
    let at = |us: u64| to.metric(Time::ZERO + Span::from_us(us), 2, AGE);
    assert_eq!([at(5_000), at(15_000), at(16_249)], [7, 7, 7]);
    assert_eq!([at(16_250), at(17_500), at(22_500), at(23_750), at(900_000)], [6, 5, 1, 0, 0]);
    assert_eq!([to.metric(ms(5), 1, AGE), to.metric(ms(5), 9, AGE)], [0, 0], "what nobody told is 0");
    assert_eq!(to.metric(ms(6), 2, Span::ZERO), 0, "without an age limit nothing is believed");
}

#[test]
fn every_uplink_is_told_about_in_turn() {
    for news in [false, true] {
        let mut from = FromLeaf::default();
        (1..=4).for_each(|tag| from.saw(ms(0), tag, tag as u8));
        let told: Vec<_> = (0..12)
            .map(|n| {
                if news {
                    (1..=4).for_each(|tag| from.saw(ms(0), tag, (n % 7) as u8));
                }
                from.feed_back(ms(1), AGE).0
            })
            .collect();
        assert_eq!(told, [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
    }
}

#[test]
fn news_comes_first_and_only_once() {
    let mut from = FromLeaf::default();
    (1..=4).for_each(|tag| from.saw(ms(0), tag, 1));
    (0..4).for_each(|_| {
        from.feed_back(ms(0), AGE);
    });
    from.saw(ms(1), 3, 1);
    assert_eq!(from.feed_back(ms(1), AGE), (1, 1), "the same value is no news");
    from.saw(ms(1), 3, 6);
    from.saw(ms(1), 4, 2);
    let told: Vec<_> = (0..4).map(|_| from.feed_back(ms(1), AGE)).collect();
    assert_eq!(told, [(3, 6), (4, 2), (1, 1), (2, 1)]);
}

#[test]
fn what_is_old_is_not_told() {
    let mut from = FromLeaf::default();
    assert_eq!(from.feed_back(ms(0), AGE), (0, 0), "nothing is known");
    from.saw(ms(0), 1, 5);
    from.saw(ms(4), 2, 6);
    assert_eq!(from.feed_back(ms(10), AGE), (1, 5));
    let late = Time(ms(10).0 + 1);
    assert_eq!((0..3).map(|_| from.feed_back(late, AGE).0).collect::<Vec<_>>(), [2, 2, 2]);
    assert_eq!(from.feed_back(ms(15), AGE), (0, 0));
    from.saw(ms(16), 1, 5);
    assert_eq!(from.feed_back(ms(16), AGE), (1, 5), "news again");
    assert_eq!(from.changed, 0);
}
