//! Linux sysctl files: `name = value`, comments after `#` or `;`, names with dots or slashes.

use crate::model::{Host, Network, Oddity, OddityKind};
use crate::place::{Placed, Source, Spot, lines};
use std::collections::BTreeMap;
use weft_core::Bytes;

/// The largest burst that segmentation offload makes of one write.
const BURST: Bytes = Bytes(64 << 10);

/// Reads a file as the settings of all hosts.
pub(super) fn read(number: usize, source: &Source, network: &mut Network) -> Result<(), String> {
    let settings = settings(number, source, &mut network.oddities)?;
    let mut reader = Reader { settings: &settings, oddities: &mut network.oddities };
    let host = reader.host();
    network.hosts.push(host);
    Ok(())
}

type Settings<'a> = BTreeMap<String, Placed<&'a str>>;

fn settings<'a>(file: usize, source: &'a Source, oddities: &mut Vec<Oddity>) -> Result<Settings<'a>, String> {
    let mut settings = Settings::new();
    for (index, (start, line)) in lines(&source.text).enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        let Some((name, value)) = text.split_once('=') else {
            let found: String = text.chars().take(40).collect();
            return Err(format!(
                "{}:{}: found `{}`; allowed: name = value",
                source.name,
                index + 1,
                found.escape_debug()
            ));
        };
        let name = name.trim().trim_start_matches('-').replace('/', ".");
        let at = Spot { file, at: start + line.len() - line.trim_start().len() };
        let value = Placed { value: value.trim(), at };
        if let Some(earlier) =
            settings.get(&name).filter(|earlier: &&Placed<&str>| earlier.value != value.value)
        {
            let says =
                format!("{name} is {} above and {} here; the last one counts", earlier.value, value.value);
            oddities.push(Oddity {
                kind: OddityKind::Repetition,
                at,
                says,
                mend: "remove one of them".to_owned(),
            });
        }
        settings.insert(name, value);
    }
    Ok(settings)
}

struct Reader<'a> {
    settings: &'a Settings<'a>,
    oddities: &'a mut Vec<Oddity>,
}

impl Reader<'_> {
    fn host(&mut self) -> Host {
        let law = self.settings.get("net.ipv4.tcp_congestion_control");
        let fallback = self.small("net.ipv4.tcp_ecn_fallback", (0, 1));
        // Linux falls back unless told otherwise.
        let silent = |law: &Placed<&str>| Placed { value: 1, at: law.at };
        let scale = self.number("net.ipv4.tcp_adv_win_scale", (-31, 31)).map_or(1, |scale| scale.value);
        Host {
            law: law.map(|law| Placed { value: law.value.to_owned(), at: law.at }),
            ecn: self.small("net.ipv4.tcp_ecn", (0, 5)),
            ecn_fallback: fallback.or(law.map(silent)),
            receive: self.greatest("net.ipv4.tcp_rmem"),
            send: self.greatest("net.ipv4.tcp_wmem"),
            window_share: window_share(scale),
            burst: BURST,
            ..Host::default()
        }
    }

    fn odd(&mut self, at: Spot, (says, mend): (String, &str)) {
        self.oddities.push(Oddity { kind: OddityKind::Value, at, says, mend: mend.to_owned() });
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

    /// The last of the three figures least, default and greatest.
    fn greatest(&mut self, name: &str) -> Option<Placed<Bytes>> {
        let placed = self.settings.get(name)?;
        let figures: Vec<Option<u64>> =
            placed.value.split_whitespace().map(|word| word.parse().ok()).collect();
        match figures[..] {
            [Some(_), Some(_), Some(most)] => Some(Placed { value: Bytes(most), at: placed.at }),
            _ => {
                let says = format!("{name} is `{}`", placed.value);
                self.odd(placed.at, (says, "write three sizes in bytes: least, default and greatest"));
                None
            }
        }
    }
}

/// The share of the receive buffer that Linux advertises (ip-sysctl, tcp_adv_win_scale).
fn window_share(scale: i64) -> f64 {
    let part = 2f64.powi(-(scale.unsigned_abs() as i32));
    if scale > 0 { 1.0 - part } else { part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_buffer_that_becomes_window() {
        assert_eq!([1, 2, -2, 0].map(window_share), [0.5, 0.75, 0.25, 1.0]);
    }
}
