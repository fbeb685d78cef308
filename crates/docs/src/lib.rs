//! The Rust examples of the book, compiled and run as documentation tests: an outdated example fails the build.
//!
//! Contains nothing else, and no crate may depend on it. Each page with Rust code has a line below; a test finds
//! missing pages.

macro_rules! pages {
    ($($name:ident: $path:literal),+ $(,)?) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("../../../docs/src/", $path))]
            pub mod $name {}
        )+

        /// The pages whose examples are run, as paths below `docs/src`.
        pub const PAGES: &[&str] = &[$($path),+];
    };
}

pages! {
    add_a_balancer: "add-a-balancer.md",
    add_a_congestion_law: "add-a-congestion-law.md",
    add_a_transport: "add-a-transport.md",
    determinism: "determinism.md",
    why_header: "why/header.md",
    why_settings: "why/settings.md",
}

#[cfg(test)]
mod tests {
    use super::PAGES;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn pages_with_rust(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the book is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pages_with_rust(&path, found);
            } else if fs::read_to_string(&path).is_ok_and(|text| text.contains("\n```rust")) {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_page_with_rust_code_is_run() {
        let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
        let mut found = Vec::new();
        pages_with_rust(&book, &mut found);
        found.sort();
        let listed: Vec<PathBuf> = PAGES.iter().map(|page| book.join(page)).collect();
        assert_eq!(found, listed, "the list of pages in this file is not complete, or not sorted");
    }
}
