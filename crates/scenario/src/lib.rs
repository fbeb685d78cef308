//! Reads, checks and explains a scenario file.
