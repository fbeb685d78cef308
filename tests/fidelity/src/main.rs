//! `fidelity`: compares every case and prints the figures; with `--write` it writes the page of the book and its drawings.

use std::path::Path;
use std::process::ExitCode;

use fidelity::{compare, page, root};

fn main() -> ExitCode {
    let write = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [word] if word == "--write" => true,
        _ => {
            eprintln!("usage: fidelity [--write]");
            return ExitCode::from(2);
        }
    };
    let pairs = compare(Path::new(&root().join("target/fidelity")));
    print!("{}", page::report(&pairs));
    let written = if write { page::write(&pairs, &root()) } else { Ok(()) };
    match written {
        Err(cause) => {
            eprintln!("fidelity: {cause}");
            ExitCode::FAILURE
        }
        Ok(()) if page::hold(&pairs) => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
    }
}
