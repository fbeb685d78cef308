//! Records to statistics to files.
