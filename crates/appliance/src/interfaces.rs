//! The interfaces of the network namespace in which the router runs, as its kernel describes them (rtnetlink). What
//! `/sys` shows may be that of another namespace.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use weft_core::units::did_you_mean;
use weft_netlink::{Dump, KernelAddress, KernelLink, KernelMessage, dump_request, messages};
use weft_packet::Mac;
use weft_router::Interface;
use weft_router::backend::system;

use crate::exclusive::second_forwarder;
use crate::failure::ApplianceError;
use crate::narrow::narrow_tunnels;
use crate::plan::{PlannedApplication, PlannedPort, PortDevice, RouterPlan};

/// Maximum size of a batch of messages from the kernel, and room for unread ones.
const PIECE: usize = 1 << 18;
const BACKLOG: i32 = 1 << 20;
/// The MTU of a port without an interface, or whose interface is made when it is opened.
const USUAL_MTU: u32 = 1500;

/// All interfaces.
pub(crate) fn interfaces() -> io::Result<Vec<KernelLink>> {
    let links = dumped(Dump::Links)?.into_iter().filter_map(|message| match message {
        KernelMessage::Link(link) => Some(link),
        _ => None,
    });
    Ok(links.collect())
}

/// All addresses of the kernel.
fn kernel_addresses() -> io::Result<Vec<KernelAddress>> {
    let addresses = dumped(Dump::Addresses)?.into_iter().filter_map(|message| match message {
        KernelMessage::Address(address) => Some(address),
        _ => None,
    });
    Ok(addresses.collect())
}

/// Everything that the kernel has of one kind.
fn dumped(dump: Dump) -> io::Result<Vec<KernelMessage>> {
    let mut socket = File::from(system::netlink_socket(0, BACKLOG)?);
    socket.write_all(&dump_request(dump, 1))?;
    let (mut piece, mut found) = (vec![0; PIECE], Vec::new());
    loop {
        system::wait_readable(&[socket.as_raw_fd()], 1_000)?;
        let length = match socket.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if system::is_busy(&error) => return Err(io::ErrorKind::TimedOut.into()),
            result => result?,
        };
        for message in messages(&piece[..length]) {
            match message.map_err(io::Error::other)? {
                KernelMessage::Done { .. } => return Ok(found),
                KernelMessage::Failed { errno, .. } => return Err(io::Error::from_raw_os_error(errno)),
                message => found.push(message),
            }
        }
    }
}

/// The number of queues of an interface that AF_XDP can take.
pub(crate) fn queues_of(name: &str) -> Option<u16> {
    let counted = || interfaces().ok()?.into_iter().find(|link| link.name == name)?.queues;
    let queues = weft_router::backend::interface::receive_queues(name).or_else(counted)?;
    u16::try_from(queues).ok()
}

/// The ports of a plan as routing sees them; the interfaces provide what the plan omits.
///
/// # Errors
/// All problems with them.
pub(crate) fn described(plan: &RouterPlan) -> Result<Arc<[Interface]>, ApplianceError> {
    let failed = |cause| ApplianceError::Links { cause };
    let links = if plan.plays() { Vec::new() } else { interfaces().map_err(failed)? };
    // With `kernel = true` the kernel has the addresses, and the start checks whether it forwards.
    let is_alone = !matches!(plan.application, PlannedApplication::Route { kernel: true, .. });
    let addresses = if is_alone && !plan.plays() { kernel_addresses().map_err(failed)? } else { Vec::new() };
    let described: Vec<_> = plan.ports.iter().map(|port| interface(port, &links)).collect();
    let mut wrong: Vec<String> = described.iter().filter_map(|one| one.as_ref().err().cloned()).collect();
    wrong.extend(plan.ports.iter().filter_map(|port| second_forwarder(port, &links, &addresses)));
    let described: Arc<[Interface]> = described.into_iter().flatten().collect();
    if wrong.is_empty() {
        wrong = narrow_tunnels(plan, &described);
    }
    if !wrong.is_empty() {
        return Err(ApplianceError::Ports { messages: wrong });
    }
    Ok(described)
}

fn interface(port: &PlannedPort, links: &[KernelLink]) -> Result<Interface, String> {
    let wrong = |message: String| format!("port `{}`: {message}", port.name);
    let name = match &port.device {
        PortDevice::Packet(name) | PortDevice::Xdp(name) => Some(name),
        PortDevice::Tap(_) | PortDevice::Capture { .. } => None,
    };
    let link = match &port.device {
        PortDevice::Tap(name) => links.iter().find(|link| link.name == *name),
        _ => name.map(|name| named(name, links).map_err(wrong)).transpose()?,
    };
    if let Some(link) = link.filter(|link| !link.ethernet) {
        let message = format!("`{}` is not an Ethernet interface: it has no frames", link.name);
        return Err(wrong(message));
    }
    let own_mac = link.and_then(|link| link.mac).map(Mac).filter(|mac| *mac != Mac::default());
    let mac =
        port.mac.or(own_mac).ok_or_else(|| wrong("the interface has no MAC address: give `mac`".into()))?;
    let carried = link.and_then(|link| link.mtu);
    let mtu = port.mtu.map_or(carried.unwrap_or(USUAL_MTU), u32::from);
    if let Some(carried) = carried.filter(|carried| *carried < mtu) {
        let message = format!("`mtu` is {mtu} B, but the interface carries {carried} B: change one of them");
        return Err(wrong(message));
    }
    if mtu > u32::from(Interface::MOST_MTU) {
        return Err(wrong(format!("the interface carries {mtu} B, and buffers hold 2048 B: give `mtu`")));
    }
    Ok(Interface { name: port.name.clone(), mac, mtu: mtu as u16, addresses: port.addresses.clone() })
}

/// The interface with this name, or else a list of those that exist.
fn named<'a>(name: &str, links: &'a [KernelLink]) -> Result<&'a KernelLink, String> {
    links.iter().find(|link| link.name == name).ok_or_else(|| {
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let meant = did_you_mean(name, names.iter().copied());
        format!("there is no interface `{name}`; there are: {}{meant}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PortUse;

    fn port(name: &str, mtu: Option<u16>) -> PlannedPort {
        PlannedPort {
            name: "left".to_owned(),
            device: PortDevice::Packet(name.to_owned()),
            mac: None,
            mtu,
            addresses: Vec::new(),
            use_of: PortUse::Routed,
        }
    }

    fn link(name: &str, mtu: u32, mac: [u8; 6]) -> KernelLink {
        let (name, mac) = (name.to_owned(), Some(mac));
        let (mtu, queues) = (Some(mtu), Some(1));
        KernelLink { removed: false, index: 1, ethernet: name != "lo", name, up: true, mtu, mac, queues }
    }

    #[test]
    fn an_interface_that_is_not_there_is_told_with_those_that_are() {
        let links = [link("lo", 65_536, [0; 6]), link("eth0", 1500, [2; 6])];
        let said = |name: &str, mtu| interface(&port(name, mtu), &links).unwrap_err();
        let missing = said("eht0", None);
        assert!(
            missing.starts_with("port `left`: there is no interface `eht0`; there are: lo, eth0"),
            "{missing}"
        );
        assert!(missing.ends_with("did you mean `eth0`?"), "{missing}");
        assert!(said("lo", Some(1500)).contains("`lo` is not an Ethernet interface"));
        let nameless = interface(&port("eth1", None), &[link("eth1", 1500, [0; 6])]).unwrap_err();
        assert!(nameless.contains("no MAC address: give `mac`"), "{nameless}");
        assert!(said("eth0", Some(1501)).contains("`mtu` is 1501 B, but the interface carries 1500 B"));
        let own = interface(&port("eth0", Some(1400)), &links).unwrap();
        assert_eq!((own.mac, own.mtu), (Mac([2; 6]), 1400));
    }

    /// The kernel answers for the namespace of the requesting process.
    #[test]
    fn every_namespace_has_a_loopback_interface() {
        let links = interfaces().unwrap();
        assert!(links.iter().any(|link| link.name == "lo" && link.mtu.is_some()), "{links:?}");
    }
}
