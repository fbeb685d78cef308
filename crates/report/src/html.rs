//! A page as one self-contained HTML file: styles, script and data are inside. Text is written as HTML; the script
//! draws plots from data. Must not depend on how the contents were computed.

use crate::detail::NetworkColumns;
use crate::disk::{DiskError, write_text};
use crate::listing::ExpectationVerdict;
use crate::page::{Card, Page, Repeat, Section, TextTable};

mod jobs;
mod slow;
use crate::text::escaped;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

const STYLE: &str = include_str!("../assets/report.css");
/// The parts of the script, in order; each uses only the parts before it.
const SCRIPT: [&str; 13] = [
    include_str!("../assets/format.js"),
    include_str!("../assets/state.js"),
    include_str!("../assets/svg.js"),
    include_str!("../assets/scale.js"),
    include_str!("../assets/tip.js"),
    include_str!("../assets/lines.js"),
    include_str!("../assets/bars.js"),
    include_str!("../assets/heat.js"),
    include_str!("../assets/map.js"),
    include_str!("../assets/network.js"),
    include_str!("../assets/matrix.js"),
    include_str!("../assets/sort.js"),
    concat!(include_str!("../assets/table.js"), include_str!("../assets/page.js")),
];

/// What every page begins with.
pub const PAGE_BEGIN: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n";

/// Writes the page to `path`.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_report(path: &Path, page: &Page) -> Result<(), DiskError> {
    write_text(path, &page.html())
}

impl Page {
    /// The page as one self-contained HTML document.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escaped(&format!("{}: {}", self.name, self.headline));
        let shown = || self.sections.iter().filter(|section| !section.figures.is_empty());
        let sections: String = shown().map(section).collect();
        let first = shown().next().map_or("headline", |section| section.id.as_str());
        let network = if self.networks.is_empty() { "" } else { NETWORK };
        format!(
            "{PAGE_BEGIN}<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#{first}\">Skip to the answer</a>\n{}<div id=\"controls\" class=\"controls\"></div>\n\
             <noscript><p>The plots need JavaScript; the numbers are in the table below.</p></noscript>\n\
             <main>\n{}{network}{}{sections}{}{}{}{}</main>\n\
             <script type=\"application/json\" id=\"data\">{}</script>\n<script>\n\"use strict\";\n(() => {{\n{}}})();\n\
             </script>\n</body>\n</html>\n",
            head(self),
            jobs::jobs(&self.jobs, &self.open_tasks),
            quiver(&self.quiver),
            slow::table(&self.slow),
            slow::runs(&self.runs),
            numbers(&self.numbers, [self.traffic.as_ref(), self.incidents.as_ref()]),
            repeat(&self.repeat),
            data(self),
            SCRIPT.concat(),
        )
    }
}

const NETWORK: &str = "<section id=\"network\">\n<h2>The network</h2>\n\
    <p class=\"lead\">Where the traffic goes. Hover over a link for its rate, load, drops and longest queue.</p>\n\
    <div class=\"grid\" id=\"networks\"></div>\n</section>\n";

/// The drawing as an image, so that no script in it can run.
fn quiver(svg: &str) -> String {
    if svg.is_empty() {
        return String::new();
    }
    let mut address = String::with_capacity(svg.len() * 2);
    for byte in svg.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b' ' | b'.' | b'-' | b'/' | b':' | b'=' => {
                address.push(char::from(byte));
            }
            _ => address += &format!("%{byte:02X}"),
        }
    }
    format!(
        "<section id=\"quiver\">\n<h2>Symmetric paths</h2>\n\
         <p class=\"lead\">The pair of leaves whose paths form the most symmetric components; flows are hashed to \
         a component by weight. <code>quiver.svg</code> also names the labels of each link.</p>\n\
         <img alt=\"Components of the paths of one pair of leaves\" src=\"data:image/svg+xml,{address}\">\n</section>\n"
    )
}

fn head(page: &Page) -> String {
    let item = |warning: &String| format!("<li>{}</li>\n", prose(warning));
    let warnings: String = page.warnings.iter().map(item).collect();
    let warnings =
        if warnings.is_empty() { warnings } else { format!("<ul class=\"warnings\">\n{warnings}</ul>\n") };
    let cards: String = page.cards.iter().map(card).collect();
    format!(
        "<header>\n<p class=\"name\"><b>{}</b> {}</p>\n{warnings}<h1 id=\"headline\">{}</h1>\n\
         <div class=\"cards\">\n{cards}</div>\n</header>\n",
        escaped(&page.name),
        escaped(&page.about),
        sentences(&page.headline)
    )
}

fn card(card: &Card) -> String {
    let difference = match card.difference.as_str() {
        "" => String::new(),
        words => format!(" <span class=\"difference\">{}</span>", escaped(words)),
    };
    format!(
        "<div class=\"card\"><div class=\"label\">{}</div><div class=\"value\">{}{difference}</div>\
         <div class=\"note\">{}</div></div>\n",
        escaped(&card.label),
        escaped(&card.value),
        escaped(&card.note)
    )
}

/// The first sentence in large type, text in brackets smaller, further sentences below.
fn sentences(text: &str) -> String {
    let (first, rest) = match text.split_once(". ") {
        Some((first, rest)) => (format!("{first}. "), rest),
        None => (text.to_owned(), ""),
    };
    let rest = match rest {
        "" => String::new(),
        words => format!("<span class=\"further\">{}</span>", escaped(words)),
    };
    let (large, small) =
        first.split_once("; ").map_or((first.as_str(), None), |(large, small)| (large, Some(small)));
    let small =
        small.map_or(String::new(), |small| format!("<span class=\"rest\">; {}</span>", aside(small)));
    aside(large) + &small + &rest
}

/// Text in brackets, smaller.
fn aside(text: &str) -> String {
    let mut html = String::new();
    let mut left = text;
    while let Some((before, from)) = left.split_once('(') {
        let (inside, after) = from.split_once(')').unwrap_or((from, ""));
        let close = if from.contains(')') { ")" } else { "" };
        html += &format!("{}<span class=\"aside\">({}{close}</span>", escaped(before), escaped(inside));
        left = after;
    }
    html + &escaped(left)
}

fn section(section: &Section) -> String {
    let Section { id, title, lead, .. } = section;
    format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n<p class=\"lead\">{}</p>\n<div class=\"grid\" data-section=\"{id}\">\
         </div>\n</section>\n",
        escaped(title),
        prose(lead)
    )
}

/// A sentence, with text between backticks as code.
fn prose(text: &str) -> String {
    if !text.matches('`').count().is_multiple_of(2) {
        return escaped(text).to_string();
    }
    let mut html = String::new();
    for (at, part) in text.split('`').enumerate() {
        html +=
            &if at % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part).to_string() };
    }
    html
}

fn cells(tag: &str, cells: &[String]) -> String {
    let cell = |text: &String| format!("<{tag}>{}</{tag}>", escaped(text));
    format!("<tr>{}</tr>\n", cells.iter().map(cell).collect::<String>())
}

fn table(header: &[String], rows: &str, class: &str) -> String {
    format!(
        "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"{class}\">\n<thead>{}</thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</div>\n",
        cells("th", header)
    )
}

fn numbers(numbers: &TextTable, further: [Option<&TextTable>; 2]) -> String {
    let plain = |found: &TextTable| {
        let rows: String = found.rows.iter().map(|row| cells("td", row)).collect();
        table(&found.header, &rows, if found.is_prose { "words" } else { "" })
    };
    let titled = |found: &TextTable| format!("<h3>{}</h3>\n{}", escaped(&found.title), plain(found));
    let further: String = further.into_iter().flatten().map(titled).collect();
    format!(
        "<section id=\"numbers\">\n<h2>The numbers</h2>\n<p class=\"lead\">{}. Everything else is in the files next to \
         this page.</p>\n{}{further}</section>\n",
        escaped(&numbers.title),
        plain(numbers)
    )
}

fn repeat(repeat: &Repeat) -> String {
    let fact = |(name, value): &(String, String)| {
        let value = escaped(value);
        let value = if name == "command" { format!("<code>{value}</code>") } else { value };
        format!("<tr><th scope=\"row\">{}</th><td>{value}</td></tr>\n", escaped(name))
    };
    let facts: String = repeat.facts.iter().map(fact).collect();
    format!(
        "<section id=\"repeat\">\n<h2>How to repeat</h2>\n<p class=\"lead\">{}</p>\n<table class=\"words\"><tbody>\n{facts}</tbody></table>\n{}{}{}</section>\n",
        repeat.same_command.words(),
        verdicts(&repeat.verdicts),
        differences(&repeat.differences),
        scenario(&repeat.scenario)
    )
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn verdicts(verdicts: &[ExpectationVerdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let row = |verdict: &ExpectationVerdict| {
        let (class, word) = if verdict.passed { ("met", "met") } else { ("missed", "missed") };
        let texts = [&verdict.claim, &verdict.expected, &verdict.measured, &verdict.note];
        let [claim, expected, measured, note] = texts.map(|text| escaped(text));
        format!(
            "<tr><td>{claim}</td><td>{expected}</td><td>{measured}</td><td class=\"{class}\">{word}</td>\
             <td>{note}</td></tr>\n"
        )
    };
    let rows: String = verdicts.iter().map(row).collect();
    let header = strings(&["claim", "expected", "measured", "verdict", "note"]);
    format!("<h3>Expectations</h3>\n{}", table(&header, &rows, "words"))
}

fn differences(differences: &[(String, String, String)]) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let row = |(key, a, b): &(String, String, String)| cells("td", &[key.clone(), a.clone(), b.clone()]);
    let rows: String = differences.iter().map(row).collect();
    format!("<h3>Settings that differ</h3>\n{}", table(&strings(&["setting", "a", "b"]), &rows, "words"))
}

fn scenario(toml: &str) -> String {
    if toml.is_empty() {
        return String::new();
    }
    let line = |line: &str| {
        let text = escaped(line);
        if line.trim_end().ends_with("# default") {
            format!("<span class=\"preset\">{text}</span>\n")
        } else {
            text + "\n"
        }
    };
    let lines: String = toml.lines().map(line).collect();
    format!(
        "<p class=\"on-paper\">The complete scenario is in scenario.toml beside this page.</p>\n<details>\n<summary>The complete scenario, with defaults filled in</summary>\n<pre>{lines}</pre>\n</details>\n"
    )
}

/// The shape of a network, which all cases have in common.
#[derive(PartialEq, Serialize)]
struct Shape<'a> {
    name: &'a [String],
    tier: &'a [u8],
    members: &'a [u32],
    from: &'a [u32],
    to: &'a [u32],
    count: &'a [u32],
    rate: &'a [f64],
    hosts: usize,
    switches: usize,
    directions: usize,
}

fn shape(network: &NetworkColumns) -> Shape<'_> {
    let NetworkColumns { nodes, links, hosts, switches, directions, averaged: _, in_arrivals: _ } = network;
    Shape {
        name: &nodes.name,
        tier: &nodes.tier,
        members: &nodes.members,
        from: &links.from,
        to: &links.to,
        count: &links.members,
        rate: &links.rate_gbps,
        hosts: *hosts,
        switches: *switches,
        directions: *directions,
    }
}

/// The networks; equal shapes are written once.
fn networks(page: &Page) -> Value {
    let mut shapes: Vec<Shape<'_>> = Vec::new();
    let mut cases = Vec::new();
    for view in &page.networks {
        let (shape, links) = (shape(&view.network), &view.network.links);
        let known = shapes.iter().position(|other| *other == shape);
        let at = known.unwrap_or(shapes.len());
        if known.is_none() {
            shapes.push(shape);
        }
        cases.push(json!({
            "averaged": view.network.averaged, "scheme": view.scheme, "view": view.view, "shape": at, "load": links.load, "load_max": links.load_max,
            "dropped": links.dropped, "marked": links.marked, "peak": links.peak_bytes, "failed": links.failed,
        }));
    }
    json!({ "shapes": shapes, "cases": cases })
}

/// The data as JSON, escaped so that it cannot end its script element.
fn data(page: &Page) -> String {
    let seeds = page.repeat.facts.iter().find(|(name, _)| name == "seeds");
    let seeds = seeds.map_or(1, |(_, list)| list.split(", ").count());
    let value = json!({
        "schemes": page.schemes, "scheme_name": page.scheme_name, "side": page.side.unwrap_or(page.schemes.len()).max(1), "pair": page.pair, "views": page.views,
        "networks": networks(page), "sections": page.sections, "seeds": seeds,
    });
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_a_sentence_is_code_and_never_markup() {
        assert_eq!(prose("use `--quick` or `<b>`"), "use <code>--quick</code> or <code>&lt;b&gt;</code>");
        assert_eq!(prose("a ` alone & <i>"), escaped("a ` alone & <i>").to_string());
    }

    #[test]
    fn text_from_outside_cannot_become_markup() {
        let page = Page {
            name: "<script>alert(1)</script>".into(),
            headline: "a < b & c".into(),
            schemes: vec!["</script><b>".into()],
            ..Page::default()
        };
        let html = page.html();
        assert!(!html.contains("<script>alert") && !html.contains("</script><b>"));
        assert!(html.contains("<h1 id=\"headline\">a &lt; b &amp; c</h1>"));
        assert_eq!(html.matches("</script>").count(), 2);
    }

    #[test]
    fn the_data_is_json_whatever_the_names() {
        let names = vec!["<!-- <script>".to_owned(), "]]></script>".to_owned(), "a & b \u{2028}".to_owned()];
        let data = data(&Page { schemes: names.clone(), ..Page::default() });
        assert!(!data.contains('<'));
        let value: Value = serde_json::from_str(&data).expect("it is JSON");
        assert_eq!(value["schemes"], json!(names));
    }

    #[test]
    fn a_section_without_figures_is_left_out() {
        let section = |id: &str, figures| Section { id: id.into(), figures, ..Section::default() };
        let sections =
            vec![section("answer", vec![]), section("why", vec![crate::figure::Figure::default()])];
        let html = Page { sections, ..Page::default() }.html();
        assert!(!html.contains("<section id=\"answer\"") && html.contains("<section id=\"why\""));
        assert!(html.contains("href=\"#why\"") && Page::default().html().contains("href=\"#headline\""));
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let html = Page::default().html().replace("http://www.w3.org/2000/svg", "");
        for word in ["http:", "https:", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!html.contains(word), "{word}");
        }
    }

    #[test]
    fn networks_of_one_shape_are_stored_once() {
        let view = |scheme| crate::page::NetworkView { scheme, view: 0, network: NetworkColumns::default() };
        let page = Page { networks: vec![view(0), view(1)], ..Page::default() };
        let value = networks(&page);
        assert_eq!(value["shapes"].as_array().unwrap().len(), 1);
        assert_eq!(value["cases"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn settings_left_at_their_default_are_dim() {
        let html = scenario("buffer = \"12 MiB\"  # default\nload = 0.8\n");
        assert!(
            html.contains(
                "<span class=\"preset\">buffer = &quot;12 MiB&quot;  # default</span>\nload = 0.8\n"
            )
        );
    }
}
