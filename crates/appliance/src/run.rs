//! Opens the devices of a plan, runs its workers, and adds up their counters.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use weft_fib::IpPrefix;
use weft_router::app::cluster::Clustering;
use weft_router::app::forward::{CrossConnect, Forwarding};
use weft_router::app::route::{ErrorRate, Routing};
use weft_router::app::switch::{SharedSwitch, SwitchPort, SwitchShape, Switching};
use weft_router::backend::system::prefer_large_pages;
use weft_router::backend::xdp::XdpQueue;
use weft_router::clock::RouterClock;
use weft_router::control::{Control, NextHop};
use weft_router::neighbours::NeighbourLimits;
use weft_router::tunnel::Tunnels;
use weft_router::{Application, FramePool, Interface, RouterWorker};

use crate::devices::open_all;
use crate::exclusive::hold_interfaces;
use crate::failure::ApplianceError;
use crate::follower::{KernelCounters, KernelFollower};
use crate::interfaces::described;
use crate::links::LinkFollower;
use crate::outcome::{RouterReport, switched};
use crate::pages::{Running, Shared};
use crate::plan::{
    PlannedApplication, PlannedHop, PlannedPort, PlannedSwitch, PlannedTunnel, PortDevice, PortUse,
    RouterPlan,
};
use crate::play::{CaptureFiles, play, read_captures};
use crate::playback::Playback;
use crate::remarks::obstacles;
use crate::watch::{WatchAddress, WatchListener};

/// Buffers of a worker per port, for frames waiting to be read or sent.
const BUFFERS_PER_PORT: u32 = 512;
/// Bytes of the smallest packet on the wire.
const LEAST_WIRE: u64 = 84;
/// Maximum number of packets that a switch may hold: half a gigabyte of buffers, which occupy memory only when used.
const MOST_STORED: u64 = 1 << 18;
/// The same where the kernel shares the buffers, which then occupy memory from the start, 5.6 kB each.
const MOST_STORED_FOR_KERNEL: u64 = 1 << 15;

/// Runs a router until `stop` is set or something fails: the report names the failure and holds the counters up to
/// then. Calls `started` once all devices are open and before any thread exists; its failure ends the router.
///
/// # Errors
/// A device cannot be opened, or there are too many routes.
pub fn run(
    plan: &RouterPlan,
    stop: &AtomicBool,
    started: impl FnOnce() -> io::Result<()>,
) -> Result<RouterReport, ApplianceError> {
    let (files, mut problems) = read_captures(plan);
    problems.extend(obstacles(plan));
    let interfaces = match described(plan) {
        Err(ApplianceError::Ports { messages }) => {
            return Err(ApplianceError::Ports { messages: [messages, problems].concat() });
        }
        described => described?,
    };
    if !problems.is_empty() {
        return Err(ApplianceError::Ports { messages: problems });
    }
    let start = (stop, started, files);
    match &plan.application {
        PlannedApplication::Forward => {
            let wires = wires(plan, &interfaces);
            let running = Running::new(plan, Shared::Nothing);
            let app = |_| Forwarding::new(wires.clone());
            work(&running, start, app)
        }
        PlannedApplication::Route { errors_per_second, kernel, tunnels, .. } => {
            let control = Arc::new(control(plan, &interfaces)?);
            let errors = ErrorRate { per_second: *errors_per_second, ..ErrorRate::default() };
            let _held = if *kernel { hold_ports(tunnels) } else { Vec::new() };
            let tunnels = Arc::new(open_tunnels(tunnels, plan.plays()));
            let counted = kernel.then(Arc::default);
            let running = Running::new(plan, Shared::Routes(Arc::clone(&control), counted));
            let app = |_| {
                let app = Routing::new(Arc::clone(&control), errors).with_tunnels(Arc::clone(&tunnels));
                if *kernel { app.beside_kernel() } else { app }
            };
            work(&running, start, app)
        }
        PlannedApplication::Switch(switch) => {
            let shared = Arc::new(shared(plan, switch, &interfaces));
            let running = Running::new(plan, Shared::Switch(Arc::clone(&shared)));
            let app = |worker| Switching::new(Arc::clone(&shared), worker);
            let report = work(&running, start, app)?;
            Ok(RouterReport { switch: Some(switched(plan, &shared)), ..report })
        }
        PlannedApplication::Cluster(planned) => {
            let node = Arc::new(planned.open(plan, &interfaces)?);
            let running = Running::new(plan, Shared::Cluster(planned, Arc::clone(&node)));
            let app = |worker| Clustering::new(Arc::clone(&node), worker);
            let report = work(&running, start, app)?;
            Ok(RouterReport { cluster: Some(planned.report(&node)), ..report })
        }
    }
}

/// The wires of minimal forwarding.
fn wires(plan: &RouterPlan, interfaces: &[Interface]) -> Vec<CrossConnect> {
    let wire = |port: &PlannedPort| match port.use_of {
        PortUse::Wired(to, station) => {
            let output = &interfaces[usize::from(to)];
            Some(CrossConnect::new(to, output.mac, station).with_mtu(output.mtu))
        }
        _ => None,
    };
    plan.ports.iter().filter_map(wire).collect()
}

/// The tunnels of a plan. Their vectors follow the time, so that none ever recurs; with captures they always begin
/// with the same value.
fn open_tunnels(tunnels: &[PlannedTunnel], plays: bool) -> Tunnels {
    let vector = if plays { 0 } else { weft_router::clock::nanoseconds_since_1970() };
    Tunnels::new(tunnels.iter().map(|tunnel| tunnel.open(vector)).collect())
}

/// Sockets at the UDP ports of tunnels, which nobody reads: without them the kernel would answer its copy of each
/// sealed packet with an ICMP error. Where another program has the port, the kernel does not answer either.
fn hold_ports(tunnels: &[PlannedTunnel]) -> Vec<UdpSocket> {
    // The IPv6 socket receives IPv4 as well; the other is for kernels without IPv6.
    let all = [IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED)];
    let socket = |tunnel: &PlannedTunnel| {
        let port = tunnel.udp?.0;
        UdpSocket::bind(&all.map(|address| SocketAddr::from((address, port)))[..]).ok()
    };
    tunnels.iter().filter_map(socket).collect()
}

/// The routes and neighbours of a plan.
fn control(plan: &RouterPlan, interfaces: &Arc<[Interface]>) -> Result<Control, ApplianceError> {
    let control = Control::new(Arc::clone(interfaces), NeighbourLimits::default())?;
    if let PlannedApplication::Route { routes, neighbours, .. } = &plan.application {
        control.change(|state| {
            neighbours.iter().for_each(|(station, mac)| state.fix_neighbour(*station, *mac));
            let mut hops: BTreeMap<IpPrefix, Vec<NextHop>> = BTreeMap::new();
            routes.iter().for_each(|(prefix, hop)| hops.entry(*prefix).or_default().push(next(*hop)));
            hops.iter().try_for_each(|(prefix, hops)| state.fix_route(*prefix, hops))
        })?;
    }
    Ok(control)
}

/// The switch of a plan, empty.
fn shared(plan: &RouterPlan, switch: &PlannedSwitch, interfaces: &[Interface]) -> SharedSwitch {
    let port = |(port, interface): (&PlannedPort, &Interface)| match port.use_of {
        PortUse::Switched(number, host, station) => {
            Some(SwitchPort::new(number, interface.mac, host, station).with_mtu(interface.mtu))
        }
        _ => None,
    };
    let ports = plan.ports.iter().zip(interfaces).filter_map(port).collect();
    let shape = SwitchShape {
        build: &|| switch.setup.build_switch(switch.switch),
        rates: switch.setup.port_rates(switch.switch),
        workers: plan.workers,
        hosts: switch.setup.graph.hosts(),
        class_of: switch.class_of,
    };
    SharedSwitch::new(shape, ports)
}

fn next(hop: PlannedHop) -> NextHop {
    match hop {
        PlannedHop::Gateway(port, address) => NextHop::Station((port, address)),
        PlannedHop::Link(port) => NextHop::Link(port),
        PlannedHop::Tunnel(number) => NextHop::Tunnel(number),
        PlannedHop::Reject => NextHop::Reject,
    }
}

/// Runs one thread per worker and one that answers queries; the first failure ends all. Captures are played instead.
fn work<A: Application>(
    running: &Running<'_>,
    (stop, started, files): (&AtomicBool, impl FnOnce() -> io::Result<()>, CaptureFiles),
    app: impl Fn(u16) -> A,
) -> Result<RouterReport, ApplianceError> {
    let plan = running.plan;
    if plan.plays() {
        let playback = Playback::new(plan.workers, plan.ports.len() as u16, working_buffers(plan), app);
        return play(plan, (stop, started, &files), playback);
    }
    let _held = hold_interfaces(plan)?;
    let mut pools: Vec<FramePool> = (0..plan.workers).map(|_| pool(plan)).collect();
    let queues = open_all(plan, &mut pools)?;
    let open = |address: &WatchAddress| {
        let failed = |cause| ApplianceError::Metrics { address: address.clone(), cause };
        WatchListener::open(address).map_err(failed)
    };
    let listener = plan.metrics.as_ref().map(open).transpose()?;
    let (clock, failure) = (RouterClock::start(), Mutex::new(None));
    let follower = follower(running, clock)?;
    let mut links = link_follower(running)?;
    started().map_err(|cause| ApplianceError::Start { cause })?;
    std::thread::scope(|scope| {
        if let Some(listener) = &listener {
            scope.spawn(|| listener.serve(stop, |path| running.page(path)));
        }
        if let (Some((mut follower, counted)), Shared::Routes(control, _)) = (follower, &running.shared) {
            let failure = &failure;
            scope.spawn(move || {
                let _end = EndOfAll(stop);
                if let Err(cause) = follower.follow(control, clock, (stop, &counted)) {
                    fail((stop, failure), ApplianceError::Kernel { cause });
                }
            });
        }
        scope.spawn(|| {
            let _end = EndOfAll(stop);
            let changed = |port: usize, up| running.set_link(clock.now(), port, up);
            if let Err(cause) = links.follow(stop, changed) {
                fail((stop, &failure), ApplianceError::Links { cause });
            }
        });
        for (number, (ports, pool)) in (0_u16..).zip(queues.into_iter().zip(pools)) {
            let worker = RouterWorker::new(ports, pool, app(number)).with_burst(plan.burst);
            let mut worker = worker.with_send_burst(plan.send_burst.unwrap_or(usize::MAX));
            let (failure, pin) = (&failure, plan.pin.then_some(usize::from(number)));
            scope.spawn(move || {
                let _end = EndOfAll(stop);
                let pinned = pin.map_or(Ok(()), weft_router::backend::system::pin_to_core);
                let published = &running.workers[usize::from(number)];
                if let Err(cause) = pinned.and_then(|()| worker.run(clock, stop, published)) {
                    let port = worker.failed_port().map(|port| &plan.ports[port]);
                    fail((stop, failure), broken(port, number, cause));
                }
            });
        }
    });
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(RouterReport { failure, ..RouterReport::of(running.total()) })
}

/// The failure of the device of a port, or of a worker itself.
fn broken(port: Option<&PlannedPort>, worker: u16, cause: io::Error) -> ApplianceError {
    match port {
        Some(PlannedPort { name, device, .. }) => {
            ApplianceError::Broken { port: name.clone(), device: device.to_string(), cause }
        }
        None => ApplianceError::Worker { worker, cause },
    }
}

/// A thread that panics ends all others, so that the program ends with a message instead of running on without a
/// worker.
struct EndOfAll<'a>(&'a AtomicBool);

impl Drop for EndOfAll<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// The first failure ends all threads.
fn fail((stop, first): (&AtomicBool, &Mutex<Option<ApplianceError>>), failure: ApplianceError) {
    stop.store(true, Ordering::Relaxed);
    first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
}

/// The follower of the kernel, if the plan wants one; everything has been read once when this returns.
fn follower(
    running: &Running<'_>,
    clock: RouterClock,
) -> Result<Option<(KernelFollower, Arc<KernelCounters>)>, ApplianceError> {
    let Shared::Routes(control, Some(counted)) = &running.shared else { return Ok(None) };
    let name = |port: &PlannedPort| match &port.device {
        PortDevice::Packet(name) => name.clone(),
        PortDevice::Xdp(_) | PortDevice::Tap(_) | PortDevice::Capture { .. } => String::new(),
    };
    let names: Vec<String> = running.plan.ports.iter().map(name).collect();
    let failed = |cause| ApplianceError::Kernel { cause };
    let mut follower = KernelFollower::open(names).map_err(failed)?;
    follower.read_all(control, clock, counted).map_err(failed)?;
    Ok(Some((follower, Arc::clone(counted))))
}

/// The follower of the links of all ports.
fn link_follower(running: &Running<'_>) -> Result<LinkFollower, ApplianceError> {
    let name = |port: &PlannedPort| match &port.device {
        PortDevice::Packet(name) | PortDevice::Xdp(name) | PortDevice::Tap(name) => name.clone(),
        PortDevice::Capture { .. } => String::new(),
    };
    let names = running.plan.ports.iter().map(name).collect();
    LinkFollower::open(names).map_err(|cause| ApplianceError::Links { cause })
}

/// Buffers that a worker needs besides those that its queues lend to the kernel.
fn working_buffers(plan: &RouterPlan) -> u32 {
    BUFFERS_PER_PORT * (1 + plan.ports.len() as u32) + stored_packets(plan)
}

/// The number of ports whose frames the kernel writes into the buffers of workers.
fn shared_ports(plan: &RouterPlan) -> u32 {
    plan.ports.iter().filter(|port| matches!(port.device, PortDevice::Xdp(_))).count() as u32
}

/// The buffers of a worker.
fn pool(plan: &RouterPlan) -> FramePool {
    match shared_ports(plan) {
        0 => FramePool::in_memory(working_buffers(plan), prefer_large_pages),
        queues => FramePool::for_kernel(working_buffers(plan) + queues * XdpQueue::LENDS, prefer_large_pages),
    }
}

/// The number of packets that a switch may hold: its memory full of minimum-size packets, up to a bound.
fn stored_packets(plan: &RouterPlan) -> u32 {
    let PlannedApplication::Switch(switch) = &plan.application else { return 0 };
    let buffer = switch.setup.switch_at(switch.switch).buffer.map_or(u64::MAX, |buffer| buffer.0);
    let most = if shared_ports(plan) == 0 { MOST_STORED } else { MOST_STORED_FOR_KERNEL };
    (buffer / LEAST_WIRE).min(most) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_all_and_an_ordinary_end_does_not() {
        for panics in [false, true] {
            let stop = AtomicBool::new(false);
            let ended = std::thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    let _end = EndOfAll(&stop);
                    assert!(!panics, "as intended");
                });
                thread.join()
            });
            assert_eq!((ended.is_err(), stop.into_inner()), (panics, panics));
        }
    }
}
