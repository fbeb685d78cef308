//! DCQCN's loop in two versions: as the published figures compute it, and exactly.

mod exact;
mod published;

pub use exact::Exact;
pub use published::Published;
