//! The transport of a scenario as settings of the kernel's TCP: switches of a namespace (sysctl), attributes of its
//! route, and what the kernel does differently.

use weft_core::{Bytes, HostId, Span};
use weft_plan::Setup;
use weft_transport::RtoFloor;
use weft_transport::settings::{LossDetection, Tcp};

/// Linux's first time-out, RFC 6298.
const FIRST_TIME_OUT: Span = Span::from_s(1);
/// Linux's shortest delay of an acknowledgement (`TCP_DELACK_MIN`).
const DELAYED_ACK: Span = Span::from_ms(40);
/// Linux adds this to two round trips before a tail loss probe (`TCP_TIMEOUT_MIN_US`).
const PROBE_SLACK: Span = Span::from_ms(2);
/// Packets that Linux acknowledges at once at the start of a connection (`TCP_MAX_QUICKACKS`).
const QUICK_ACKS: u32 = 16;
/// Times closer than this factor count as equal.
const CLOSE: f64 = 1.01;

/// The kernel's TCP on every host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostTcp {
    /// Files below `/proc/sys/net/ipv4` and their contents. A kernel may lack some.
    pub(crate) switches: Vec<(&'static str, String)>,
    /// Attributes of the route to all other hosts.
    pub(crate) route: String,
    /// Largest IP packet.
    pub(crate) mtu: Bytes,
    /// Whether packets are spread over the round trip.
    pub(crate) paced: bool,
}

impl HostTcp {
    /// The settings for a scenario's TCP, in time stretched by `scale`, without those that hosts may differ in.
    pub(crate) fn new(tcp: &Tcp, scale: u64) -> HostTcp {
        let flag = |on: bool| u8::from(on).to_string();
        // With RACK the duplicate threshold hardly matters, and Linux raises it as it sees fit.
        let most_reordering = if tcp.loss_detection == LossDetection::Rack { 300 } else { tcp.dup_threshold };
        let switches = vec![
            ("tcp_timestamps", flag(tcp.timestamps)),
            ("tcp_sack", flag(tcp.sack)),
            ("tcp_dsack", flag(tcp.sack)),
            ("tcp_recovery", flag(tcp.loss_detection == LossDetection::Rack)),
            ("tcp_early_retrans", if tcp.tlp { "3" } else { "0" }.to_owned()),
            ("tcp_reordering", tcp.dup_threshold.to_string()),
            ("tcp_max_reordering", tcp.max_reordering.unwrap_or(most_reordering).to_string()),
            ("tcp_pacing_ss_ratio", percent(tcp.pacing_slow_start)),
            ("tcp_pacing_ca_ratio", percent(tcp.pacing_avoidance)),
            // Connections must neither learn from earlier ones nor delay sending.
            ("tcp_no_metrics_save", flag(true)),
            ("tcp_autocorking", flag(false)),
            // Both ends of a flow send in its class.
            ("tcp_reflect_tos", flag(true)),
            ("tcp_rmem", "4096 4194304 8388608".to_owned()),
            ("tcp_wmem", "4096 1048576 8388608".to_owned()),
            ("ip_unprivileged_port_start", "0".to_owned()),
            ("ip_local_port_range", "1024 65535".to_owned()),
        ];
        let segment = tcp.mtu - tcp.header - Bytes(if tcp.timestamps { 12 } else { 0 });
        let window = tcp.initial_window.bytes(segment).0.div_ceil(segment.0.max(1)).max(1);
        let least = Span(tcp.min_rto.0.saturating_mul(scale)).seconds() * 1e3;
        let at_once = if tcp.delayed_ack == 1 { " quickack 1" } else { "" };
        HostTcp {
            switches,
            route: format!("initcwnd {window} initrwnd 1000 rto_min {}ms{at_once}", least.ceil().max(1.0)),
            mtu: tcp.mtu,
            paced: tcp.pacing,
        }
    }
}

/// The switch for ECN of a host: 1 if it asks for it on some connection, 2 if it only agrees, 0 if it does neither.
pub(crate) fn tcp_ecn(setup: &Setup, host: HostId) -> (&'static str, String) {
    let any = |opens: bool| setup.transports_of(host).any(|own| own.consents_to_ecn(opens));
    let value = match () {
        () if any(true) => "1",
        () if any(false) => "2",
        () => "0",
    };
    ("tcp_ecn", value.to_owned())
}

fn percent(ratio: f64) -> String {
    format!("{:.0}", (ratio * 100.0).min(1_000.0))
}

/// Differences between the kernel and the scenario's hosts: times that cannot be stretched, and features that are
/// always on or always off.
pub(crate) fn differences(tcp: &Tcp, law: &str, scale: u64) -> Vec<String> {
    let mut told = Vec::new();
    let mut time = |what: &str, real: Span, wanted: Span| {
        let here = Span(real.0 / scale.max(1));
        let ratio = here.seconds().max(1e-12) / wanted.seconds().max(1e-12);
        if !(1.0 / CLOSE..=CLOSE).contains(&ratio) {
            told.push(format!(
                "{what}: always {real} on Linux, which is {here} of the scenario, not {wanted}"
            ));
        }
    };
    time("first time-out, also of a lost SYN", FIRST_TIME_OUT, tcp.initial_rto);
    if tcp.delayed_ack > 1 {
        time("longest delay of an acknowledgement", DELAYED_ACK, tcp.delayed_ack_timeout);
    }
    if tcp.tlp {
        time("slack of tail loss probes", PROBE_SLACK, tcp.tlp_slack);
        if tcp.tlp_delayed_ack != tcp.min_rto {
            told.push(format!(
                "a tail loss probe for a single segment waits for the minimum time-out, {}, in addition, not {}",
                tcp.min_rto, tcp.tlp_delayed_ack
            ));
        }
    }
    let always = [
        (
            tcp.loss_detection != LossDetection::Rack,
            "losses are detected by RACK, not by counting duplicates",
        ),
        (tcp.rto_floor != RtoFloor::Linux, "the minimum time-out is added to the round trip, as Linux does"),
        (tcp.delayed_ack > 2, "one acknowledgement covers at most two full segments"),
        (
            tcp.delayed_ack > 1 && tcp.quick_acks != QUICK_ACKS,
            "the first 16 packets are acknowledged at once",
        ),
        (!tcp.handshake, "connections open with a handshake"),
        (
            tcp.receive_window.is_some() || tcp.autotune.is_some(),
            "the receive window grows as Linux sees fit, within limits of the kernel's own",
        ),
        (tcp.tso || tcp.gro, "segments are neither sent in bursts (tso) nor merged (gro)"),
        (tcp.read_delay.is_some(), "what has arrived is read at once"),
        (tcp.initial_ssthresh.is_some(), "slow start ends only with a loss or a mark"),
        (
            law == "cubic",
            "CUBIC and HyStart follow the real clock: windows grow faster per round trip than at the scenario's rates",
        ),
        (
            law == "bbr",
            "BBR's filters and probes follow the real clock (10 s, 200 ms); Weft has no model of it",
        ),
        (
            law == "htcp",
            "H-TCP follows the real clock: windows grow faster per round trip than at the scenario's rates",
        ),
    ];
    told.extend(always.into_iter().filter(|(is, _)| *is).map(|(_, what)| what.to_owned()));
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::settings::Amount;

    fn wanted() -> Tcp {
        Tcp {
            initial_rto: Span::from_ms(10),
            min_rto: Span::from_ms(4),
            delayed_ack: 1,
            initial_window: Amount::Packets(4),
            loss_detection: LossDetection::Rack,
            ..Tcp::default()
        }
    }

    #[test]
    fn bounds_of_time_outs_stretch_and_windows_do_not() {
        let host = HostTcp::new(&wanted(), 100);
        assert_eq!(host.route, "initcwnd 4 initrwnd 1000 rto_min 400ms quickack 1");
        let of =
            |name: &str| host.switches.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str());
        assert_eq!((of("tcp_early_retrans"), of("tcp_timestamps")), (Some("0"), Some("0")));
    }

    #[test]
    fn only_what_differs_is_named() {
        assert_eq!(differences(&wanted(), "newreno", 100), Vec::<String>::new());
        let said = differences(&Tcp { tlp: true, delayed_ack: 2, ..wanted() }, "cubic", 50).join("\n");
        for words in ["first time-out", "delay of an acknowledgement", "probe for a single segment", "CUBIC"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}
