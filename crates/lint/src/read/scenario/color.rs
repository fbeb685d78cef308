//! Colours: red thresholds, whose packets are green beside red ones, and balancers that reorder.

use super::Reader;
use weft_core::SwitchId;
use weft_device_config::model::{OrderedFlows, RedPackets, ReliesOn};
use weft_scenario::{payload_queues, sends_red};
use weft_switch::BalancerSettings;
use weft_topology::Node;
use weft_transport::TransportSettings;
use weft_transport::settings::{LossDetection, Tcp};

impl Reader<'_> {
    /// How these switches treat red packets, if any drops them early.
    pub(super) fn red(&self) -> Option<RedPackets> {
        let (switch, color) = (&self.device.switch, &self.device.switch.color);
        let carrying = |chosen: &dyn Fn(Option<&TransportSettings>) -> bool| {
            payload_queues((&self.case.settings, self.graph), |class| switch.queue_of(class), chosen)
        };
        let red = carrying(&|stack| stack.is_some_and(sends_red));
        let pausing = switch.pfc.classes.iter().fold(0, |set, class| set | 1_u8 << class.min(&7));
        let shares = |chosen: &dyn Fn(Option<&TransportSettings>) -> bool| carrying(chosen) & red != 0;
        let green = self.stacks.iter().map(|stack| &stack.transport).filter(|stack| !sends_red(stack));
        let mut beside: Vec<String> = green
            .filter(|own| shares(&|stack| stack == Some(*own)))
            .map(|own| own.name().to_owned())
            .collect();
        if shares(&|stack| stack.is_none()) {
            beside.push("datagrams at a constant rate".to_owned());
        }
        beside.dedup();
        (color.is_on() && red != 0).then(|| RedPackets {
            at: self.spot("switch.color"),
            threshold: color.red.map(|red| self.placed(red, "switch.color.red")),
            reads_marks: self
                .stacks
                .iter()
                .any(|stack| sends_red(&stack.transport) && stack.transport.stack().reads_marks()),
            lossless: red & pausing != 0,
            beside,
        })
    }

    /// The transports that rely on the order or the path of their packets.
    pub(super) fn ordered(&self) -> impl Iterator<Item = OrderedFlows> {
        self.stacks.iter().filter_map(|stack| Reader { stack, ..*self }.ordered_flows())
    }

    fn ordered_flows(&self) -> Option<OrderedFlows> {
        let transport = &self.stack.transport;
        let assumes = match transport {
            TransportSettings::Pdq(_) => ReliesOn::Path,
            own if sends_red(own) => ReliesOn::Order,
            _ => return None,
        };
        let path = format!("transport.{}.dup_threshold", transport.name());
        let counts = |tcp: &Tcp| tcp.tlt.is_some() && tcp.loss_detection == LossDetection::DupThresh;
        let patience = transport.tcp().filter(counts).map(|tcp| self.placed(tcp.dup_threshold, &path));
        let sprays = self.devices.iter().find(|device| sprays(&device.balance));
        let sprayed = sprays
            .filter(|_| self.has_choices())
            .map(|device| Reader { device, ..*self }.placed(device.balance.name().to_owned(), "balance"));
        Some(OrderedFlows { transport: transport.name().to_owned(), sprayed, assumes, patience })
    }

    /// Whether some switch has several links to switches, so that a balancer may choose.
    fn has_choices(&self) -> bool {
        let links = |switch: &SwitchId| self.graph.links_of(Node::Switch(*switch)).iter();
        let up = |switch| links(switch).filter(|link| matches!(link.to, Node::Switch(_))).count() > 1;
        self.devices.iter().flat_map(|device| &device.switches).any(up)
    }
}

/// Whether a balancer decides per packet, or per closely spaced part of a flow.
fn sprays(balance: &BalancerSettings) -> bool {
    use BalancerSettings::{Drill, PerPacketRandom, Presto, RoundRobin};
    matches!(balance, Drill(_) | Presto(_) | PerPacketRandom(_) | RoundRobin(_))
}
