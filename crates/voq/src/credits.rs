//! The credits of one output port: the queues that request them, their order, and when the next may be granted.

use std::collections::VecDeque;

use weft_core::{Span, Time};
use weft_queue::schedule::SchedulerSettings;

/// How an output divides its credits among classes.
enum Shares {
    /// The first class with a request.
    Strict,
    /// By weight: a class earns its weight with every credit granted to any class, and pays the sum of the weights of
    /// all classes with requests.
    Weighted { weights: Vec<i64>, earned: Vec<i64> },
}

/// The credits of one output.
pub(crate) struct Credits {
    /// By class: the groups with a request; the next to be served is in front.
    asking: Vec<VecDeque<u16>>,
    /// Requests of all classes.
    requests: usize,
    shares: Shares,
    interval: Span,
    /// How long an output that holds enough waits before it checks again.
    pause: Span,
    /// No credit before this instant.
    next: Time,
}

impl Credits {
    /// The credits of an output with `classes` classes that may grant a credit every `interval`, and checks again
    /// after `pause` if it holds enough.
    pub(crate) fn new(
        schedule: &SchedulerSettings,
        classes: usize,
        (interval, pause): (Span, Span),
    ) -> Credits {
        let shares = Shares::new(schedule, classes);
        Credits {
            asking: vec![VecDeque::new(); classes],
            requests: 0,
            shares,
            interval,
            pause,
            next: Time::ZERO,
        }
    }

    /// Sets the schedule by which classes share credits.
    pub(crate) fn share_by(&mut self, schedule: &SchedulerSettings) {
        self.shares = Shares::new(schedule, self.asking.len());
    }

    /// A queue requests credit.
    pub(crate) fn request(&mut self, class: usize, group: u16) {
        self.asking[class].push_back(group);
        self.requests += 1;
    }

    /// Withdraws the request of a queue.
    pub(crate) fn withdraw(&mut self, class: usize, group: u16) {
        let asking = &mut self.asking[class];
        self.requests -= 1;
        if asking.pop_front_if(|first| *first == group).is_none() {
            asking.retain(|other| *other != group);
        }
    }

    /// The number of queues with a request.
    #[inline]
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// When the next credit may be granted.
    #[inline]
    pub(crate) fn next(&self, now: Time) -> Time {
        self.next.max(now)
    }

    /// Grants nothing for now.
    pub(crate) fn skip(&mut self, now: Time) {
        self.next = now + self.pause;
    }

    /// Grants a credit to one of the classes of `open`, which are bits; returns the class and group that get it.
    pub(crate) fn grant(&mut self, now: Time, open: u8) -> Option<(usize, u16)> {
        let class = self.class(open)?;
        let asking = &mut self.asking[class];
        let group = *asking.front()?;
        if asking.len() > 1 {
            asking.rotate_left(1);
        }
        self.next = now + self.interval;
        Some((class, group))
    }

    /// The class of `open` to serve; among equals, the first.
    fn class(&mut self, open: u8) -> Option<usize> {
        if let [only] = &self.asking[..] {
            return (open & 1 == 1 && !only.is_empty()).then_some(0);
        }
        let asks = |(class, groups): &(usize, &VecDeque<u16>)| open >> class & 1 == 1 && !groups.is_empty();
        let mut asking = self.asking.iter().enumerate().filter(asks);
        match &mut self.shares {
            Shares::Strict => asking.next().map(|(class, _)| class),
            Shares::Weighted { weights, earned } => {
                let (mut most, mut total) = (None, 0);
                for (class, _) in asking {
                    total += weights[class];
                    earned[class] += weights[class];
                    if most.is_none_or(|most: usize| earned[class] > earned[most]) {
                        most = Some(class);
                    }
                }
                earned[most?] -= total;
                most
            }
        }
    }
}

impl Shares {
    fn new(schedule: &SchedulerSettings, classes: usize) -> Shares {
        let weighted = |weights: &[u32]| {
            let weight = |class: usize| i64::from(weights.get(class).copied().unwrap_or(1).max(1));
            Shares::Weighted { weights: (0..classes).map(weight).collect(), earned: vec![0; classes] }
        };
        match schedule {
            SchedulerSettings::Strict(_) => Shares::Strict,
            SchedulerSettings::Fifo(_) => weighted(&[]),
            SchedulerSettings::Drr(drr) => weighted(&drr.weights),
            SchedulerSettings::Wrr(wrr) => weighted(&wrr.weights),
            SchedulerSettings::StrictDrr(_) | SchedulerSettings::StrictWrr(_) => {
                unreachable!("checked with the scenario: credits go by priority or by weight")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_queue::schedule::drr::DrrSettings;

    /// Of 700 credits, weights of 4, 2 and 1 get 400, 200 and 100, and the two groups of a class the same.
    #[test]
    fn classes_by_weight_and_groups_in_turn() {
        let weights = vec![4, 2, 1];
        let schedule = SchedulerSettings::Drr(DrrSettings { weights, ..DrrSettings::default() });
        let mut credits = Credits::new(&schedule, 3, (Span::from_ns(100), Span::from_ns(100)));
        for (class, group) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            credits.request(class, group);
        }
        let mut granted = [[0; 2]; 3];
        for n in 0..700 {
            let (class, group) =
                credits.grant(Time::ZERO + Span::from_ns(100) * n, u8::MAX).expect("all ask");
            granted[class][usize::from(group)] += 1;
        }
        assert_eq!(granted, [[200, 200], [100, 100], [50, 50]]);
    }

    #[test]
    fn who_withdraws_gets_none() {
        let mut credits =
            Credits::new(&SchedulerSettings::default(), 1, (Span::from_ns(100), Span::from_ns(100)));
        credits.request(0, 3);
        credits.withdraw(0, 3);
        assert!(credits.requests() == 0 && credits.grant(Time::ZERO, u8::MAX).is_none());
    }
}
