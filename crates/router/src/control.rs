//! State shared by the workers of a router: routes, next hops and neighbours. Changed under a lock, read without one.
//!
//! A change is first published (new next hops), then shown to look-ups, then what is no longer used is released: no
//! worker finds a next hop that it does not know. A short prefix has millions of slots, so a change releases the lock
//! between slices of them, and lets workers pass that are processing a packet.
//!
//! Workers look up routes in tables that may change at any time, and keep a copy of the next hops (an
//! [`AdjacencyTable`]), which they replace when its number shows that there is a newer one.

use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_core::Time;
use weft_fib::RouteError;
use weft_packet::Mac;

use crate::interface::Interface;
use crate::neighbours::{Announcement, DueQuestions, NeighbourLimits, Resolution, Station};

mod adjacency;
mod hosts;
mod linked;
mod links;
mod state;
mod stations;

pub use adjacency::{Adjacency, AdjacencyTable, NextHop, SharedPath};
pub use state::{ControlState, PathList};

pub use crate::interface::broadcasts;

/// The packets and requests that the caller must send after a change.
#[derive(Debug, Default)]
pub struct PendingSends {
    /// Stations for which to send a request.
    pub ask: Vec<Station>,
    /// IP packets for stations that have been resolved.
    pub ready: Vec<(Station, Mac, Vec<u8>)>,
    /// IP packets whose station does not answer, with the port they arrived by.
    pub failed: Vec<(u16, Vec<u8>)>,
}

/// Number of route slots painted under one lock: a fraction of a millisecond.
const SLICE: usize = 1 << 14;
/// The same for a worker in the middle of a batch.
const FEW: usize = 1 << 9;
/// How many times a change checks whether workers are still waiting before it continues.
const PATIENCE: u32 = 1_000;

/// State shared by workers.
pub struct Control {
    state: Mutex<ControlState>,
    /// Workers that wait for the lock.
    waiting: AtomicUsize,
    /// Identification of the next IPv4 packet of the router's own.
    identification: AtomicU16,
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
        state.repaint(usize::MAX);
        let published = Mutex::new(Arc::new(state.adjacencies()));
        let (newest, waiting) = (AtomicU64::new(1), AtomicUsize::new(0));
        let identification = AtomicU16::new(1);
        Ok(Control { state: Mutex::new(state), waiting, identification, newest, published })
    }

    fn lock(&self) -> MutexGuard<'_, ControlState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock for a worker; a change in slices makes way for it.
    fn lock_for_worker(&self) -> MutexGuard<'_, ControlState> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let state = self.lock();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Lets workers pass that wait for the lock, which the caller has released.
    fn make_way(&self) {
        let mut left = PATIENCE;
        while left > 0 && self.waiting.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
            left -= 1;
        }
    }

    /// Changes the state; when this returns, workers see the resulting next hops and routes. `change` must not wait for anything,
    /// because packets may wait for it.
    pub fn change<T>(&self, change: impl FnOnce(&mut ControlState) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        self.publish_if_changed(&mut state);
        while !state.repaint(SLICE) {
            drop(state);
            self.make_way();
            state = self.lock();
        }
        self.publish_if_changed(&mut state);
        result
    }

    fn publish_if_changed(&self, state: &mut ControlState) {
        if state.take_changed() {
            self.publish(state);
        }
    }

    /// Reads the state.
    pub fn read<T>(&self, read: impl FnOnce(&ControlState) -> T) -> T {
        read(&self.lock())
    }

    /// An identification for an IPv4 packet of the router's own, which may be fragmented on the way: no value recurs
    /// soon (RFC 6864, section 4.2).
    pub fn next_identification(&self) -> u16 {
        self.identification.fetch_add(1, Ordering::Relaxed)
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
        let mut state = self.lock_for_worker();
        let resolution = state.neighbours_mut().resolve(now, station, packet);
        // The route that leads onto its link may be newer than the station.
        if matches!(resolution, Resolution::Known(_)) && state.add_station(station) {
            self.publish(&state);
            state.repaint(FEW);
        }
        resolution
    }

    /// Whether a station is known, or has been asked for.
    #[must_use]
    pub fn has_station(&self, station: Station) -> bool {
        self.lock_for_worker().neighbours().has(station)
    }

    /// Called when a station announces its MAC address.
    pub fn learn(&self, now: Time, station: Station, mac: Mac, how: Announcement) -> PendingSends {
        let mut state = self.lock_for_worker();
        let (waiting, is_new) = state.neighbours_mut().learn(now, station, mac, how);
        if is_new {
            self.add_station(&mut state, station);
        }
        let ready = waiting.into_iter().map(|packet| (station, mac, packet)).collect();
        PendingSends { ready, ..PendingSends::default() }
    }

    /// Called when a station has been found elsewhere; it is accepted if there is room, unless it has already been
    /// found.
    pub fn suggest(&self, now: Time, station: Station, mac: Mac) {
        let mut state = self.lock();
        if state.neighbours().is_resolved(station) || state.neighbours().is_waited_for(station) {
            return;
        }
        let (_, is_new) = state.neighbours_mut().learn(now, station, mac, Announcement::Question);
        if is_new {
            self.add_station(&mut state, station);
        }
    }

    /// Gives a resolved station a route of its own.
    fn add_station(&self, state: &mut ControlState, station: Station) {
        state.add_station(station);
        self.publish(state);
        // The rest becomes visible with the change under way, or at the next due event.
        state.repaint(FEW);
    }

    /// Gives up all packets that wait for stations; returns their numbers by port.
    #[must_use]
    pub fn abandon(&self) -> Vec<(u16, u64)> {
        self.lock_for_worker().neighbours_mut().abandon()
    }

    /// Handles everything due by now. Does nothing if another worker is already doing so.
    pub fn due(&self, now: Time) -> PendingSends {
        let Ok(mut state) = self.state.try_lock() else { return PendingSends::default() };
        let DueQuestions { ask, gone, ready } = state.neighbours_mut().due(now);
        gone.iter().for_each(|(station, _)| state.remove_station(*station));
        if !gone.is_empty() {
            self.publish(&state);
        }
        state.repaint(FEW);
        let failed = |((port, _), packets): (Station, Vec<Vec<u8>>)| {
            packets.into_iter().map(move |packet| (port, packet))
        };
        PendingSends { ask, ready, failed: gone.into_iter().flat_map(failed).collect() }
    }
}
