//! Where a reproduction's files come from: the program itself, or a folder on disk. Knows names and texts only.

use std::collections::BTreeMap;
use std::path::Path;
use weft::Error;

/// The files that say what is claimed.
pub(crate) const CLAIMS: &str = "claims.toml";

/// Scenarios and claims, tables of published points, distributions of sizes; the build script has the same list.
const KINDS: [&str; 3] = ["toml", "csv", "txt"];

/// Name and text of every file of every folder in the program.
type Embedded = &'static [(&'static str, &'static [(&'static str, &'static str)])];

/// Written by the build script from `reproductions/`.
const EMBEDDED: Embedded = include!(concat!(env!("OUT_DIR"), "/folders.rs"));

/// The files of a reproduction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    /// Its name, for folders of results and for messages.
    pub(crate) name: String,
    /// Text of every file, by name.
    pub(crate) files: BTreeMap<String, String>,
}

impl Folder {
    /// All that the program has.
    pub(crate) fn all() -> Vec<Folder> {
        let folder = |(name, files): &(&str, &[(&str, &str)])| Folder {
            name: (*name).to_owned(),
            files: files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
        };
        EMBEDDED.iter().map(folder).collect()
    }

    /// By name, or from a folder on disk if `name` has a slash.
    ///
    /// # Errors
    /// There is none of this name; the folder cannot be read.
    pub(crate) fn find(name: &str) -> Result<Folder, Error> {
        if name.contains(['/', '\\']) {
            return Folder::read(Path::new(name));
        }
        let all = Folder::all();
        let known = all.iter().map(|folder| folder.name.clone()).collect::<Vec<_>>().join(", ");
        all.into_iter().find(|folder| folder.name == name).ok_or_else(|| {
            Error::BadInput(format!(
                "there is no reproduction `{name}`\nallowed: {known}, or a folder with a {CLAIMS}, written with a slash"
            ))
        })
    }

    /// The files of a folder on disk.
    ///
    /// # Errors
    /// It cannot be read, or has no claims.
    pub(crate) fn read(path: &Path) -> Result<Folder, Error> {
        let refused = |cause: std::io::Error| Error::BadInput(format!("{}: {cause}", path.display()));
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(path).map_err(refused)? {
            let file = entry.map_err(refused)?.path();
            if file.extension().is_some_and(|extension| KINDS.iter().any(|kind| extension == *kind)) {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.insert(name, std::fs::read_to_string(&file).map_err(refused)?);
            }
        }
        if !files.contains_key(CLAIMS) {
            return Err(Error::BadInput(format!("{}: there is no {CLAIMS} in this folder", path.display())));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Folder { name, files })
    }

    /// Writes the scenarios into a folder, where runs can read them. Files that are the same stay as they are.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(crate) fn unpack(&self, to: &Path) -> Result<(), Error> {
        let refused = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", to.display()));
        std::fs::create_dir_all(to).map_err(refused)?;
        for (name, text) in &self.files {
            let path = to.join(name);
            if std::fs::read_to_string(&path).ok().as_ref() != Some(text) {
                std::fs::write(&path, text).map_err(refused)?;
            }
        }
        Ok(())
    }
}
