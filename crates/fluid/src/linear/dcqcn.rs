//! DCQCN's loop in three versions: as the published figures compute it, exactly, and with marks drawn at departures.

mod departing;
mod exact;
mod published;

pub use departing::Departing;
pub use exact::Exact;
pub use published::Published;
