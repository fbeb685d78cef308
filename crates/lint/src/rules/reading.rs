//! Rules on parts that the readers could not interpret.

use crate::rule::{Findings, Rule, Severity};
use weft_config::place::Spot;
use weft_device_config::model::Network;
use weft_device_config::told::OddityKind;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "value",
        level: Severity::Error,
        title: "A value is not valid for its field.",
        checks: "Numbers, sizes, words and lists of classes in the fields that the rules read. In SONiC also fields that are misspelt, and \
                 buffer profiles with two thresholds or none; in EOS lines on queues, pauses and memory that cannot be read.",
        why: "The switch ignores the line, or refuses the whole table, and keeps its previous settings.",
        fix: "Write the value in the form the finding gives.",
        source: "SONiC's configuration schema; SAI's attributes of buffer profiles; the EOS manual; the kernel's ip-sysctl documentation.",
        look: |network, findings| told(OddityKind::Value, network, findings),
    },
    Rule {
        id: "reference",
        level: Severity::Error,
        title: "A name refers to nothing.",
        checks: "Profiles, pools and maps named by other tables.",
        why: "The table that names it has no effect: the port keeps its default buffers or maps.",
        fix: "Define what is named, or correct the name; the finding gives the nearest one.",
        source: "SONiC's configuration schema; the EOS manual.",
        look: |network, findings| told(OddityKind::Reference, network, findings),
    },
    Rule {
        id: "repetition",
        level: Severity::Warning,
        title: "The same thing is set twice.",
        checks: "Keys of a JSON table; settings of a sysctl file with different values. Note: a later file of the same device, or a later \
                 line of a script, sets another value.",
        why: "The last one wins, and readers of the first are misled.",
        fix: "Remove one of them.",
        source: "RFC 8259, section 4: names in an object should be unique.",
        look: |network, findings| {
            told(OddityKind::Repetition, network, findings);
            told(OddityKind::Override, network, findings);
        },
    },
    Rule {
        id: "nothing-read",
        level: Severity::Warning,
        title: "Nothing in a file is checked.",
        checks: "Each file, or one of the files of a device, has at least one table, command or setting that rules read; what they read \
                 is listed at the top of this page.",
        why: "An empty report on such a file says nothing, but looks clean.",
        fix: "Give the file with the queues, buffers or settings, or omit this one.",
        source: "The list of what each kind is read for.",
        look: nothing_read,
    },
    Rule {
        id: "silenced-for-nothing",
        level: Severity::Note,
        title: "A file silences a rule that finds nothing there, or that does not exist.",
        checks: "Each rule in a `weft lint: allow` comment, or in WEFT_LINT of a SONiC file, exists (error) and has a finding in its \
                 stretch (note). Rules that are excluded on the command line or lack a figure are not considered.",
        why: "The comment outlives its reason and hides the next fault in the same place.",
        fix: "Correct the name, or remove the comment.",
        source: "Common practice of linters.",
        // This can only be checked after all other rules; `lib.rs` does it.
        look: |_, _| {},
    },
];

fn nothing_read(network: &Network, findings: &mut Findings) {
    let idle = network
        .coverage
        .iter()
        .filter(|(file, coverage)| coverage.read.is_empty() && !network.idle_parts.contains(file));
    for (file, coverage) in idle {
        let has: Vec<&str> = coverage.passed_over.iter().take(3).map(|(name, _)| name.as_str()).collect();
        let has = match coverage.passed_over.len() {
            0 => "it is empty".to_owned(),
            few @ 1..=3 => format!("it contains only {}", has[..few].join(", ")),
            many => format!("it contains {} and {} more", has.join(", "), many - has.len()),
        };
        let says = format!("nothing in this file is checked: {has}");
        let fix = "give the file with queues, buffers, marking or host settings, or omit this one";
        findings.add(Spot { file: *file, at: 0 }, "", (says, fix.to_owned()));
    }
}

fn told(kind: OddityKind, network: &Network, findings: &mut Findings) {
    for oddity in network.oddities.iter().filter(|oddity| oddity.kind == kind) {
        let words = (oddity.says.clone(), oddity.fix.clone());
        let about = (oddity.at, oddity.subject.as_str());
        match kind {
            OddityKind::Override => findings.add_as(Severity::Note, about, words),
            _ => findings.add(about.0, about.1, words),
        }
    }
}
