//! Two ends and a bottleneck between them: the behaviour of TCP, observed from outside.

mod anything;
mod bursts;
mod laws;
mod losses;
mod marks;
mod opening;
mod path;
mod reordering;
mod tlt;

use weft_core::{Span, Time};
use weft_transport::TransportSettings;
use weft_transport::protocols::newreno::TcpNewRenoSettings;
use weft_transport::settings::Tcp;

/// Largest payload of a segment with default settings.
pub(crate) const MSS: u64 = 1460;

/// NewReno with some settings changed.
pub(crate) fn newreno(change: impl FnOnce(&mut Tcp)) -> TransportSettings {
    let mut settings = TcpNewRenoSettings::default();
    change(&mut settings.tcp);
    TransportSettings::NewReno(settings)
}

pub(crate) fn seconds(n: u64) -> Time {
    Time::ZERO + Span::from_s(n)
}
