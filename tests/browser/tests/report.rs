//! A generated report in a real browser: it is complete, silent and self-contained, and it says what the files say.

use serde_json::Value;
use std::path::{Path, PathBuf};
use weft_browser_tests::browser::Browser;
use weft_browser_tests::synthetic::{self, SCHEMES};
use weft_report::text::duration;
use weft_report::{
    Comparison, ExpectationVerdict, Kept, Page, Sweep, page, read_runs, write_report, write_run,
};

/// A fresh folder for one test's files.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

fn verdicts() -> Vec<ExpectationVerdict> {
    vec![ExpectationVerdict {
        claim: "mean FCT of ecmp by that of drill at 80 % load".into(),
        expected: "1.6 within 15 %".into(),
        measured: "1.62 (1.58–1.66)".into(),
        passed: true,
        note: "section 4".into(),
    }]
}

/// Writes a page and opens it.
fn opened(folder: &Path, page: &Page) -> Browser {
    let file = folder.join("report.html");
    write_report(&file, page).expect("the report is written");
    let mut browser = Browser::start(&folder.join("profile"), 1280, 900);
    browser.open(&file, "");
    browser
}

/// Looks at a page in light, dark and narrow, and keeps the pictures.
fn looks_right_everywhere(browser: &mut Browser, folder: &Path) {
    let file = folder.join("report.html");
    browser.media("dark", "screen");
    browser.open(&file, "");
    contrast_is_sufficient(browser);
    browser.screenshot(&folder.join("dark.png"));
    browser.resize(390, 844);
    browser.media("light", "screen");
    browser.open(&file, "");
    assert_eq!(
        browser.evaluate("document.documentElement.scrollWidth"),
        390,
        "the narrow page scrolls sideways"
    );
    browser.screenshot(&folder.join("narrow.png"));
    browser.resize(1280, 900);
    browser.open(&file, "");
    contrast_is_sufficient(browser);
    browser.screenshot(&folder.join("light.png"));
}

/// The page printed no message, threw nothing and asked for nothing but itself.
fn silent_and_alone(browser: &Browser) {
    for method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"] {
        assert_eq!(browser.seen(method), Vec::<&Value>::new(), "{method}");
    }
    for request in browser.seen("Network.requestWillBeSent") {
        let url = request["params"]["request"]["url"].as_str().unwrap_or_default();
        let own = url.starts_with("file:") && url.contains("report.html");
        assert!(own || url.starts_with("data:") || url.starts_with("blob:"), "request for {url}");
    }
}

/// Every text has at least 4.5:1 against what is behind it (WCAG 2.2, 1.4.3).
fn contrast_is_sufficient(browser: &mut Browser) {
    let script = r#"(() => {
      const light = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
      const behind = (element) => { for (let e = element; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return "rgb(255,255,255)"; };
      const bad = [];
      for (const element of document.querySelectorAll("h1, h2, h3, p, li, td, th, figcaption, button, select, summary, .samples, .card .label, .value, .note, .plot text")) {
        const style = getComputedStyle(element);
        const [a, b] = [light(element.closest("svg.plot") ? style.fill : style.color), light(behind(element))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(element.tagName + " " + element.className + ": " + element.textContent.slice(0, 30));
      }
      return bad.slice(0, 5);
    })()"#;
    assert_eq!(browser.evaluate(script), serde_json::json!([]), "too little contrast");
}

/// Every figure on the page has marks that take up room, a title, a caption and a count.
fn every_plot_has_marks(browser: &mut Browser, least: u64) {
    let script = r#"[...document.querySelectorAll("figure:not([hidden])")].map((figure) => ({
      id: figure.dataset.figure,
      marks: [...figure.querySelectorAll(".mark, .series-line")].filter((mark) => { const b = mark.getBoundingClientRect(); return b.width + b.height > 0; }).length,
      words: ["h3", ".samples", "figcaption"].every((part) => figure.querySelector(part).textContent.trim().length > 5),
    }))"#;
    let figures = browser.evaluate(script);
    let figures = figures.as_array().expect("a list of figures");
    assert!(figures.len() as u64 >= least, "only {} figures", figures.len());
    for figure in figures {
        assert!(figure["words"] == true, "{figure}");
        assert!(figure["marks"].as_u64() > Some(0), "{figure} is blank");
    }
}

/// The table view of every figure has the same cells as its CSV.
fn tables_equal_csv(browser: &mut Browser) {
    let script = r#"(async () => {
      const saved = [];
      URL.createObjectURL = (blob) => { saved.push(blob); return ""; };
      HTMLAnchorElement.prototype.click = () => {};
      const names = [...document.querySelectorAll("figure:not([hidden])")].map((figure) => figure.dataset.figure);
      const found = [];
      for (const name of names) {
        const press = (label) => [...document.querySelectorAll(`figure[data-figure="${name}"] button`)].find((b) => b.textContent === label).click();
        press("Table");
        press("CSV");
        const cells = (row) => [...row.children].map((cell) => cell.textContent);
        const table = [...document.querySelectorAll(`figure[data-figure="${name}"] tr`)].map(cells);
        found.push([name, table, await saved.pop().text()]);
        press("Table");
      }
      return found;
    })()"#;
    let figures = browser.evaluate(script);
    for figure in figures.as_array().expect("a list of figures") {
        let csv = figure[2].as_str().unwrap_or_default();
        let rows: Vec<Vec<String>> = csv.lines().map(cells).collect();
        assert!(rows.len() > 1, "{}: no data", figure[0]);
        assert_eq!(figure[1], serde_json::json!(rows), "{}", figure[0]);
    }
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("never empty").push(c),
        }
    }
    cells
}

/// The PDF has pages, and no figure is longer than a page or wider than its column.
fn prints_without_cuts(browser: &mut Browser, folder: &Path, most: usize) {
    let bytes = browser.pdf(&folder.join("print.pdf"));
    let text = String::from_utf8_lossy(&bytes);
    let pages = text.matches("/Type /Page\n").count() + text.matches("/Type /Page ").count();
    assert!(bytes.starts_with(b"%PDF") && (2..=most).contains(&pages), "{pages} pages");
    // A4 without margins, at 96 pixels per inch
    browser.resize(695, 1016);
    browser.media("light", "print");
    assert_eq!(
        browser.evaluate("document.documentElement.scrollWidth"),
        695,
        "the page is wider than the paper"
    );
    let script = r#"(() => { dispatchEvent(new Event("beforeprint"));
      const cut = [...document.querySelectorAll("figure:not([hidden])")].filter((figure) => {
        const [box, plot] = [figure.getBoundingClientRect(), figure.querySelector("svg.plot").getBoundingClientRect()];
        return box.height > 1016 || plot.right > innerWidth + 1 || plot.width > box.width + 1 || plot.width < 150;
      }).map((figure) => figure.dataset.figure);
      dispatchEvent(new Event("afterprint")); return cut; })()"#;
    assert_eq!(browser.evaluate(script), serde_json::json!([]), "cut or out of the page");
    browser.media("light", "screen");
    browser.resize(1280, 900);
}

#[test]
fn a_sweep_says_what_its_runs_say() {
    let folder = folder("sweep");
    let sweep = Sweep::new(synthetic::sweep(3, 11_000));
    let page = page::of_sweep(&sweep, &verdicts());
    assert!(page.html().len() < 1_000_000, "{} bytes for 48 runs", page.html().len());
    let mut browser = opened(&folder, &page);
    assert_eq!(browser.evaluate("document.getElementById('headline').textContent"), page.headline);
    looks_right_everywhere(&mut browser, &folder);
    let ratio = sweep.ratio(0, 3, 3, "fct.mean").expect("both schemes have flows");
    assert!(page.headline.contains(&format!("{} times faster", weft_report::text::number(ratio.mean))));
    every_plot_has_marks(&mut browser, 14);
    tables_equal_csv(&mut browser);
    prints_without_cuts(&mut browser, &folder, 9);
    silent_and_alone(&browser);
}

#[test]
fn a_reader_chooses_by_mouse_and_keyboard_and_the_address_remembers() {
    let folder = folder("choices");
    let page = page::of_sweep(&Sweep::new(synthetic::sweep(2, 300)), &[]);
    let mut browser = opened(&folder, &page);
    let press = |browser: &mut Browser, label: &str| {
        browser.evaluate(&format!(
            "[...document.querySelectorAll('#controls button')].find((b) => b.textContent.includes('{label}')).click()"
        ));
    };
    let lines = "document.querySelectorAll('figure[data-figure=mean] .series').length";
    // four schemes and the lower bound
    assert_eq!(browser.evaluate(lines), 5);
    press(&mut browser, "presto");
    press(&mut browser, "30");
    assert_eq!(browser.evaluate(lines), 4);
    assert_eq!(browser.evaluate("location.hash"), "#view=1&hide=2");
    assert_eq!(browser.evaluate("document.querySelectorAll('figure[data-figure=tail-1]').length"), 1);
    browser.open(&folder.join("report.html"), "view=1&hide=2&open=mean");
    assert_eq!(browser.evaluate(lines), 4);
    assert_eq!(
        browser.evaluate("document.querySelectorAll('figure[data-figure=mean] td').length > 10"),
        true
    );
    browser.evaluate("document.querySelector('figure[data-figure=mean] svg.plot').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let tip = "document.querySelector('figure[data-figure=mean] .tip').textContent";
    let tip = browser.evaluate(tip);
    assert!(tip.as_str().is_some_and(|tip| tip.contains("ecmp") && tip.contains("30\u{202f}%")), "{tip}");
    browser.press("Enter");
    let links = "[...document.querySelectorAll('figure[data-figure=mean] .tip a')].map((a) => a.getAttribute('href'))";
    let links = browser.evaluate(links);
    assert_eq!(links.as_array().map(Vec::len), Some(2), "one link per seed: {links}");
    silent_and_alone(&browser);
}

/// Values with their units, absent ones last, and back to the order of the page; by keyboard, in the static table and in
/// that of a figure, which keeps its order when the figure is drawn anew.
#[test]
fn tables_are_sorted_by_any_column() {
    let folder = folder("sorted");
    let mut runs = synthetic::sweep(2, 300);
    let slow = runs.iter_mut().filter(|run| run.label("balance") == "presto");
    slow.for_each(|run| run.summary.fct_us.all.mean = run.summary.fct_us.all.mean.map(|us| us * 1_000.0));
    let sweep = Sweep::new(runs);
    let mut browser = opened(&folder, &page::of_sweep(&sweep, &[]));
    let column = "[...document.querySelectorAll('#numbers table:first-of-type thead th')].findIndex((th) => th.textContent.startsWith('mean'))";
    let column = browser.evaluate(column).as_i64().expect("a column");
    assert!(column > 0, "the table has a mean");
    let cells = format!(
        "[...document.querySelector('#numbers table').tBodies[0].rows].map((row) => row.cells[{column}].textContent)"
    );
    let heading = format!("document.querySelector('#numbers table').tHead.rows[0].cells[{column}]");
    let written = browser.evaluate(&cells);
    let us = |cell: &Value| {
        let text = cell.as_str().expect("a text").replace('\u{202f}', " ");
        let mut words = text.split(' ');
        let number: f64 = words.next().and_then(|word| word.parse().ok()).expect("a number");
        let unit = text.split(' ').find(|word| ["us", "ms", "s"].contains(word)).expect("a unit");
        number
            * if unit == "us" {
                1.0
            } else if unit == "ms" {
                1e3
            } else {
                1e6
            }
    };
    let numbers = |cells: &Value| cells.as_array().expect("a list").iter().map(us).collect::<Vec<f64>>();
    browser.evaluate(&format!("{heading}.querySelector('button').focus()"));
    browser.press("Enter");
    let rising = numbers(&browser.evaluate(&cells));
    assert!(rising.is_sorted() && rising.last() > Some(&(100.0 * rising[0])), "{rising:?}");
    assert_eq!(browser.evaluate(&format!("{heading}.getAttribute('aria-sort')")), "ascending");
    browser.press("Enter");
    let falling = numbers(&browser.evaluate(&cells));
    assert!(falling.iter().rev().is_sorted(), "{falling:?}");
    assert_eq!(browser.evaluate("document.querySelectorAll('#numbers [aria-sort]').length"), 1);
    browser.screenshot(&folder.join("light.png"));
    browser.press("Enter");
    assert_eq!(browser.evaluate(&cells), written);
    browser.open(&folder.join("report.html"), "open=mean");
    let first = "document.querySelector('figure[data-figure=mean] tbody tr').cells[0].textContent";
    browser.evaluate("document.querySelector('figure[data-figure=mean] thead button').click()");
    browser.evaluate("document.querySelector('figure[data-figure=mean] thead button').click()");
    let last = browser.evaluate(first);
    browser.resize(1000, 900);
    browser.evaluate("new Promise((drawn) => setTimeout(drawn, 300))");
    assert_eq!(browser.evaluate(first), last);
    assert_eq!(
        browser.evaluate("document.querySelector('figure[data-figure=mean] th').ariaSort"),
        "descending"
    );
    silent_and_alone(&browser);
}

#[test]
fn a_run_on_disk_and_its_page_agree() {
    let folder = folder("run");
    let (scheme, load) = (&SCHEMES[0], "0.8");
    let record = synthetic::record(scheme, 0.8, 1, 20_000);
    let manifest = synthetic::manifest(scheme, load, 1);
    let place = folder.join("runs").join(manifest.path());
    std::fs::create_dir_all(place.parent().expect("a case folder")).expect("writable");
    write_run(&place, &record, &manifest, &synthetic::scenario(scheme, load), &Kept::ALL)
        .expect("the run is written");
    let runs = read_runs(&folder.join("runs")).expect("the run reads back");
    let mut browser = opened(&folder, &page::of_run(&runs[0], &[]));
    let text = std::fs::read_to_string(place.join("summary.json")).expect("there is a summary");
    let summary: Value = serde_json::from_str(&text).expect("it is JSON");
    let headline = browser.evaluate("document.getElementById('headline').textContent");
    let mean = duration(summary["fct_us"]["mean"].as_f64().expect("a mean"));
    assert!(headline.as_str().is_some_and(|headline| headline.contains(&mean)), "{headline} without {mean}");
    looks_right_everywhere(&mut browser, &folder);
    every_plot_has_marks(&mut browser, 9);
    tables_equal_csv(&mut browser);
    prints_without_cuts(&mut browser, &folder, 4);
    silent_and_alone(&browser);
}

#[test]
fn a_comparison_shows_settings_and_ratios() {
    let folder = folder("comparison");
    let runs =
        |scheme: usize| (1..=3).map(|seed| synthetic::run(&SCHEMES[scheme], "0.8", seed, 2_000)).collect();
    let comparison = Comparison::of(runs(0), runs(3), ["ecmp".into(), "drill".into()]);
    let mut browser = opened(&folder, &comparison.page());
    let settings = browser.evaluate("document.getElementById('repeat').textContent");
    assert!(settings.as_str().is_some_and(|text| text.contains("balance.drill")), "{settings}");
    browser.screenshot(&folder.join("light.png"));
    every_plot_has_marks(&mut browser, 8);
    tables_equal_csv(&mut browser);
    silent_and_alone(&browser);
}

/// A small network, really simulated, under two balancers at two loads.
const REAL: &str = r#"weft = 1
name = "real"
about = "A small network, really simulated"
seeds = [1, 2, 3]

[topology.leaf-spine]
leaves = 3
spines = 2
hosts_per_leaf = 3

[switch]
sharing = { static = { per_port = "30 kB" } }

[transport.newreno]
initial_rto = "10 ms"
min_rto = "10 ms"

[[traffic]]
tag = "web"
load = 0.5
sizes = "facebook-web"

[measure]
flows = 400
queues_every = "20 us"
record = ["flows", "links", "hops", "queues", "reordering", "drops"]

[sweep]
balance = ["ecmp", "drill"]
"traffic.web.load" = [0.3, 0.8]

[[expect]]
value = "fct.mean"
above = 0
"#;

/// Runs [`REAL`] and gives back the folder of its sweep.
fn simulated(folder: &Path) -> PathBuf {
    let scenario = folder.join("real.toml");
    std::fs::write(&scenario, REAL).expect("writable");
    let options = weft::RunOptions {
        out: folder.join("runs"),
        demo: false,
        seeds: None,
        set: Vec::new(),
        engine: weft::PACKETS,
        jobs: 2,
        reuse: weft::Reuse::SameBuild,
        threads: None,
        progress: Box::new(|_| ()),
        stop: std::sync::Arc::default(),
    };
    let outcome = weft::run(&scenario, &options).expect("the runs finish");
    assert_eq!((outcome.failed_runs, outcome.missed_expectations), (0, 0), "{}", outcome.terminal);
    folder.join("runs/real")
}

#[test]
fn a_sweep_that_was_really_simulated_and_one_of_its_runs_are_shown() {
    let folder = folder("real");
    let root = simulated(&folder);
    let runs = read_runs(&root).expect("the runs read back");
    assert_eq!(runs.len(), 12);
    assert!(
        runs.iter().any(|run| run.summary.metric("drops.total") > Some(0.0)),
        "the scenario is to drop packets"
    );
    let mut browser = Browser::start(&folder.join("profile"), 1280, 900);
    let one = root.join(&runs[11].link);
    for (page, least, most) in [(root.join("report.html"), 12, 9), (one, 8, 4)] {
        browser.open(&page, "");
        let place = page.parent().expect("a folder").to_owned();
        looks_right_everywhere(&mut browser, &place);
        let headline = browser.evaluate("document.getElementById('headline').textContent");
        assert!(headline.as_str().is_some_and(|headline| headline.contains(" flows")), "{headline}");
        every_plot_has_marks(&mut browser, least);
        tables_equal_csv(&mut browser);
        prints_without_cuts(&mut browser, &place, most);
        silent_and_alone(&browser);
    }
}
