//! `weft list`: the names a scenario may use, from the lists that the code itself uses.

use weft_core::settings::Family;
use weft_core::units::did_you_mean;
use weft_report::metric::Metric;
use weft_scenario::TEMPLATES;
use weft_switch::BalancerSettings;
use weft_switch::mark::MarkerSettings;
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::SharingSettings;
use weft_topology::TopologySettings;
use weft_transport::TransportSettings;
use weft_workload::{PatternSettings, sizes};

use crate::Error;

/// A topic, what it lists, and its rows.
type Topic = (&'static str, &'static str, fn() -> Vec<(String, String)>);

const TOPICS: &[Topic] = &[
    ("topologies", "[topology.NAME]", || members(&TopologySettings::FAMILY)),
    ("balancers", "balance = NAME, or [balance.NAME]", || members(&BalancerSettings::FAMILY)),
    ("transports", "[transport.NAME]", || members(&TransportSettings::FAMILY)),
    ("patterns", "kind = NAME in [[traffic]]", || members(&PatternSettings::FAMILY)),
    ("sizes", "sizes = NAME in [[traffic]]", bundled),
    ("sharing", "sharing = { kind = NAME } in [switch]", || members(&SharingSettings::FAMILY)),
    ("markers", "ecn = { kind = NAME } in [switch]", || members(&MarkerSettings::FAMILY)),
    ("schedulers", "schedule = NAME in [switch]", || members(&SchedulerSettings::FAMILY)),
    ("metrics", "names for [[expect]] and compare", metrics),
    ("templates", "weft new NAME", templates),
];

/// The rows of a topic, or the topics.
pub(crate) fn list(topic: Option<&str>) -> Result<String, Error> {
    let Some(wanted) = topic else {
        let rows: Vec<_> =
            TOPICS.iter().map(|(name, what, _)| ((*name).to_owned(), (*what).to_owned())).collect();
        return Ok(table("weft list TOPIC", &rows));
    };
    match TOPICS.iter().find(|(name, ..)| *name == wanted) {
        Some((_, what, rows)) => Ok(table(what, &rows())),
        None => {
            let hint = did_you_mean(wanted, TOPICS.iter().map(|(name, ..)| *name));
            let allowed: Vec<&str> = TOPICS.iter().map(|(name, ..)| *name).collect();
            Err(Error::BadInput(format!(
                "there is no list `{wanted}`{hint}\nallowed: {}",
                allowed.join(", ")
            )))
        }
    }
}

fn members(family: &Family) -> Vec<(String, String)> {
    family.members.iter().map(|member| (member.name.to_owned(), member.summary.to_owned())).collect()
}

fn bundled() -> Vec<(String, String)> {
    sizes::BUNDLED.iter().map(|sizes| (sizes.name.to_owned(), sizes.about.to_owned())).collect()
}

fn metrics() -> Vec<(String, String)> {
    let unit =
        |metric: &Metric| if metric.unit.is_empty() { String::new() } else { format!(" [{}]", metric.unit) };
    let row = |metric: &Metric| (metric.path.to_owned(), format!("{}{}", metric.meaning, unit(metric)));
    weft_report::Summary::METRICS.iter().map(row).collect()
}

fn templates() -> Vec<(String, String)> {
    TEMPLATES.iter().map(|template| (template.kind.to_owned(), template.summary.to_owned())).collect()
}

/// Names and meanings in two columns.
fn table(title: &str, rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: String = rows.iter().map(|(name, meaning)| format!("  {name:width$}  {meaning}\n")).collect();
    format!("{title}\n{lines}")
}
