//! Failures of a router: devices, worker threads, addresses.

use std::io;

use thiserror::Error;
use weft_fib::RouteError;

use crate::watch::WatchAddress;

/// Why a router cannot start or continue.
#[derive(Debug, Error)]
pub enum ApplianceError {
    /// A device cannot be opened.
    #[error("port `{port}`: cannot open {device}: {cause}{hint}")]
    Device {
        /// The port.
        port: String,
        /// Its device.
        device: String,
        /// The system's error.
        cause: io::Error,
        /// A hint.
        hint: &'static str,
    },
    /// Interfaces are missing or unsuitable, or captures cannot be read or written.
    #[error("{}", messages.join("\n"))]
    Ports {
        /// The problem with each of them.
        messages: Vec<String>,
    },
    /// Captures cannot be played any further.
    #[error("playing captures: {cause}")]
    Playback {
        /// What happened.
        cause: io::Error,
    },
    /// It cannot give up its privileges or listen for signals.
    #[error("before the first packet: {cause}")]
    Start {
        /// The system's error.
        cause: io::Error,
    },
    /// The kernel's routes cannot be followed.
    #[error("kernel: its routes cannot be followed: {cause}")]
    Kernel {
        /// The system's error.
        cause: io::Error,
    },
    /// The links of a switch cannot be followed.
    #[error("kernel: the links of the ports cannot be followed: {cause}")]
    Links {
        /// The system's error.
        cause: io::Error,
    },
    /// There is no room for a route.
    #[error("route: {0}")]
    Route(#[from] RouteError),
    /// The address for queries cannot be opened.
    #[error("metrics: cannot listen on {address}: {cause}")]
    Metrics {
        /// The address.
        address: WatchAddress,
        /// The system's error.
        cause: io::Error,
    },
    /// A device has failed while the router ran.
    #[error("port `{port}`: {device} has failed: {cause}")]
    Broken {
        /// The port.
        port: String,
        /// Its device.
        device: String,
        /// The system's error.
        cause: io::Error,
    },
    /// A worker has failed.
    #[error("worker {worker}: {cause}")]
    Worker {
        /// Its number.
        worker: u16,
        /// The system's error.
        cause: io::Error,
    },
}
