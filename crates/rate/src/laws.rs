//! The list of rate laws, and what they have in common. Must not depend on their parameters.

use weft_core::telemetry::Telemetry;
use weft_core::{Bytes, Rate, Span, Time, family};

pub use crate::site::RateLawSite;

pub mod dcqcn;
pub mod fixed;
pub mod hpcc;
pub mod patched_timely;
pub mod timely;
pub mod timely_pi;

/// What an acknowledgement tells a law that goes by in-band telemetry.
#[derive(Clone, Copy, Debug)]
pub struct PathReport<'a> {
    /// What the links on the path of the acknowledged packet reported.
    pub links: &'a Telemetry,
    /// Bytes of the message acknowledged so far,
    pub acknowledged: u64,
    /// and sent so far.
    pub sent: u64,
}

/// The rate at which a sender may send.
pub trait RateLaw {
    /// The current rate.
    fn rate(&self) -> Rate;

    /// Wire bytes that may be in flight; `None`: the law limits the rate alone.
    fn window(&self) -> Option<Bytes> {
        None
    }

    /// When the next timer is due; [`Time::NEVER`] if none runs. A driver that asks for the rate only when it sends may
    /// ignore it and call [`RateLaw::advance`] then.
    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }

    /// Fires every timer due by `now`, in order of time. Must be called before any other event of that instant.
    fn advance(&mut self, _now: Time) {}

    /// A congestion notification arrived.
    fn on_notification(&mut self, _now: Time) {}

    /// Called when this many wire bytes were sent.
    fn on_sent(&mut self, _now: Time, _bytes: Bytes) {}

    /// Called when a segment was acknowledged, with its round-trip time without its transmission time.
    fn on_round_trip(&mut self, _now: Time, _trip: Span) {}

    /// Called when an acknowledgement brought the reports of links.
    fn on_report(&mut self, _report: &PathReport<'_>) {}
}

family! {
    /// All rate laws.
    pub enum AnyRateLaw: RateLaw;
    /// The rate law of a sender, with its parameters.
    pub enum RateLawSettings;
    called "rate law" built at RateLawSite;
    members {
        "none" => fixed::FixedRate(FixedRateSettings),
        "dcqcn" => dcqcn::Dcqcn(DcqcnSettings),
        "timely" => timely::Timely(TimelySettings),
        "patched-timely" => patched_timely::PatchedTimely(PatchedTimelySettings),
        "timely-pi" => timely_pi::TimelyPi(TimelyPiSettings),
        "hpcc" => hpcc::Hpcc(HpccSettings),
    }
    methods {
        fn rate(&self) -> Rate;
        fn window(&self) -> Option<Bytes>;
        fn next_wakeup(&self) -> Time;
        fn advance(&mut self, now: Time);
        fn on_notification(&mut self, now: Time);
        fn on_sent(&mut self, now: Time, bytes: Bytes);
        fn on_round_trip(&mut self, now: Time, trip: Span);
        fn on_report(&mut self, report: &PathReport<'_>);
    }
}
