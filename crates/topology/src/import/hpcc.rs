//! `topology.txt` of the HPCC simulator: `nodes switches links`, the numbers of the switches, then per cable
//! `from to rate delay loss` with rates such as `100Gbps` and delays such as `1000ns`. Nodes that are not switches
//! are hosts. Must not depend on other formats.

use super::Imported;
use crate::listing::{ExplicitSettings, LinkEntry};
use std::collections::{BTreeMap, BTreeSet};
use weft_core::lines::{ImportError, Line, ended, lines};
use weft_core::settings::Share;
use weft_core::units::TextError;
use weft_core::{HostId, Rate, Span};

const MOST_NODES: u32 = 1_000_000;

/// Parses the text of the file named `file`.
///
/// # Errors
/// At the first line that is not as described above.
pub fn read(file: &str, text: &str) -> Result<Imported, ImportError> {
    let mut lines = lines(file, text, ' ');
    let head =
        lines.next().ok_or_else(|| ended(file, "a line with the number of nodes, switches and links"))?;
    let nodes = head.number(0, "the number of nodes", (1, MOST_NODES))?;
    let switches = head.number(1, "the number of switches", (0, nodes))?;
    let links = head.number(2, "the number of links", (0, 4 * MOST_NODES))?;
    let named = lines.next().ok_or_else(|| ended(file, "a line with the ids of the switches"))?;
    let switches = switch_numbers(&named, nodes, switches)?;
    let names = Names::new(nodes, &switches);
    let mut graph = names.settings(&switches);
    let mut cables = Cables { names: &names, of_host: vec![false; names.host_of_number.len()] };
    for _ in 0..links {
        let line = lines.next().ok_or_else(|| ended(file, &format!("{links} lines with one link each")))?;
        graph.links.push(link(&line, &names)?);
        cables.add(&line)?;
    }
    // The files of that simulator end with explanatory text.
    if let Some(line) = lines.next().filter(|line| link(line, &names).is_ok()) {
        return Err(line.error("one more link", format!("{links} links, as the first line says")));
    }
    cables.end(&head)?;
    Ok(Imported { graph, host_of_number: names.host_of_number, switch_latencies: Vec::new() })
}

fn switch_numbers(line: &Line<'_>, nodes: u32, count: u32) -> Result<BTreeSet<u32>, ImportError> {
    if line.words.len() != count as usize {
        let allowed = format!("the ids of {count} switches, as the first line says");
        return Err(line.error(format!("{} words", line.words.len()), allowed));
    }
    let number = |index| line.number(index, "a switch id", (0, nodes - 1));
    let numbers: BTreeSet<u32> = (0..line.words.len()).map(number).collect::<Result<_, _>>()?;
    match numbers.len() == count as usize {
        true => Ok(numbers),
        false => Err(line.error("a switch listed twice", "every switch once")),
    }
}

/// The nodes that correspond to the file's node numbers.
struct Names {
    host_of_number: BTreeMap<u32, HostId>,
    names: Vec<String>,
}

impl Names {
    fn new(nodes: u32, switches: &BTreeSet<u32>) -> Names {
        let hosts = (0..nodes).filter(|number| !switches.contains(number));
        let host_of_number: BTreeMap<u32, HostId> = hosts.zip((0..).map(HostId)).collect();
        let name = |number| match host_of_number.get(&number) {
            Some(host) => host.to_string(),
            None => format!("switch{number}"),
        };
        let names = (0..nodes).map(name).collect();
        Names { host_of_number, names }
    }

    fn settings(&self, switches: &BTreeSet<u32>) -> ExplicitSettings {
        let switches = switches.iter().map(|&number| self.names[number as usize].clone()).collect();
        ExplicitSettings { hosts: self.host_of_number.len() as u32, switches, ..ExplicitSettings::default() }
    }
}

/// The hosts that have their cable.
struct Cables<'a> {
    names: &'a Names,
    of_host: Vec<bool>,
}

impl Cables<'_> {
    /// A line with a link: it connects two nodes, and a host has one link, to a switch.
    fn add(&mut self, line: &Line<'_>) -> Result<(), ImportError> {
        let most = self.names.names.len() as u32 - 1;
        let ends = [line.number(0, "a node", (0, most))?, line.number(1, "a node", (0, most))?];
        let hosts = ends.map(|end| self.names.host_of_number.get(&end));
        let allowed = "a link between two switches, or the only link of a host, to a switch";
        if ends[0] == ends[1] {
            return Err(line.error(format!("a link from {} to itself", ends[0]), allowed));
        }
        if let [Some(_), Some(_)] = hosts {
            return Err(line.error(format!("a link between the hosts {} and {}", ends[0], ends[1]), allowed));
        }
        for (end, host) in ends.iter().zip(hosts).filter_map(|(end, host)| Some((end, host?))) {
            if std::mem::replace(&mut self.of_host[host.index()], true) {
                return Err(line.error(format!("a second link of host {end}"), allowed));
            }
        }
        Ok(())
    }

    /// Called after all links are read; `head` declares the nodes.
    fn end(&self, head: &Line<'_>) -> Result<(), ImportError> {
        let bare = self.names.host_of_number.iter().find(|(_, host)| !self.of_host[host.index()]);
        bare.map_or(Ok(()), |(number, _)| {
            Err(head.error(
                format!("node {number}, which is not a switch and has no link"),
                "one link for every host",
            ))
        })
    }
}

fn link(line: &Line<'_>, names: &Names) -> Result<LinkEntry, ImportError> {
    let end = |index, what| {
        let number = line.number(index, what, (0, names.names.len() as u32 - 1))?;
        Ok(names.names[number as usize].clone())
    };
    let (from, to) = (end(0, "the node a link starts at")?, end(1, "the node a link ends at")?);
    let rate: Rate = quantity(line, 2, "a rate such as 100Gbps")?;
    if rate.0 == 0 {
        return Err(line.error("a rate of zero", "a rate such as 100Gbps"));
    }
    let delay: Span = quantity(line, 3, "a delay such as 1000ns")?;
    let loss = match line.words.get(4) {
        None => 0.0,
        Some(word) => probability(line, word)?,
    };
    Ok(LinkEntry { from, to, count: 1, rate, delay, loss: Share(loss), ..LinkEntry::default() })
}

fn quantity<T: std::str::FromStr<Err = TextError>>(
    line: &Line<'_>,
    index: usize,
    allowed: &str,
) -> Result<T, ImportError> {
    let word = line.words.get(index).ok_or_else(|| line.error("the end of the line", allowed))?;
    // ns-3 also writes the unit of bit rates as "b/s"
    let spelled = word.replace("b/s", "bps");
    spelled.parse().map_err(|error| line.error(format!("`{word}` ({error})"), allowed))
}

fn probability(line: &Line<'_>, word: &str) -> Result<f64, ImportError> {
    let loss = word.parse().ok().filter(|loss| (0.0..=1.0).contains(loss));
    loss.ok_or_else(|| line.error(format!("`{word}`"), "a loss probability from 0 to 1"))
}
