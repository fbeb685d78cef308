//! Settings to and from the text of a file: a tree of TOML nodes is decoded against the declared tables, and a
//! checked value is written in its canonical form.
//!
//! Must not depend on any particular setting: a new setting needs no line here.

mod absent;
pub mod canonical;
mod declared;
mod provenance;
mod rows;
mod scalar;
mod walk;

pub use declared::{default_member, flattened_family, join, keys, member_named};
pub use provenance::{Provenance, Said};
pub use rows::{Row, rows, words};
pub use scalar::describe;
pub use walk::{Decoded, decode};

/// In a list entry (`[[traffic]]`), the settings of this family field are next to the entry's own, and [`KIND_KEY`]
/// names its member.
pub const FLATTENED_FAMILY: &str = "pattern";
/// The key that names a family's member from inside its table.
pub const KIND_KEY: &str = "kind";
/// The key that names an entry of a list.
pub const TAG_KEY: &str = "tag";
