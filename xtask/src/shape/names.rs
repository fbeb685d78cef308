//! One name for one thing: no two `pub` or `pub(crate)` types have the same name, in any modules or crates.

use super::measure::TypeName;
use std::collections::BTreeMap;

/// Names that several crates give to a type of their own by convention.
const SHARED: &[&str] = &["Error"];

/// Where each name of a type is declared.
#[derive(Default)]
pub(crate) struct Declarations(BTreeMap<String, Vec<String>>);

impl Declarations {
    /// Adds the types of one file; less visible types may have any name.
    pub(crate) fn add(&mut self, shown: &str, types: &[TypeName]) {
        for found in types.iter().filter(|found| found.visible) {
            self.0.entry(found.name.clone()).or_default().push(format!("{shown}:{}", found.line));
        }
    }

    /// One complaint for each name that is declared more than once.
    pub(crate) fn complaints(&self) -> impl Iterator<Item = String> {
        let several =
            self.0.iter().filter(|(name, places)| places.len() > 1 && !SHARED.contains(&name.as_str()));
        several.map(|(name, places)| {
            format!("the type name `{name}` is declared {} times: {}", places.len(), places.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure;
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let mut declarations = Declarations::default();
        for (shown, text) in files {
            declarations.add(shown, &measure::file(text).expect("it parses").types);
        }
        declarations.complaints().collect()
    }

    #[test]
    fn a_name_that_two_files_declare_is_a_complaint_with_both_places() {
        let found = complaints(&[
            ("a.rs", "pub struct Plan;"),
            ("b.rs", "settings! {\n pub(crate) struct Plan {} }"),
        ]);
        assert_eq!(found, ["the type name `Plan` is declared 2 times: a.rs:1, b.rs:2"]);
    }

    #[test]
    fn private_types_types_of_tests_and_conventional_names_may_repeat() {
        let tests = "#[cfg(test)]\nmod tests { pub struct Plan; }";
        let files = [
            ("a.rs", "pub struct Plan; pub struct Error;"),
            ("b.rs", "struct Plan; pub(super) enum Plan {}"),
            ("c.rs", tests),
        ];
        assert_eq!(complaints(&files), [""; 0]);
        assert_eq!(complaints(&[files[0], ("d.rs", "pub enum Error {}")]), [""; 0]);
    }
}
