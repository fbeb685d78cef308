//! The routes and neighbours of a running router, for people.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

use weft_fib::IpPrefix;
use weft_router::control::{Control, NextHop};

use crate::plan::RouterPlan;

/// Maximum number of routes on a page; the rest are counted.
const MOST_ROUTES: usize = 1000;

/// Which routes are wanted by their prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrefixFilter {
    /// Those inside this prefix.
    Inside(IpPrefix),
    /// Those that contain this address.
    Around(IpAddr),
}

impl PrefixFilter {
    fn parse(text: &str) -> Result<PrefixFilter, String> {
        match text.parse() {
            Ok(address) => Ok(PrefixFilter::Around(address)),
            Err(_) => text.parse().map(PrefixFilter::Inside),
        }
    }

    fn takes(self, prefix: IpPrefix) -> bool {
        match self {
            PrefixFilter::Inside(whole) => {
                whole.contains(prefix.address()) && whole.length() <= prefix.length()
            }
            PrefixFilter::Around(address) => prefix.contains(address),
        }
    }
}

/// The text of a filter by prefix, if it is one.
///
/// # Errors
/// What a filter looks like.
pub fn checked_prefix(text: &str) -> Result<String, String> {
    PrefixFilter::parse(text).map(|_| text.to_owned())
}

/// Which routes are wanted; all by default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RouteFilter {
    prefix: Option<PrefixFilter>,
    port: Option<u16>,
}

impl RouteFilter {
    /// The filter of a request; `None` if it is none, or if there is no such port.
    pub(super) fn new(
        plan: &RouterPlan,
        prefix: Option<String>,
        port: Option<String>,
    ) -> Option<RouteFilter> {
        let prefix = prefix.map(|text| PrefixFilter::parse(&text)).transpose().ok()?;
        let number = |name: String| plan.ports.iter().position(|port| port.name == name).ok_or(());
        let port = port.map(number).transpose().ok()?.map(|number| number as u16);
        Some(RouteFilter { prefix, port })
    }

    fn takes(&self, prefix: IpPrefix, hops: &[NextHop]) -> bool {
        let leaves = |port: u16| {
            hops.iter().any(|hop| matches!(hop, NextHop::Link(by) | NextHop::Station((by, _)) if *by == port))
        };
        self.prefix.is_none_or(|filter| filter.takes(prefix)) && self.port.is_none_or(leaves)
    }
}

/// Next hops of a route, each with its share.
type RouteHops = Vec<(NextHop, u16)>;

/// The routes that a filter takes, in order.
pub(super) fn routes(plan: &RouterPlan, control: &Control, filter: &RouteFilter) -> String {
    let (routes, lists) = control.read(|state| {
        let routes = state.routes();
        let list = |(_, hop): &(IpPrefix, NextHop)| match hop {
            NextHop::Multipath(number) => Some((*number, state.list(*number)?.to_vec())),
            _ => None,
        };
        let lists: BTreeMap<u16, RouteHops> = routes.iter().filter_map(list).collect();
        (routes, lists)
    });
    let all = routes.len();
    let hops = |hop: NextHop| match hop {
        NextHop::Multipath(number) => lists.get(&number).cloned().unwrap_or_default(),
        hop => vec![(hop, 1)],
    };
    let with_hops = routes.into_iter().map(|(prefix, hop)| (prefix, hops(hop)));
    let mut shown: Vec<(IpPrefix, RouteHops)> = with_hops
        .filter(|(prefix, hops)| filter.takes(*prefix, &hops.iter().map(|(hop, _)| *hop).collect::<Vec<_>>()))
        .collect();
    shown.sort_unstable_by_key(|(prefix, _)| *prefix);
    let mut text = match shown.len() {
        taken if taken == all => format!("{all} routes\n"),
        taken => format!("{taken} of {all} routes\n"),
    };
    for (prefix, hops) in shown.iter().take(MOST_ROUTES) {
        let paths: Vec<String> =
            hops.iter().map(|(hop, share)| path(plan, *prefix, (*hop, *share))).collect();
        let _ = writeln!(text, "  {prefix} {}", paths.join(" or "));
    }
    if shown.len() > MOST_ROUTES {
        let _ = writeln!(text, "  and {} more", shown.len() - MOST_ROUTES);
    }
    text
}

/// A next hop of a route in words, with its share.
fn path(plan: &RouterPlan, prefix: IpPrefix, (hop, share): (NextHop, u16)) -> String {
    let words = match hop {
        // A route for a single address on a link.
        NextHop::Station((port, via)) if is_alone(prefix, via) => words(plan, NextHop::Link(port)),
        hop => words(plan, hop),
    };
    if share == 1 { words } else { format!("{words} (share {share})") }
}

/// Whether a prefix is a single address.
fn is_alone(prefix: IpPrefix, address: IpAddr) -> bool {
    prefix.address() == address && prefix.length() == if address.is_ipv4() { 32 } else { 128 }
}

/// A next hop in words, after its prefix.
fn words(plan: &RouterPlan, hop: NextHop) -> String {
    let port = |number: u16| plan.ports[usize::from(number)].name.as_str();
    match hop {
        NextHop::Local => "is the router itself".to_owned(),
        NextHop::Reject => "rejected".to_owned(),
        NextHop::Prohibit => "prohibited".to_owned(),
        NextHop::Blackhole => "dropped silently".to_owned(),
        NextHop::Link(number) => format!("on the link of {}", port(number)),
        NextHop::Station((number, via)) => format!("via {via}, {}", port(number)),
        NextHop::Tunnel(number) => format!("through tunnel {}", plan.tunnel_name(number)),
        NextHop::Multipath(number) => format!("by list {number}"),
    }
}

/// The neighbours that have answered.
pub(super) fn neighbours(plan: &RouterPlan, control: &Control) -> String {
    let known: Vec<_> = control.read(|state| state.neighbours().known().collect());
    let mut text = format!("{} neighbour{}\n", known.len(), if known.len() == 1 { "" } else { "s" });
    for ((number, address), mac) in known {
        let _ = writeln!(text, "  {address} is {mac}, {}", plan.ports[usize::from(number)].name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_takes_what_is_inside_and_an_address_what_is_around() {
        let takes =
            |filter: &str, prefix: &str| PrefixFilter::parse(filter).unwrap().takes(prefix.parse().unwrap());
        assert!(takes("10.0.0.0/8", "10.1.0.0/16") && takes("10.0.0.0/8", "10.0.0.0/8"));
        assert!(!takes("10.0.0.0/8", "0.0.0.0/0") && !takes("10.0.0.0/8", "11.0.0.0/16"));
        assert!(takes("10.1.2.3", "10.1.0.0/16") && takes("10.1.2.3", "0.0.0.0/0"));
        assert!(!takes("10.1.2.3", "10.2.0.0/16") && !takes("::1", "0.0.0.0/0"));
        assert!(takes("::/0", "2001:db8::/32") && !takes("0.0.0.0/0", "2001:db8::/32"));
        assert!(checked_prefix("10.0.0.1/8").is_err_and(|told| told.contains("10.0.0.0/8")));
        assert!(checked_prefix("left").is_err_and(|told| told.contains("198.51.100.0/24")));
    }

    #[test]
    fn a_port_takes_routes_that_may_leave_by_it() {
        let filter = RouteFilter { prefix: None, port: Some(1) };
        let via = |port: u16| NextHop::Station((port, [10, 1, 0, 9].into()));
        let prefix = "10.9.0.0/16".parse().unwrap();
        assert!(filter.takes(prefix, &[via(0), via(1)]) && filter.takes(prefix, &[NextHop::Link(1)]));
        assert!(!filter.takes(prefix, &[via(0)]) && !filter.takes(prefix, &[NextHop::Reject]));
        assert!(!filter.takes(prefix, &[NextHop::Tunnel(1)]));
    }
}
