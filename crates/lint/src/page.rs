//! The rules as text: a single rule for the terminal, all of them for the book.

use crate::find;
use crate::rule::Rule;
use crate::rules::rules;
use std::fmt::Write;
use weft_draw::indented;

/// A rule for the terminal.
///
/// # Errors
/// A message naming the nearest rule, if there is no such rule.
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
        ("What it compares", rule.checks),
        ("Why it matters", rule.why),
        ("How to fix it", rule.fix),
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

`weft lint FILE...` reads configuration files and reports what does not work the way it looks. Files given together form one network:
the switches' thresholds are checked against the hosts' settings, and the hashes of one stage against those of the next.
[ECN, PFC and buffers](../choosing-numbers.md) explains how to choose the numbers.

| kind (`--as`) | what is read |
|---|---|
| `sonic` | `config_db.json` or parts of it: PORT, CABLE_LENGTH, BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, WRED_PROFILE, QUEUE, PORT_QOS_MAP and the map tables, PFC_WD, DEVICE_METADATA, DEVICE_NEIGHBOR, SWITCH_HASH. Also a database dump (`TABLE\\|key`), a switch with several chips (`localhost`, `asic0`, ...) and a chassis (`host\\|Asic0\\|Ethernet0\\|3-4`) |
| `eos` | Arista EOS: interfaces, QoS profiles, `qos map`, `random-detect`, `priority-flow-control`, `platform trident mmu queue profile`. A kbyte is 1000 bytes; thresholds in time are converted at the port's speed; a segment or cell is 256 bytes on a Trident 3 and 208 on older chips, by the model in the first lines or by `--cell`. Hashing is not read |
| `sysctl` | Linux: `tcp_congestion_control`, `tcp_ecn`, `tcp_ecn_fallback`, `tcp_rmem`, `tcp_wmem`, `tcp_adv_win_scale` |
| `tuned` | the same settings in section `[sysctl]` of a profile, with its variables; included profiles are not followed |
| `shell` | the same settings from `sysctl -w`, writes to `/proc/sys` and here-documents of a script; every command is taken as executed |
| `scenario` | Weft: the settings of every case of a sweep; rates, round trips, headroom and routes from its topology and failures |

Give what no file states on the command line: `--rate` and `--rtt` of hosts, `--memory` and `--cell` of a switch, `--cable` for
unknown lengths. A rule that lacks a figure is listed as not checked. A finding is an `error` (does not do what it says, or breaks a
guarantee), a `warning` (hurts under some load) or a `note` (may be intended).

## Files and devices

Each file is one device. `--one-device` combines all switch files of a kind into one switch, and all host files into one host; later
files override earlier ones. Files in a folder `sysctl.d` always form one host, in the order of their names.

A SONiC file without PORT describes part of a switch, such as the output of a template for buffers or QoS. Its ports are those that its
entries name; if it has PORT_QOS_MAP, ports that this table leaves out count as unused. A missing table is unknown, so nothing is
reported against it. Where no lossless priority group is given, the switch computes one for each priority with PFC.

The report ends with one line per file: what was read and what was not. A file of which nothing is read is a finding.

## Known findings

A comment silences rules at its place:

```text
! weft lint: allow watchdog-off, lossless-without-ecn -- lab switch
interface Ethernet1/1
   priority-flow-control on
```

On a line of its own it applies to the next line and what is indented below; at the end of a line, to that line; `allow-file`
applies to the whole file. JSON has no comments: an entry takes the field `\"weft_lint\": \"allow RULE\"`, and a file the table
`\"WEFT_LINT\": {\"allow\": \"RULE, RULE\"}`. A comment that silences nothing is itself a finding.
Where a switch validates its file strictly, prefer a baseline, which leaves the file unchanged.

`--write-baseline FILE` records all findings; `--baseline FILE` then reports only new ones. A baseline identifies a finding by rule, file
and message, not by line; a known message about another port is new.

The exit code is 0, 1 for findings at or above `--fail-on`, or 2 for unreadable files.

## All rules
";
