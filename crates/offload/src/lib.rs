//! The layers between a network card and the receiving TCP: [`shim`] (a buffer that hides reordering), [`flowcells`]
//! (Presto's rule for it) and [`gro`] (batches that receive offload would form). Must not depend on TCP or the
//! network.

pub mod flowcells;
pub mod gro;
pub mod shim;
