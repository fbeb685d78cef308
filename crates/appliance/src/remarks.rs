//! What a user should know before a router starts, and what would prevent the start on this machine.

use crate::failure::ApplianceError;
use crate::interfaces::described;
use crate::narrow::perhaps_narrow;
use crate::plan::{PlannedApplication, PortDevice, RouterPlan};
use crate::play::read_captures;

/// Settings that are valid and may still surprise.
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
                "IPv6 packets without a route trigger a second ICMPv6 error, from the kernel; to stop only those: ip6tables -A OUTPUT -p icmpv6 --icmpv6-type no-route -j DROP"
                    .to_owned(),
            );
        }
        // Problems with the interfaces are reported elsewhere.
        remarks.extend(described(plan).map_or(Vec::new(), |ports| perhaps_narrow(plan, &ports)));
    }
    remarks
}

/// Why the router would not start here: missing or unsuitable interfaces, unreadable or damaged captures, files that
/// already exist.
#[must_use]
pub fn start_problems(plan: &RouterPlan) -> Vec<String> {
    let mut problems = match described(plan) {
        Ok(_) => Vec::new(),
        Err(ApplianceError::Ports { messages }) => messages,
        Err(other) => vec![other.to_string()],
    };
    problems.extend(read_captures(plan).1);
    problems
}
