//! State shared by the workers of a router: routes, next hops and neighbours. Changed under a lock, read without one.
//!
//! Workers look up routes in tables that may change at any time, and keep a copy of the next hops (an
//! [`AdjacencyTable`]), which they replace when its number shows that there is a newer one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_core::Time;
use weft_fib::RouteError;
use weft_packet::Mac;

use crate::interface::Interface;
use crate::neighbours::{Announcement, DueQuestions, NeighbourLimits, Resolution, Station};

mod adjacency;
mod linked;
mod links;
mod state;

pub use adjacency::{Adjacency, AdjacencyTable, NextHop, SharedPath};
pub use state::{ControlState, PathList, broadcast};

/// What the caller must send after a change.
#[derive(Debug, Default)]
pub struct PendingSends {
    /// Stations for which to send a request.
    pub ask: Vec<Station>,
    /// IP packets for stations that have been resolved.
    pub ready: Vec<(Station, Mac, Vec<u8>)>,
    /// IP packets whose station does not answer, with the port they arrived by.
    pub failed: Vec<(u16, Vec<u8>)>,
}

/// State shared by workers.
pub struct Control {
    state: Mutex<ControlState>,
    newest: AtomicU64,
    published: Mutex<Arc<AdjacencyTable>>,
}

impl Control {
    /// A router with these ports: routes to its links and to itself.
    ///
    /// # Errors
    /// Two addresses contradict each other.
    pub fn new(ports: Arc<[Interface]>, limits: NeighbourLimits) -> Result<Control, RouteError> {
        let mut state = ControlState::new(Arc::clone(&ports), limits)?;
        for (number, port) in ports.iter().enumerate() {
            state.add_own_routes(number as u16, port)?;
        }
        let published = Mutex::new(Arc::new(state.adjacencies()));
        Ok(Control { state: Mutex::new(state), newest: AtomicU64::new(1), published })
    }

    fn lock(&self) -> MutexGuard<'_, ControlState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; workers then see the resulting next hops. `change` must not wait for anything, because
    /// packets may wait for it.
    pub fn change<T>(&self, change: impl FnOnce(&mut ControlState) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        if state.take_changed() {
            self.publish(&state);
        }
        result
    }

    /// Reads the state.
    pub fn read<T>(&self, read: impl FnOnce(&ControlState) -> T) -> T {
        read(&self.lock())
    }

    /// The number of the newest next hops.
    #[must_use]
    #[inline]
    pub fn newest(&self) -> u64 {
        self.newest.load(Ordering::Acquire)
    }

    /// The newest next hops.
    #[must_use]
    pub fn adjacencies(&self) -> Arc<AdjacencyTable> {
        Arc::clone(&self.published.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, state: &ControlState) {
        let table = Arc::new(state.adjacencies());
        *self.published.lock().unwrap_or_else(PoisonError::into_inner) = table;
        self.newest.fetch_add(1, Ordering::Release);
    }

    /// Resolves the station of a packet.
    pub fn resolve(&self, now: Time, station: Station, packet: &[u8]) -> Resolution {
        self.lock().neighbours_mut().resolve(now, station, packet)
    }

    /// A station announces its MAC address.
    pub fn learn(&self, now: Time, station: Station, mac: Mac, how: Announcement) -> PendingSends {
        let mut state = self.lock();
        let (waiting, is_new) = state.neighbours_mut().learn(now, station, mac, how);
        if is_new {
            state.add_station(station);
            self.publish(&state);
        }
        let ready = waiting.into_iter().map(|packet| (station, mac, packet)).collect();
        PendingSends { ready, ..PendingSends::default() }
    }

    /// Somebody else has found a station; it is believed if there is room, unless it has been found already.
    pub fn suggest(&self, now: Time, station: Station, mac: Mac) {
        let mut state = self.lock();
        if state.neighbours().is_resolved(station) || state.neighbours().is_waited_for(station) {
            return;
        }
        let (_, is_new) = state.neighbours_mut().learn(now, station, mac, Announcement::Question);
        if is_new {
            state.add_station(station);
            self.publish(&state);
        }
    }

    /// Handles what is due by now. Does nothing if another worker is doing so.
    pub fn due(&self, now: Time) -> PendingSends {
        let Ok(mut state) = self.state.try_lock() else { return PendingSends::default() };
        let DueQuestions { ask, gone, ready } = state.neighbours_mut().due(now);
        gone.iter().for_each(|(station, _)| state.remove_station(*station));
        if !gone.is_empty() {
            self.publish(&state);
        }
        let failed = |((port, _), packets): (Station, Vec<Vec<u8>>)| {
            packets.into_iter().map(move |packet| (port, packet))
        };
        PendingSends { ask, ready, failed: gone.into_iter().flat_map(failed).collect() }
    }
}
