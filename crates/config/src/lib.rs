//! The syntax of configuration files, every value with its position: JSON, and settings of hosts in sysctl files,
//! profiles of tuned and shell scripts. Must not depend on the meaning of a table or a setting.
//!
//! ```
//! use weft_config::{json, place::line_column};
//! let text = "{\n  \"PORT\": {\"Ethernet0\": {\"mtu\": \"9100\"}}}";
//! let mtu = json::parse(text, 0)?.get("PORT").and_then(|ports| ports.get("Ethernet0")?.get("mtu").cloned());
//! assert_eq!(mtu.map(|mtu| line_column(text, mtu.at)), Some((2, 33)));
//! # Ok::<(), json::JsonError>(())
//! ```

pub mod json;
pub mod place;
pub mod settings;
