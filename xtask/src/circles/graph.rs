//! The modules of a crate, their imports, and the cycles among those of one level.

use super::paths::{self, Named};
use crate::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The names of a module, from the root of its crate.
type Name = Vec<String>;

/// The modules of a crate that have a file of their own, with the paths that each names.
pub(super) struct Modules {
    files: BTreeMap<Name, (String, Vec<Named>)>,
}

/// Maximum number of `use` declarations through which a name is followed.
const DEEPEST: usize = 8;

impl Modules {
    /// The graph of a crate's source folder.
    pub(super) fn of(folder: &Path) -> Result<Modules, Vec<String>> {
        let mut texts = Vec::new();
        for path in sources::files(folder, "rs") {
            texts.push((sources::shown(&path, folder), sources::read(&path)?));
        }
        Modules::of_texts(texts.iter().map(|(file, text)| (file.as_str(), text.as_str())))
    }

    /// The graph of texts, by file relative to the folder.
    pub(super) fn of_texts<'a>(
        texts: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<Modules, Vec<String>> {
        let mut files = BTreeMap::new();
        for (file, text) in texts {
            let named = paths::of(text).map_err(|error| vec![format!("{file}: {error}")])?;
            let name = module_of(file);
            if !name.iter().any(|part| part == "tests") {
                files.insert(name, (file.to_owned(), named));
            }
        }
        Ok(Modules { files })
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// The file that declares what a path in a module names; `None` if it lies in another crate.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<Name> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Name::new(), &path[1..]),
            "self" => (module.to_vec(), &path[1..]),
            "super" => (module.to_vec(), path),
            child => {
                let name: Name = module.iter().cloned().chain([child.to_owned()]).collect();
                return self
                    .files
                    .contains_key(&name)
                    .then(|| self.descend(name, &path[1..], depth))
                    .flatten();
            }
        };
        while rest.first().is_some_and(|part| part == "super") {
            at.pop();
            rest = &rest[1..];
        }
        self.descend(at, rest, depth)
    }

    /// Follows a path from a module, through a `use` of that module if the path leads to one.
    fn descend(&self, mut at: Name, mut rest: &[String], depth: usize) -> Option<Name> {
        while let Some((part, below)) = rest.split_first() {
            let child: Name = at.iter().cloned().chain([part.clone()]).collect();
            if !self.files.contains_key(&child) {
                break;
            }
            (at, rest) = (child, below);
        }
        let Some((part, below)) = rest.split_first() else { return Some(at) };
        let named = &self.files.get(&at)?.1;
        let brought = named.iter().find(|named| named.alias.as_ref() == Some(part));
        match brought.filter(|_| depth < DEEPEST) {
            Some(brought) => {
                let path: Vec<String> = brought.path.iter().chain(below).cloned().collect();
                self.resolve(&at, &path, depth + 1)
            }
            None => Some(at),
        }
    }

    /// Each cycle among modules of one level, in words.
    pub(super) fn circles(&self) -> Vec<String> {
        let mut imports: Vec<(&Name, Name, String)> = Vec::new();
        for (module, (file, named)) in &self.files {
            for named in named {
                let target = self.resolve(module, &named.path, 0).filter(|target| target != module);
                imports.extend(target.map(|target| (module, target, format!("{file}:{}", named.line))));
            }
        }
        let levels: BTreeSet<&[String]> =
            self.files.keys().filter_map(|name| name.split_last().map(|(_, above)| above)).collect();
        levels.into_iter().flat_map(|level| circles_at(level, &imports)).collect()
    }
}

/// The module of a file.
fn module_of(file: &str) -> Name {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    let root = matches!(path, "lib" | "main");
    path.split('/').filter(|_| !root).map(str::to_owned).collect()
}

/// The imports among the modules below one, each representing all below it, and their positions.
type Level<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>;

fn circles_at(level: &[String], imports: &[(&Name, Name, String)]) -> Vec<String> {
    let below = |name: &Name| name.len() > level.len() && name.starts_with(level);
    let mut edges = Level::new();
    for (from, to, place) in imports.iter().filter(|(from, to, _)| below(from) && below(to)) {
        let (from, to) = (&from[level.len()], &to[level.len()]);
        if from != to {
            edges.entry(from.as_str()).or_default().entry(to.as_str()).or_insert(place);
        }
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for from in edges.keys() {
        let members: Vec<&str> = reached(&edges, from)
            .into_iter()
            .filter(|member| reached(&edges, member).contains(from) && !seen.contains(member))
            .collect();
        if members.len() > 1 {
            seen.extend(members.iter().copied());
            found.push(words(level, &members, &edges));
        }
    }
    found
}

/// Everything that a module imports, directly or indirectly.
fn reached<'a>(edges: &Level<'a>, from: &'a str) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(from) = next.pop() {
        let further = edges.get(from).into_iter().flat_map(BTreeMap::keys);
        next.extend(further.copied().filter(|to| all.insert(*to)));
    }
    all
}

fn words(level: &[String], members: &[&str], edges: &Level<'_>) -> String {
    let inside = level.iter().map(|part| format!("{part}::")).collect::<String>();
    let imports = members.iter().flat_map(|from| edges[from].iter().filter(|(to, _)| members.contains(to)));
    let places: Vec<String> = imports.map(|(to, place)| format!("{place} -> {to}")).collect();
    let names: Vec<String> = members.iter().map(|member| format!("{inside}{member}")).collect();
    format!("{} import each other in a circle: {}", names.join(" and "), places.join(", "))
}
