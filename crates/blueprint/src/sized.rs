//! How many servers a router takes, as tables and as a plot over its ports.

use std::fmt::Write as _;

use weft_cluster::sizing::{
    ClusterSize, Era, Linking, OF_2009, OF_TODAY, SWITCH_PORTS, ServerKind, clos_price, clos_switches,
    cluster_price, largest_mesh, size,
};
use weft_core::Rate;
use weft_draw::Columns;
use weft_draw::figure::{Axis, Figure, Series};
use weft_draw::text::{count, plural};

/// The greatest router of the tables, as a power of two: 2048 ports.
const MOST: u32 = 11;
/// The most external ports.
pub const MOST_PORTS: u32 = 1 << 20;

/// Reads a rate as people write it.
///
/// # Errors
/// A message with the allowed values.
pub fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|error| format!("--rate: `{text}`: {error}"))
}

/// A question about the size of a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeQuestion {
    /// External ports; `None`: only the overview.
    pub ports: Option<u32>,
    /// Servers, switches and prices; `rate` is that of an external port.
    pub era: Era,
}

impl SizeQuestion {
    /// Costs and servers of a year: `2009` or `today`; `rate` overrides the port rate of that time.
    ///
    /// # Errors
    /// A message with the allowed values.
    pub fn new(ports: Option<u32>, rate: Option<Rate>, era: &str) -> Result<SizeQuestion, String> {
        let era = match era {
            "2009" => OF_2009,
            "today" => OF_TODAY,
            other => return Err(format!("`{other}` is no time of servers; allowed: 2009, today")),
        };
        if ports.is_some_and(|ports| ports == 0 || ports > MOST_PORTS) {
            return Err(format!("a router has from 1 to {MOST_PORTS} ports"));
        }
        let rate = rate.unwrap_or(era.rate);
        if rate < Rate::from_mbps(1) || rate > Rate::from_gbps(10_000) {
            return Err(format!("{rate} is no rate of a port; allowed: 1 Mbps to 10 Tbps"));
        }
        Ok(SizeQuestion { ports, era: Era { rate, ..era } })
    }

    /// Replaces the assumed prices.
    #[must_use]
    pub fn priced(mut self, server: Option<f64>, switch: Option<f64>) -> SizeQuestion {
        self.era.server_price = server.unwrap_or(self.era.server_price);
        self.era.switch_price = switch.unwrap_or(self.era.switch_price);
        self
    }

    /// The answer for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let era = &self.era;
        let mut text = format!("routers of {} ports, servers of {}\n", era.rate, when(era));
        if let Some(ports) = self.ports {
            text += &self.answer(ports);
        }
        text += "\nservers by ports (m: full mesh, n x k: k-ary n-fly)\n";
        text += &self.overview();
        for kind in era.servers {
            let most = match size(kind, 1, era.rate) {
                Some(_) => format!("full mesh up to {}", plural(largest_mesh(kind, era.rate).into(), "port")),
                None => "too few slots for external ports".to_owned(),
            };
            let _ = writeln!(text, "{}: {most}", kind.name);
        }
        let (server, switch) = (era.server_price, era.switch_price);
        let _ = writeln!(
            text,
            "\nAssumed prices, not published: {server:.0} for a server, {switch:.0} for a switch of {SWITCH_PORTS} ports."
        );
        text += "The Clos network joins the servers whose external ports these are; in the overview they are of the first kind.\n";
        text
    }

    /// One row for each kind of server.
    fn answer(&self, ports: u32) -> String {
        let header =
            ["server", "linked", "servers", "of these relays", "link", "cables", "price", "Clos instead"];
        let row = |kind: &ServerKind| {
            let clos = format!(
                "{} ({})",
                price(clos_price(ports, kind, &self.era)),
                plural(clos_switches(ports.into()), "switch")
            );
            let Some(size) = size(kind, ports, self.era.rate) else {
                return vec![
                    kind.name.to_owned(),
                    "too few slots".to_owned(),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                    clos,
                ];
            };
            let (cables, rate) = size.cables;
            vec![
                kind.name.to_owned(),
                linking(&size),
                count(size.servers),
                count(size.relays),
                gbps(size.link),
                format!("{cables} x {}", gbps(rate)),
                price(cluster_price(&size, &self.era)),
                clos,
            ]
        };
        let rows: Vec<Vec<String>> = self.era.servers.iter().map(row).collect();
        format!("\n{} ports\n{}{}", count(ports.into()), Columns::table(&header, &rows), self.direct(ports))
    }

    /// What Direct VLB needs of the links of meshes, which are sized for classic VLB; empty without meshes.
    fn direct(&self, ports: u32) -> String {
        let line = |kind: &ServerKind| {
            let size = size(kind, ports, self.era.rate)?;
            let (most, (cables, each)) = (size.direct_link()?, size.cables);
            let enough = if most.0 > each.0 * u64::from(cables) {
                "more than its cables carry"
            } else {
                "its cables suffice"
            };
            Some(format!("  {}: up to {} ({enough})\n", kind.name, gbps(most)))
        };
        let lines: String = self.era.servers.iter().filter_map(line).collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!(
                "\nLinks are sized for classic VLB. Direct VLB may put more on a link of a mesh:\n{lines}"
            ),
        }
    }

    /// One row for each power of two.
    fn overview(&self) -> String {
        let names: Vec<&str> = self.era.servers.iter().map(|kind| kind.name).collect();
        let header: Vec<&str> = ["ports"].into_iter().chain(names).chain(["Clos, in servers"]).collect();
        let row = |ports: u32| {
            let cell = |kind: &ServerKind| {
                size(kind, ports, self.era.rate)
                    .map_or("-".to_owned(), |size| format!("{} {}", count(size.servers), short(&size)))
            };
            let clos = self.clos_in_servers(ports);
            let first = std::iter::once(ports.to_string());
            first.chain(self.era.servers.iter().map(cell)).chain([format!("{clos:.0}")]).collect()
        };
        let rows: Vec<Vec<String>> = sizes().map(row).collect();
        Columns::table(&header, &rows)
    }

    fn clos_in_servers(&self, ports: u32) -> f64 {
        clos_price(ports, &self.era.servers[0], &self.era) / self.era.server_price
    }

    /// Servers over ports, as a picture (SVG).
    #[must_use]
    pub fn plot(&self) -> String {
        weft_draw::lines(&self.figure())
    }

    /// Servers over ports.
    #[must_use]
    pub fn figure(&self) -> Figure {
        let x: Vec<f64> = sizes().map(f64::from).collect();
        let series = |(scheme, kind): (usize, &ServerKind)| Series {
            name: kind.name.to_owned(),
            scheme: Some(scheme),
            x: x.clone(),
            y: sizes().map(|ports| Some(size(kind, ports, self.era.rate)?.servers as f64)).collect(),
            ..Series::default()
        };
        let clos = Series {
            name: format!("Clos of {SWITCH_PORTS}-port switches"),
            reference: true,
            x: x.clone(),
            y: sizes().map(|ports| Some(self.clos_in_servers(ports))).collect(),
            ..Series::default()
        };
        Figure {
            id: "servers".to_owned(),
            title: format!("Servers of a router, ports of {}", self.era.rate),
            x: Axis::log("external ports", ""),
            y: Axis::log("servers, or their price in switches", ""),
            series: self.era.servers.iter().enumerate().map(series).chain([clos]).collect(),
            ..Figure::default()
        }
    }
}

fn when(era: &Era) -> &'static str {
    if era.name == "2009" { "2009" } else { "today" }
}

fn sizes() -> impl Iterator<Item = u32> {
    (2..=MOST).map(|power| 1 << power)
}

fn gbps(rate: Rate) -> String {
    format!("{} Gbps", weft_draw::text::number(rate.gbps()))
}

fn price(amount: f64) -> String {
    count(amount.round() as u64)
}

fn linking(size: &ClusterSize) -> String {
    match size.linking {
        Linking::Alone => "one server".to_owned(),
        Linking::Mesh => "full mesh".to_owned(),
        Linking::Fly(arity, ranks) => format!("{arity}-ary {ranks}-fly"),
    }
}

fn short(size: &ClusterSize) -> String {
    match size.linking {
        Linking::Alone => String::new(),
        Linking::Mesh => "m".to_owned(),
        Linking::Fly(arity, ranks) => format!("{ranks}x{arity}"),
    }
}
