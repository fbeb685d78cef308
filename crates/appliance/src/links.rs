//! The links of ports, followed as they go down and come back. Must not depend on how the router reacts.
//!
//! A thread of its own reads the kernel's messages about links (rtnetlink) and passes on each change. If messages are lost,
//! all links are read again.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_netlink::{Dump, KernelLink, KernelMessage, LINK_GROUP, dump_request, messages};
use weft_router::backend::system;

/// Maximum size of a batch of messages from the kernel.
const PIECE: usize = 1 << 18;
/// Memory for unread messages.
const BACKLOG: i32 = 1 << 20;
/// How soon the follower stops, milliseconds.
const NAP: u16 = 50;

/// The state of some links by number, up until a message says otherwise.
#[derive(Debug)]
pub(crate) struct LinkTable {
    links: Vec<FollowedLink>,
}

#[derive(Debug)]
struct FollowedLink {
    name: String,
    /// Index of the interface, once a message has given it.
    index: Option<u32>,
    up: bool,
    /// Whether the current reading has mentioned it.
    mentioned: bool,
}

impl LinkTable {
    /// A table of interfaces by name; an empty name is no interface and stays up.
    pub(crate) fn new(names: Vec<String>) -> LinkTable {
        let link = |name| FollowedLink { name, index: None, up: true, mentioned: false };
        LinkTable { links: names.into_iter().map(link).collect() }
    }

    /// Called before all links are read again.
    pub(crate) fn begin_reading(&mut self) {
        self.links.iter_mut().for_each(|link| link.mentioned = false);
    }

    /// Applies a message. Returns the number of a link that has changed.
    pub(crate) fn apply(&mut self, said: &KernelLink) -> Option<(usize, bool)> {
        let is_meant = |link: &FollowedLink| match link.index {
            Some(index) => index == said.index,
            None => !link.name.is_empty() && link.name == said.name,
        };
        let number = self.links.iter().position(is_meant)?;
        let link = &mut self.links[number];
        link.index = Some(said.index);
        link.mentioned = true;
        let changed = link.up != said.up;
        link.up = said.up;
        changed.then_some((number, said.up))
    }

    /// Called after all links have been read: a link that was not mentioned is gone. Returns the numbers of those
    /// that go down thereby.
    pub(crate) fn end_reading(&mut self) -> Vec<usize> {
        let gone = |link: &FollowedLink| link.up && !link.mentioned && !link.name.is_empty();
        let numbers: Vec<usize> = (0..self.links.len()).filter(|number| gone(&self.links[*number])).collect();
        numbers.iter().for_each(|number| self.links[*number].up = false);
        numbers
    }
}

/// Follows the links of the namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct LinkFollower {
    socket: File,
    table: LinkTable,
    piece: Vec<u8>,
    /// Number of the last request.
    number: u32,
    /// Whether messages were lost, or a reading was interrupted.
    doubtful: bool,
}

impl LinkFollower {
    /// Subscribes to changes of links. `names`: an interface for each port, or an empty name for a port without one.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn open(names: Vec<String>) -> io::Result<LinkFollower> {
        let socket = File::from(system::netlink_socket(LINK_GROUP, BACKLOG)?);
        let table = LinkTable::new(names);
        Ok(LinkFollower { socket, table, piece: vec![0; PIECE], number: 0, doubtful: true })
    }

    /// Reads all links, then follows them until `stop` is set; `changed` gets the port and whether its link is up now.
    ///
    /// # Errors
    /// The socket has failed.
    pub(crate) fn follow(
        &mut self,
        stop: &AtomicBool,
        mut changed: impl FnMut(usize, bool),
    ) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            if std::mem::take(&mut self.doubtful) {
                self.number += 1;
                self.table.begin_reading();
                self.socket.write_all(&dump_request(Dump::Links, self.number))?;
            }
            system::wait_readable(&[self.socket.as_raw_fd()], NAP)?;
            self.read_piece(&mut changed)?;
        }
        Ok(())
    }

    fn read_piece(&mut self, changed: &mut impl FnMut(usize, bool)) -> io::Result<()> {
        let length = match self.socket.read(&mut self.piece) {
            Ok(length) => length,
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                self.doubtful = true;
                return Ok(());
            }
            Err(error) if system::is_busy(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        for message in messages(&self.piece[..length]) {
            match message.map_err(io::Error::other)? {
                KernelMessage::Link(link) => {
                    if let Some((port, up)) = self.table.apply(&link) {
                        changed(port, up);
                    }
                }
                KernelMessage::Done { number } if number == self.number => {
                    self.table.end_reading().into_iter().for_each(|port| changed(port, false));
                }
                KernelMessage::Failed { number, errno } if number == self.number => match errno {
                    // A change has interrupted the answer, or the last answer is incomplete.
                    libc::EINTR | libc::EBUSY => self.doubtful = true,
                    errno => return Err(io::Error::from_raw_os_error(errno)),
                },
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32, name: &str, up: bool) -> KernelLink {
        let name = name.to_owned();
        KernelLink { removed: false, index, name, ethernet: true, up, mtu: None, mac: None, queues: None }
    }

    fn table() -> LinkTable {
        LinkTable::new(vec!["left".to_owned(), String::new(), "right".to_owned()])
    }

    #[test]
    fn only_changes_of_the_ports_are_passed_on() {
        let mut table = table();
        assert_eq!(table.apply(&link(5, "right", true)), None);
        assert_eq!(table.apply(&link(5, "right", false)), Some((2, false)));
        assert_eq!(table.apply(&link(5, "right", false)), None);
        assert_eq!(table.apply(&link(6, "other", false)), None);
        assert_eq!(table.apply(&link(7, "", false)), None);
        assert_eq!(table.apply(&link(5, "right", true)), Some((2, true)));
    }

    #[test]
    fn a_renamed_interface_is_the_same_link() {
        let mut table = table();
        table.apply(&link(5, "right", true));
        assert_eq!(table.apply(&link(9, "right", false)), None);
        assert_eq!(table.apply(&link(5, "renamed", false)), Some((2, false)));
    }

    #[test]
    fn what_a_reading_does_not_mention_is_down_and_may_come_back() {
        let mut table = table();
        table.begin_reading();
        table.apply(&link(4, "left", true));
        assert_eq!(table.end_reading(), [2]);
        assert!(table.end_reading().is_empty());
        assert_eq!(table.apply(&link(5, "right", true)), Some((2, true)));
    }
}
