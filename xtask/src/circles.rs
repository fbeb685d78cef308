//! Import cycles: inside a crate, modules of one level do not import each other in a cycle, so that each can be read
//! after those that it is built on.
//!
//! A module here means its file and those below it. Imports between a parent and its children are no cycle: a family
//! and its members import each other. A path is followed through `use` to the file that declares its target. Tests
//! may import anything.

mod graph;
mod paths;

use crate::{Verdict, sources};
use graph::Modules;
use std::path::Path;

/// Crates whose cycles are known and not yet resolved.
const EXEMPT: &[&str] = &[];

/// Searches all crates for cycles.
pub(crate) fn check(root: &Path) -> Verdict {
    let mut complaints = Vec::new();
    let mut count = 0;
    for krate in folders(&root.join("crates")) {
        let modules = Modules::of(&krate.join("src"))?;
        let name = sources::shown(&krate, &root.join("crates"));
        let circles = modules.circles();
        if EXEMPT.contains(&name.as_str()) {
            if circles.is_empty() {
                complaints.push(format!("{name} has no circle left: remove it from EXEMPT"));
            }
            continue;
        }
        count += modules.len();
        complaints.extend(circles.iter().map(|circle| format!("{name}: {circle}")));
    }
    if complaints.is_empty() {
        Ok(format!("{count} files import each other without a circle"))
    } else {
        Err(complaints)
    }
}

/// The folders directly below one, sorted.
fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        Modules::of_texts(files.iter().copied()).expect("it parses").circles()
    }

    #[test]
    fn two_files_that_import_each_other_are_named_with_the_lines() {
        let files =
            [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", "\nuse super::a::A;")];
        assert_eq!(circles(&files), ["a and b import each other in a circle: a.rs:1 -> b, b.rs:2 -> a"]);
    }

    #[test]
    fn a_name_is_followed_through_the_root_and_through_macros() {
        let root = "mod a; mod b; mod c; pub use a::A; pub use b::{B, Other as C};";
        let files = [
            ("lib.rs", root),
            ("a.rs", "settings! { struct A { b: crate::B } }"),
            ("b.rs", "use crate::c::D;"),
            ("c.rs", "fn c() { crate::A::new() }"),
        ];
        assert_eq!(circles(&files).len(), 1, "a uses b, b uses c, c uses a");
        assert_eq!(circles(&files[..3]), [""; 0]);
    }

    #[test]
    fn parents_children_and_tests_are_free() {
        let files = [
            ("lib.rs", "pub mod family; mod other;"),
            ("family.rs", "mod member; pub use member::Member; pub trait Family {}"),
            ("family/member.rs", "use super::Family; use crate::other::{self, Part};"),
            ("other.rs", "#[cfg(test)] mod tests { use crate::family::Member; } use std::fmt;"),
            ("other/tests.rs", "use crate::family::Family;"),
        ];
        assert_eq!(circles(&files), [""; 0]);
    }

    #[test]
    fn members_of_a_family_form_no_circle_either() {
        let files = [
            ("lib.rs", "mod family;"),
            ("family.rs", "mod one; mod two;"),
            ("family/one.rs", "use super::two::Two;"),
            ("family/two/deep.rs", "use crate::family::one::One;"),
            ("family/two.rs", "mod deep; pub struct Two;"),
        ];
        assert_eq!(circles(&files).len(), 1);
    }
}
