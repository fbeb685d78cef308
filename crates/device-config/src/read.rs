//! Reads files: one reader per format, and a guess of the kind of a file. Must not depend on what scenarios contain.

use crate::model::Network;
use crate::silence;
use std::path::Path;
use weft_config::place::SourceFile;
use weft_config::settings::sysctl;

mod eos;
mod host;
mod sonic;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// SONiC's `config_db.json`, or a part of it.
    Sonic,
    /// The running configuration of Arista EOS.
    Eos,
    /// Settings of Linux hosts, as in `/etc/sysctl.d`.
    Sysctl,
    /// A profile of tuned.
    Tuned,
    /// A shell script that configures hosts.
    Shell,
    /// A scenario of Weft, whose settings another crate reads.
    Scenario,
}

/// Beginnings of lines that EOS and others of its family have.
const OF_EOS: [&str; 6] =
    ["interface ", "qos ", "hostname ", "priority-flow-control ", "platform ", "! device:"];

/// Beginnings of lines that Cisco NX-OS or Junos has and EOS does not: such a file resembles EOS, but other lines set
/// its queues.
const OF_OTHERS: [&str; 12] = [
    "feature ",
    "switchname ",
    "vdc ",
    "boot nxos ",
    "system qos",
    "pause pfc-cos ",
    "class-map type network-qos ",
    "policy-map type network-qos ",
    "policy-map type queuing ",
    "class-of-service {",
    "interfaces {",
    "protocols {",
];

impl FileKind {
    /// The kinds and their words on the command line.
    pub const WORDS: [(&'static str, FileKind); 6] = [
        ("sonic", FileKind::Sonic),
        ("eos", FileKind::Eos),
        ("sysctl", FileKind::Sysctl),
        ("scenario", FileKind::Scenario),
        ("tuned", FileKind::Tuned),
        ("shell", FileKind::Shell),
    ];

    /// The keyword of this kind of file.
    #[must_use]
    pub fn word(self) -> &'static str {
        FileKind::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// The kind of a file, from its name and contents; `None` if nothing indicates a kind.
    #[must_use]
    pub fn of(name: &str, text: &str) -> Option<FileKind> {
        let path = Path::new(name);
        let part =
            |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str()).unwrap_or("").to_owned();
        match (part(path.file_name()).as_str(), part(path.extension()).as_str()) {
            ("tuned.conf", _) => Some(FileKind::Tuned),
            ("sysctl.conf", _) => Some(FileKind::Sysctl),
            (_, "json") => Some(FileKind::Sonic),
            (_, "toml") => Some(FileKind::Scenario),
            (_, "eos") => Some(FileKind::Eos),
            (_, "sh" | "bash") => Some(FileKind::Shell),
            (_, "conf") if is_sysctl_d(name) => Some(FileKind::Sysctl),
            _ if text.trim_start().starts_with('{') => Some(FileKind::Sonic),
            _ if text.starts_with("#!") => Some(FileKind::Shell),
            _ if is_of_others(text) => None,
            _ => FileKind::of_lines(text).or_else(|| sysctl::looks_like(text).then_some(FileKind::Sysctl)),
        }
    }

    /// The kind of the first line that only one kind has.
    fn of_lines(text: &str) -> Option<FileKind> {
        text.lines().map(str::trim).find_map(|line| match line {
            _ if line.starts_with("net.") || line.starts_with("-net.") => Some(FileKind::Sysctl),
            _ if line.starts_with("weft") && line.contains('=') => Some(FileKind::Scenario),
            "[main]" | "[sysctl]" | "[variables]" => Some(FileKind::Tuned),
            _ if line.contains("sysctl ") && !line.starts_with(['#', '!', ';']) => Some(FileKind::Shell),
            _ if OF_EOS.iter().any(|begin| line.starts_with(begin)) => Some(FileKind::Eos),
            _ => None,
        })
    }

    /// Whether it describes a host.
    #[must_use]
    pub fn is_host(self) -> bool {
        matches!(self, FileKind::Sysctl | FileKind::Tuned | FileKind::Shell)
    }

    /// The characters that start a comment; a format without comments has another way to silence rules.
    fn comment(self) -> &'static [char] {
        match self {
            FileKind::Sonic => &[],
            FileKind::Eos => &['!'],
            FileKind::Sysctl | FileKind::Tuned => &['#', ';'],
            FileKind::Shell | FileKind::Scenario => &['#'],
        }
    }
}

fn is_of_others(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| OF_OTHERS.iter().any(|begin| line.starts_with(begin)))
}

/// Whether a file is in a folder `sysctl.d`, whose files form one configuration.
#[must_use]
pub fn is_sysctl_d(name: &str) -> bool {
    Path::new(name).parent().and_then(Path::file_name).is_some_and(|folder| folder == "sysctl.d")
}

/// A file to be read: its number, which becomes part of positions, its text and its kind.
pub type ConfigFile<'a> = (usize, &'a SourceFile, FileKind);

/// Reads files of one format, or of hosts, as one device into the network. Of a scenario, only the comments that silence
/// rules are read.
///
/// # Errors
/// Everything that prevents files from being read, each with the file's name. The network may then have parts of them.
pub fn read(files: &[ConfigFile<'_>], network: &mut Network) -> Result<(), Vec<String>> {
    let Some((_, _, kind)) = files.first() else { return Ok(()) };
    for (number, source, kind) in files {
        if !kind.comment().is_empty() {
            let told = silence::comments(*number, &source.text, kind.comment());
            network.silenced.extend(told.map_err(|found| vec![format!("{}: {found}", source.name)])?);
        }
    }
    let plain: Vec<(usize, &SourceFile)> =
        files.iter().map(|(number, source, _)| (*number, *source)).collect();
    match kind {
        FileKind::Sonic => sonic::read(&plain, network),
        FileKind::Eos => eos::read(&plain, network),
        FileKind::Sysctl | FileKind::Tuned | FileKind::Shell => host::read(files, network),
        FileKind::Scenario => Ok(()),
    }
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
            ("config_db.json", "", Some(FileKind::Sonic)),
            ("backup", " {\"PORT\": {}}", Some(FileKind::Sonic)),
            (
                "leaf1.cfg",
                "! Command: show running-config\n! device: leaf1 (DCS-7050, EOS-4.30)\n",
                Some(FileKind::Eos),
            ),
            ("99-tcp.conf", "# hosts\nnet.ipv4.tcp_ecn = 1\n", Some(FileKind::Sysctl)),
            ("x.toml", "weft = 1\n", Some(FileKind::Scenario)),
            ("etc/sysctl.d/10-vm.conf", "vm.swappiness = 10\n", Some(FileKind::Sysctl)),
            ("99-vm.conf", "# memory\nvm.swappiness = 10\nkernel/pid_max=4194304\n", Some(FileKind::Sysctl)),
            ("network-latency/tuned.conf", "", Some(FileKind::Tuned)),
            ("profile", "# hosts\n[main]\ninclude=latency\n", Some(FileKind::Tuned)),
            ("setup", "#!/bin/sh\nset -e\n", Some(FileKind::Shell)),
            ("rc.local", "modprobe tcp_dctcp\nsudo sysctl -w net.ipv4.tcp_ecn=1\n", Some(FileKind::Shell)),
            ("notes.txt", "buy bread\n", None),
            ("nx", "hostname leaf1\nfeature lldp\ninterface Ethernet1/1\n  mtu 9216\n", None),
            ("nx", "interface Ethernet1/1\n!\npolicy-map type network-qos a\n  pause pfc-cos 3\n", None),
            ("junos", "protocols {\n    lldp {\n        interface all;\n    }\n}\n", None),
            ("eos", "class-map type qos match-any A\n!\ninterface Ethernet1/1\n", Some(FileKind::Eos)),
        ] {
            assert_eq!(FileKind::of(name, text), kind, "{name}");
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
