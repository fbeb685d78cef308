//! Advice about packets that are longer than any on their link can be: something has put several together.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::Once;

/// Says of the first such packet of the process what was found, and how the interface stops to coalesce packets.
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
