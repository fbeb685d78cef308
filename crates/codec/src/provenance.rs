//! The origin of each value of a scenario: who set it, and where. Must not depend on what the values mean.

use std::collections::BTreeMap;

use weft_mistake::SourceSpan;
use weft_mistake::node::Origin;

/// Who set a value, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said {
    /// Its position.
    pub place: SourceSpan,
    /// Whether the file, the sweep, the demo or the command line set it.
    pub origin: Origin,
}

/// For every path set by the user, by whom and where. Missing paths have their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    pub(crate) said: BTreeMap<String, Said>,
    pub(crate) tags: BTreeMap<String, String>,
}

impl Provenance {
    /// Who set the value at exactly this path.
    pub fn at(&self, path: &str) -> Option<Said> {
        self.said.get(path).copied()
    }

    /// Who set a path or anything that encloses it; list entries may be numbered or named by tag.
    pub fn near(&self, path: &str) -> Option<Said> {
        let mut path = self.tagged(path);
        while !path.is_empty() {
            if let Some(said) = self.at(&path) {
                return Some(said);
            }
            let cut = path.rfind(['.', '[']).unwrap_or(0);
            path.truncate(cut);
        }
        self.at("")
    }

    /// Turns `traffic[0].load` into `traffic.trace.load`.
    pub fn tagged(&self, path: &str) -> String {
        let ends = path.match_indices(']').map(|(at, _)| at + 1);
        let alias = |end| self.tags.get(&path[..end]).map(|tagged| format!("{tagged}{}", &path[end..]));
        ends.filter(|&end| path[end..].is_empty() || path[end..].starts_with(['.', '[']))
            .find_map(alias)
            .unwrap_or_else(|| path.to_owned())
    }

    /// Everything set by the file itself.
    pub fn written(&self) -> impl Iterator<Item = (&str, SourceSpan)> {
        let by_file = self.said.iter().filter(|(_, said)| said.origin == Origin::File);
        by_file.map(|(path, said)| (path.as_str(), said.place))
    }

    /// Whether the user set anything at or below `path`.
    pub fn mentions(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    /// Whether the command line set anything at or below `path`.
    pub fn is_argument(&self, path: &str) -> bool {
        self.below(path).any(|said| said.origin == Origin::CommandLine)
    }

    /// What the user set at or below `path`.
    fn below(&self, path: &str) -> impl Iterator<Item = &Said> {
        let prefix = format!("{path}.");
        let from = self.said.range(prefix.clone()..);
        let below = from.take_while(move |(key, _)| key.starts_with(&prefix)).map(|(_, said)| said);
        self.said.get(path).into_iter().chain(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(paths: &[&str]) -> Provenance {
        let said = Said { place: SourceSpan::default(), origin: Origin::File };
        let tags = [("a[1]".to_owned(), "a.x".to_owned()), ("a.x.b[0]".to_owned(), "a.x.b.y".to_owned())];
        Provenance {
            said: paths.iter().map(|path| ((*path).to_owned(), said)).collect(),
            tags: tags.into_iter().collect(),
        }
    }

    #[test]
    fn a_path_is_mentioned_by_itself_and_by_what_is_below_it_only() {
        let said = said(&["a-b", "a.b.c", "a/b", "ab.c", "b[0].c"]);
        for path in ["a", "a.b", "a.b.c", "a-b", "a/b", "ab", "b[0]"] {
            assert!(said.mentions(path), "{path}");
        }
        for path in ["a.b.c.d", "a.", "b", "a.bc", "c", "ab.", "a.b.", "b[1]", ""] {
            assert!(!said.mentions(path), "{path}");
        }
    }

    #[test]
    fn a_number_is_replaced_by_the_tag_at_any_depth() {
        let said = said(&[]);
        for (path, tagged) in [
            ("a[1].load", "a.x.load"),
            ("a[1]", "a.x"),
            ("a[1][2]", "a.x[2]"),
            ("a[1]b", "a[1]b"),
            ("a[2].load", "a[2].load"),
            ("load", "load"),
            ("a.x.b[0].c", "a.x.b.y.c"),
        ] {
            assert_eq!(said.tagged(path), tagged);
        }
    }
}
