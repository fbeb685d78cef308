//! Broken and hostile files: a clear error or findings, never a panic, and never long.

use proptest::prelude::*;
use weft_lint::{FileKind, Input, RuleOptions, lint};

const FILES: [(&str, &str, FileKind); 5] = [
    ("config_db.json", include_str!("files/leaf_config_db.json"), FileKind::Sonic),
    ("leaf.cfg", include_str!("files/leaf_running_config.cfg"), FileKind::Eos),
    ("90-tcp.conf", include_str!("files/90-tcp.conf"), FileKind::Sysctl),
    ("tuned.conf", include_str!("files/tuned.conf"), FileKind::Tuned),
    ("setup.sh", include_str!("files/setup.sh"), FileKind::Shell),
];

/// Values that no configuration has.
const POISON: [&str; 14] = [
    "99999999999999999999999999",
    "-1",
    "1e999",
    "0",
    "NaN",
    "",
    "\u{0}",
    "ß\u{202e}",
    "\"",
    "{",
    "]",
    "\\ud800",
    "18446744073709551615",
    "Ethernet0|0-99999999",
];

fn judge(name: &str, text: String, kind: FileKind) {
    let size = text.len();
    let result = lint(vec![Input { name: name.into(), text, kind: Some(kind) }], &RuleOptions::default());
    match result {
        Err(refused) => assert!(
            refused.0.iter().all(|line| line.starts_with(name) && line.contains("allowed")),
            "{refused}"
        ),
        Ok(report) => {
            assert!(report.findings.iter().all(|finding| finding.line >= 1 && finding.column >= 1));
            assert!(
                report.text().len() + report.sarif("0").len() < 60_000 + 60 * size,
                "an answer out of proportion"
            );
        }
    }
}

/// Cuts a text down to characters.
fn whole(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn truncated_files_are_told(file in 0..FILES.len(), at in any::<prop::sample::Index>()) {
        let (name, text, kind) = FILES[file];
        judge(name, text[..whole(text, at.index(text.len()))].to_owned(), kind);
    }

    #[test]
    fn flipped_bits_do_no_harm(file in 0..FILES.len(), flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..8)) {
        let (name, text, kind) = FILES[file];
        let mut bytes = text.as_bytes().to_vec();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        judge(name, String::from_utf8_lossy(&bytes).into_owned(), kind);
    }

    #[test]
    fn poisoned_words_do_no_harm(file in 0..FILES.len(), at in any::<prop::sample::Index>(), poison in 0..POISON.len()) {
        let (name, text, kind) = FILES[file];
        // From the begin of one word to the begin of the next, or between quotes.
        let places: Vec<usize> = text.match_indices([' ', '"']).map(|(at, _)| at + 1).collect();
        let place = at.index(places.len() - 1);
        let end = text[places[place]..].find(['"', ' ', '\n']).map_or(text.len(), |length| places[place] + length);
        judge(name, format!("{}{}{}", &text[..places[place]], POISON[poison], &text[end..]), kind);
    }

    #[test]
    fn lines_in_any_order_do_no_harm(file in 0..FILES.len(), seed in any::<u64>()) {
        let (name, text, kind) = FILES[file];
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_by_key(|line| line.bytes().fold(seed, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)));
        judge(name, lines.join("\n"), kind);
    }

    #[test]
    fn any_text_under_any_kind_is_answered(text in "\\PC{0,200}", kind in 0..FileKind::WORDS.len()) {
        let (_, kind) = FileKind::WORDS[kind];
        let _ = lint(vec![Input { name: "any".into(), text, kind: Some(kind) }], &RuleOptions::default());
    }
}

#[test]
fn tables_of_the_wrong_shape_are_not_followed() {
    for text in [
        "[]",
        "1",
        "null",
        "{\"PORT\": []}",
        "{\"PORT\": {\"Ethernet0\": 7}}",
        "{\"PORT\": {\"Ethernet0\": {\"speed\": {}}}}",
        "{\"BUFFER_PG\": {\"|\": {}}}",
        "{\"PORT_QOS_MAP\": {\"Ethernet0\": {\"pfc_enable\": [3]}}}",
        "{\"BUFFER_PROFILE\": {\"a\": {\"pool\": \"[BUFFER_POOL|a]\", \"dynamic_th\": \"9999999999\"}}}",
        "{\"DEVICE_METADATA\": {\"localhost\": \"x\"}, \"DEVICE_NEIGHBOR\": {\"a\": {\"name\": {}}}}",
        "{\"DSCP_TO_TC_MAP\": {\"AZURE\": {\"64\": \"1\", \"-1\": \"1\", \"0\": \"999\"}}}",
    ] {
        judge("x.json", text.to_owned(), FileKind::Sonic);
    }
}

#[test]
fn more_than_any_switch_has_is_refused() {
    let json = |table: &str, of: &str| {
        let entries: Vec<String> = (0..5_000).map(|number| format!("\"{of}{number}\": {{}}")).collect();
        format!("{{\"{table}\": {{{}}}}}", entries.join(", "))
    };
    let eos: String = (0..5_000).map(|number| format!("interface Ethernet{number}\n   mtu 9214\n")).collect();
    for (text, kind, found) in [
        (json("PORT", "Ethernet"), FileKind::Sonic, "5000 ports"),
        (json("BUFFER_PROFILE", "p"), FileKind::Sonic, "5000 entries in BUFFER_PROFILE"),
        (json("PORT_QOS_MAP", "Ethernet"), FileKind::Sonic, "4097 ports"),
        (eos, FileKind::Eos, "5000 interfaces"),
        ("# weft lint: allow x\n".repeat(1_001), FileKind::Sysctl, "1001 comments"),
    ] {
        let input = Input { name: "x".into(), text, kind: Some(kind) };
        let refused = lint(vec![input], &RuleOptions::default()).unwrap_err();
        assert!(refused.0[0].contains(found) && refused.0[0].contains("allowed: up to"), "{refused}");
    }
}

#[test]
fn a_refusal_names_every_file_with_its_line() {
    let files = [
        ("a.json", "{\n\"PORT\": {,}\n}", Some(FileKind::Sonic)),
        ("b.conf", "# x\nnonsense\n", Some(FileKind::Sysctl)),
        ("c.txt", "hello\n", None),
    ];
    let inputs = files.map(|(name, text, kind)| Input { name: name.into(), text: text.into(), kind });
    let refused = lint(inputs.to_vec(), &RuleOptions::default()).unwrap_err();
    assert!(refused.0[0].starts_with("a.json:2:10: found `,`; allowed: a key in quotes"), "{refused}");
    assert!(refused.0[1].starts_with("b.conf:2: found `nonsense`; allowed: name = value"), "{refused}");
    assert!(refused.0[2].contains("give --as"), "{refused}");
}
