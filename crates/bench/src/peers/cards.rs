//! R1 with cards that serve packets in order of arrival and mark them, as switch ports do: every host is behind a
//! switch of its own, connected by a line so fast that nothing waits before it.

use std::fmt::Write;

/// The network of R1.
const LEAVES: u32 = 16;
const SPINES: u32 = 4;
const HOSTS_PER_LEAF: u32 = 20;

/// The override that inserts a switch between each host of R1 and its leaf.
pub(super) fn in_order() -> String {
    let hosts = LEAVES * HOSTS_PER_LEAF;
    let mut links = String::new();
    let mut link = |from: String, to: String, rate: &str, delay: &str| {
        let _ = write!(links, "{{ from = '{from}', to = '{to}', rate = '{rate}', delay = '{delay}' }}, ");
    };
    for host in 0..hosts {
        link(format!("host{host}"), format!("card{host}"), "1 Tbps", "0 ns");
        link(format!("card{host}"), format!("leaf{}", host / HOSTS_PER_LEAF), "10 Gbps", "1 us");
    }
    for (leaf, spine) in (0..LEAVES).flat_map(|leaf| (0..SPINES).map(move |spine| (leaf, spine))) {
        link(format!("leaf{leaf}"), format!("spine{spine}"), "40 Gbps", "1 us");
    }
    let names = |kind: &str, count: u32| (0..count).map(|n| format!("'{kind}{n}', ")).collect::<String>();
    format!(
        "topology={{ graph = {{ host_names = [{}], switches = [{}{}{}], links = [{links}] }} }}",
        names("host", hosts),
        names("card", hosts),
        names("leaf", LEAVES),
        names("spine", SPINES)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_a_card_and_every_leaf_all_spines() {
        let text = in_order();
        assert_eq!(text.matches("from = 'host").count(), 320);
        assert_eq!(text.matches("from = 'card").count(), 320);
        assert_eq!(text.matches("to = 'spine3'").count(), 16);
        assert!(text.contains("from = 'card319', to = 'leaf15'"), "the last host is under the last leaf");
    }
}
