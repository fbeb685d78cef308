//! The layers: which crate may depend on which. A dependency may only point to a lower layer, never sideways, so that the
//! parts (switch, transport, topology, workload) do not depend on each other, nor engines on the report.
//!
//! ARCHITECTURE.md has the same table for readers; this check fails if the two differ.

mod table;

use crate::workspace::{self, Package};
use crate::{Verdict, sources};
use std::path::Path;
use table::LAYERS;

/// A crate of the product and the crates it may depend on.
struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
}

/// Dependencies that only tests may have, with the reason. Empty is best.
const TEST_ARROWS: &[(&str, &str, &str)] = &[];

/// Packages outside the product: they may depend on anything, and the product on none of them.
fn is_outside(folder: &Path, root: &Path) -> bool {
    let place = folder.strip_prefix(root).unwrap_or(folder);
    ["tests", "xtask", "crates/docs"].iter().any(|outside| place.starts_with(outside))
}

/// Compares the dependencies in the workspace with the table, and the table with ARCHITECTURE.md.
pub(crate) fn check(root: &Path) -> Verdict {
    let members = workspace::members(root)?;
    let (outside, product): (Vec<Package>, Vec<Package>) =
        members.into_iter().partition(|package| is_outside(&package.folder, root));
    let ours: Vec<&str> = product.iter().chain(&outside).map(|package| package.name.as_str()).collect();
    let mut complaints: Vec<String> =
        product.iter().flat_map(|package| wrong_arrows(package, &ours)).collect();
    complaints.extend(missing_rows(&sources::read(&root.join("ARCHITECTURE.md"))?));
    let arrows: usize = product.iter().map(|package| arrows_of(package, &ours).count()).sum();
    if complaints.is_empty() {
        Ok(format!("{} crates, {arrows} dependencies, all pointing down", product.len()))
    } else {
        Err(complaints)
    }
}

/// The workspace packages a package depends on: name, and whether only its tests do.
fn arrows_of<'a>(package: &'a Package, ours: &[&str]) -> impl Iterator<Item = (&'a str, bool)> {
    package
        .dependencies
        .iter()
        .filter(|dependency| ours.contains(&dependency.name.as_str()))
        .map(|dependency| (dependency.name.as_str(), dependency.only_for_tests))
}

fn wrong_arrows(package: &Package, ours: &[&str]) -> Vec<String> {
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == package.name) else {
        return vec![format!("{} has no layer; add it to the table in xtask/src/layers.rs", package.name)];
    };
    let allowed = |target: &str, test: bool| {
        layer.may_use.contains(&target)
            || test && TEST_ARROWS.iter().any(|(from, to, _)| (*from, *to) == (layer.name, target))
    };
    arrows_of(package, ours)
        .filter(|(target, test)| !allowed(target, *test))
        .map(|(target, test)| {
            let kind = if test { "its tests depend on" } else { "it depends on" };
            format!("{}: {kind} {target}, but it may depend only on {:?}", layer.name, layer.may_use)
        })
        .collect()
}

/// The row of ARCHITECTURE.md for a layer, short names.
fn row(layer: &Layer) -> String {
    let used: Vec<&str> = layer.may_use.iter().map(|name| short(name)).collect();
    let used = if used.is_empty() { "no other crate".to_string() } else { used.join(", ") };
    format!("| `{}` | {used} |", short(layer.name))
}

fn short(name: &str) -> &str {
    name.strip_prefix("weft-").unwrap_or(name)
}

fn missing_rows(architecture: &str) -> Vec<String> {
    LAYERS
        .iter()
        .map(row)
        .filter(|row| !architecture.lines().any(|line| line.starts_with(row.as_str())))
        .map(|row| format!("ARCHITECTURE.md does not have the row {row}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, uses: &[(&str, bool)]) -> Package {
        let dependency = |(name, only_for_tests): &(&str, bool)| Dependency {
            name: (*name).into(),
            only_for_tests: *only_for_tests,
        };
        Package {
            name: name.into(),
            dependencies: uses.iter().map(dependency).collect(),
            ..Package::default()
        }
    }

    const OURS: &[&str] = &["weft-core", "weft-switch", "weft-transport", "weft", "weft-cli"];

    #[test]
    fn an_arrow_down_is_fine_and_other_peoples_crates_are_not_arrows() {
        assert_eq!(
            wrong_arrows(&package("weft-switch", &[("weft-core", false), ("serde", false)]), OURS),
            [""; 0]
        );
    }

    #[test]
    fn sideways_and_upward_arrows_are_named_with_what_is_allowed() {
        let complaints =
            wrong_arrows(&package("weft-switch", &[("weft-transport", false), ("weft", true)]), OURS);
        assert_eq!(complaints.len(), 2);
        assert!(
            complaints[0].contains("it depends on weft-transport")
                && complaints[0].contains(
                    "[\"weft-core\", \"weft-arbiter\", \"weft-mark\", \"weft-buffer\", \"weft-congestion\", \"weft-queue\", \"weft-foresight\", \"weft-forwarding\", \"weft-pfc\", \"weft-visibility\", \"weft-voq\"]"
                )
        );
        assert!(complaints[1].contains("its tests depend on weft,"));
    }

    #[test]
    fn a_crate_without_a_layer_is_a_complaint() {
        assert!(wrong_arrows(&package("weft-new", &[]), OURS)[0].contains("no layer"));
    }

    #[test]
    fn the_table_has_no_cycle_because_it_is_sorted() {
        for (place, layer) in LAYERS.iter().enumerate() {
            for used in layer.may_use {
                assert!(LAYERS[..place].iter().any(|below| below.name == *used), "{} -> {used}", layer.name);
            }
        }
    }

    #[test]
    fn a_row_that_is_missing_in_the_text_for_people_is_found() {
        let complete: String = LAYERS.iter().map(|layer| row(layer) + "\n").collect();
        assert_eq!(missing_rows(&complete), [""; 0]);
        assert_eq!(missing_rows(&complete.replace("| `cli` | weft, ", "| `cli` | core, ")).len(), 1);
    }
}
