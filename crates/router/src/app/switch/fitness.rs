//! The switches of scenarios that can work with the packets of real hosts.

use weft_switch::{BalancerSettings, SwitchSettings, arbiter::ArbiterSettings, order::OrderSettings};

/// Why a switch cannot work with the packets of real hosts.
#[must_use]
pub fn not_on_the_wire(settings: &SwitchSettings, balancer: &BalancerSettings) -> Option<&'static str> {
    match balancer {
        BalancerSettings::Conga(_) => {
            return Some("balances by CONGA, which writes path congestion into packets");
        }
        BalancerSettings::Presto(_) => {
            return Some("balances by Presto, whose hosts write paths into packets");
        }
        _ => {}
    }
    if settings.pfc.is_on() {
        Some("sends and obeys pause frames")
    } else if settings.trim.is_on() {
        Some("trims packets to headers")
    } else if settings.color.is_on() {
        Some("drops by colours, which hosts write into packets")
    } else if !matches!(settings.arbiter, ArbiterSettings::NoArbiter(_)) {
        Some("has arbiters, which write into packets")
    } else if matches!(settings.order, OrderSettings::Ranked(_)) {
        Some("orders packets by ranks, which hosts write into packets")
    } else {
        None
    }
}
