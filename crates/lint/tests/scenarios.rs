//! Scenarios are judged by the settings that apply to them, and advice names settings that exist and are accepted.

use weft_lint::{Finding, Input, RuleOptions, Severity, lint};

fn judge(text: &str) -> Vec<Finding> {
    let input = Input { name: "x.toml".into(), text: text.into(), kind: None };
    lint(vec![input], &RuleOptions::default()).unwrap_or_else(|refused| panic!("{refused}")).findings
}

fn of(rule: &str, text: &str) -> Vec<Finding> {
    judge(text).into_iter().filter(|finding| finding.rule == rule).collect()
}

/// A leaf-spine network; the leaves have four hosts of 25 Gb/s and two uplinks.
fn scenario(switch: &str, transport: &str, traffic: &str) -> String {
    format!(
        "weft = 1\nname = \"x\"\nseeds = [1]\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
         host_link = {{ rate = \"25 Gbps\", delay = \"500 ns\" }}\nfabric_link = {{ rate = \"100 Gbps\", delay = \"500 ns\" }}\n\
         [switch]\n{switch}\n{transport}\n[[traffic]]\ntag = \"a\"\nsizes = \"64 kB\"\nload = 0.3\n{traffic}\n[measure]\nflows = 200\n"
    )
}

/// `weft check` accepts what is judged here.
const SHARED: &str = "buffer = \"32 MB\"\nsharing = { dynamic = { alpha = 1.0 } }";

#[test]
fn virtual_output_queues_are_judged_by_their_own_memory() {
    let deep = |voq: &str| {
        scenario(&format!("{SHARED}\n[switch.leaf]\nvoq = {{ groups = 2{voq} }}"), "[transport.newreno]", "")
    };
    for settings in ["", ", limit = \"1 MB\"", ", limit = \"8 GB\"", ", spill = \"1 MB\", limit = \"1 MB\""] {
        assert_eq!(judge(&deep(settings)), [], "{settings}");
    }
    for (settings, memory) in [
        (", limit = \"9 GB\"", "switch.voq.deep"),
        (", limit = \"20 MB\", spill = \"20 MB\"", "switch.voq.on_chip"),
    ] {
        let found = judge(&deep(settings));
        assert!(found.len() == 1 && found[0].rule == "static-above-pool", "{found:?}");
        assert!(found[0].says.contains(memory) && !format!("{found:?}").contains("sharing"), "{found:?}");
    }
}

/// The rate at which an output of the chassis sends, measured with 100 Gb/s and the delays here: 84.6 % with 10 kB, all with 14 kB.
/// Credits take 250 ns and packets 500 ns, in which 9375 B pass, and a credit is 4096 B.
#[test]
fn an_output_grants_ahead_what_its_line_sends_in_the_meantime() {
    let found = |output: u32| {
        let voq = format!("{SHARED}\n[switch.leaf]\nvoq = {{ groups = 2, output = \"{output} B\" }}");
        of("credit-loop", &scenario(&voq, "[transport.newreno]", ""))
    };
    assert_eq!(found(13_471), []);
    let low = found(13_470);
    assert!(low.len() == 1 && low[0].level == Severity::Error, "{low:?}");
    assert!(low[0].fix == "set switch.voq.output to 13.5 kB or more", "{low:?}");
}

/// A queue that drains at 100 Gb/s while it fills is written and read at that rate.
#[test]
fn deep_memory_is_as_fast_as_a_port_twice() {
    let found = |rate: u32| {
        let voq = format!("{SHARED}\n[switch.leaf]\nvoq = {{ groups = 2, deep_rate = \"{rate} Gbps\" }}");
        of("deep-memory-bandwidth", &scenario(&voq, "[transport.newreno]", ""))
    };
    let level = |rate| found(rate).first().map(|finding| finding.level);
    // four hosts of 25 Gb/s and two uplinks of 100 Gb/s
    assert_eq!(
        [600, 599, 200, 199].map(level),
        [None, Some(Severity::Note), Some(Severity::Note), Some(Severity::Warning)]
    );
    let few = found(420);
    assert!(few[0].says.contains("2 of its 6 ports send at 100 Gbps"), "{few:?}");
    assert!(found(199)[0].fix.contains("200 Gbps or more"));
    let on_chip = "[switch.leaf]\nvoq = { groups = 2, spill = \"1 MB\", limit = \"1 MB\" }";
    let text = scenario(&format!("{SHARED}\n{on_chip}"), "[transport.newreno]", "");
    assert_eq!(of("deep-memory-bandwidth", &text), [], "no queue ever moves there");
}

/// 16 windows of 3 MB are more than 32 MB of shared memory, but not more than the deep memory of a leaf.
#[test]
fn windows_fill_the_memory_that_a_switch_has() {
    let text = scenario(
        &format!("{SHARED}\n[switch.leaf]\nvoq = {{ groups = 2 }}"),
        "[transport.newreno]\nreceive_window = \"3 MB\"",
        "",
    );
    let found = of("windows-fill-buffer", &text);
    assert!(found.len() == 1 && found[0].says.starts_with("spine"), "{found:?}");
    let fix = &found[0].fix;
    assert!(
        fix.contains("transport.newreno.receive_window") && fix.contains("transport.newreno.ecn = \"on\""),
        "{fix}"
    );
    assert!(!fix.contains("tcp_rmem"), "{fix}");
}

const LOSSLESS: &str =
    "buffer = \"12 MB\"\nsharing = \"dynamic\"\nqueues = 4\nschedule = \"strict\"\npfc.classes = [1]";

#[test]
fn payload_is_where_its_entry_puts_it() {
    assert_eq!(of("lossless-class-unreached", &scenario(LOSSLESS, "[transport.newreno]", "class = 1")), []);
    let found = of("lossless-class-unreached", &scenario(LOSSLESS, "[transport.newreno]", ""));
    assert!(found.len() == 1 && found[0].says.contains("queue 0, and only 1"), "{found:?}");
    assert!(found[0].fix.contains("class = 1") && found[0].fix.contains("[[traffic]]"), "{found:?}");
    // Taken literally, the advice works.
    let other = LOSSLESS.replace("[1]", "[0]");
    assert_eq!(of("lossless-class-unreached", &scenario(&other, "[transport.newreno]", "")), []);
}

#[test]
fn marks_are_advised_in_the_terms_of_the_transport() {
    for (transport, advice) in [
        ("dctcp", "set switch.ecn"),
        ("newreno", "set switch.ecn and transport.newreno.ecn = \"on\""),
        ("roce", "set switch.ecn and use a transport that reads marks, such as dcqcn"),
    ] {
        let switch = match transport {
            // DCTCP needs marks somewhere.
            "dctcp" => format!("{LOSSLESS}\n[[switch.port]]\nat = \"spine0\"\necn = \"step\""),
            _ => LOSSLESS.to_owned(),
        };
        let text = scenario(&switch, &format!("[transport.{transport}]"), "class = 1");
        let found = of("lossless-without-ecn", &text);
        assert!(!found.is_empty() && found.iter().all(|one| one.fix == advice), "{transport}: {found:?}");
    }
    // Nobody sends in the lossless class: there is nothing to slow down.
    assert_eq!(of("lossless-without-ecn", &scenario(LOSSLESS, "[transport.newreno]", "")), []);
}

#[test]
fn packets_that_cannot_be_marked_are_named_by_their_transport() {
    let switch = "ecn = { step = { threshold = \"200 kB\", non_ect = \"drop\" } }";
    let with = |settings: &str| {
        let transport =
            format!("[transport.dctcp]\n[[hosts]]\nat = \"leaf0\"\ntransport.newreno = {settings}");
        of("non-ect-in-marking-queue", &scenario(switch, &transport, ""))
    };
    let found = with("{}");
    let all: Vec<_> = found.iter().filter(|one| one.level == Severity::Warning).collect();
    assert!(
        all.len() == 1 && all[0].says.contains("newreno") && !all[0].says.contains("tcp_ecn"),
        "{found:?}"
    );
    assert!(
        all[0].fix.contains("transport.newreno.ecn = \"on\" in [[hosts]]") && !all[0].fix.contains("net."),
        "{found:?}"
    );
    assert!(with("{ ecn = \"on\" }").iter().all(|one| one.level == Severity::Note));
}

/// No setting of a transport changes flows at a constant rate: none is advised, and none silences the warning.
#[test]
fn traffic_at_a_constant_rate_is_not_blamed_on_a_transport() {
    for transport in ["", "[transport.newreno]\necn = \"on\"\n"] {
        let text = format!(
            "weft = 1\nname = \"x\"\nseeds = [1]\n[topology.single-switch]\nhosts = 3\nhost_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
             [switch]\necn = {{ red = {{ min = \"100 kB\", max = \"300 kB\", max_probability = 0.5, non_ect = \"drop\" }} }}\n{transport}\
             [[traffic]]\ntag = \"a\"\nkind = \"constant\"\nrate = \"9 Gbps\"\nduration = \"1 ms\"\nfrom = 0\nto = 2\n[measure]\nuntil = \"1 ms\"\n"
        );
        let found = of("non-ect-in-marking-queue", &text);
        assert!(found.len() == 1 && found[0].level == Severity::Warning, "{found:?}");
        assert!(found[0].says.contains("every packet of constant-rate traffic"), "{}", found[0].says);
        assert!(!found[0].fix.contains("newreno"), "{}", found[0].fix);
    }
}

#[test]
fn strict_priorities_need_marks_where_classes_share_memory() {
    let classes = "[[traffic]]\ntag = \"b\"\nsizes = \"64 kB\"\nload = 0.1\nclass = 1";
    let found = |memory: &str| {
        let switch = format!("queues = 2\nschedule = \"strict\"\n{memory}");
        let all = of("strict-without-marks", &scenario(&switch, "[transport.newreno]", classes));
        all.into_iter().flat_map(|one| one.subjects).collect::<Vec<_>>()
    };
    assert_eq!(found(SHARED), ["2 queues"]);
    for own in ["sharing = \"infinite\"", "voq = { groups = 2 }"] {
        assert_eq!(found(own), [""; 0], "{own}");
    }
    // Of two kinds of switch one has shared memory.
    assert_eq!(found(&format!("{SHARED}\n[switch.leaf]\nvoq = {{ groups = 2 }}")), ["2 queues of spine"]);
}

/// One leaf marks: the other and the spines are named, each by its own name, and as a warning.
#[test]
fn a_switch_that_does_not_mark_is_named() {
    let switch = format!("{SHARED}\n[switch.named.leaf1]\necn.step.threshold = \"100 kB\"");
    let found = of("dctcp-without-marks", &scenario(&switch, "[transport.dctcp]", ""));
    let says: Vec<&str> = found.iter().map(|one| one.says.as_str()).collect();
    let named = |name: &str| says.iter().any(|says| says.ends_with(&format!("but {name} marks on no queue")));
    assert!(says.len() == 2 && named("leaf (leaf0)") && named("spine"), "{says:?}");
    assert!(says.iter().all(|says| says.contains("leaf (leaf1) marks")), "{says:?}");
    assert!(found.iter().all(|one| one.level == Severity::Warning), "{found:?}");
}

/// If only cards mark, and no switch does, no switch is reported to mark.
#[test]
fn no_switch_is_said_to_mark_where_only_cards_do() {
    let card = "[transport.dctcp]\n[card.marking]\nthreshold = \"90 kB\"";
    let found = of("dctcp-without-marks", &scenario("sharing = \"infinite\"", card, ""));
    let says: Vec<&str> = found.iter().map(|one| one.says.as_str()).collect();
    let beside = |says: &&str| says.starts_with("the hosts run DCTCP, but ");
    assert!(!says.is_empty() && says.iter().all(beside), "{says:?}");
}

/// Half of 2 MB is what one queue may hold, a seventh when all six ports of a leaf are congested; at 25 Gb/s 400 us are 1.25 MB.
#[test]
fn controllers_aim_below_what_a_queue_may_hold() {
    let levels = |ecn: &str| {
        let switch = format!("buffer = \"2 MB\"\nsharing = {{ dynamic = {{ alpha = 1.0 }} }}\n{ecn}");
        let found = of("controller-above-drop", &scenario(&switch, "[transport.dctcp]", ""));
        found.iter().map(|one| one.level).max()
    };
    for (ecn, level) in [
        ("ecn.pi.reference = \"285 kB\"", None),
        ("ecn.pi.reference = \"286 kB\"", Some(Severity::Note)),
        ("ecn.pi.reference = \"999999 B\"", Some(Severity::Note)),
        ("ecn.pi.reference = \"1 MB\"", Some(Severity::Error)),
        ("ecn.pi.reference = \"1900 kB\"", Some(Severity::Error)),
        ("ecn.pie.target = \"10 us\"", None),
        ("ecn.pie.target = \"400 us\"", Some(Severity::Error)),
        ("ecn.codel.target = \"400 us\"", Some(Severity::Error)),
    ] {
        assert_eq!(levels(ecn), level, "{ecn}");
    }
}

/// The same remark on every value of a sweep is one, with the cases that have it.
#[test]
fn a_remark_is_made_once_for_all_values_of_a_sweep() {
    let window = |value: &str| format!("{{ newreno = {{ receive_window = \"3 MB\", mtu = \"{value}\" }} }}");
    let text = scenario("buffer = \"32 MB\"\nsharing = \"dynamic\"", "", "")
        + &format!("[sweep]\ntransport = [{}, {}, \"cubic\"]\n", window("1500 B"), window("9000 B"));
    let found = of("windows-fill-buffer", &text);
    let about: Vec<&str> = found.iter().filter_map(|one| one.says.split(' ').next()).collect();
    assert_eq!(about, ["leaf", "spine"], "{found:?}");
    assert!(found.iter().all(|one| one.cases.0.len() == 2 && one.cases.1 == 3), "{found:?}");
}

/// A lossless fabric with 20 kB of headroom where 28 kB can arrive; `cables` of leaf 3 differ from those of the others.
fn lossless(cables: &str, switch: &str) -> String {
    format!(
        "weft = 1\nname = \"lint\"\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
         host_link = {{ rate = \"25 Gbps\", delay = \"1 us\" }}\n\
         fabric_link = {{ rate = \"100 Gbps\", delay = \"500 ns\" }}\n{cables}\
         [switch]\nbuffer = \"9 MB\"\nqueues = 4\nschedule = \"strict\"\n{switch}\
         [transport.dcqcn]\n[[traffic]]\ntag = \"web\"\nload = 0.1\nsizes = \"10 kB\"\n[measure]\nflows = 10\n"
    )
}

/// The only long cable is that of the last leaf: headroom must hold there too.
#[test]
fn every_cable_is_judged_not_only_those_of_the_first_switches() {
    let far = "unequal = [{ leaf = 3, spine = 1, delay = \"20 us\" }]\n";
    let switch = "ecn = \"step\"\npfc = { classes = [3], headroom = \"90 kB\", watchdog = \"10 ms\" }\n";
    assert_eq!(of("headroom-too-small", &lossless("", switch)), []);
    let found = of("headroom-too-small", &lossless(far, switch));
    // 2 x 1538 + 84 bytes, and 12.5 bytes a nanosecond in 40 us, the response of 2.02 us and the latency of 0.5 us
    assert!(found.len() == 1 && found[0].says.contains("535 kB may arrive"), "{found:?}");
    assert_eq!(found[0].subjects, ["leaf3 port 5", "spine1 port 3"], "both ends");
}

/// A switch of two ports has one port that can feed a queue: the first XOFF comes at alpha B / (1 + alpha).
#[test]
fn a_switch_of_two_ports_has_no_incast_of_two() {
    let marks = |min: &str| {
        format!(
            "pfc = {{ classes = [3], alpha = 0.0625, watchdog = \"10 ms\" }}\n\
             ecn.red = {{ min = \"{min}\", max = \"8 MB\", max_probability = 0.01 }}\n"
        )
    };
    let two = |min: &str| lossless("", &marks(min)).replace("leaves = 4", "leaves = 2");
    let found = of("ecn-after-pfc", &two("900 kB"));
    let spine =
        found.iter().find(|one| one.says.ends_with("load of 2 ports")).expect("the spines have two ports");
    assert!(
        spine.says.contains("with 1 port sending to it, and") && spine.level == Severity::Error,
        "{}",
        spine.says
    );
    let advised = spine.fix.split(" for every incast").next().and_then(|fix| fix.split("below ").last());
    let below = advised.expect("a size").replace(" kB", "").parse::<f64>().expect("kilobytes") - 10.0;
    let found = of("ecn-after-pfc", &two(&format!("{below:.0} kB")));
    assert!(found.iter().all(|one| one.level == Severity::Note), "what is advised helps: {found:?}");
}

/// A priority group pauses all its queues, so that they may share it; its headroom is promised once.
#[test]
fn queues_may_share_a_priority_group() {
    let grouped =
        "ecn = \"step\"\npfc = { classes = [2, 3], watchdog = \"10 ms\" }\ngroup_map = [0, 1, 3, 3]\n";
    assert_eq!(of("classes-share-group", &lossless("", grouped)), []);
    assert_eq!(of("pause-stops-wrong-queue", &lossless("", grouped)), []);
}

/// TIMELY needs no marks in its own queue; that says nothing about RoCE without rate control in another.
#[test]
fn round_trips_excuse_only_the_queue_that_goes_by_them() {
    let with = |class: u32| {
        format!(
            "weft = 1\nname = \"lint\"\n[topology.single-switch]\nhosts = 8\n[switch]\nbuffer = \"9 MB\"\nqueues = 5\n\
             schedule = \"strict\"\nsharing = \"dynamic\"\npfc = {{ classes = [3, 4], watchdog = \"200 ms\" }}\n[transport.roce]\n\
             [[traffic]]\ntag = \"a\"\nload = 0.3\nload_of = \"hosts\"\npairs = \"any\"\nsizes = \"web-search\"\n\
             [[traffic]]\ntag = \"b\"\nload = 0.1\nload_of = \"hosts\"\npairs = \"any\"\nsizes = \"web-search\"\n\
             transport.timely.class = {class}\n[measure]\nflows = 10\n"
        )
    };
    let hpcc =
        with(4).replace("[transport.roce]", "[transport.hpcc]").replace("transport.timely.class = 4\n", "");
    let hpcc = hpcc.replace("queues = 5\n", "queues = 5\narbiter = \"telemetry\"\n");
    assert_eq!(of("lossless-without-ecn", &hpcc), [], "HPCC goes by reports of links");
    for class in [3, 4] {
        let found = of("lossless-without-ecn", &with(class));
        assert!(found.len() == 1 && found[0].says.starts_with("queue 3 is lossless"), "{class}: {found:?}");
    }
}
