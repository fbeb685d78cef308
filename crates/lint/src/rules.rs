//! The list of rules. A rule is a declaration and a function, in the file of its subject.

use crate::rule::Rule;

mod color;
mod fabric;
mod headroom;
mod hosts;
mod lossless;
mod maps;
mod marking;
mod memory;
mod peers;
mod pfc;
mod pools;
mod precedence;
mod reading;
mod scenario;
mod voq;
mod windows;

/// All rules, in the order of the reference page.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let groups: [&'static [Rule]; 16] = [
        marking::RULES,
        lossless::RULES,
        pfc::RULES,
        headroom::RULES,
        memory::RULES,
        pools::RULES,
        maps::RULES,
        peers::RULES,
        hosts::RULES,
        windows::RULES,
        fabric::RULES,
        scenario::RULES,
        voq::RULES,
        precedence::RULES,
        color::RULES,
        reading::RULES,
    ];
    groups.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_has_a_name_of_its_own_and_says_everything() {
        let mut names = BTreeSet::new();
        for rule in rules() {
            assert!(names.insert(rule.id), "{} twice", rule.id);
            assert!(rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id);
            for text in [rule.title, rule.checks, rule.why, rule.fix, rule.source] {
                assert!(text.ends_with('.') && !text.contains("  "), "{}: {text}", rule.id);
            }
        }
    }
}
