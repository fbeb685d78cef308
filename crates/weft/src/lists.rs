//! `weft list`: the names that a scenario may use, taken from the lists in the code.

use std::iter;

use weft_core::settings::{Family, Field, Kind, Table};
use weft_core::units::did_you_mean;
use weft_draw::{WIDTH, wrapped};
use weft_report::columns::{FILES, TABLES, TableWords};
use weft_report::metric::Metric;
use weft_scenario::{TEMPLATES, explained, families};
use weft_workload::sizes;

use crate::{Error, importer};

/// Longer names get a line of their own.
const LONGEST_NAME: usize = 26;

/// Maximum number of settings listed on one line.
const NAMED: usize = 12;

/// Name and meaning.
type Row = (String, String);

/// A topic that can be listed.
struct Topic {
    name: String,
    /// Where the names are used in a scenario or on the command line.
    place: String,
    rows: Vec<Row>,
}

fn topics() -> Vec<Topic> {
    let mut topics: Vec<Topic> = families().iter().map(|(path, family)| choices(path, family)).collect();
    let more: [(&str, &str, Vec<Row>); 5] = [
        ("sizes", "sizes = NAME in [[traffic]]", bundled()),
        ("metrics", "names for [[expect]], sweep.csv and compare", metrics()),
        ("columns", "files of results and the columns of tables, as .csv and .parquet", columns()),
        ("templates", "weft new NAME", templates()),
        ("imports", "weft import NAME FILES", importer::formats()),
    ];
    let topic = |(name, place, rows): (&str, &str, Vec<Row>)| Topic {
        name: name.to_owned(),
        place: place.to_owned(),
        rows,
    };
    topics.extend(more.map(topic));
    topics
}

/// The rows of a topic, the settings of a family member, or the topics.
pub(crate) fn list(topic: Option<&str>) -> Result<String, Error> {
    let topics = topics();
    let Some(wanted) = topic else {
        let rows: Vec<Row> = topics.into_iter().map(|topic| (topic.name, topic.place)).collect();
        return Ok(table("weft list TOPIC", &rows));
    };
    let names = || topics.iter().map(|topic| topic.name.as_str());
    let known = topics.iter().find(|topic| topic.name == wanted);
    known.map(|topic| table(&topic.place, &topic.rows)).or_else(|| members(wanted)).ok_or_else(|| {
        let families = families();
        let members = families.iter().flat_map(|(_, family)| family.members.iter().map(|member| member.name));
        let hint = did_you_mean(wanted, names().chain(members));
        let allowed: Vec<&str> = names().collect();
        let message = format!("there is no list `{wanted}`{hint}\nallowed: {}", allowed.join(", "));
        Error::BadInput(message + "; or a name that has settings, such as drill")
    })
}

/// The settings of a member with this name: a balancer, a transport, a topology.
fn members(name: &str) -> Option<String> {
    let families = families();
    let found =
        families.iter().flat_map(|(path, family)| family.members.iter().map(move |member| (path, member)));
    let shown = found.filter(|(_, member)| member.name == name).map(|(path, member)| {
        let title = wrapped(&format!("{name}: {}", member.summary), WIDTH).join("\n");
        let place = format!("{title}\nsettings of `{path}`:");
        match explained(member.table) {
            none if none.is_empty() => format!("{title}\nno settings (`{path}`)\n"),
            rows => table(&place, &rows),
        }
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join("\n"))
}

/// The members of a family; `path` is the setting that chooses one.
fn choices(path: &str, family: &Family) -> Topic {
    let place = match path.rsplit_once('.') {
        None => format!("{path} = NAME, or [{path}.NAME]"),
        Some((section, "kind")) => format!("kind = NAME in [[{section}]]"),
        Some((section, key)) => format!("{key} = NAME in [{section}], or [{path}.NAME]"),
    };
    let row = |member: &weft_core::settings::Member| {
        (member.name.to_owned(), format!("{}\nsettings: {}", member.summary, first_names(member.table)))
    };
    Topic { name: plural(family.name), place, rows: family.members.iter().map(row).collect() }
}

/// The names of settings, as many as fit into a readable list.
fn first_names(table: &Table) -> String {
    let names = names(table);
    match names.len() {
        0 => "none".to_owned(),
        more if more > NAMED => format!("{} and {} more", names[..NAMED].join(", "), more - NAMED),
        _ => names.join(", "),
    }
}

/// The settings of a table, including shared ones.
fn names(table: &Table) -> Vec<&'static str> {
    let of = |field: &Field| match field.kind {
        Kind::Flatten(shared) => names(shared),
        _ => vec![field.name],
    };
    table.fields.iter().flat_map(of).collect()
}

/// `balancers`, `topologies`; a word that is not a countable noun is unchanged.
fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with("ing") => noun.to_owned(),
        None => format!("{noun}s"),
    }
}

fn bundled() -> Vec<Row> {
    sizes::BUNDLED.iter().map(|sizes| (sizes.name.to_owned(), sizes.about.to_owned())).collect()
}

fn metrics() -> Vec<Row> {
    let unit =
        |metric: &Metric| if metric.unit.is_empty() { String::new() } else { format!(" [{}]", metric.unit) };
    let row = |metric: &Metric| (metric.path.to_owned(), format!("{}{}", metric.meaning, unit(metric)));
    let words = weft_report::metric::placeholders().into_iter().map(|(name, words)| (name.to_owned(), words));
    weft_report::Summary::METRICS.iter().map(row).chain(words).collect()
}

fn columns() -> Vec<Row> {
    let files = FILES.iter().map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned()));
    let row = |(name, unit, meaning): &(&str, &str, &str)| {
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        (format!("  {name}"), format!("{meaning}{unit}"))
    };
    let of = |table: &TableWords| {
        let title = (table.name.to_owned(), table.rows.to_owned());
        iter::once(title).chain(table.all().map(row)).collect::<Vec<_>>()
    };
    files.chain(TABLES.iter().flat_map(of)).collect()
}

/// The reference page of files and columns.
pub(crate) fn columns_page() -> String {
    let files: String = FILES.iter().map(|(name, meaning)| format!("| `{name}` | {meaning} |\n")).collect();
    let row = |(name, unit, meaning): &(&str, &str, &str)| format!("| `{name}` | {unit} | {meaning} |\n");
    let table = |table: &TableWords| {
        let rows: String = table.all().map(row).collect();
        format!("\n## {}\n\n{}\n\n| column | unit | meaning |\n|---|---|---|\n{rows}", table.name, table.rows)
    };
    let tables: String = TABLES.iter().map(table).collect();
    format!("{COLUMNS_INTRODUCTION}\n| file | contents |\n|---|---|\n{files}{tables}")
}

const COLUMNS_INTRODUCTION: &str = r#"# Files and columns

`weft run` writes `runs/<name>/<case>-<hash>/seed-<n>/`. A table lies there as Parquet, and as CSV with the same columns if it has at most
10 000 rows or `measure.csv = "all"` asks for it; `measure.csv = "never"` writes none. In Parquet the metadata of a column's field has
its unit, under `unit`, and so has that of the file, under `unit.<column>`. Columns of what an engine does not measure, or what a
transport does not have, are absent. `path` in `sweep` leads from a row of the sweep to the tables of that run; `case` and `seed`
identify a run in all tables. [Read the results](../reading-results.md) has recipes.
"#;

fn templates() -> Vec<Row> {
    TEMPLATES.iter().map(|template| (template.kind.to_owned(), template.summary.to_owned())).collect()
}

/// Names and meanings in two columns; a long meaning continues below itself.
fn table(title: &str, rows: &[Row]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).filter(|length| *length <= LONGEST_NAME);
    let width = width.max().unwrap_or(0);
    let lines: String = rows.iter().map(|(name, meaning)| entry(name, meaning, width)).collect();
    format!("{title}\n{lines}")
}

fn entry(name: &str, meaning: &str, width: usize) -> String {
    let lines: Vec<String> = meaning.lines().flat_map(|line| wrapped(line, WIDTH - width - 4)).collect();
    let (beside, below) =
        if name.len() > width { ("", lines.as_slice()) } else { (lines[0].as_str(), &lines[1..]) };
    let first = format!("  {name:width$}  {beside}").trim_end().to_owned();
    let rest = below.iter().map(|line| format!("{:indent$}{line}\n", "", indent = width + 4));
    format!("{first}\n{}", rest.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_lists_names_in_eighty_columns() {
        let topics = topics();
        assert!(topics.len() >= 10);
        for topic in topics {
            assert!(!topic.rows.is_empty(), "{}", topic.name);
            let text = list(Some(&topic.name)).expect("it is a topic");
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        }
    }

    #[test]
    fn every_family_of_the_scenario_file_is_a_topic() {
        let text = list(None).expect("the topics");
        for (path, family) in families() {
            let section = path.rsplit_once('.').map_or(path.as_str(), |(section, _)| section);
            assert!(text.contains(&plural(family.name)) && text.contains(section), "{path}");
        }
    }

    #[test]
    fn every_member_of_a_family_is_explained_in_eighty_columns() {
        for (_, family) in families() {
            for member in family.members {
                let text = list(Some(member.name)).expect(member.name);
                assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
            }
        }
        let drill = list(Some("drill")).expect("a balancer");
        assert!(drill.contains("settings of `balance`") && drill.contains("default: 2"), "{drill}");
    }

    #[test]
    fn a_misspelt_topic_is_refused_with_the_nearest() {
        let message = list(Some("balancer")).expect_err("no such topic").to_string();
        assert!(message.contains("did you mean `balancers`?"), "{message}");
    }
}
