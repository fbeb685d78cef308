//! Descriptions: their meaning, and their mistakes.

use std::path::Path;

use weft_blueprint::file::{TrafficLoad, TrafficPattern, parse_blueprint, read_blueprint};
use weft_blueprint::simulated::{figures, simulated};
use weft_blueprint::sized::SizeQuestion;
use weft_cluster::{ClusterShape, VlbKind};
use weft_core::{Rate, Span};

/// The messages about a text, one line each.
fn mistakes(text: &str) -> String {
    parse_blueprint(text, "cluster.toml").expect_err("it has mistakes").draw(false)
}

#[test]
fn the_prototype_of_the_paper_is_described_by_the_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../routers/clusters/rb4.toml");
    let blueprint = read_blueprint(&path).unwrap_or_else(|mistakes| panic!("{}", mistakes.draw(false)));
    assert_eq!(blueprint.model.shape, ClusterShape::Mesh { nodes: 4 });
    assert_eq!(blueprint.model.director.delta, Span::from_ms(100));
    assert_eq!(blueprint.model.director.spreading, VlbKind::Direct);
    assert_eq!((blueprint.model.server.frequency, blueprint.model.server.avoidance), (2.8e9, 734.0));
    assert_eq!(blueprint.traffic[0].load, TrafficLoad::Most);
    assert_eq!(blueprint.traffic[2].pattern, TrafficPattern::OneToOne);
    assert_eq!(blueprint.routes.len(), 4);
}

#[test]
fn the_descriptions_of_the_repository_are_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../routers/clusters");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in &files {
        let blueprint = read_blueprint(file).unwrap_or_else(|mistakes| panic!("{}", mistakes.draw(false)));
        assert!(!blueprint.traffic.is_empty(), "{}", file.display());
    }
    assert!(files.len() >= 2);
}

#[test]
fn all_mistakes_are_reported_at_once_with_what_is_allowed() {
    let text = mistakes(
        "nodes = 1\nrate = 10\nlink = \"0 bps\"\n[server]\nclock = \"2.8\"\ncoers = 8\n[[traffic]]\nmatrix = \"unifrom\"\nload = 0\n",
    );
    for words in [
        "a whole number from 2 to 256",
        "a rate such as",
        "`coers`",
        "`cores`",
        "the unit is part",
        "`unifrom`",
        "uniform",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn settings_without_effect_are_mistakes() {
    let cluster = |more: &str| format!("nodes = 4\nrate = \"10 Gbps\"\n{more}");
    for (more, words) in [
        ("notice = \"1 ms\"", "without a [[change]]"),
        ("spreading = \"valiant\"\ndepth = \"1 ms\"", "no buckets"),
        ("delta = \"0 s\"\nflows = 9", "no flow is remembered"),
        ("arity = 2\nranks = 2", "`nodes` has no effect"),
        ("[[change]]\ntime = \"1 ms\"\nnode = 4\nup = false", "a whole number from 0 to 3"),
        ("[[route]]\nprefix = \"10.0.0.0/40\"\nnode = 0", "10.0.0.0/40"),
        ("[[route]]\nprefix = \"2001:db8::/32\"\nnode = 0", "2001:db8::/32 is no IPv4 prefix"),
        ("[[traffic]]\nmatrix = \"uniform\"\nload = 0.5\npackets = \"trace\"", "one-to-one"),
        ("[[traffic]]\nmatrix = \"uniform\"\nload = 0.5\npackets = \"1 B\"", "64 B"),
    ] {
        let text = mistakes(&cluster(more));
        assert!(text.contains(words), "{words}: {text}");
    }
    let fly = mistakes("arity = 4\nranks = 2\nrate = \"10 Gbps\"\nspreading = \"direct\"");
    assert!(fly.contains("n-fly"), "{fly}");
}

/// One mistake of a table hides no other.
#[test]
fn all_mistakes_of_a_table_are_told() {
    let text = mistakes(
        "nodes = 4\nrate = \"10 Gbps\"\n[[traffic]]\nmatrix = \"unifrom\"\nload = \"mostly\"\npackets = \"mixd\"\nduration = \"0 s\"\n\
         [[change]]\ntime = \"soon\"\nnode = 7\nup = \"no\"\n[[route]]\nprefix = \"10.0.0.0/40\"\nnode = 9\n",
    );
    for words in [
        "unknown matrix `unifrom`",
        "found the text \"mostly\"",
        "or \"most\"",
        "`mixd` is no size; did you mean `mixed`?",
        "with a warm-up of",
        "`soon`",
        "from 0 to 3",
        "found the text \"no\", expected true or false",
        "10.0.0.0/40",
        "found the number 9",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.contains("9 mistakes"), "{text}");
}

#[test]
fn changes_and_routes_without_effect_are_mistakes() {
    let traffic = "[[traffic]]\nmatrix = \"uniform\"\nload = 0.5\nduration = \"4 ms\"\n";
    let change = |time: &str, up: bool| format!("[[change]]\ntime = \"{time}\"\nnode = 1\nup = {up}\n");
    let route = |node: u8| format!("[[route]]\nprefix = \"10.0.1.0/24\"\nnode = {node}\n");
    let cluster = |more: String| format!("nodes = 4\nrate = \"10 Gbps\"\n{traffic}{more}");
    for (more, words) in [
        (change("1 ms", true), "node 1 is up already"),
        (change("1 ms", false) + &change("2 ms", false), "node 1 is down already"),
        (change("4 ms", false), "no traffic lasts longer than 4 ms"),
        (route(0) + &route(1), "10.0.1.0/24 is behind node 0 already"),
    ] {
        let text = mistakes(&cluster(more));
        assert!(text.contains(words) && text.contains("1 mistake\n"), "{words}: {text}");
    }
    parse_blueprint(&cluster(change("1 ms", false) + &change("2 ms", true) + &route(0)), "x").unwrap();
}

#[test]
fn a_simulation_tells_loads_losses_order_and_how_often_headers_were_parsed() {
    let text = "nodes = 4\nrate = \"10 Gbps\"\n[server]\nbatch = 1\n[[traffic]]\nmatrix = \"permutation\"\nload = 0.5\nduration = \"4 ms\"\n\
                [[change]]\ntime = \"2 ms\"\nnode = 3\nup = false\n";
    let told = simulated(&parse_blueprint(text, "x").unwrap()).to_string();
    for words in
        ["4 nodes, full mesh", "permutation, mixed", "the output node is down", "headers were parsed"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn a_fly_is_simulated_from_its_description() {
    let text = "arity = 3\nranks = 2\nrate = \"1 Gbps\"\n[[traffic]]\nmatrix = \"uniform\"\nload = 0.5\nduration = \"4 ms\"\n";
    let cluster = simulated(&parse_blueprint(text, "x").unwrap());
    let outcome = &cluster.runs[0].outcome;
    assert_eq!((outcome.most_nodes, outcome.losses.all(), outcome.relayed), (4, 0, 2 * outcome.entered));
    assert!(cluster.to_string().contains("9 ports, 27 nodes, 3-ary 2-fly"));
}

/// Links are sized for classic VLB, which is not what clusters of routers do by default.
#[test]
fn plans_say_what_direct_vlb_needs() {
    let direct = "Direct VLB may put more on a link of a mesh";
    let few = SizeQuestion::new(Some(4), None, "2009").unwrap().text();
    assert!(
        few.contains(direct) && few.contains("1 port, 5 slots: up to 7.50 Gbps (its cables suffice)"),
        "{few}"
    );
    let many = SizeQuestion::new(Some(16), None, "today").unwrap().text();
    assert!(many.contains("1 port, 4 slots: up to 15.0 Gbps (more than its cables carry)"), "{many}");
    assert!(!SizeQuestion::new(Some(1024), None, "2009").unwrap().text().contains(direct), "no mesh");
}

#[test]
fn plans_name_the_kinks_and_the_assumptions() {
    let text = SizeQuestion::new(Some(1024), None, "2009").unwrap().text();
    for words in [
        "32-ary 2-fly",
        "3072",
        "2048",
        "full mesh up to 33 ports",
        "full mesh up to 153 ports",
        "Assumed prices",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(SizeQuestion::new(None, None, "1999").is_err_and(|why| why.contains("2009, today")));
    assert!(SizeQuestion::new(Some(0), None, "today").is_err());
    assert!(SizeQuestion::new(None, Some(Rate(5)), "today").is_err());
    let plot = SizeQuestion::new(None, None, "today").unwrap().plot();
    assert!(plot.starts_with("<svg") && plot.contains("Clos of 48-port switches"));
}

/// Cores that are far too slow carry no load: no figure is told as if they did.
#[test]
fn a_cluster_that_no_load_passes_has_no_highest_load() {
    let text = "nodes = 4\nrate = \"10 Gbps\"\n[server]\nclock = \"2 MHz\"\n[[traffic]]\nmatrix = \"uniform\"\npackets = \"64 B\"\nload = \"most\"\nduration = \"2 ms\"\n";
    let blueprint =
        parse_blueprint(text, "slow.toml").unwrap_or_else(|mistakes| panic!("{}", mistakes.draw(false)));
    let table = simulated(&blueprint).to_string();
    assert!(table.contains("uniform, 64 B  none"), "{table}");
    assert!(table.contains("uniform, 64 B: no load passes; at 0.002 less than 99 % left in time"), "{table}");
    let figures = figures(&blueprint, &blueprint.traffic[0], 1);
    assert_eq!(
        figures.into_iter().collect::<Vec<_>>(),
        [("cluster.throughput".to_owned(), 0.0), ("cluster.utilisation".to_owned(), 0.0)]
    );
}
