//! The pages of a running router: `/metrics` for Prometheus, the others for people.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use weft_core::Time;
use weft_draw::Columns;
use weft_router::app::cluster::ClusterNode;
use weft_router::app::switch::SharedSwitch;
use weft_router::control::Control;
use weft_router::driver::QueueReading;
use weft_router::{DropCause, InterfaceCounters, RouterCounters};

use crate::cluster::ClusterReport;
use crate::follower::KernelCounters;
use crate::outcome::{SwitchPortReport, SwitchReport, switched};
use crate::plan::{PlannedNode, PortUse, RouterPlan};
use crate::watch::PageRequest;

mod routes;

pub use routes::checked_prefix;
use routes::{RouteFilter, neighbours, routes};

/// What the workers of a router share with the pages.
pub(crate) enum Shared<'a> {
    Nothing,
    Routes(Arc<Control>, Option<Arc<KernelCounters>>),
    Switch(Arc<SharedSwitch>),
    Cluster(&'a PlannedNode, Arc<ClusterNode>),
}

/// A running router.
pub(crate) struct Running<'a> {
    pub(crate) plan: &'a RouterPlan,
    pub(crate) shared: Shared<'a>,
    /// The latest published counters of each worker.
    pub(crate) workers: Box<[Mutex<RouterCounters>]>,
    /// Whether the link of each port is up.
    links: Box<[AtomicBool]>,
}

impl<'a> Running<'a> {
    pub(crate) fn new(plan: &'a RouterPlan, shared: Shared<'a>) -> Running<'a> {
        let workers = (0..plan.workers).map(|_| Mutex::default()).collect();
        let links = plan.ports.iter().map(|_| AtomicBool::new(true)).collect();
        Running { plan, shared, workers, links }
    }

    /// The counters of all workers together.
    pub(crate) fn total(&self) -> RouterCounters {
        let mut total = RouterCounters::default();
        self.counters().iter().for_each(|counted| total.add(counted));
        total
    }

    /// Called when the link of a port of the plan goes down or comes back.
    pub(crate) fn set_link(&self, now: Time, port: usize, up: bool) {
        self.links[port].store(up, Ordering::Relaxed);
        match (&self.shared, self.plan.ports[port].use_of) {
            // The kernel's follower learns it as well, in order with its other messages.
            (Shared::Routes(_, Some(_)), _) => {}
            (Shared::Switch(switch), PortUse::Switched(number, ..)) => switch.set_port(now, number, up),
            (Shared::Routes(control, _), _) => control.change(|state| state.set_link(port as u16, up)),
            _ => {}
        }
    }

    /// The page at a path.
    pub(crate) fn page(&self, request: PageRequest<'_>) -> Option<String> {
        let port = request.parameter("port");
        match (request.path, &self.shared) {
            ("/metrics", _) => Some(self.metrics()),
            ("/show", _) => Some(self.show()),
            ("/workers", _) => Some(self.workers()),
            ("/routes", Shared::Routes(control, _)) => {
                let filter = RouteFilter::new(self.plan, request.parameter("prefix"), port)?;
                Some(routes(self.plan, control, &filter))
            }
            ("/ports", _) => Some(self.ports(port.as_deref())),
            ("/queues", _) => self.switch().map(|switch| switch.queue_table(true, port.as_deref())),
            _ => None,
        }
    }

    fn counters(&self) -> Vec<RouterCounters> {
        self.workers
            .iter()
            .map(|worker| worker.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .collect()
    }

    fn switch(&self) -> Option<SwitchReport> {
        match &self.shared {
            Shared::Switch(shared) => Some(switched(self.plan, shared)),
            _ => None,
        }
    }

    fn metrics(&self) -> String {
        let mut page = MetricsPage::default();
        let workers = self.counters();
        for (name, help, value) in WORKER_METRICS {
            let samples = workers.iter().enumerate();
            page.metric(name, help, samples.map(|(n, counted)| (format!("worker=\"{n}\""), value(counted))));
        }
        let dropped = workers.iter().enumerate().flat_map(|(n, counted)| {
            DropCause::ALL.iter().map(move |cause| {
                (format!("worker=\"{n}\",cause=\"{}\"", cause.name()), counted.dropped(*cause))
            })
        });
        page.metric("weft_router_dropped_frames_total", "Frames dropped, by cause", dropped);
        page.ports(&self.port_rows());
        if let Some(switch) = self.switch() {
            page.switch(&switch);
        }
        if let Shared::Routes(control, kernel) = &self.shared {
            page.routes(control, kernel.as_deref());
        }
        if let Shared::Cluster(planned, node) = &self.shared {
            page.cluster(&planned.report(node));
        }
        page.0
    }

    /// Every worker, and what was dropped by all of them.
    fn workers(&self) -> String {
        let row = |(number, counted): (usize, &RouterCounters)| {
            let (polls, busy) = counted.polls;
            let frames =
                [counted.received, counted.sent, counted.dropped_in_all()].map(|count| count.to_string());
            let share = format!("{:.1} %", 100.0 * busy as f64 / polls.max(1) as f64);
            std::iter::once(number.to_string()).chain(frames).chain([share]).collect()
        };
        let rows: Vec<Vec<String>> = self.counters().iter().enumerate().map(row).collect();
        let mut text = Columns::table(&["worker", "received", "sent", "dropped", "busy polls"], &rows);
        let total = self.total();
        let missed = (total.missed > 0).then_some(("missed", total.missed));
        let causes = DropCause::ALL.iter().map(|cause| (cause.name(), total.dropped(*cause)));
        for (cause, count) in missed.into_iter().chain(causes).filter(|(_, count)| *count > 0) {
            let _ = writeln!(text, "  {cause:<16} {count:>7}");
        }
        text
    }

    fn show(&self) -> String {
        let mut text = self.workers();
        match &self.shared {
            Shared::Nothing => {}
            Shared::Routes(control, kernel) => {
                if let Some(kernel) = kernel {
                    let [messages, readings] = [&kernel.messages, &kernel.readings].map(loaded);
                    let _ =
                        writeln!(text, "\nthe kernel: {messages} messages, read completely {readings} times");
                }
                let _ = write!(text, "\n{}", routes(self.plan, control, &RouteFilter::default()));
                let _ = write!(text, "\n{}", neighbours(self.plan, control));
            }
            Shared::Switch(shared) => {
                let _ = write!(text, "\n{}", switched(self.plan, shared));
            }
            Shared::Cluster(planned, node) => {
                let _ = write!(text, "\n{}", planned.report(node));
            }
        }
        text
    }

    /// Each port, whether its link is up, and the counters of all workers there.
    fn port_rows(&self) -> Vec<PortRow<'_>> {
        let total = self.total();
        let row = |(number, link): (usize, &AtomicBool)| {
            let counted = total.interfaces().get(number).cloned().unwrap_or_default();
            PortRow { name: &self.plan.ports[number].name, up: link.load(Ordering::Relaxed), counted }
        };
        self.links.iter().enumerate().map(row).collect()
    }

    /// Every port, or the one of this name.
    fn ports(&self, only: Option<&str>) -> String {
        let row = |PortRow { name, up, counted }: &PortRow<'_>| {
            let numbers = [counted.received, counted.sent].map(|(frames, bytes)| [frames, bytes]);
            let numbers = numbers.iter().flatten().chain([&counted.missed]).map(u64::to_string);
            let causes = DropCause::ALL.iter().map(|cause| (cause.name(), counted.dropped(*cause)));
            let dropped: Vec<String> = causes
                .filter(|(_, count)| *count > 0)
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            let dropped = if dropped.is_empty() { "none".to_owned() } else { dropped.join(", ") };
            let link = if *up { "up" } else { "down" };
            [(*name).to_owned(), link.to_owned()].into_iter().chain(numbers).chain([dropped]).collect()
        };
        let rows = self.port_rows();
        let shown = rows.iter().filter(|row| only.is_none_or(|name| name == row.name));
        let rows: Vec<Vec<String>> = shown.map(row).collect();
        let header = ["port", "link", "received", "bytes", "sent", "bytes", "missed", "dropped"];
        Columns::table(&header, &rows)
    }
}

/// Events at a port.
struct PortRow<'a> {
    name: &'a str,
    up: bool,
    counted: InterfaceCounters,
}

/// A metric of workers: name, help, value.
type WorkerMetric = (&'static str, &'static str, fn(&RouterCounters) -> u64);

const WORKER_METRICS: [WorkerMetric; 12] = [
    ("weft_router_received_frames_total", "Frames received", |counted| counted.received),
    ("weft_router_received_bytes_total", "Bytes received, without FCS", |counted| counted.received_bytes),
    (
        "weft_router_missed_frames_total",
        "Frames that devices had no room for before the router took them",
        |counted| counted.missed,
    ),
    ("weft_router_sent_frames_total", "Frames handed to devices", |counted| counted.sent),
    ("weft_router_sent_bytes_total", "Bytes handed to devices, without FCS", |counted| counted.sent_bytes),
    ("weft_router_made_frames_total", "Frames the router itself made", |counted| counted.made),
    ("weft_router_consumed_frames_total", "Frames for the router itself", |counted| counted.consumed),
    ("weft_router_sealed_packets_total", "Packets sealed for tunnels", |counted| counted.sealed),
    ("weft_router_opened_packets_total", "Packets opened that came out of tunnels", |counted| counted.opened),
    ("weft_router_suppressed_errors_total", "ICMP errors not sent because of the rate limit", |counted| {
        counted.errors_suppressed
    }),
    ("weft_router_polls_total", "Polls of all ports", |counted| counted.polls.0),
    ("weft_router_busy_polls_total", "Polls that found frames", |counted| counted.polls.1),
];

/// Prometheus text (exposition format 0.0.4).
#[derive(Default)]
struct MetricsPage(String);

impl MetricsPage {
    fn metric(&mut self, name: &str, help: &str, samples: impl Iterator<Item = (String, u64)>) {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = match labels.as_str() {
                "" => writeln!(self.0, "{name} {value}"),
                labels => writeln!(self.0, "{name}{{{labels}}} {value}"),
            };
        }
    }

    fn ports(&mut self, rows: &[PortRow<'_>]) {
        let all = |value: fn(&PortRow<'_>) -> u64| {
            rows.iter().map(move |row| (format!("port=\"{}\"", escaped(row.name)), value(row)))
        };
        let received = all(|row| row.counted.received.0);
        self.metric("weft_router_port_received_frames_total", "Frames received at a port", received);
        let received = all(|row| row.counted.received.1);
        self.metric(
            "weft_router_port_received_bytes_total",
            "Bytes received at a port, without FCS",
            received,
        );
        self.metric(
            "weft_router_port_sent_frames_total",
            "Frames sent by a port",
            all(|row| row.counted.sent.0),
        );
        let sent = all(|row| row.counted.sent.1);
        self.metric("weft_router_port_sent_bytes_total", "Bytes sent by a port, without FCS", sent);
        let help = "Frames that the device of a port had no room for";
        self.metric("weft_router_port_missed_frames_total", help, all(|row| row.counted.missed));
        let dropped = rows.iter().flat_map(|row| {
            let count = |cause: &DropCause| (cause.name(), row.counted.dropped(*cause));
            let causes = DropCause::ALL.iter().map(count).filter(|(_, count)| *count > 0);
            let labels = |cause| format!("port=\"{}\",cause=\"{cause}\"", escaped(row.name));
            causes.map(move |(cause, count)| (labels(cause), count))
        });
        let help = "Frames that arrived at a port, or should have left there, and were dropped, by cause";
        self.metric("weft_router_port_dropped_frames_total", help, dropped);
        self.metric("weft_router_port_up", "Whether the link of a port is up", all(|row| row.up.into()));
    }

    fn routes(&mut self, control: &Control, kernel: Option<&KernelCounters>) {
        let (routes, neighbours) = control.read(|state| (state.route_counts(), state.neighbours().len()));
        let families = ["ipv4", "ipv6"].iter().zip(routes);
        let counts = families.map(|(name, count)| (format!("family=\"{name}\""), count as u64));
        self.metric("weft_router_routes", "Routes, by family", counts);
        let neighbours = [(String::new(), neighbours as u64)].into_iter();
        self.metric("weft_router_neighbours", "Stations on the links, resolved or not", neighbours);
        let Some(kernel) = kernel else { return };
        let one = |count| [(String::new(), loaded(count))].into_iter();
        let help = "Messages of the kernel about routes, links, addresses and neighbours";
        self.metric("weft_router_kernel_messages_total", help, one(&kernel.messages));
        let help = "How often all routes of the kernel were read";
        self.metric("weft_router_kernel_readings_total", help, one(&kernel.readings));
    }

    fn cluster(&mut self, report: &ClusterReport) {
        let packets = report.counters.named().into_iter();
        let packets = packets.map(|(name, count)| (format!("what=\"{name}\""), count));
        self.metric("weft_cluster_packets_total", "Packets by the action of the node", packets);
        let up = report.others.iter().map(|(node, up)| (format!("node=\"{node}\""), u64::from(*up)));
        self.metric("weft_cluster_node_up", "Whether another node has been heard lately", up);
    }

    fn switch(&mut self, switch: &SwitchReport) {
        let ports = |value: fn(&SwitchPortReport) -> u64| {
            switch.ports.iter().map(move |port| (format!("port=\"{}\"", escaped(&port.name)), value(port)))
        };
        self.metric("weft_switch_sent_packets_total", "Packets sent by a port", ports(|port| port.packets));
        let sent = ports(|port| port.bytes.0);
        self.metric("weft_switch_sent_bytes_total", "Bytes on the wire sent by a port", sent);
        let marked = ports(|port| port.counted.marked);
        self.metric("weft_switch_marked_packets_total", "Packets that a port marked CE", marked);
        let dropped = ports(|port| port.counted.dropped);
        self.metric("weft_switch_dropped_packets_total", "Packets dropped at a port", dropped);
        let peak = ports(|port| port.counted.peak.0);
        self.metric("weft_switch_peak_queue_bytes", "Most bytes a port has held", peak);
        let queues = |value: fn(&QueueReading) -> u64| {
            switch.queues().map(move |(port, (number, queue))| (queue_labels(port, number), value(queue)))
        };
        let help = "Bytes that wait in a queue";
        self.metric("weft_switch_queue_waiting_bytes", help, queues(|queue| queue.waiting.0));
        let help = "Most bytes a queue has held since the start, the packet in transmission included";
        self.metric("weft_switch_queue_peak_bytes", help, queues(|queue| queue.peak.0));
        let dropped = switch.queues().flat_map(|(port, (number, queue))| {
            let labels = queue_labels(port, number);
            queue
                .drops
                .iter()
                .map(move |(reason, count)| (format!("{labels},reason=\"{}\"", reason.name()), *count))
        });
        let help = "Packets dropped for a queue, by reason";
        self.metric("weft_switch_queue_dropped_packets_total", help, dropped);
        self.metric("weft_switch_port_up", "Whether the link of a port is up", ports(|port| port.up.into()));
        let inside = [(String::new(), switch.inside as u64)].into_iter();
        self.metric("weft_switch_inside_packets", "Packets inside the switch", inside);
    }
}

fn loaded(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

/// The labels of a queue.
fn queue_labels(port: &SwitchPortReport, number: usize) -> String {
    format!("port=\"{}\",queue=\"{number}\"", escaped(&port.name))
}

/// The value of a label, escaped for the format.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
