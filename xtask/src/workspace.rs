//! The workspace according to `cargo metadata`: its packages and their dependencies.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// The folder of its `Cargo.toml`.
    pub(crate) folder: PathBuf,
    /// Its dependencies.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a package's dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The package it names.
    pub(crate) name: String,
    /// Only tests use it.
    pub(crate) only_for_tests: bool,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in a folder of the repository").into()
}

/// The packages of the workspace, without those of others.
pub(crate) fn members(root: &Path) -> Result<Vec<Package>, Vec<String>> {
    let one = |error: String| vec![format!("cargo metadata: {error}")];
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .map_err(|error| one(error.to_string()))?;
    if !output.status.success() {
        return Err(one(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| one(error.to_string()))?;
    Ok(list(&metadata["packages"]).map(package).collect())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_string)
}

fn package(value: &Value) -> Package {
    let manifest = PathBuf::from(text(&value["manifest_path"]).unwrap_or_default());
    Package {
        name: text(&value["name"]).unwrap_or_default(),
        folder: manifest.parent().unwrap_or(Path::new("")).into(),
        dependencies: list(&value["dependencies"]).map(dependency).collect(),
    }
}

fn dependency(value: &Value) -> Dependency {
    Dependency { name: text(&value["name"]).unwrap_or_default(), only_for_tests: value["kind"] == "dev" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_knows_its_own_members() {
        let members = members(&root()).expect("cargo metadata works");
        let cli =
            members.iter().find(|package| package.name == "weft-cli").expect("the command line is a member");
        let weft =
            cli.dependencies.iter().find(|dependency| dependency.name == "weft").expect("it uses the facade");
        assert!(!weft.only_for_tests);
        assert!(cli.folder.ends_with("crates/cli"));
    }
}
