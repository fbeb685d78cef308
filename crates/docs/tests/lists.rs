//! The files and lines that the book tells a newcomer to add compile at the given places: each is inserted into a
//! copy of the crate that has the list, and the copy is checked as a whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A page of the book.
fn page(name: &str) -> String {
    read(&root().join("docs/src").join(name))
}

/// The block of code with this fence that begins after a heading.
fn block(page: &str, heading: &str, fence: &str) -> String {
    let (_, after) = page.split_once(heading).unwrap_or_else(|| panic!("no heading {heading}"));
    let (_, code) = after.split_once(&format!("\n```{fence}\n")).expect("a block follows the heading");
    code.split_once("\n```").expect("the block ends").0.to_owned()
}

/// The inside of `mod NAME { … }` at the beginning of a block, as a file of its own.
fn inside(block: &str) -> String {
    let lines = block.lines().skip(1).take_while(|line| *line != "}");
    lines.map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned() + "\n").collect()
}

/// A copy of the crate `transport`, in a folder of its own.
struct CrateCopy(PathBuf);

impl CrateCopy {
    fn new(name: &str) -> CrateCopy {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        let own = root().join("crates/transport");
        copy(&own.join("src"), &folder.join("src"));
        let manifest = read(&own.join("Cargo.toml"));
        let dependencies = manifest.lines().filter_map(|line| line.strip_suffix(".workspace = true"));
        let dependencies = dependencies.filter_map(|name| Some((name, name.strip_prefix("weft-")?)));
        let paths = dependencies.map(|(name, short)| {
            format!("{name} = {{ path = {:?} }}\n", root().join("crates").join(short).display().to_string())
        });
        let text = format!(
            "[package]\nname = \"weft-transport\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{}",
            paths.collect::<String>()
        );
        fs::write(folder.join("Cargo.toml"), text).expect("the folder is there");
        fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file can be copied");
        CrateCopy(folder)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join("src").join(file), text).expect("the folder is there");
    }

    /// Inserts a text before the first occurrence of another.
    fn insert(&self, file: &str, text: &str, before: &str) {
        let path = self.0.join("src").join(file);
        let old = read(&path);
        assert!(old.contains(before), "{file} has no `{before}`");
        fs::write(path, old.replacen(before, &format!("{text}\n{before}"), 1)).expect("the file is there");
    }

    fn check(&self) -> Result<(), String> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lists");
        let output = Command::new(env!("CARGO"))
            .args(["check", "--offline", "--quiet"])
            .current_dir(&self.0)
            .env("CARGO_TARGET_DIR", target)
            .output()
            .expect("cargo runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(words) }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &target),
            false => _ = fs::copy(&path, &target).expect("the file can be copied"),
        }
    }
}

/// The file of Scalable TCP, its `pub mod` and its line make it a transport; without the line, nothing knows it.
#[test]
fn the_congestion_law_of_the_book_is_one_file_and_one_line() {
    let page = page("add-a-congestion-law.md");
    let copy = CrateCopy::new("law");
    let file = inside(&block(&page, "## The file", "rust")).replace("weft_transport::", "crate::");
    copy.write("congestion/scalable.rs", &file);
    copy.insert("congestion.rs", "pub mod scalable;", "pub mod newreno;");
    let use_of = "/// Its place in the list.\npub const OF_THE_BOOK: fn(protocols::scalable::TcpScalableSettings) -> \
                  TransportSettings = TransportSettings::Scalable;\n";
    copy.insert("lib.rs", use_of, "pub use protocols::");
    let without = copy.check().expect_err("nothing knows the law without its line");
    assert!(without.contains("scalable"), "{without}");
    copy.insert("list.rs", &block(&page, "## The line", "text"), "                \"newreno\" =>");
    copy.check().unwrap_or_else(|why| panic!("the book's law does not compile in the list:\n{why}"));
}

/// The stack of the book, its glue and its line make it a transport.
#[test]
fn the_transport_of_the_book_is_two_files_and_one_line() {
    let page = page("add-a-transport.md");
    let copy = CrateCopy::new("transport");
    let stack = block(&page, "## The complete stack", "rust");
    let (file, _) = stack.split_once("// A test states").expect("the test follows the stack");
    copy.write("stop_and_wait.rs", file);
    copy.insert("lib.rs", "pub mod stop_and_wait;", "pub mod tagging;");
    copy.write("protocols/stop_and_wait.rs", &block(&page, "## Its name in scenarios", "rs"));
    copy.insert("protocols.rs", "pub mod stop_and_wait;", "pub mod udp;");
    let use_of = "/// Its place in the list.\npub const OF_THE_BOOK: fn(protocols::stop_and_wait::StopAndWaitSettings) -> \
                  TransportSettings = TransportSettings::StopAndWait;\n";
    copy.insert("lib.rs", use_of, "pub use protocols::");
    copy.insert("list.rs", &block(&page, "## Its line", "text"), "            Ndp is");
    copy.check().unwrap_or_else(|why| panic!("the book's transport does not compile in the list:\n{why}"));
}
