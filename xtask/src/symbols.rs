//! Symbols that documents name: a type, function or variant in a code span is declared where the sentence says, so
//! that a rename in the source cannot leave a page with a dangling name.
//!
//! A symbol with a file or folder behind it (`Setup` in `crates/plan/src/setup.rs`) must be declared there; others in
//! any source file of `crates/`. Must not depend on the content of the pages.

mod declared;
mod spans;

use crate::{Verdict, sources};
use declared::Declarations;
use std::path::Path;

/// The pages whose symbols are checked.
const PAGES: &[&str] = &["ARCHITECTURE.md", "docs/src/tour.md", "docs/src/add-a-part.md"];

/// Where a symbol may be declared if its sentence gives no file.
const ANY_SOURCE: &str = "crates/*/src";

/// Looks up the symbols of all pages.
pub(crate) fn check(root: &Path) -> Verdict {
    let declarations = Declarations::of(root)?;
    let mut complaints = Vec::new();
    let mut count = 0;
    for page in PAGES {
        let text = sources::read(&root.join(page))?;
        for named in spans::of_page(&text, |word| root.join("crates").join(word).is_dir()) {
            count += 1;
            complaints
                .extend(missing(&named, &declarations).map(|why| format!("{page}:{}: {why}", named.line)));
        }
    }
    if complaints.is_empty() {
        Ok(format!("{count} symbols in {} documents are declared", PAGES.len()))
    } else {
        Err(complaints)
    }
}

/// The complaint if a symbol is not where its sentence says.
fn missing(named: &spans::Named, declarations: &Declarations) -> Option<String> {
    let within = match (named.krate(), named.places.as_slice()) {
        (Some(krate), _) => vec![format!("crates/{krate}/src/")],
        (None, []) => vec![ANY_SOURCE.to_owned()],
        (None, places) => places.to_vec(),
    };
    let lies_in = |file: &str, place: &str| match place {
        ANY_SOURCE => file.contains("/src/"),
        place => file.starts_with(place),
    };
    let mut files = declarations.files_with(named.owner(), named.name());
    let found = files.any(|file| within.iter().any(|place| lies_in(file, place)));
    (!found).then(|| format!("`{}` is not declared in {}", named.path, within.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(page: &str, code: &str) -> Vec<String> {
        let declarations = Declarations::of_texts([("crates/core/src/a.rs", code)]).expect("it parses");
        spans::of_page(page, |word| word == "core")
            .iter()
            .filter_map(|named| missing(named, &declarations))
            .collect()
    }

    const CODE: &str = "
        pub struct Switch { queues: u8 }
        impl<T: Copy> Carrier<T> for Switch { fn receive(&mut self) {} }
        settings! { pub enum Verdict { /// When.
            LeavesAt(Time), Ready } }
        #[cfg(test)] mod tests { fn helper() {} }
    ";

    #[test]
    fn what_is_declared_is_found_by_owner_crate_and_file() {
        let page = "`Switch::receive` answers with a `Verdict`: `LeavesAt` or `Verdict::Ready`. `core::Switch` has `queues` \
                    in `crates/core/src/a.rs`.";
        assert_eq!(complaints(page, CODE), [""; 0]);
    }

    #[test]
    fn a_renamed_method_a_lost_type_and_the_wrong_file_are_named() {
        let page = "`Switch::accept` is gone. `Swatch` is too. `Switch` in `crates/core/src/b.rs` moved, as did `accept`\n                    (`crates/core/src/a.rs`).";
        assert_eq!(
            complaints(page, CODE),
            [
                "`Switch::accept` is not declared in crates/*/src",
                "`Swatch` is not declared in crates/*/src",
                "`Switch` is not declared in crates/core/src/b.rs",
                "`accept` is not declared in crates/core/src/a.rs",
            ]
        );
    }

    #[test]
    fn words_that_are_no_symbols_are_left_alone_and_tests_declare_nothing() {
        let page =
            "The `core` crate, `weft run`, `summary.json` and `drill` in `crates/core`; `core::helper`.";
        assert_eq!(complaints(page, CODE), ["`core::helper` is not declared in crates/core/src/"]);
    }
}
