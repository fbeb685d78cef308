//! The `weft` command: parses the command line, calls one function of the facade, prints what it returns.
//!
//! Exit codes: 0 success; 1 a run failed, was interrupted, or missed an `[[expect]]`; 2 bad input. Nothing is
//! computed here, and of Weft's crates only the facade, reproductions, benchmarks, the search for settings, hardware,
//! the lab and the router are used.

mod analyse;
mod bench;
mod check;
mod command_line;
mod compare;
mod completions;
mod console;
mod counts;
mod engines;
mod explain;
mod fluid;
mod import;
mod input_kind;
mod interrupt;
mod lab;
mod lint;
mod list;
mod man;
mod new;
mod progress;
mod report;
mod reproduce;
mod reuse;
mod router;
mod run;
mod seeds;
mod trace;
mod tune;
mod vectors;

use std::process::ExitCode;

/// Counts allocations for `weft bench`.
#[global_allocator]
static ALLOCATOR: weft_bench::heap::Counted = weft_bench::heap::ALLOCATOR;

fn main() -> ExitCode {
    match command_line::CommandLine::read(std::env::args_os()) {
        Ok(line) => line.command.execute().unwrap_or_else(|error| console::failure(&error)),
        Err(said) => console::of_parser(&said),
    }
}
