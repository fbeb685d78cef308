//! Configuration files of switches and hosts as one model: SONiC, Arista EOS, and the settings of Linux hosts.
//!
//! ```text
//! files --read--> model (switches, ports, buffers, hosts)
//! ```
//!
//! The model is the same for every format, and each value has its position, so that what is found in it can point at a
//! line. In reading order: [`model`], [`told`], `silence`, `read`, and below it `host`, `sonic` and `eos`.
//!
//! Must not depend on rules, scenarios, the simulator.
//!
//! ```
//! use weft_config::place::SourceFile;
//! use weft_device_config::{FileKind, model::Network, read};
//! let text = "net.ipv4.tcp_congestion_control = dctcp\nnet.ipv4.tcp_ecn = 1\n".to_owned();
//! let source = SourceFile { name: "90-tcp.conf".into(), text };
//! let kind = FileKind::of(&source.name, &source.text).ok_or("unknown kind")?;
//! let mut network = Network::default();
//! read(&[(0, &source, kind)], &mut network).map_err(|refusals| refusals.join("\n"))?;
//! assert!(network.hosts[0].is_dctcp());
//! assert_eq!(network.hosts[0].ecn.as_ref().map(|ecn| ecn.value), Some(1));
//! # Ok::<(), String>(())
//! ```

pub mod model;
mod read;
mod silence;
pub mod told;

pub use read::{ConfigFile, FileKind, is_sysctl_d, read};
