//! The settings of a host, from any kind of file: `sysctl.d`, a profile of tuned, a script. Later files override
//! earlier ones, as when the host boots.

use super::{ConfigFile, FileKind};
use crate::model::{HostConfig, Network};
use crate::told::{Coverage, NameTally, Oddity, OddityKind};
use std::collections::BTreeMap;
use weft_config::place::{Placed, Spot};
use weft_config::settings::{LinuxSetting, LinuxSettings, shell, sysctl, tuned};
use weft_core::Bytes;

/// The largest burst that segmentation offload sends for one write.
const BURST: Bytes = Bytes(64 << 10);

/// The least and the most of the receive buffer that Linux makes window: half at first, and on kernels before 6.6 by
/// default (ip-sysctl, `tcp_adv_win_scale`); later what packets take of their memory, measured as 63 % with packets of
/// 1500 bytes and 91 % with 9000.
const WINDOW_SHARE: (f64, f64) = (0.5, 0.9);

/// The settings that rules use.
const READ: [&str; 6] = [
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_ecn_fallback",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_adv_win_scale",
];

/// Reads files as the settings of one kind of host, in the order in which they are applied.
pub(super) fn read(files: &[ConfigFile<'_>], network: &mut Network) -> Result<(), Vec<String>> {
    let mut settings = Known::new();
    let mut refusals = Vec::new();
    for (number, source, kind) in files {
        let told = match kind {
            FileKind::Tuned => tuned::read(source),
            FileKind::Shell => Ok(shell::read(source)),
            _ => sysctl::read(source),
        };
        match told {
            Ok(told) => lay(&mut settings, (*number, *kind), told, network),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    if !settings.is_empty() {
        let mut reader = Reader { settings: &settings, oddities: &mut network.oddities };
        let host = reader.host();
        network.hosts.push(host);
    }
    Ok(())
}

type Known = BTreeMap<String, Placed<String>>;

/// Adds the settings of a file to those of earlier files.
fn lay(settings: &mut Known, (file, kind): (usize, FileKind), told: LinuxSettings, network: &mut Network) {
    let (mut read, mut passed_over) = (NameTally::default(), NameTally::default());
    for setting in told.settings {
        if !READ.contains(&setting.name.as_str()) {
            passed_over.count(&setting.name);
            continue;
        }
        read.count(&setting.name);
        let at = Spot { file, at: setting.at };
        if let Some(earlier) = settings.get(&setting.name).filter(|earlier| earlier.value != setting.value) {
            network.oddities.push(otherwise(&setting, (at, kind), earlier));
        }
        settings.insert(setting.name, Placed { value: setting.value, at });
    }
    told.other.iter().for_each(|word| passed_over.count(word));
    let coverage = Coverage { read: read.list(), passed_over: passed_over.list(), remarks: Vec::new() };
    network.coverage.push((file, coverage));
}

/// A setting given twice in a file is a mistake, except in a script, which may choose between them; a later file may
/// override an earlier one.
fn otherwise(setting: &LinuxSetting, (at, kind): (Spot, FileKind), earlier: &Placed<String>) -> Oddity {
    let same_file = earlier.at.file == at.file;
    let where_ = if same_file { "above" } else { "in an earlier file" };
    let says = format!(
        "{} is {} {where_} and {} here; the last one wins",
        setting.name, earlier.value, setting.value
    );
    let kind = match same_file && kind != FileKind::Shell {
        true => OddityKind::Repetition,
        false => OddityKind::Override,
    };
    Oddity { kind, at, subject: String::new(), says, fix: "remove one of them".to_owned() }
}

struct Reader<'a> {
    settings: &'a Known,
    oddities: &'a mut Vec<Oddity>,
}

impl Reader<'_> {
    fn host(&mut self) -> HostConfig {
        let law = self.settings.get("net.ipv4.tcp_congestion_control");
        let fallback = self.small("net.ipv4.tcp_ecn_fallback", (0, 1));
        // Linux falls back unless configured otherwise.
        let silent = |law: &Placed<String>| Placed { value: 1, at: law.at };
        let scale = self.number("net.ipv4.tcp_adv_win_scale", (-31, 31));
        HostConfig {
            law: law.cloned(),
            ecn: self.small("net.ipv4.tcp_ecn", (0, 5)),
            ecn_fallback: fallback.or(law.map(silent)),
            receive: self.greatest("net.ipv4.tcp_rmem"),
            send: self.greatest("net.ipv4.tcp_wmem"),
            window_share: WINDOW_SHARE,
            window_scale: scale.map(|scale| scale.at),
            burst: BURST,
            marks_by: Some("net.ipv4.tcp_ecn = 1 on all hosts".to_owned()),
            window_by: "tcp_rmem".to_owned(),
            ..HostConfig::default()
        }
    }

    fn odd(&mut self, at: Spot, (says, fix): (String, &str)) {
        let (kind, subject, fix) = (OddityKind::Value, String::new(), fix.to_owned());
        self.oddities.push(Oddity { kind, at, subject, says, fix });
    }

    fn number(&mut self, name: &str, (least, most): (i64, i64)) -> Option<Placed<i64>> {
        let placed = self.settings.get(name)?;
        match placed.value.parse() {
            Ok(value) if (least..=most).contains(&value) => Some(Placed { value, at: placed.at }),
            _ => {
                let says = format!("{name} is `{}`", placed.value);
                self.odd(placed.at, (says, &format!("write a whole number from {least} to {most}")));
                None
            }
        }
    }

    fn small(&mut self, name: &str, bounds: (i64, i64)) -> Option<Placed<u8>> {
        let placed = self.number(name, bounds)?;
        Some(Placed { value: placed.value.unsigned_abs() as u8, at: placed.at })
    }

    /// The last of the three values minimum, default and maximum.
    fn greatest(&mut self, name: &str) -> Option<Placed<Bytes>> {
        let placed = self.settings.get(name)?;
        let figures: Vec<Option<u64>> =
            placed.value.split_whitespace().map(|word| word.parse().ok()).collect();
        match figures[..] {
            [Some(_), Some(_), Some(most)] => Some(Placed { value: Bytes(most), at: placed.at }),
            _ => {
                let says = format!("{name} is `{}`", placed.value);
                self.odd(placed.at, (says, "write three sizes in bytes: minimum, default and maximum"));
                None
            }
        }
    }
}
