//! Routes that follow the state of links: those to the links themselves and those of the file. Must not depend on the
//! source of that information.

use weft_fib::{IpPrefix, RouteError};

use super::adjacency::NextHop;
use super::state::ControlState;
use crate::neighbours::Station;

impl ControlState {
    /// Adds or replaces a permanent route, whatever the kernel reports about its prefix. Flows are divided equally
    /// among the next hops whose link is up; while there is none, packets follow a shorter prefix.
    ///
    /// # Errors
    /// As for [`ControlState::set_shared_route`].
    pub fn fix_route(&mut self, prefix: IpPrefix, hops: &[NextHop]) -> Result<(), RouteError> {
        self.fixed.insert(prefix);
        self.want_route(prefix, hops)
    }

    /// Adds or replaces a route that follows the links of its next hops.
    pub(super) fn want_route(&mut self, prefix: IpPrefix, hops: &[NextHop]) -> Result<(), RouteError> {
        self.linked.want(prefix, hops);
        self.install(prefix)
    }

    /// Called when the link of a port has gone down or come back.
    pub fn set_link(&mut self, port: u16, up: bool) {
        let Some(touched) = self.linked.set_link(port, up) else { return };
        if !up {
            self.forget_stations(port);
        }
        for prefix in touched {
            // Without room for it, its packets follow a shorter prefix.
            let _ = self.install(prefix);
        }
        self.follow_fixed_stations(port, up);
    }

    /// Stations that have been set permanently have routes of their own while their link is up.
    fn follow_fixed_stations(&mut self, port: u16, up: bool) {
        let all = self.neighbours().known().map(|(station, _)| station);
        let fixed: Vec<Station> =
            all.filter(|station| station.0 == port && self.neighbours().is_fixed(*station)).collect();
        for station in fixed {
            if up {
                self.add_station(station);
            } else {
                self.remove_station(station);
            }
        }
    }

    /// Restricts a prefix to those of its next hops whose link is up.
    fn install(&mut self, prefix: IpPrefix) -> Result<(), RouteError> {
        let paths = self.linked.paths(prefix);
        match paths[..] {
            [] => {
                self.remove_route(prefix);
                Ok(())
            }
            [(next, _)] => self.set_route(prefix, next),
            _ => self.set_shared_route(prefix, &paths),
        }
    }
}
