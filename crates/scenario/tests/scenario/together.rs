//! All mistakes of a file come at once: whoever mends one finds no other behind it.

use crate::{HEAD, SECTIONS, refused, small};

/// Whether every text is part of a message of its own.
fn told(text: &str, messages: &[&str]) {
    let found = refused(text);
    assert_eq!(found.len(), messages.len(), "{found:#?}");
    for message in messages {
        assert!(found.iter().any(|one| one.contains(message)), "{message}\n{found:#?}");
    }
}

/// A misspelt key of another section has no influence on what the switches and the transport use.
#[test]
fn settings_without_effect_are_told_beside_other_mistakes() {
    let more =
        "flows_smapled = 3\n[switch]\nvisibility = \"instant\"\nsharing = \"infinite\"\nbuffer = \"1 MB\"\n";
    told(
        &small(more),
        &[
            "unknown key `flows_smapled`",
            "`switch.visibility` has no effect",
            "`switch.buffer` has no effect",
        ],
    );
}

/// What is wrong in `[balance]` may be the scheme that uses what seems to have no effect.
#[test]
fn settings_that_a_wrong_part_may_use_are_not_told() {
    let more = "[balance.dril]\n[switch]\nengines = 2\nvisibility = \"instant\"\n";
    told(&small(more), &["unknown balancer `dril`"]);
}

#[test]
fn expectations_are_checked_beside_other_mistakes() {
    let sweep = "[sweep]\nbalance = [\"ecmp\", \"drill\"]\n";
    let expect = |value: &str| format!("[[expect]]\nvalue = \"{value}\"\nbelow = 1\n");
    let wrong = expect("fct.mean(conga)") + &expect("fct.tag.wbe.mean") + &expect("queue.mean");
    let text = small(&format!("[switch]\nengins = 2\n{sweep}{wrong}"));
    told(
        &text,
        &[
            "unknown key `engins`",
            "no case of the sweep has the value `conga`",
            "there is no traffic entry `wbe`",
            "`queue.mean` is not recorded",
        ],
    );
    let lost = small(&format!("[sweep]\nbalance = [\"ecmp\", \"drll\"]\n{}", expect("fct.mean(drill)")));
    told(&lost, &["unknown balancer `drll`"]);
    let unmeasured = format!("{HEAD}{SECTIONS}[measure]\nflow = 9\n{sweep}{}", expect("fct.mean(conga)"));
    told(&unmeasured, &["unknown key `flow`"]);
}

/// One value of a sweep excludes a setting of another: the rest of the file is still checked.
#[test]
fn rules_are_applied_beside_combinations_that_do_not_exist() {
    let sweep = "[sweep]\nbalance = [\"ecmp\", \"drill\"]\n\"balance.drill.choices\" = [2, 3]\n";
    let found = refused(&small(&format!("[[failure]]\ncables = [\"leaf0-spine9\"]\n{sweep}")));
    assert!(found.iter().any(|one| one.contains("there is no cable called")), "{found:#?}");
    assert!(found.iter().any(|one| one.contains("has no effect: the balancer is `ecmp`")), "{found:#?}");
}

/// A value without quotes is the first mistake that many make.
#[test]
fn lines_that_are_not_toml_hide_no_other_mistake() {
    let text = small("flows_smapled = 3\n[balance.dril]\n")
        .replace("load = 0.5", "load = half")
        .replace("leaves = 2", "leaves = 2\nhost_link = { rate = 10 Gbps }");
    told(&text, &["not TOML", "not TOML", "unknown key `flows_smapled`", "unknown balancer `dril`"]);
    let missing = small("").replace("spines = 2", "spines = two");
    told(&missing, &["not TOML"]);
    told(&small("[switch]\nbuffer = 1 MB\nsharing = \"dynamic\"\n"), &["not TOML"]);
    told(&small("[[expect]]\nvalue = fct.mean\nbelow = 1\n"), &["not TOML"]);
    told(&small("[sweep]\nbalance = [ecmp, \"drill\"]\n"), &["not TOML"]);
}

/// Where a line belongs to no key, nothing else is certain.
#[test]
fn what_is_not_toml_beyond_a_line_is_told_alone() {
    for broken in ["[switch\nengins = 2\n", "[measure]\nrecord = [\n\"flows\"\n[swich]\n"] {
        let found = refused(&small(broken));
        assert!(found.iter().all(|one| one.contains("not TOML")), "{found:#?}");
    }
}
