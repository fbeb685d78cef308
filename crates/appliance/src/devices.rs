//! Opens the devices of a plan.

use std::io;

use weft_packet::Mac;
use weft_router::backend::packet_socket::{PacketSocket, SocketArrivals};
use weft_router::backend::tap::TapDevice;
use weft_router::{Backend, Interface};

use crate::failure::ApplianceError;
use crate::plan::{PlannedPort, PortDevice, RouterPlan};

/// Opens a worker's queue of every port.
pub(crate) fn open_all(plan: &RouterPlan, worker: u16) -> Result<Vec<Box<dyn Backend>>, ApplianceError> {
    (0..plan.ports.len()).map(|number| open(plan, number, worker)).collect()
}

/// Which arrivals of an interface a worker gets. A switch in parts decides about the packets of a port on one worker;
/// otherwise the kernel divides them by flow. Queues of one interface share a group; groups are numbered per network
/// namespace.
fn arrivals(plan: &RouterPlan, number: usize, worker: u16) -> SocketArrivals {
    let group = (std::process::id() as u16).wrapping_mul(64).wrapping_add(number as u16);
    match (plan.workers, plan.reader_of(&plan.ports[number])) {
        (1, _) => SocketArrivals::All,
        (_, Some(reader)) if reader == worker => SocketArrivals::All,
        (_, Some(_)) => SocketArrivals::None,
        (_, None) => SocketArrivals::ByFlow(group),
    }
}

fn open(plan: &RouterPlan, number: usize, worker: u16) -> Result<Box<dyn Backend>, ApplianceError> {
    let port = &plan.ports[number];
    let (opened, device): (io::Result<Box<dyn Backend>>, String) = match &port.device {
        PortDevice::Packet(name) => {
            let socket =
                PacketSocket::open(name, number as u16, port.mac.is_some(), arrivals(plan, number, worker));
            (socket.map(|socket| Box::new(socket) as _), format!("interface {name}"))
        }
        PortDevice::Tap(name) => {
            let device = TapDevice::open(name, number as u16);
            (device.map(|device| Box::new(device) as _), format!("TAP device {name}"))
        }
        PortDevice::Capture { .. } => unreachable!("captures are played"),
    };
    opened.map_err(|cause| {
        let hint = match cause.kind() {
            io::ErrorKind::PermissionDenied => {
                " (needs CAP_NET_RAW for interfaces, CAP_NET_ADMIN for TAP devices)"
            }
            _ => "",
        };
        ApplianceError::Device { port: port.name.clone(), device, cause, hint }
    })
}

/// A port as routing sees it; the interface provides what the plan does not give.
pub(crate) fn interface(port: &PlannedPort) -> Result<Interface, ApplianceError> {
    let wrong = |message: String| ApplianceError::Port { port: port.name.clone(), message };
    let said = |what: &str| match &port.device {
        PortDevice::Packet(name) => std::fs::read_to_string(format!("/sys/class/net/{name}/{what}")).ok(),
        PortDevice::Tap(_) | PortDevice::Capture { .. } => None,
    };
    let own_mac = || said("address").and_then(|text| text.trim().parse::<Mac>().ok());
    let mac = port
        .mac
        .or_else(own_mac)
        .ok_or_else(|| wrong("the interface has no station address: give `mac`".into()))?;
    let own_mtu = said("mtu").and_then(|text| text.trim().parse::<u32>().ok()).unwrap_or(1500);
    let mtu = port.mtu.map_or(own_mtu, u32::from);
    if mtu > u32::from(Interface::MOST_MTU) {
        return Err(wrong(format!("the interface carries {mtu} bytes and buffers hold 2048: give `mtu`")));
    }
    Ok(Interface { name: port.name.clone(), mac, mtu: mtu as u16, addresses: port.addresses.clone() })
}
