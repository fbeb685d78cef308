//! The transport of each flow, where transports differ.

use std::sync::Arc;

use weft_core::HostId;
use weft_transport::Transport;

/// The transports of flows, by host group and traffic entry. Empty: all flows have the same.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    /// All transports.
    pub all: Vec<Arc<Transport>>,
    /// For each host its group.
    pub group_of_host: Vec<u16>,
    /// The sending transport, by group of the sender and traffic entry.
    pub senders: Vec<Vec<u16>>,
    /// The receiving transport, by group of the sender, group of the receiver and traffic entry.
    pub receivers: Vec<Vec<Vec<u16>>>,
}

impl Stacks {
    /// Whether transports differ between flows.
    #[inline]
    #[must_use]
    pub fn differ(&self) -> bool {
        !self.all.is_empty()
    }

    /// The transport of a host for a traffic entry, as it sends.
    pub(crate) fn own(&self, host: HostId, tag: u16) -> &Arc<Transport> {
        &self.all[usize::from(self.senders[self.group(host)][usize::from(tag)])]
    }

    /// The transports of a host, by traffic entry; none if transports do not differ.
    pub(crate) fn all_of(&self, host: HostId) -> impl Iterator<Item = &Arc<Transport>> {
        let numbers = self.differ().then(|| &self.senders[self.group(host)]);
        numbers.into_iter().flatten().map(|number| &self.all[usize::from(*number)])
    }

    pub(crate) fn group(&self, host: HostId) -> usize {
        usize::from(self.group_of_host[host.index()])
    }
}
