//! Longest-prefix match for IPv4 and IPv6, in tables that can be read while they change.
//!
//! IPv4 is a directly indexed table of 2^24 slots with a second level of 8 bits; IPv6 a multibit trie of 16 and then
//! 8 bits. A slot is one atomic word: readers never wait, and see each route before or after a change, never a torn
//! one. One [`RouteWriter`] changes the table; any number of [`RouteReader`]s look up, in batches whose memory is
//! prefetched together. Must not depend on packets, interfaces or the source of routes.
//!
//! ```
//! use weft_fib::{Hop, ipv4};
//! let mut routes = ipv4::table();
//! routes.insert("10.0.0.0/8".parse()?, Hop(1))?;
//! routes.insert("10.1.0.0/16".parse()?, Hop(2))?;
//! let reader = routes.reader();
//! assert_eq!(reader.lookup(u32::from_be_bytes([10, 1, 2, 3])), Hop(2));
//! routes.remove("10.1.0.0/16".parse()?);
//! assert_eq!(reader.lookup(u32::from_be_bytes([10, 1, 2, 3])), Hop(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod ipv4;
pub mod ipv6;

mod epoch;
mod nodes;
mod painting;
mod prefix;
mod reader;
mod slot;
mod writer;

pub use nodes::PrepareMemory;
pub use prefix::IpPrefix;
pub use reader::{AddressKey, RootEntries, RouteReader};
pub use slot::{Hop, RouteSlot};
pub use writer::{RouteError, RouteWriter};
