//! Names that readers of the literature may try and that no family has, with what Weft offers instead. A wrong guess
//! at a similar name would mislead. Must not depend on what the families are; it matches names only.

/// Schemes that are not modelled: the family in which they are sought, their spellings, and the alternative.
const ABSENT: &[(&str, &str, &str, &str)] = &[
    ("transport", "swift", "Swift", "`timely` and `patched-timely` are the laws that go by delay"),
    ("transport", "powertcp", "PowerTCP", "`hpcc` goes by the reports of links, too"),
    ("transport", "bbr", "BBR", "`cubic`, `newreno`, `htcp` and `dctcp` are the TCP laws"),
    ("transport", "vegas", "TCP Vegas", "`timely` and `patched-timely` are the laws that go by delay"),
    ("transport", "westwood", "TCP Westwood", "`cubic`, `newreno`, `htcp` and `dctcp` are the TCP laws"),
    ("transport", "bic", "BIC", "`cubic` is its successor"),
    ("transport", "reno", "plain Reno", "`newreno` is Reno with NewReno's recovery"),
    (
        "transport",
        "tcp",
        "TCP without a law",
        "`newreno`, `cubic`, `dctcp` and `htcp` are TCP with a congestion law",
    ),
    ("transport", "rdma", "RDMA without a law", "`roce` has a fixed rate; `dcqcn` and `timely` control it"),
    ("transport", "homa", "Homa", "`ndp` has receivers that pull, `pfabric` priorities by size"),
    ("transport", "expresspass", "ExpressPass", "`ndp` has receivers that pull"),
    ("transport", "phost", "pHost", "`ndp` has receivers that pull"),
    (
        "transport",
        "mptcp",
        "multipath TCP",
        "`balance = \"presto\"` or `\"drill\"` spreads one flow over paths",
    ),
    ("transport", "quic", "QUIC", "`newreno` and `cubic` are its usual laws over TCP"),
    ("balancer", "hedera", "Hedera", "`conga` and `letflow` move flows by load"),
    ("balancer", "hermes", "Hermes", "`conga` and `letflow` reroute flowlets"),
    ("balancer", "drb", "DRB", "`round-robin` and `presto` spread packets and cells evenly"),
    ("balancer", "conweave", "ConWeave", "`letflow` and `conga` reroute flowlets"),
    ("balancer", "hula", "HULA", "`conga` chooses paths by load"),
    ("balancer", "clove", "CLOVE", "`letflow` and `conga` reroute flowlets"),
    ("balancer", "planck", "Planck", "`conga` chooses paths by load"),
    ("balancer", "mptcp", "multipath TCP", "`presto` and `drill` spread one flow over paths"),
    ("balancer", "rps", "random packet spraying by this name", "`random` chooses a port for every packet"),
    (
        "balancer",
        "spray",
        "packet spraying by this name",
        "`random`, `round-robin` and `drill` choose a port for every packet",
    ),
];

/// Schemes that are a setting, not a member of the family in which they are sought: their spellings, and what to set.
const SETTINGS: &[(&str, &str, &str)] = &[
    ("transport", "irn", "IRN is `roce`, `dcqcn` or `timely` with `recovery = \"selective\"` and a `window`"),
    ("transport", "pias", "PIAS is a setting of TCP transports: `[transport.dctcp]` with `pias.thresholds`"),
    ("transport", "tlt", "TLT is a setting of TCP and RoCE transports: `tlt = {}`"),
    ("scheduler", "pias", "PIAS is `schedule = \"strict\"` and `pias.thresholds` of a TCP transport"),
    ("scheduler", "pfabric", "pFabric is `order = \"ranked\"` of switches and `transport = \"pfabric\"`"),
];

/// The message about a name that is known from elsewhere: `PowerTCP is not modelled; ... instead`.
pub(crate) fn absent(family: &str, found: &str) -> Option<String> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    if let Some((_, _, says)) = SETTINGS.iter().find(|(of, name, _)| *of == family && *name == plain(found)) {
        return Some((*says).to_owned());
    }
    let known = ABSENT.iter().find(|(of, name, ..)| *of == family && *name == plain(found));
    known.map(|(_, _, name, instead)| format!("{name} is not modelled; {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_written() {
        assert!(absent("transport", "IRN").is_some_and(|words| words.contains("`roce`")));
        for name in ["swift", "Swift", "power-tcp", "PowerTCP"] {
            assert!(absent("transport", name).is_some_and(|words| words.contains("not modelled")), "{name}");
        }
        assert_eq!(absent("balancer", "swift"), None);
        assert_eq!(absent("transport", "hpcc"), None);
        assert_eq!(absent("transport", "dctpc"), None);
    }
}
