//! The rules as text: one for the terminal, all of them for the book.

use crate::find;
use crate::rule::Rule;
use crate::rules::rules;
use std::fmt::Write;
use weft_draw::indented;

/// A rule for the terminal.
///
/// # Errors
/// What to say when there is no such rule; the nearest one is named.
pub fn explain(id: &str) -> Result<String, String> {
    let rule = find(id)?;
    let mut text = format!("{} ({})\n{}\n", rule.id, rule.level, rule.title);
    for (name, words) in parts(rule) {
        let _ = write!(text, "\n{name}\n{}", indented(words, 2));
    }
    let _ = write!(text, "\nMore: docs/src/reference/lint.md#{}\n", rule.id);
    Ok(text)
}

fn parts(rule: &Rule) -> [(&'static str, &'static str); 4] {
    [
        ("What is compared", rule.checks),
        ("Why it matters", rule.why),
        ("How to mend it", rule.mend),
        ("Source", rule.source),
    ]
}

/// The reference page of the book: Markdown.
#[must_use]
pub fn page() -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n| rule | level | finds |\n|---|---|---|\n");
    for rule in rules() {
        let _ = writeln!(text, "| [`{0}`](#{0}) | {1} | {2} |", rule.id, rule.level, rule.title);
    }
    for rule in rules() {
        let _ = write!(text, "\n## {}\n\n{}\n", rule.id, rule.title);
        for (name, words) in parts(rule) {
            let _ = write!(text, "\n*{name}*: {words}\n");
        }
    }
    text
}

const INTRODUCTION: &str = "\
# Rules of `weft lint`

`weft lint FILE...` reads configuration files and says what will not work as it looks. Files given together are judged as one
network: the switches' thresholds against the hosts' settings, and the hashes of one stage against those of the next. How the
numbers are chosen is in [ECN, PFC and buffers](../choosing-numbers.md).

| kind (`--as`) | read from it |
|---|---|
| `sonic` | `config_db.json`: PORT, CABLE_LENGTH, BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, WRED_PROFILE, QUEUE, PORT_QOS_MAP and the map tables, PFC_WD, DEVICE_METADATA, DEVICE_NEIGHBOR, SWITCH_HASH |
| `eos` | Arista EOS: interfaces, QoS profiles, `qos map`, `random-detect`, `priority-flow-control`, `platform trident mmu queue profile`; a segment or cell counts as 208 bytes (Trident 2, Tomahawk 1 and 2; Trident 3 has 256, so there a quarter more), a kbyte as 1000; hashing is not read |
| `sysctl` | Linux: `tcp_congestion_control`, `tcp_ecn`, `tcp_ecn_fallback`, `tcp_rmem`, `tcp_wmem`, `tcp_adv_win_scale` |
| `scenario` | Weft: the settings of every case of a sweep; rates, round trips, headroom and routes from its topology and failures |

What stands in no file is given beside them: `--rate` and `--rtt` of hosts, `--memory` of a switch, `--cable` where no length is
known. A rule that lacks a figure is named as not checked. A finding is an `error` (does not do what it says, or breaks a guarantee), a
`warning` (hurts under some load) or a `note` (may be intended).
";
