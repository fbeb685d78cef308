//! The headroom that the ports of a switch reserve, and what they need. Must not depend on its accounting.

use weft_core::Bytes;
use weft_pfc::headroom::{Situation, headroom};

use crate::settings::SwitchSettings;
use crate::site::SwitchSite;

/// Headroom of a port, per lossless class.
pub(crate) fn headroom_of(settings: &SwitchSettings, site: &SwitchSite, port: usize) -> Bytes {
    settings.pfc.headroom.unwrap_or_else(|| needed(settings, site, port))
}

/// The headroom required by a port's cable, speed, packet size and response time, whatever the settings reserve.
#[must_use]
pub fn needed(settings: &SwitchSettings, site: &SwitchSite, port: usize) -> Bytes {
    let rate = site.rates[port];
    headroom(&Situation {
        rate,
        cable: site.cables[port],
        latency: settings.latency,
        response: settings.pfc.response_at(rate),
        full: site.full_packet,
        cell: settings.cell,
    })
}
