//! From text to what it describes: one reader for each kind of file, and the guess which kind a file is.

use crate::model::Network;
use crate::place::Source;
use std::path::Path;

mod eos;
mod scenario;
mod sonic;
mod sysctl;

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SONiC's `config_db.json`.
    Sonic,
    /// The running configuration of Arista EOS.
    Eos,
    /// Settings of Linux hosts, as in `/etc/sysctl.d`.
    Sysctl,
    /// A scenario of Weft.
    Scenario,
}

impl Kind {
    /// The kinds and their words on the command line.
    pub const WORDS: [(&'static str, Kind); 4] =
        [("sonic", Kind::Sonic), ("eos", Kind::Eos), ("sysctl", Kind::Sysctl), ("scenario", Kind::Scenario)];

    /// What a file is by its name and by what stands in it; `None` if nothing speaks for any kind.
    #[must_use]
    pub fn of(name: &str, text: &str) -> Option<Kind> {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match extension {
            "json" => Some(Kind::Sonic),
            "toml" => Some(Kind::Scenario),
            "eos" => Some(Kind::Eos),
            _ if text.trim_start().starts_with('{') => Some(Kind::Sonic),
            _ => Kind::of_lines(text),
        }
    }

    /// The first line that only one kind has.
    fn of_lines(text: &str) -> Option<Kind> {
        text.lines().map(str::trim).find_map(|line| match line {
            _ if line.starts_with("net.") || line.starts_with("-net.") => Some(Kind::Sysctl),
            _ if line.starts_with("weft") && line.contains('=') => Some(Kind::Scenario),
            _ if ["interface ", "qos ", "hostname ", "priority-flow-control ", "platform ", "! device:"]
                .iter()
                .any(|begin| line.starts_with(begin)) =>
            {
                Some(Kind::Eos)
            }
            _ => None,
        })
    }
}

/// Reads a file into the network; a scenario is networks of its own, which are returned. The error is all that keeps the file
/// from being read at all.
pub(crate) fn read(
    kind: Kind,
    (number, source): (usize, &Source),
    network: &mut Network,
) -> Result<Vec<Network>, String> {
    let into = match kind {
        Kind::Sonic => sonic::read,
        Kind::Eos => eos::read,
        Kind::Sysctl => sysctl::read,
        Kind::Scenario => return scenario::read(number, source, &network.site),
    };
    into(number, source, network).map(|()| Vec::new())
}

/// Numbers such as `3`, `3-4` and `0,3-5`, each at most 63; `None` if it is anything else.
fn range(text: &str) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u8, u8) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > 63 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_name_or_by_content() {
        for (name, text, kind) in [
            ("config_db.json", "", Some(Kind::Sonic)),
            ("backup", " {\"PORT\": {}}", Some(Kind::Sonic)),
            (
                "leaf1.cfg",
                "! Command: show running-config\n! device: leaf1 (DCS-7050, EOS-4.30)\n",
                Some(Kind::Eos),
            ),
            ("99-tcp.conf", "# hosts\nnet.ipv4.tcp_ecn = 1\n", Some(Kind::Sysctl)),
            ("x.toml", "weft = 1\n", Some(Kind::Scenario)),
            ("notes.txt", "buy bread\n", None),
        ] {
            assert_eq!(Kind::of(name, text), kind, "{name}");
        }
    }

    #[test]
    fn ranges_are_lists_and_spans() {
        assert_eq!(range("0, 3-5"), Some(vec![0, 3, 4, 5]));
        for wrong in ["", "a", "5-3", "64", "1-", "999999999999"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
