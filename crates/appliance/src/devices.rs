//! Opens the devices of a plan.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use weft_router::app::cluster::ClusterEnd;
use weft_router::backend::packet_socket::{PacketSocket, SocketArrivals};
use weft_router::backend::system::HeardStations;
use weft_router::backend::tap::TapDevice;
use weft_router::backend::xdp::{XdpInterface, XdpQueue};
use weft_router::{Backend, FramePool};

use crate::exclusive::patiently;
use crate::failure::ApplianceError;
use crate::handover::divide;
use crate::interfaces::queues_of;
use crate::plan::{PlannedApplication, PlannedPort, PortDevice, PortUse, RouterPlan};

/// Opens each worker's queue of every port. A queue may lend buffers of its worker's pool to the kernel.
pub(crate) fn open_all(
    plan: &RouterPlan,
    pools: &mut [FramePool],
) -> Result<Vec<Vec<Box<dyn Backend>>>, ApplianceError> {
    let mut attached = AttachedPorts::new();
    let mut workers: Vec<Vec<Box<dyn Backend>>> = (0..plan.workers).map(|_| Vec::new()).collect();
    for (number, port) in plan.ports.iter().enumerate() {
        let own = (0..queues(port, plan.workers)).zip(&mut *pools);
        let open = |(worker, pool)| open(plan, (number, worker), pool, &mut attached);
        let queues = own.map(open).collect::<Result<Vec<_>, _>>()?;
        let divided = divide(queues, (number as u16, plan.workers)).map_err(|cause| {
            let device = "rings between workers".to_owned();
            ApplianceError::Device { port: port.name.clone(), device, cause, hint: "" }
        })?;
        workers.iter_mut().zip(divided).for_each(|(worker, port)| worker.push(port));
    }
    Ok(workers)
}

/// The number of queues that a device has for workers: the first workers get one each.
fn queues(port: &PlannedPort, workers: u16) -> u16 {
    match &port.device {
        PortDevice::Tap(_) => 1,
        // Without an answer, each worker asks for a queue, and the system reports the problem.
        PortDevice::Xdp(name) => queues_of(name).map_or(workers, |queues| workers.min(queues)),
        PortDevice::Packet(_) | PortDevice::Capture { .. } => workers,
    }
}

/// Interfaces taken by AF_XDP, by port: all workers share them.
type AttachedPorts = BTreeMap<usize, Arc<XdpInterface>>;

/// Queue number `worker` of an interface.
fn open_xdp(
    name: &str,
    (number, worker, heard): (usize, u16, Option<HeardStations>),
    pool: &mut FramePool,
    attached: &mut AttachedPorts,
) -> io::Result<XdpQueue> {
    let interface = match attached.get(&number) {
        Some(interface) => Arc::clone(interface),
        None => {
            let attach = || XdpInterface::attach(name, heard);
            let interface = Arc::new(patiently(io::ErrorKind::ResourceBusy, attach)?);
            attached.insert(number, Arc::clone(&interface));
            interface
        }
    };
    let open = || XdpQueue::open(Arc::clone(&interface), number as u16, worker.into(), pool);
    patiently(io::ErrorKind::ResourceBusy, open)
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

/// The frames that a port takes besides those for its interface: all, if its own station is given, or inside a cluster where the
/// address is the output node; those for groups, if the router has addresses of its own, so that neighbours can ask for them.
fn heard(plan: &RouterPlan, port: &PlannedPort) -> Option<HeardStations> {
    let is_inside = matches!(port.use_of, PortUse::OfNode(ClusterEnd::Node(_)));
    let answers = matches!(plan.application, PlannedApplication::Route { kernel: false, .. });
    match port.mac {
        mac if is_inside || mac.is_some() => Some(HeardStations::All),
        _ => answers.then_some(HeardStations::Groups),
    }
}

/// A packet socket of worker number `worker`.
fn open_socket(plan: &RouterPlan, (number, worker): (usize, u16), name: &str) -> io::Result<PacketSocket> {
    let heard = heard(plan, &plan.ports[number]);
    let is_promiscuous = heard == Some(HeardStations::All);
    let socket = PacketSocket::open(name, number as u16, is_promiscuous, arrivals(plan, number, worker))?;
    if heard == Some(HeardStations::Groups) {
        socket.hear_groups()?;
    }
    Ok(socket)
}

fn open(
    plan: &RouterPlan,
    (number, worker): (usize, u16),
    pool: &mut FramePool,
    attached: &mut AttachedPorts,
) -> Result<Box<dyn Backend>, ApplianceError> {
    let port = &plan.ports[number];
    let (opened, device): (io::Result<Box<dyn Backend>>, String) = match &port.device {
        PortDevice::Packet(name) => {
            let socket = open_socket(plan, (number, worker), name);
            (socket.map(|socket| Box::new(socket) as _), port.device.to_string())
        }
        PortDevice::Xdp(name) => {
            let queue = open_xdp(name, (number, worker, heard(plan, port)), pool, attached);
            (queue.map(|queue| Box::new(queue) as _), format!("queue {worker} of {}", port.device))
        }
        PortDevice::Tap(name) => {
            let device = TapDevice::open(name, number as u16);
            (device.map(|device| Box::new(device) as _), port.device.to_string())
        }
        PortDevice::Capture { .. } => unreachable!("captures are played"),
    };
    opened.map_err(|cause| {
        let hint = match cause.kind() {
            io::ErrorKind::PermissionDenied => {
                " (needs CAP_NET_RAW for packet sockets, CAP_NET_ADMIN for TAP devices, both and CAP_BPF for AF_XDP)"
            }
            io::ErrorKind::ResourceBusy if matches!(port.device, PortDevice::Xdp(_)) => {
                " (another program has taken this queue)"
            }
            _ => "",
        };
        ApplianceError::Device { port: port.name.clone(), device, cause, hint }
    })
}
