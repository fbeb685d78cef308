//! Which command wants a file that another command was given. Looks at the names of tables and keys only.

use std::io::Read as _;
use std::path::Path;

/// The kinds of files that commands read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// A scenario.
    Scenario,
    /// Ports of a router and what it does.
    Router,
    /// Servers that are one router.
    Cluster,
}

impl InputKind {
    /// The kind of a text, if it has a table or key that only this kind has.
    fn of(text: &str) -> Option<InputKind> {
        let of_line = |line: &str| {
            let head = line.trim_start_matches('[');
            let name: String = head.trim_start().chars().take_while(|one| one.is_alphanumeric()).collect();
            match (line.starts_with('['), name.as_str()) {
                (true, "topology" | "transport" | "measure" | "expect") => Some(InputKind::Scenario),
                (true, "port" | "route" | "tunnel" | "neighbour") => Some(InputKind::Router),
                (false, "weft") => Some(InputKind::Scenario),
                (false, "application" | "workers") => Some(InputKind::Router),
                (false, "nodes") => Some(InputKind::Cluster),
                _ => None,
            }
        };
        // Keys below the first table belong to it.
        let mut inside = false;
        text.lines().map(str::trim).find_map(|line| {
            let is_table = line.starts_with('[');
            let known = if is_table || !inside { of_line(line) } else { None };
            inside |= is_table;
            known
        })
    }

    /// What it is, and the command that wants it.
    fn wanted_by(self) -> (&'static str, &'static str) {
        match self {
            InputKind::Scenario => ("a scenario", "weft run"),
            InputKind::Router => ("the file of a router", "weft router"),
            InputKind::Cluster => ("the description of a cluster", "weft router simulate"),
        }
    }
}

/// The end of a message about a file that could not be read as the kind given: the command that wants it, if it is of
/// another kind.
pub(crate) fn hint(path: &Path, expected: InputKind) -> String {
    let kind = beginning(path).and_then(|text| InputKind::of(&text));
    kind.filter(|kind| *kind != expected).map_or(String::new(), |kind| {
        let (what, command) = kind.wanted_by();
        format!("\nhint: this looks like {what}: {command} {}", path.display())
    })
}

/// The first megabyte of a file, which may have no end.
fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(1 << 20).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// An error about a scenario, with the hint.
pub(crate) fn of_scenario(path: &Path, error: weft::Error) -> weft::Error {
    match error {
        weft::Error::BadInput(text) => {
            weft::Error::BadInput(text.trim_end().to_owned() + &hint(path, InputKind::Scenario))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_tables_and_first_keys() {
        for (text, kind) in [
            ("seeds = [1]\n[topology]\nkind = \"star\"\n", Some(InputKind::Scenario)),
            ("# a router\n[[port]]\nname = \"left\"\n", Some(InputKind::Router)),
            ("application = \"switch\"\n[[ port ]]\n", Some(InputKind::Router)),
            ("nodes = 4\nrate = \"10 Gbps\"\n[[traffic]]\n", Some(InputKind::Cluster)),
            ("[switch]\nworkers = 3\nnodes = 2\n", None),
            ("", None),
        ] {
            assert_eq!(InputKind::of(text), kind, "{text}");
        }
    }
}
