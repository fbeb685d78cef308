//! What a user should know before a router starts, and what its start would refuse here.

use crate::failure::ApplianceError;
use crate::interfaces::described;
use crate::plan::{PlannedApplication, PortDevice, RouterPlan};

/// What is right and may still surprise.
#[must_use]
pub fn remarks(plan: &RouterPlan) -> Vec<String> {
    let mut remarks = Vec::new();
    if let PlannedApplication::Route { kernel: true, .. } = &plan.application {
        let has_ipv6 = |name: &String| {
            let setting = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
            std::fs::read_to_string(setting).is_ok_and(|text| text.trim() == "0")
        };
        let named = plan.ports.iter().filter_map(|port| match &port.device {
            PortDevice::Packet(name) => Some(name),
            _ => None,
        });
        if named.into_iter().any(has_ipv6) {
            remarks.push(
                "IPv6 packets without a route draw a second ICMPv6 error, from the kernel; to stop those alone: ip6tables -A OUTPUT -p icmpv6 --icmpv6-type no-route -j DROP"
                    .to_owned(),
            );
        }
    }
    remarks
}

/// Why the router would not start in this network namespace: interfaces that are missing or do not fit.
#[must_use]
pub fn start_problems(plan: &RouterPlan) -> Vec<String> {
    match described(plan) {
        Ok(_) => Vec::new(),
        Err(ApplianceError::Ports { messages }) => messages,
        Err(other) => vec![other.to_string()],
    }
}
