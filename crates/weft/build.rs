//! Tells the crate which commit it is built from, if the sources are a git checkout and git is there. Otherwise the
//! commit is empty; nothing else depends on it.

use std::process::Command;

fn main() {
    let told = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    };
    println!("cargo::rustc-env=WEFT_COMMIT={}", told(&["rev-parse", "--short=12", "HEAD"]));
    let head = told(&["rev-parse", "--git-path", "logs/HEAD"]);
    println!("cargo::rerun-if-changed={}", if head.is_empty() { "build.rs" } else { &head });
}
