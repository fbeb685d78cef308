//! Why results differ from those of other simulators: one cause at a time, and all known rules of one program together.

use std::fmt::Write;

use weft::Error;

use super::measured::PeerFigures;
use super::verdict::{Spread, cell};
use super::{Ask, R1_SEEDS, R2_SEEDS, cards, row, rows};

/// A difference in settings with a single reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause {
    what: &'static str,
    /// Overrides of R1 and R2.
    pub(super) set: &'static [&'static str],
    /// Whether R1 also gets cards that serve in order and mark. In R2 a host has one flow.
    cards: bool,
}

const fn cause(what: &'static str, set: &'static [&'static str]) -> Cause {
    Cause { what, set, cards: false }
}

/// The variations; the first changes nothing.
pub(super) const VARIATIONS: &[Cause] = &[
    cause("as above", &[]),
    cause("window cut at the end of every window of data (htsim)", &["transport.dctcp.cut=every-window"]),
    cause("window cut by every mark (netbench)", &["transport.dctcp.cut=every-mark"]),
    Cause { cards: true, ..cause("cards serve in order of arrival, and mark (netbench)", &[]) },
    cause("packets of 1500 and 9000 bytes with 120 of headers (netbench)", &["transport.dctcp.header=120 B"]),
    cause("alpha begins at 0 (htsim, netbench)", &["transport.dctcp.initial_alpha=0"]),
    cause("marks when a packet leaves (htsim)", &["switch.ecn.step.at=dequeue"]),
    cause("slow start ends at 100 packets (htsim)", &["transport.dctcp.initial_ssthresh=100 pkt"]),
    cause("no selective acknowledgements (htsim)", &["transport.dctcp.sack=false"]),
    cause("acknowledgements delayed, one for two packets", &["transport.dctcp.delayed_ack=2"]),
    cause(
        "frames of Ethernet: 38 bytes more, at least 84",
        &["transport.dctcp.framing=38 B", "transport.dctcp.least_wire=84 B"],
    ),
    cause("no opening by SYN", &["transport.dctcp.handshake=false"]),
    cause("time-outs from 10 ms on", &["transport.dctcp.min_rto=10 ms"]),
    cause("a switch takes 500 ns", &["switch.latency=500 ns"]),
];

/// The rules of two programs, as far as they are known and can be set.
pub(super) const RULES: &[Cause] = &[
    cause(
        "htsim",
        &[
            "transport.dctcp.cut=every-window",
            "transport.dctcp.initial_alpha=0",
            "transport.dctcp.initial_ssthresh=100 pkt",
            "transport.dctcp.sack=false",
            "switch.ecn.step.at=dequeue",
        ],
    ),
    Cause {
        cards: true,
        ..cause(
            "netbench",
            &[
                "transport.dctcp.cut=every-mark",
                "transport.dctcp.initial_alpha=0",
                "transport.dctcp.header=120 B",
            ],
        )
    },
];

impl Cause {
    /// Runs R1 and R2.
    fn runs(&self, ask: Ask, seeds: u64) -> Result<(Vec<PeerFigures>, Vec<PeerFigures>), Error> {
        let cards = if self.cards { cards::in_order() } else { String::new() };
        let cards = Some(cards.as_str()).filter(|_| self.cards);
        let set: Vec<&str> = self.set.iter().copied().chain(cards).collect();
        Ok((ask(self.what, "r1", &set, seeds)?, ask(self.what, "r2", self.set, R2_SEEDS)?))
    }
}

/// Weft's results under the rules of the others, beside theirs.
pub(super) fn alike(ask: Ask) -> Result<String, Error> {
    let mut text = include_str!("alike.txt").to_owned();
    for rules in RULES {
        let (first, second) = rules.runs(ask, R1_SEEDS)?;
        let at_sender =
            |runs: Vec<PeerFigures>| runs.into_iter().map(PeerFigures::at_sender).collect::<Vec<_>>();
        text += &beside(rules.what, &columns(&at_sender(first), &at_sender(second)));
    }
    Ok(text)
}

/// The values of the table's columns over the seeds: the five of R1, and the mean of R2.
fn columns(first: &[PeerFigures], second: &[PeerFigures]) -> [Vec<f64>; 6] {
    let values = |runs: &[PeerFigures], n: usize| runs.iter().filter_map(|run| run.cells[n]).collect();
    std::array::from_fn(|n| if n < 5 { values(first, n) } else { values(second, 4) })
}

/// Four rows: their values, mean, minimum and maximum of ours, and the position of theirs.
fn beside(tool: &str, ours: &[Vec<f64>; 6]) -> String {
    let of = |run| rows(run, "DCTCP and ECMP").into_iter().find(|row| row.tool == tool).map(|row| row.cells);
    let (first, second) = (of("R1").unwrap_or_default(), of("R2").unwrap_or_default());
    let theirs: [Option<f64>; 6] = std::array::from_fn(|n| if n < 5 { first[n] } else { second[4] });
    let mean = |values: &Vec<f64>| Some(values.iter().sum::<f64>() / values.len() as f64);
    let spread = |n: usize| Spread::of(ours[n].iter().copied());
    let range = |n: usize| spread(n).map_or("–".to_owned(), Spread::shown);
    let place = |n: usize| match (spread(n), theirs[n]) {
        (Some(spread), Some(their)) => spread.verdict(their),
        _ => "–".to_owned(),
    };
    let six = [0, 1, 2, 3, 4, 5];
    let mut text = row(tool, &theirs);
    text += &row(
        &format!("**Weft** with the rules of {tool}, mean"),
        &std::array::from_fn::<_, 6, _>(|n| mean(&ours[n])),
    );
    let _ = writeln!(text, "| least to greatest | {} |", six.map(range).join(" | "));
    let _ = writeln!(text, "| where {tool} lies | {} |", six.map(place).join(" | "));
    text
}

/// The effect of each variation alone.
pub(super) fn variations(ask: Ask) -> Result<String, Error> {
    let mut text = include_str!("variations.txt").to_owned();
    let mut unchanged = None;
    for cause in VARIATIONS {
        let (first, second) = cause.runs(ask, 1)?;
        let (first, second) = (first[0], PeerFigures::mean(&second));
        let (base, base2) = *unchanged.get_or_insert((first.cells[4], second.cells[4]));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            cause.what,
            first.cells.map(cell).join(" | "),
            change(first.cells[4], base),
            cell(second.cells[4]),
            change(second.cells[4], base2)
        );
    }
    Ok(text)
}

/// The relative difference of a value from another.
fn change(value: Option<f64>, from: Option<f64>) -> String {
    match (value, from) {
        (Some(value), Some(from)) if value != from => format!("{:+.1} %", (value / from - 1.0) * 100.0),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theirs_is_judged_by_the_spread_of_ours() {
        let ours = std::array::from_fn(|n| if n < 5 { vec![100.0, 140.0] } else { vec![3800.0, 4000.0] });
        let text = beside("htsim", &ours);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "| htsim | 135.2 | 741 | 4564 | 28838 | 2777 | 3892 |");
        assert!(lines[1].ends_with("| 120.0 | 3900 |"), "{}", lines[1]);
        assert!(lines[3].starts_with("| where htsim lies | inside | 429.3 % above |"), "{}", lines[3]);
        assert!(lines[3].ends_with("| inside |"), "{}", lines[3]);
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change(Some(110.0), Some(100.0)), "+10.0 %");
        assert_eq!(change(Some(99.0), Some(100.0)), "-1.0 %");
        assert_eq!(change(Some(100.0), Some(100.0)), "–");
    }
}
