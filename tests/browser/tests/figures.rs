//! Figures in a real browser where their data are awkward: few values, long names, networks without a fabric.

use serde_json::json;
use std::path::{Path, PathBuf};
use weft_browser_tests::browser::Browser;
use weft_browser_tests::synthetic::{self, SCHEMES};
use weft_core::record::{LinkRecord, NodeRecord, RunRecord, Stop};
use weft_core::{Bytes, Rate, Span, Time};
use weft_report::detail::Detail;
use weft_report::{Page, Run, RunFacts, Summary, Sweep, page, write_report};

/// Writes a page to a fresh folder and opens it.
fn opened(name: &str, page: &Page) -> (Browser, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let file = folder.join("report.html");
    write_report(&file, page).expect("the report is written");
    let mut browser = Browser::start(&folder.join("profile"), 1280, 900);
    browser.open(&file, "");
    browser.screenshot(&folder.join("light.png"));
    (browser, folder)
}

/// Texts of plots that reach out of them, and places that are no numbers.
const ASTRAY: &str = r#"[...document.querySelectorAll("svg.plot")].flatMap((svg) => {
  const box = svg.getBoundingClientRect();
  const out = (text) => { const b = text.getBoundingClientRect(); return b.left < box.left - 1 || b.right > box.right + 1; };
  const wrong = (element) => [...element.attributes].some((one) => /NaN|Infinity/.test(one.value));
  return [...[...svg.querySelectorAll("text")].filter(out), ...[...svg.querySelectorAll("*")].filter(wrong)].map((element) => element.outerHTML.slice(0, 120));
})"#;

/// A few flows of one size have slowdowns between two round numbers.
#[test]
fn an_axis_without_a_round_number_has_ticks() {
    let mut run = synthetic::run(&SCHEMES[0], "0.8", 1, 300);
    for (n, class) in run.summary.equal20.iter_mut().enumerate() {
        let value = |add: f64| Some(3.86 + add + n as f64 / 1_000.0);
        (class.slowdown.p50, class.slowdown.p95, class.slowdown.p99) = (value(0.0), value(0.2), None);
    }
    let (mut browser, _) = opened("ticks", &page::of_run(&run, &[]));
    assert_eq!(browser.evaluate(ASTRAY), json!([]));
    let ticks = "document.querySelectorAll('figure[data-figure=slowdown] .grid-line').length >= 2";
    assert_eq!(browser.evaluate(ticks), true);
}

#[test]
fn long_names_of_schemes_stay_in_their_figures() {
    let mut runs = synthetic::sweep(2, 300);
    for run in &mut runs {
        let name = &mut run.manifest.labels[0].1;
        *name = format!(
            "a name of a scheme that is much longer than any figure has room for, which is why it must be broken: {name}"
        );
    }
    let at_one_load: Vec<Run> =
        runs.iter().filter(|run| run.label("traffic.trace.load") == "0.8").cloned().collect();
    for (name, runs) in [("long-lines", runs), ("long-bars", at_one_load)] {
        let (mut browser, folder) = opened(name, &page::of_sweep(&Sweep::new(runs), &[]));
        assert_eq!(browser.evaluate(ASTRAY), json!([]), "{}", folder.display());
        let names = r#"[...document.querySelectorAll("figure[data-figure=mean] svg.plot text")]
          .map((text) => [...text.querySelectorAll("tspan")].map((line) => line.textContent).join(" "))
          .filter((text) => text.startsWith("a name"))"#;
        let names = browser.evaluate(names);
        let names: std::collections::BTreeSet<&str> =
            names.as_array().expect("a list").iter().filter_map(|name| name.as_str()).collect();
        let ends = SCHEMES.iter().all(|scheme| names.iter().any(|name| name.ends_with(scheme.name)));
        assert!(ends, "{names:?}");
    }
}

/// Twelve schemes, most of them alike: every name has a line of its own, in the order of the ends of the lines, so that no
/// two leaders cross.
#[test]
fn names_of_many_schemes_do_not_collide() {
    let mut runs = Vec::new();
    for number in 0..12 {
        let mut some = synthetic::sweep(2, 300);
        some.retain(|run| run.label("balance") == SCHEMES[number % 3].name);
        some.iter_mut().for_each(|run| run.manifest.labels[0].1 = format!("scheme {number}"));
        runs.extend(some);
    }
    let (mut browser, folder) = opened("many", &page::of_sweep(&Sweep::new(runs), &[]));
    assert_eq!(browser.evaluate(ASTRAY), json!([]), "{}", folder.display());
    let labels = r#"[...document.querySelectorAll("figure[data-figure=mean] svg.plot g")]
      .filter((group) => group.querySelector(":scope > text") && group.querySelector(":scope > .leader"))
      .map((group) => {
        const box = group.querySelector("text").getBoundingClientRect();
        const [, from, to] = group.querySelector(".leader").getAttribute("d").match(/M\S+ (\S+)L\S+ (\S+)/).map(Number);
        return { top: box.top, bottom: box.bottom, from, to };
      }).sort((a, b) => a.top - b.top)"#;
    let labels = browser.evaluate(labels);
    let labels = labels.as_array().expect("a list");
    assert_eq!(labels.len(), 13, "twelve schemes and the lower bound");
    let number = |label: &serde_json::Value, key: &str| label[key].as_f64().expect("a number");
    for pair in labels.windows(2) {
        let (one, next) = (&pair[0], &pair[1]);
        assert!(number(one, "bottom") <= number(next, "top") + 1.0, "{one} covers {next}");
        assert!(
            number(one, "from") <= number(next, "from") && number(one, "to") < number(next, "to"),
            "{one} crosses {next}"
        );
    }
}

/// A network of hosts and the switches with these names, each with a load from the first host of 10 % and to it of 95 %.
fn run_in(switches: &[&str], hosts: u32) -> Run {
    let host = |n: u32| NodeRecord { name: format!("host{n}"), tier: 0 };
    let switch = |name: &&str| NodeRecord { name: (*name).to_owned(), tier: 1 };
    let link = |from, to, share: u64| LinkRecord {
        from,
        to,
        rate: Rate::from_gbps(10),
        sent: Bytes(share * 12_500),
        ..LinkRecord::default()
    };
    let links = (0..hosts).flat_map(|n| [link(n, hosts, 10), link(hosts, n, if n == 0 { 95 } else { 0 })]);
    let record = RunRecord {
        nodes: (0..hosts).map(host).chain(switches.iter().map(switch)).collect(),
        links: links.collect(),
        ended: Time::ZERO + Span::from_ms(1),
        stop: Stop::Finished,
        ..RunRecord::default()
    };
    Run {
        summary: Summary::new(&record, &RunFacts::default()),
        detail: Detail::new(&record),
        manifest: synthetic::manifest(&SCHEMES[0], "0.8", 1),
        ..Run::default()
    }
}

/// Heading, samples and the names of tiers of the drawing of a network.
fn network(run: &Run) -> String {
    let (mut browser, _) = opened("network", &page::of_run(run, &[]));
    let words = r#"(() => {
      const of = (part) => [...document.querySelectorAll("figure[data-figure^=network] " + part)].map((text) => text.textContent);
      return [...of("h3"), ...of(".samples"), ...of('.tick[x="0"]')].join("; ");
    })()"#;
    browser.evaluate(words).as_str().unwrap_or_default().replace('\u{202f}', " ")
}

#[test]
fn links_without_a_fabric_are_called_links_and_ranges_are_those_of_links() {
    let one = network(&run_in(&["switch0"], 5));
    assert_eq!(one, "Links are 0 % to 95.0 % busy; 5 hosts, 1 switch, 10 link directions; switch; hosts");
    let merged = network(&run_in(&["switch0"], 41));
    assert!(merged.starts_with("Links are up to 95.0 % busy; 41 hosts"), "{merged}");
    let two = network(&run_in(&["left", "right"], 5));
    assert!(two.ends_with("; switches; hosts"), "{two}");
    let fabric = network(&synthetic::run(&SCHEMES[0], "0.8", 1, 50));
    assert!(fabric.starts_with("Fabric links are "), "{fabric}");
}

/// A bar of a scheme without the metric has no value, not zero.
#[test]
fn a_bar_of_what_is_not_measured_has_no_number() {
    let mut runs: Vec<Run> = [0, 1, 2]
        .into_iter()
        .flat_map(|scheme| [1, 2].map(|seed| synthetic::run(&SCHEMES[scheme], "0.8", seed, 300)))
        .collect();
    for run in &mut runs[2..4] {
        run.summary.not_measured.push("duplicate ACKs".to_owned());
        let reordering = run.summary.reordering.as_mut().expect("it is recorded");
        reordering.duplicate_acks = None;
    }
    let (mut browser, _) = opened("absent", &page::of_sweep(&Sweep::new(runs), &[]));
    let numbers = r#"[...document.querySelectorAll("figure[data-figure=dupacks] text.halo")].map((text) => text.textContent)"#;
    let numbers = browser.evaluate(numbers);
    let numbers = numbers.as_array().expect("a list");
    assert_eq!(numbers.iter().filter(|number| **number == "–").count(), 1, "{numbers:?}");
    assert_eq!(numbers.len(), 3);
}
