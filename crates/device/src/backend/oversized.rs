//! Advice about packets that are longer than their link allows, because something has coalesced several.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::Once;

/// Reports the first such packet of the process, and how to stop the interface from coalescing packets.
#[cold]
pub fn tell_of_first(found: Arguments<'_>, interface: &str) {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        let _ = writeln!(
            io::stderr(),
            "{found}: turn off what coalesces packets. On a card: ethtool -K {interface} gro off lro off; on the peer of a veth interface: \
             ethtool -K ... tso off gso off"
        );
    });
}
