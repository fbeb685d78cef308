//! What the readers stumbled over.

use crate::model::{Network, OddityKind};
use crate::rule::{Findings, Level, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "value",
        level: Level::Error,
        title: "A value is not what its field takes.",
        checks: "Numbers, sizes and lists of classes of the fields that the rules read.",
        why: "The switch ignores the line, or refuses the whole table, and keeps what it had before.",
        mend: "Write the value in the form that the finding names.",
        source: "SONiC's configuration schema; the EOS manual; the kernel's ip-sysctl documentation.",
        look: |network, findings| told(OddityKind::Value, network, findings),
    },
    Rule {
        id: "reference",
        level: Level::Error,
        title: "A name leads to nothing.",
        checks: "Profiles, pools and maps that other tables name.",
        why: "The table that names it has no effect: the port keeps its default buffers or maps.",
        mend: "Define what is named, or correct the name; the finding tells the nearest one.",
        source: "SONiC's configuration schema; the EOS manual.",
        look: |network, findings| told(OddityKind::Reference, network, findings),
    },
    Rule {
        id: "repetition",
        level: Level::Warning,
        title: "The same thing is said twice.",
        checks: "Keys of a JSON table; settings of a sysctl file with different values.",
        why: "The last one counts, and the reader of the first one is misled.",
        mend: "Remove one of them.",
        source: "RFC 8259, section 4: names in an object should be unique.",
        look: |network, findings| told(OddityKind::Repetition, network, findings),
    },
];

fn told(kind: OddityKind, network: &Network, findings: &mut Findings) {
    for oddity in network.oddities.iter().filter(|oddity| oddity.kind == kind) {
        findings.add(oddity.at, "", (oddity.says.clone(), oddity.mend.clone()));
    }
}
