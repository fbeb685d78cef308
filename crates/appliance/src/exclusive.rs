//! Who else takes the frames of the ports: the kernel, if it forwards packets itself, and other routers. Each packet
//! would be sent twice. Must not depend on what the router does with them.

use std::io;
use std::net::IpAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use weft_netlink::{KernelAddress, KernelLink};
use weft_packet::Mac;
use weft_router::backend::system;
use weft_router::interface::is_link_local;

use crate::failure::ApplianceError;
use crate::plan::{PlannedApplication, PlannedPort, PortDevice, RouterPlan};

/// How often something that is taken is tried, and the pause before the next attempt.
const ATTEMPTS: u32 = 20;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);

/// Reports whether the kernel, beside which a router is to run, forwards what arrives at the ports, or at all.
pub(crate) fn forwarding_kernel(plan: &RouterPlan) -> Option<String> {
    let PlannedApplication::Route { kernel: true, .. } = &plan.application else { return None };
    let interfaces = plan.ports.iter().filter_map(|port| match &port.device {
        PortDevice::Packet(name) => Some(name.as_str()),
        _ => None,
    });
    let setting = forwarding_at(interfaces, is_on)?.replace('/', ".");
    Some(format!("kernel: it forwards packets itself, so that each would be sent twice: set {setting} to 0"))
}

/// The setting that makes the kernel forward what arrives at these interfaces, or at all.
fn forwarding_at<'a>(
    interfaces: impl Iterator<Item = &'a str>,
    is_on: impl Fn(&str) -> bool,
) -> Option<String> {
    let of_ports = interfaces.flat_map(|name| ["ipv4", "ipv6"].map(|family| of_one(family, name)));
    let all = ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"].map(str::to_owned);
    all.into_iter().chain(of_ports).find(|name| is_on(name))
}

fn is_on(setting: &str) -> bool {
    std::fs::read_to_string(format!("/proc/sys/{setting}")).is_ok_and(|text| text.trim() == "1")
}

/// The setting of an interface that makes the kernel forward what it receives there. The one for IPv6 is new in Linux
/// 6.17; the older `forwarding` has no effect unless it is set for all interfaces.
fn of_one(family: &str, interface: &str) -> String {
    let setting = if family == "ipv4" { "forwarding" } else { "force_forwarding" };
    format!("net/{family}/conf/{interface}/{setting}")
}

/// Reports whether the kernel forwards what arrives at the interface of a port, where it has an address. It takes
/// nothing that is addressed to another station, nor what AF_XDP takes before it.
pub(crate) fn second_forwarder(
    port: &PlannedPort,
    links: &[KernelLink],
    addresses: &[KernelAddress],
) -> Option<String> {
    let PortDevice::Packet(name) = &port.device else { return None };
    let link = links.iter().find(|link| link.name == *name)?;
    if port.mac.is_some_and(|mac| Some(mac) != link.mac.map(Mac)) {
        return None;
    }
    let own = addresses.iter().filter(|own| own.interface == link.index && !is_link_local(own.address));
    let forwarded = own.filter_map(|own| Some((own, forwarding_of(own.address, name)?)));
    let (own, setting) = { forwarded }.next()?;
    Some(format!(
        "port `{}`: the kernel has the address {} on {name} and forwards what arrives there itself, so that each packet would be sent \
         twice: set {} to 0, or remove the address",
        port.name,
        own.address,
        setting.replace('/', ".")
    ))
}

/// The setting that makes the kernel forward packets of this address's family that arrive at an interface, if it is
/// on.
fn forwarding_of(address: IpAddr, interface: &str) -> Option<String> {
    let settings = match address {
        IpAddr::V4(_) => vec![of_one("ipv4", interface)],
        IpAddr::V6(_) => vec!["net/ipv6/conf/all/forwarding".to_owned(), of_one("ipv6", interface)],
    };
    settings.into_iter().find(|setting| is_on(setting))
}

/// Keeps other routers off the interfaces of the ports while the result lives: each interface has a socket whose name exists once in a
/// network namespace, and disappears with the process.
///
/// # Errors
/// Another router uses some of them.
pub(crate) fn hold_interfaces(plan: &RouterPlan) -> Result<Vec<UnixDatagram>, ApplianceError> {
    let (mut held, mut messages) = (Vec::new(), Vec::new());
    for port in &plan.ports {
        let (PortDevice::Packet(name) | PortDevice::Xdp(name)) = &port.device else { continue };
        let hold = |index| patiently(io::ErrorKind::AddrInUse, || hold(index));
        match system::interface_index(name).and_then(hold) {
            Ok(socket) => held.push(socket),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => messages.push(format!(
                "port `{}`: another `weft router` forwards what arrives at {name}, so that each packet would be sent twice: end it first",
                port.name
            )),
            // Problems with the interface are reported when it is opened.
            Err(_) => {}
        }
    }
    if messages.is_empty() { Ok(held) } else { Err(ApplianceError::Ports { messages }) }
}

/// Tries again for a second while an attempt fails in the way that says that something is taken: the kernel needs a moment to end the
/// sockets of a router that was killed.
pub(crate) fn patiently<T>(
    taken: io::ErrorKind,
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    for _ in 0..ATTEMPTS {
        match attempt() {
            Err(error) if error.kind() == taken => std::thread::sleep(BETWEEN_ATTEMPTS),
            other => return other,
        }
    }
    attempt()
}

fn hold(interface: i32) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(format!("weft-router/{interface}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_forwards_everything_or_what_arrives_at_an_interface() {
        let with = |set: &str| forwarding_at(["left", "right"].into_iter(), |name| name == set);
        for set in ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding", "net/ipv4/conf/right/forwarding"] {
            assert_eq!(with(set).as_deref(), Some(set));
        }
        assert_eq!(with("net/ipv4/conf/other/forwarding"), None);
    }

    /// What is taken for a while is had later, what stays taken is an error after the last attempt, and any other error is one at once.
    #[test]
    fn only_what_is_taken_is_tried_again() {
        let tried = |kind: io::ErrorKind, failures: u32| {
            let mut attempts = 0;
            let attempt = || {
                attempts += 1;
                if attempts > failures { Ok(attempts) } else { Err(kind.into()) }
            };
            let kind_of = |error: io::Error| error.kind();
            (patiently(io::ErrorKind::AddrInUse, attempt).map_err(kind_of), attempts)
        };
        assert_eq!(tried(io::ErrorKind::AddrInUse, 0), (Ok(1), 1));
        assert_eq!(tried(io::ErrorKind::AddrInUse, 3), (Ok(4), 4));
        let denied = io::ErrorKind::PermissionDenied;
        assert_eq!(tried(denied, 3), (Err(denied), 1));
        assert_eq!(tried(io::ErrorKind::AddrInUse, 1000), (Err(io::ErrorKind::AddrInUse), ATTEMPTS + 1));
    }
}
