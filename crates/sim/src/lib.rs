//! The packet-level discrete-event engine.
