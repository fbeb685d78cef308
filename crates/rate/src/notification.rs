//! The notification point: how a receiver turns marks into congestion notification packets (Zhu et al., SIGCOMM 2015,
//! section 3.1). One per flow, without its own clock.

use weft_core::{Span, Time, choice, settings};

choice! {
    /// How notifications are spaced.
    pub enum NotificationPacing {
        /// A mark is answered at once, unless a notification went out within the interval; such marks are ignored
        /// (the paper).
        Paper = "paper",
        /// Marks within the interval are answered together at its end (the simulator released with the paper).
        Ticker = "ticker",
    }
}

choice! {
    /// To which flows the interval applies.
    pub enum NotificationScope {
        /// To each flow separately.
        Flow = "flow",
        /// To all flows that arrive at a card together, as in some cards; only with `np_mode = "paper"`.
        Port = "port",
    }
}

settings! {
    /// How marks become notifications.
    pub struct NotificationSettings {
        /// Minimum time between two notifications (tau); SIGCOMM 2015.
        cnp_interval: Span = Span::from_us(50),
        /// What happens to marks within the interval.
        np_mode: NotificationPacing = NotificationPacing::Paper,
        /// Whether flows share the interval; it is uncertain whether cards limit per port.
        np_scope: NotificationScope = NotificationScope::Flow,
        /// Time from the arrival of the mark until the notification is handed to the card. Cards take tens of
        /// microseconds, papers assume none.
        cnp_delay: Span = Span::ZERO,
    }
}

/// The notification point of one flow.
#[derive(Clone, Copy, Debug)]
pub struct NotificationPoint {
    interval: Span,
    ticker: bool,
    /// No notification is sent before this.
    quiet_until: Time,
    /// Whether a notification is due at the end of the interval.
    owed: bool,
}

impl NotificationPoint {
    /// Creates it from the settings. If the port keeps the interval, each flow requests one notification per mark.
    #[must_use]
    pub fn new(settings: &NotificationSettings) -> NotificationPoint {
        let interval =
            if settings.np_scope == NotificationScope::Port { Span::ZERO } else { settings.cnp_interval };
        NotificationPoint {
            interval,
            ticker: settings.np_mode == NotificationPacing::Ticker,
            quiet_until: Time::ZERO,
            owed: false,
        }
    }

    /// Called when a marked packet arrives; returns whether to notify the sender now.
    pub fn on_mark(&mut self, now: Time) -> bool {
        let free = now >= self.quiet_until && !self.owed;
        if free {
            self.quiet_until = now + self.interval;
        }
        self.owed |= !free && self.ticker;
        free
    }

    /// When a notification is owed; [`Time::NEVER`] if none is.
    #[must_use]
    pub fn due(&self) -> Time {
        if self.owed { self.quiet_until } else { Time::NEVER }
    }

    /// Called when the clock reaches `now`; returns whether the owed notification is sent.
    pub fn on_time(&mut self, now: Time) -> bool {
        let goes = self.due() <= now;
        if goes {
            self.owed = false;
            self.quiet_until = now + self.interval;
        }
        goes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::us;

    fn notified(mode: NotificationPacing, marks: &[u64]) -> Vec<u64> {
        let mut point = NotificationPoint::new(&NotificationSettings {
            np_mode: mode,
            ..NotificationSettings::default()
        });
        let mut sent = Vec::new();
        for now in 0..300 {
            if point.on_time(us(now)) || (marks.contains(&now) && point.on_mark(us(now))) {
                sent.push(now);
            }
        }
        sent
    }

    #[test]
    fn marks_within_the_interval_are_forgotten_or_answered_at_its_end() {
        assert_eq!(notified(NotificationPacing::Paper, &[10, 30, 60, 61, 200]), [10, 60, 200]);
        assert_eq!(notified(NotificationPacing::Ticker, &[10, 30, 61, 200]), [10, 60, 110, 200]);
        assert_eq!(notified(NotificationPacing::Ticker, &[10, 70]), [10, 70]);
    }

    #[test]
    fn a_permanent_mark_gives_one_notification_per_interval() {
        let all: Vec<u64> = (0..300).collect();
        assert_eq!(notified(NotificationPacing::Paper, &all), [0, 50, 100, 150, 200, 250]);
    }

    #[test]
    fn a_port_keeps_the_interval_for_its_flows() {
        let settings =
            NotificationSettings { np_scope: NotificationScope::Port, ..NotificationSettings::default() };
        let mut point = NotificationPoint::new(&settings);
        assert!(point.on_mark(us(1)) && point.on_mark(us(2)));
    }
}
