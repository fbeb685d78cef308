//! The facade: run, check, explain, report, compare.
