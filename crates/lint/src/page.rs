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

`weft lint FILE...` reads configuration files and reports what will not work the way it looks. Files given together are judged as one
network: the switches' thresholds against the hosts' settings, and the hashes of one stage against those of the next. How to choose
the numbers is the subject of [ECN, PFC and buffers](../choosing-numbers.md).

| kind (`--as`) | read from it |
|---|---|
| `sonic` | `config_db.json` or parts of it: PORT, CABLE_LENGTH, BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, WRED_PROFILE, QUEUE, PORT_QOS_MAP and the map tables, PFC_WD, DEVICE_METADATA, DEVICE_NEIGHBOR, SWITCH_HASH. Also a dump of the database (`TABLE\\|key`), a switch of several chips (`localhost`, `asic0`, ...) and a chassis (`host\\|Asic0\\|Ethernet0\\|3-4`) |
| `eos` | Arista EOS: interfaces, QoS profiles, `qos map`, `random-detect`, `priority-flow-control`, `platform trident mmu queue profile`. A kbyte is 1000 bytes; thresholds in time are lengths at the port's speed; a segment or cell is 256 bytes on a Trident 3 and 208 on older chips, by the model in the first lines or by `--cell`. Hashing is not read |
| `sysctl` | Linux: `tcp_congestion_control`, `tcp_ecn`, `tcp_ecn_fallback`, `tcp_rmem`, `tcp_wmem`, `tcp_adv_win_scale` |
| `tuned` | the same settings in section `[sysctl]` of a profile, with its variables; profiles that it includes are not followed |
| `shell` | the same settings from `sysctl -w`, writes to `/proc/sys` and here-documents of a script; each command counts as if it ran |
| `scenario` | Weft: the settings of every case of a sweep; rates, round trips, headroom and routes from its topology and failures |

Give what no file states on the command line: `--rate` and `--rtt` of hosts, `--memory` and `--cell` of a switch, `--cable` where no
length is known. A rule that lacks a figure is listed as not checked. A finding is an `error` (does not do what it says, or breaks a
guarantee), a `warning` (hurts under some load) or a `note` (may be intended).

## Which files make a device

Each file is a device of its own. `--one-device` makes all switch files of a kind one switch, and all host files one host; later files
override earlier ones. Files in a folder `sysctl.d` always make one host, in the order of their names.

A SONiC file without PORT is a part of a switch, such as the output of a template for buffers or QoS. Its ports are those that its
entries name; if it has PORT_QOS_MAP, ports that this table leaves out count as unused. A table that is missing is unknown, so nothing is
reported against it. Where no lossless priority group is written down, the switch computes one for each priority with PFC.

The report ends with a line for each file: what was read and what was not. A file in which nothing is read is a finding.

## Known findings

A comment silences rules where it stands:

```text
! weft lint: allow watchdog-off, lossless-without-ecn -- lab switch
interface Ethernet1/1
   priority-flow-control on
```

On a line of its own it holds for the next line and what is indented below; behind something it holds for that line; `allow-file`
holds for the whole file. JSON has no comments: an entry takes the field `\"weft_lint\": \"allow RULE\"`, and a file the table
`\"WEFT_LINT\": {\"allow\": \"RULE, RULE\"}`. A comment that silences nothing is itself a finding.
Where a switch validates its file strictly, prefer a baseline, which leaves the file as it is.

`--write-baseline FILE` records all findings; `--baseline FILE` then reports only new ones. A baseline identifies a finding by rule, file
and message, not by line; a known message about a further port is new.

The exit code is 0, or 1 for findings at or above `--fail-on`, or 2 for files that cannot be read.

## All rules
";
