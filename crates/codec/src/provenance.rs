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
        let alias = |(numbered, tagged): (&String, &String)| {
            path.strip_prefix(numbered.as_str())
                .filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
                .map(|rest| format!("{tagged}{rest}"))
        };
        self.tags.iter().find_map(alias).unwrap_or_else(|| path.to_owned())
    }

    /// Everything set by the file itself.
    pub fn written(&self) -> impl Iterator<Item = (&str, SourceSpan)> {
        let by_file = self.said.iter().filter(|(_, said)| said.origin == Origin::File);
        by_file.map(|(path, said)| (path.as_str(), said.place))
    }

    /// Whether the user set anything at or below `path`.
    pub fn mentions(&self, path: &str) -> bool {
        self.said
            .keys()
            .any(|key| key == path || key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }
}
