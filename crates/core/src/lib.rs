//! The shared vocabulary: units, ids, packet headers, the packet pool, random streams, records and the declaration of
//! settings.
//!
//! This crate must not depend on switches, hosts, engines or files. In reading order: [`units`] (time, rate, size and
//! their text form), [`transmission`] (how long a packet occupies a link), [`ids`], [`header`] (what a switch sees of
//! a packet), [`pool`] (where packets live), [`ring`] (where they wait), [`group`] (equal-cost paths), [`label`] (a
//! path as a packet names it), [`quiver`] (when two paths are symmetric), [`random`] (reproducible streams),
//! [`settings`](mod@settings) (one declaration serves parser, schema, documentation and `weft explain`),
//! [`family`](mod@family) (a plug-in is one file and one line), [`record`] (what engines report), [`checksum`] (names
//! for inputs), [`mod@crc32`] (what hashes of switches and invariant checks share), [`segment`], [`mod@order`] and [`ends`] (what the two ends of a flow see, count and say), [`bitmap`]
//! (what arrived out of order), [`scheduling`] (what senders ask of switches), [`telemetry`]
//! (what links report), [`tree`] (a switch in a tree of three
//! tiers), [`stack`] (what a transport is to its host), [`problem`] (settings that contradict each other), [`input`]
//! (input files with a size limit) and [`lines`](mod@lines) (text files of other programs).

pub mod bitmap;
pub mod checksum;
mod column;
pub mod crc32;
pub mod ends;
pub mod family;
pub mod group;
pub mod header;
pub mod histogram;
pub mod ids;
mod in_band;
pub mod input;
pub mod label;
pub mod lines;
pub mod nearly_sorted;
mod needs;
pub mod order;
pub mod pool;
mod prefetch;
pub mod problem;
pub mod quiver;
pub mod random;
pub mod record;
pub mod ring;
pub mod scheduling;
pub mod segment;
pub mod settings;
mod sparing;
pub mod stack;
pub mod telemetry;
pub mod toeplitz;
mod toll;
pub mod trace;
pub mod transmission;
pub mod tree;
pub mod units;

pub use checksum::Checksum;
pub use ends::{EcnConsent, FlowSite, ReceiverReport, SenderReport};
pub use group::{Component, Group, Grouping};
pub use header::{Class, Ecn, HOP_LIMIT, Header, Marks, PacketKind, Tuple};
pub use ids::{FlowId, GroupId, HostId, LinkId, PacketId, PortId, SwitchId};
pub use in_band::InBand;
pub use nearly_sorted::NearlySorted;
pub use pool::{Headers, Pool, Queue};
pub use prefetch::{prefetch, prefetch_part};
pub use problem::Problem;
pub use quiver::QuiverSettings;
pub use random::{Purpose, Random};
pub use ring::Ring;
pub use sparing::push_sparingly;
pub use transmission::Transmission;
pub use units::{Bytes, Rate, Span, Time};
