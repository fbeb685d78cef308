//! What a user should know before a router starts, and what would prevent the start on this machine.

use weft_draw::text::plural;

use crate::exclusive::forwarding_kernel;
use crate::failure::ApplianceError;
use crate::interfaces::{described, queues_of};
use crate::narrow::perhaps_narrow;
use crate::plan::{PlannedApplication, PlannedPort, PortDevice, RouterPlan};
use crate::play::read_captures;
use crate::watch::WatchAddress;

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
    remarks.extend(plan.ports.iter().filter_map(|port| unread_queues(port, plan.workers, queues_of)));
    remarks
}

/// The queues of a port's interface that no worker reads; `queues_of` counts those of an interface.
fn unread_queues(
    port: &PlannedPort,
    workers: u16,
    queues_of: impl Fn(&str) -> Option<u16>,
) -> Option<String> {
    let PortDevice::Xdp(name) = &port.device else { return None };
    let queues = queues_of(name).filter(|queues| *queues > workers)?;
    let unread = match queues - workers {
        1 => format!("queue {workers}"),
        _ => format!("queues {workers} to {}", queues - 1),
    };
    Some(format!(
        "port `{}`: {name} has {queues} queues and the router {}, so frames of {unread} stay with the kernel and are not routed: \
         give it no more (ethtool -L {name} combined {workers}), or set workers = {queues}",
        port.name,
        plural(workers.into(), "worker")
    ))
}

/// Why the router would not start here: missing or unsuitable interfaces, unreadable or damaged captures, files that
/// already exist, a kernel that forwards, a folder that is missing.
#[must_use]
pub fn start_problems(plan: &RouterPlan) -> Vec<String> {
    let mut problems = match described(plan) {
        Ok(_) => Vec::new(),
        Err(ApplianceError::Ports { messages }) => messages,
        Err(other) => vec![other.to_string()],
    };
    problems.extend(read_captures(plan).1);
    problems.extend(obstacles(plan));
    problems
}

/// Problems of this machine that concern no port's device.
pub(crate) fn obstacles(plan: &RouterPlan) -> Vec<String> {
    let metrics = plan.metrics.as_ref().filter(|_| !plan.plays());
    forwarding_kernel(plan).into_iter().chain(metrics.and_then(WatchAddress::without_folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PortUse;

    /// The card divides flows among all its queues, also those that nobody reads.
    #[test]
    fn queues_without_a_worker_are_remarked_upon() {
        let port = |device| PlannedPort {
            name: "left".to_owned(),
            device,
            mac: None,
            mtu: None,
            addresses: Vec::new(),
            use_of: PortUse::Routed,
        };
        let xdp = port(PortDevice::Xdp("eth0".to_owned()));
        let told = |workers, queues| unread_queues(&xdp, workers, |_| queues).unwrap_or_default();
        let eight = told(4, Some(8));
        assert!(eight.starts_with("port `left`: eth0 has 8 queues and the router 4 workers"), "{eight}");
        assert!(eight.contains("frames of queues 4 to 7 stay with the kernel"), "{eight}");
        assert!(eight.ends_with("(ethtool -L eth0 combined 4), or set workers = 8"), "{eight}");
        assert!(told(1, Some(2)).contains("the router 1 worker, so frames of queue 1 stay"));
        assert_eq!([told(2, Some(2)), told(4, Some(2)), told(1, None)], [const { String::new() }; 3]);
        let packet = port(PortDevice::Packet("eth0".to_owned()));
        assert_eq!(unread_queues(&packet, 1, |_| Some(8)), None, "the kernel divides what arrives");
    }
}
