//! An explicit network: hosts, switches and links by name, or a topology file of another simulator.
//!
//! Hosts are numbered in the order of their names, switches likewise; ports of a node follow the order of its links.

use super::Topology;
use crate::graph::Node;
use crate::graph::Stalls;
use crate::import;
use crate::wiring::{LinkSettings, Wiring};
use std::collections::BTreeMap;
use weft_core::Problem;
use weft_core::Span;
use weft_core::units::did_you_mean;

pub use crate::listing::{ExplicitSettings, LinkEntry};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Written out link by link, or read from another simulator's topology file";

/// An explicit graph.
pub struct Explicit(ExplicitSettings);

impl Explicit {
    /// The explicit graph in `settings`.
    #[must_use]
    pub fn new(settings: &ExplicitSettings, _site: ()) -> Explicit {
        Explicit(settings.clone())
    }
}

impl Topology for Explicit {
    fn cables(&self) -> u64 {
        self.0.links.iter().map(|link| u64::from(link.count)).sum::<u64>().max(self.0.hosts.into())
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        match &self.0.file {
            None => lay(&self.0, wiring),
            Some(_)
                if self.0
                    != (ExplicitSettings {
                        file: self.0.file.clone(),
                        format: self.0.format,
                        ..ExplicitSettings::default()
                    }) =>
            {
                vec![Problem::new("file", "a file replaces hosts, switches and links; give one or the other")]
            }
            Some(file) => match import::read(self.0.format, &wiring.folder().join(file)) {
                Ok(imported) => lay(&imported.graph, wiring),
                Err(error) => vec![Problem::new("file", error.to_string())],
            },
        }
    }
}

fn lay(settings: &ExplicitSettings, wiring: &mut Wiring) -> Vec<Problem> {
    let mut names = Names::default();
    names.add_nodes(settings, wiring);
    for (index, link) in settings.links.iter().enumerate() {
        let from = names.find(&link.from, || format!("links[{index}].from"));
        let to = names.find(&link.to, || format!("links[{index}].to"));
        let cable = LinkSettings { rate: link.rate, delay: link.delay, loss: link.loss };
        cable.check(&format!("links[{index}]"), &mut names.problems);
        let stalls = stalls(link, index, &mut names.problems);
        if let (Some(from), Some(to)) = (from, to) {
            (0..link.count).for_each(|_| {
                wiring.cable(from, to, &cable);
                stalls.into_iter().for_each(|stalls| wiring.stall_far_end(stalls));
            });
        }
    }
    names.problems
}

/// The stalls of a cable's far end, if it has any.
fn stalls(link: &LinkEntry, index: usize, problems: &mut Vec<Problem>) -> Option<Stalls> {
    match (link.stall_every, link.stall_length) {
        (None, None) => None,
        (Some(every), Some(length)) if every > Span::ZERO && length > Span::ZERO => {
            Some(Stalls { every, length })
        }
        _ => {
            let what = "`stall_every` and `stall_length` must be given together and be above zero";
            problems.push(Problem::new(format!("links[{index}].stall_every"), what));
            None
        }
    }
}

/// The nodes by name, and problems with names.
#[derive(Default)]
struct Names {
    nodes: BTreeMap<String, Node>,
    problems: Vec<Problem>,
}

impl Names {
    fn add_nodes(&mut self, settings: &ExplicitSettings, wiring: &mut Wiring) {
        let ExplicitSettings { hosts, host_names, switches, .. } = settings;
        if *hosts > 0 && !host_names.is_empty() {
            self.problems.push(Problem::new("hosts", "give either the number of hosts or their names"));
        }
        for host in 0..*hosts {
            let node = wiring.host();
            self.add(&format!("host{host}"), node, String::new);
        }
        for (index, name) in host_names.iter().enumerate() {
            let node = wiring.named_host(name);
            self.add(name, node, || format!("host_names[{index}]"));
        }
        for (index, name) in switches.iter().enumerate() {
            let node = wiring.switch(name);
            self.add(name, node, || format!("switches[{index}]"));
        }
    }

    fn add(&mut self, name: &str, node: Node, path: impl Fn() -> String) {
        if self.nodes.insert(name.to_owned(), node).is_some() {
            self.problems.push(Problem::new(path(), format!("two nodes are called `{name}`")));
        }
    }

    fn find(&mut self, name: &str, path: impl Fn() -> String) -> Option<Node> {
        let node = self.nodes.get(name).copied();
        if node.is_none() {
            let hint = did_you_mean(name, self.nodes.keys().map(String::as_str));
            self.problems
                .push(Problem::new(path(), format!("there is no host or switch called `{name}`{hint}")));
        }
        node
    }
}
