//! Every rule once kept and once broken.

use crate::{HEAD, MEASURE, SECTIONS, accepted, listed, refused, small};
use weft_scenario::{Metrics, ScenarioFile};

/// One metric is known.
const KNOWN: Metrics =
    Metrics { known: |path| path == "fct.mean", nearest: |_| Some("fct.mean".to_owned()), unit: |_| "us" };

/// Broken: exactly one mistake, which says `what`. Kept: accepted.
fn rule(broken: &str, what: &str, kept: &str) {
    let found = refused(broken);
    assert!(found.len() == 1 && found[0].contains(what), "expected `{what}`, found {found:#?}");
    accepted(kept);
}

/// The same for sections behind the small scenario.
fn section(broken: &str, what: &str, kept: &str) {
    rule(&small(broken), what, &small(kept));
}

/// The same for lines of `[measure]`, which contains nothing else.
fn measure(broken: &str, what: &str, kept: &str) {
    let text = |lines: &str| format!("{HEAD}{SECTIONS}[measure]\n{lines}");
    rule(&text(broken), what, &text(kept));
}

/// The same for lines before the sections.
fn head(broken: &str, what: &str, kept: &str) {
    let text = |lines: &str| format!("{lines}{SECTIONS}{MEASURE}");
    rule(&text(broken), what, &text(kept));
}

#[test]
fn the_format_has_a_version() {
    head("weft = 2\nname = \"a\"\n", "this program reads format 1", HEAD);
    head("name = \"a\"\n", "`weft` is missing", HEAD);
}

#[test]
fn the_name_can_name_a_folder() {
    head("weft = 1\nname = \"a/b\"\n", "is not a valid folder name", "weft = 1\nname = \"a-b_c.9\"\n");
    head("weft = 1\nname = \"..\"\n", "is not a valid folder name", HEAD);
    for name in ["-x", "x-", "x.", ".x"] {
        head(&format!("weft = 1\nname = \"{name}\"\n"), "is not a valid folder name", HEAD);
    }
}

#[test]
fn seeds_are_distinct() {
    head(
        "weft = 1\nname = \"a\"\nseeds = [1, 2, 1]\n",
        "seed 1 is given twice",
        "weft = 1\nname = \"a\"\nseeds = [1, 2]\n",
    );
    head("weft = 1\nname = \"a\"\nseeds = []\n", "at least one", HEAD);
}

#[test]
fn one_setting_gives_the_rate_of_fabric_cables() {
    let network = |lines: &str| {
        format!(
            "{HEAD}[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n{lines}\n[[traffic]]\ntag = \"t\"\nkind = \"permutation\"\nsizes = \"1 kB\"\n"
        )
    };
    rule(
        &network("oversubscription = 2\nfabric_link.rate = \"40 Gbps\""),
        "give only one of them",
        &network("oversubscription = 2"),
    );
}

#[test]
fn a_failure_comes_before_the_end() {
    let failing = |at: &str| {
        format!(
            "{HEAD}{SECTIONS}[measure]\nuntil = \"1 ms\"\n[[failure]]\ncables = [\"leaf0-spine0\"]\nat = \"{at}\"\n"
        )
    };
    rule(&failing("2000 s"), "the run ends at 1 ms", &failing("500 us"));
}

#[test]
fn the_warm_up_ends_before_the_run() {
    measure(
        "until = \"1 ms\"\nwarm_up = \"1 ms\"\n",
        "does not end before the run does",
        "until = \"2 ms\"\nwarm_up = \"1 ms\"\n",
    );
    measure("flows = 0\n", "nothing to measure", "flows = 1\n");
}

#[test]
fn queues_are_sampled_and_recorded_together() {
    measure(
        "flows = 9\nqueues_every = \"10 us\"\n",
        "\"queues\" is not in measure.record",
        "flows = 9\nqueues_every = \"10 us\"\nrecord = [\"queues\"]\n",
    );
    measure(
        "flows = 9\nrecord = [\"queues\"]\n",
        "give the sampling interval",
        "flows = 9\nrecord = [\"flows\"]\n",
    );
    measure("flows = 9\nqueues_every = \"0 us\"\nrecord = [\"queues\"]\n", "every 0 ps", "flows = 9\n");
    let averaged = |over: &str| {
        format!("flows = 9\nqueues_every = \"10 us\"\nqueues_mean_over = \"{over}\"\nrecord = [\"queues\"]\n")
    };
    for over in ["10 us", "25 us", "5 us"] {
        measure(&averaged(over), "cannot average samples every 10 us", &averaged("20 us"));
    }
    measure("flows = 9\nqueues_mean_over = \"20 us\"\n", "queues_every is not given", "flows = 9\n");
    measure(
        "flows = 9\nrecord = [\"flows\", \"flows\"]\n",
        "listed twice",
        "flows = 9\nrecord = [\"flows\", \"drops\"]\n",
    );
}

#[test]
fn flows_are_sampled_at_an_interval() {
    measure(
        "flows = 9\nflows_sampled = 3\n",
        "measure.flows_every is not given",
        "flows = 9\nflows_every = \"1 ms\"\nflows_sampled = 3\n",
    );
    measure("flows = 9\nflows_every = \"0 us\"\n", "every 0 ps", "flows = 9\n");
}

#[test]
fn failures_exist_in_the_network() {
    section(
        "[[failure]]\ncables = [\"leaf1-spine0\", \"leaf1-spine1\"]\n",
        "leaf1 cannot reach the other leaf for the whole run",
        "[[failure]]\ncables = [\"leaf1-spine0\"]\n",
    );
    section("[[failure]]\nrandom = 5\n", "only 4 cables between switches", "[[failure]]\nrandom = 1\n");
    section(
        "[[failure]]\ncables = [\"leaf0-spine9\"]\n",
        "there is no cable called",
        "[[failure]]\ncables = [\"leaf0-spine1\"]\n",
    );
    section(
        "[[failure]]\ncables = [\"leaf0-spine1\"]\nvalley_free = true\n",
        "it restricts random failures",
        "[[failure]]\nrandom = 1\nvalley_free = true\n",
    );
}

#[test]
fn paths_are_compared_only_for_components() {
    section(
        "[balance.drill]\ncomponents = \"none\"\nlabels = \"set\"\n",
        "paths are not compared (components)",
        "[balance.drill]\nlabels = \"set\"\n",
    );
}

#[test]
fn routing_delays_need_a_change_during_the_run() {
    let failure = "[[failure]]\ncables = [\"leaf0-spine1\"]\n";
    section(
        &format!("{failure}[routing]\nspf_delay = \"1 ms\"\n"),
        "no cable fails or is repaired during the run",
        &format!("{failure}at = \"1 ms\"\n[routing]\nspf_delay = \"1 ms\"\n"),
    );
    section(
        &format!("{failure}at = \"1 ms\"\n[routing]\nconvergence = \"instant\"\nspf_delay = \"1 ms\"\n"),
        "convergence is instant",
        &format!("{failure}at = \"1 ms\"\n[routing]\nconvergence = \"instant\"\n"),
    );
}

#[test]
fn a_shared_buffer_has_a_size_above_its_minima() {
    section(
        "[switch]\nsharing = \"dynamic\"\n",
        "needs switch.buffer",
        "[switch]\nsharing = \"dynamic\"\nbuffer = \"1 MiB\"\n",
    );
    section(
        "[switch]\nbuffer = \"100 kB\"\nsharing = { kind = \"dynamic\", minimum = \"25 kB\" }\n",
        "leave nothing of the buffer",
        "[switch]\nbuffer = \"100 kB\"\nsharing = { kind = \"dynamic\", minimum = \"24 kB\" }\n",
    );
    section(
        "[switch]\nbuffer = \"1 MB\"\nsharing = \"infinite\"\n",
        "infinite sharing never drops",
        "[switch]\nsharing = \"infinite\"\n",
    );
}

#[test]
fn schedules_need_several_queues() {
    section(
        "[switch]\nschedule = \"strict\"\n",
        "only one queue",
        "[switch]\nschedule = \"strict\"\nqueues = 2\n",
    );
    section(
        "[balance.drill]\n[switch]\nclass_load = \"all\"\n",
        "only one queue",
        "[balance.drill]\n[switch]\nclass_load = \"all\"\nqueues = 2\n",
    );
    section(
        "[switch]\nqueues = 2\nschedule = { kind = \"drr\", weights = [1, 0] }\n",
        "never be served",
        "[switch]\nqueues = 2\nschedule = { kind = \"drr\", weights = [1, 2] }\n",
    );
    section(
        "[switch]\nqueues = 2\nschedule = { kind = \"drr\", weights = [1, 1, 1] }\n",
        "3 weights for 2 queues",
        "[switch]\nqueues = 3\nschedule = { kind = \"drr\", weights = [1, 1, 1] }\n",
    );
    section(
        "[switch]\nqueues = 2\nschedule = { kind = \"drr\", quantum = \"0 B\" }\n",
        "nothing is ever sent",
        "[switch]\nqueues = 2\nschedule = { kind = \"drr\", quantum = \"1 kB\" }\n",
    );
}

/// Cables of hosts have 10 Gb/s, those between switches 40.
#[test]
fn queue_pairs_have_rates_to_cut_and_to_start_at() {
    let marks = "[switch]\necn.step.threshold = \"60 kB\"\n";
    let cuts = |transport: &str| format!("{marks}[transport.{transport}]\ncut_on_nack = true\n");
    section("[transport.roce]\ncut_on_nack = true\n", "roce has no rate law to cut", &cuts("dcqcn"));
    for law in ["timely", "patched-timely", "timely-pi"] {
        let cuts = format!("[transport.{law}]\ncut_on_nack = true\n");
        section(&cuts, "reacts to round trips alone", &format!("[transport.{law}]\n"));
    }
    let rates =
        |first: &str| format!("{marks}[transport.dcqcn]\ninitial_rates = [\"{first}\", \"1 Gbps\"]\n");
    section(&rates("0 bps"), "starts at 0 bps sends nothing", &rates("1 bps"));
}

/// Switches have one queue unless they are given more; a switch behind another tier may have them.
#[test]
fn classes_of_transports_have_queues() {
    let classes = |name: &str, control: &str, switch: &str| {
        format!("[switch]\n{switch}\n[transport.{name}]\nclass = 2\n{control} = 1\n")
    };
    let ranked = "order = \"ranked\"\nqueues = 3";
    for (name, control) in [("pfabric", "control_class"), ("roce", "ack_class")] {
        let order = if name == "pfabric" { "order = \"ranked\"\n" } else { "" };
        let kept = classes(name, control, &format!("{order}queues = 3"));
        for field in ["class", control] {
            let one = format!("[switch]\n{order}[transport.{name}]\n{field} = 1\n");
            section(&one, "one queue per port", &kept);
        }
        let two = format!("[switch]\n{order}queues = 2\n[transport.{name}]\nclass = 2\n");
        section(&two, "class 2 has no queue of its own: ports have 2", &kept);
    }
    let beside = |class: &str, switch: &str| {
        format!(
            "[switch]\n{switch}\n[transport.pfabric]\n[[traffic]]\ntag = \"bulk\"\nload = 0.1\nsizes = \"1 MB\"\n\
             transport = \"newreno\"\n{class}\n"
        )
    };
    section(
        &beside("", "order = \"ranked\""),
        "packets of newreno carry no rank, and would precede all payload of pfabric",
        &beside("class = 2", ranked),
    );
}

#[test]
fn windows_and_clocks_start() {
    let with = |name: &str, line: &str| format!("[switch]\norder = \"ranked\"\n[transport.{name}]\n{line}\n");
    let pfabric = |line: &str| with("pfabric", line);
    section(&pfabric("rto = \"0 s\""), "must be at least 1 us", &pfabric("rto = \"1 us\""));
    section(
        &pfabric("initial_window = 16"),
        "16 packets exceed max_window = 15",
        &pfabric("initial_window = 15"),
    );
    let trimming = "[switch]\nqueues = 2\nschedule = \"strict\"\ntrim.queue = \"8 pkt\"\n";
    let ndp = |lines: &str| format!("{trimming}[transport.ndp]\n{lines}\n");
    section(&ndp("rto = \"0 s\""), "must be at least 1 us", &ndp("rto = \"1 us\""));
    section(
        &ndp("rto = \"1 us\"\npull_timeout = \"0 s\""),
        "exceeds pull_timeout",
        &ndp("rto = \"1 us\"\npull_timeout = \"1 us\""),
    );
    let arbiters = "[switch]\nqueues = 8\nschedule = \"strict\"\necn = \"step\"\narbiter = \"pase\"\n";
    let pase = |time: &str| format!("{arbiters}[transport.pase]\nround_trip = \"{time}\"\n");
    section(&pase("0 s"), "must be at least 1 us", &pase("1 us"));
    let reno = |line: &str| format!("[transport.newreno]\n{line}\n");
    section(&reno("initial_window = \"0 B\""), "lets nothing pass", &reno("initial_window = \"1 pkt\""));
    section(
        &reno("initial_rto = \"300 s\""),
        "the first time-out 300 s exceeds the maximum",
        &reno("initial_rto = \"100 s\""),
    );
    let marks = "[switch]\necn.step.threshold = \"60 kB\"\n";
    let dcqcn = |line: &str| format!("{marks}[transport.dcqcn]\n{line}\n");
    section(
        &dcqcn("increase_timer = \"0 s\""),
        "must be at least 1 ns",
        &dcqcn("increase_timer = \"55 us\""),
    );
    let htcp =
        |adapts: bool| format!("[transport.htcp]\nbandwidth_switch = true\nadaptive_backoff = {adapts}\n");
    section(&htcp(false), "every back-off halves the window", &htcp(true));
    let l2dct = |old: &str| {
        format!("{marks}[transport.l2dct]\nyoung = \"1 kB\"\nweight_young = 1.0\nweight_old = {old}\n")
    };
    section(&l2dct("1.0"), "flows of any age have the same weight", &l2dct("0.5"));
}

/// A setting that one case gives must matter to one of those that give it; one that all have, to any.
#[test]
fn settings_of_cases_matter_to_some_case_that_gives_them() {
    let cases = |base: &str, one: &str, other: &str| {
        format!(
            "[transport.htcp]\n{base}\n[sweep]\nmode = \"cases\"\n[[sweep.case]]\nname = \"a\"\n{one}\n\
             [[sweep.case]]\nname = \"b\"\n{other}\n"
        )
    };
    let (switch, halves) = ("bandwidth_switch", "adaptive_backoff");
    let set = |name: &str, value: bool| format!("\"transport.htcp.{name}\" = {value}");
    let idle = [set(switch, true), set(halves, false)].join("\n");
    section(&cases("", "", &idle), "every back-off halves the window", &cases("", "", &set(switch, true)));
    let base = format!("{switch} = true");
    section(
        &cases(&base, &set(halves, false), &set(halves, false)),
        "every back-off halves the window",
        &cases(&base, &set(halves, false), &set(halves, true)),
    );
}

#[test]
fn controllers_of_presto_have_something_to_learn() {
    let delay = "[balance.presto]\ncontroller_delay = \"5 ms\"\n";
    let failing = format!("{delay}[[failure]]\ncables = [\"leaf0-spine0\"]\nat = \"100 us\"\n");
    section(delay, "no cable fails or is repaired during the run", &failing);
}

#[test]
fn rates_of_dcqcn_can_fall() {
    let least = |rate: &str| format!("[transport.dcqcn]\nmin_rate = \"{rate}\"\n[switch]\necn = \"red\"\n");
    section(&least("40 Gbps"), "not below the fastest link", &least("10 Mbps"));
}

/// A full frame of 1500 B of IP takes 1538 B on the wire.
#[test]
fn memory_holds_a_packet() {
    let port = |room: &str| format!("[switch]\nsharing.static.per_port = \"{room}\"\n");
    let buffer = |room: &str| format!("[switch]\nbuffer = \"{room}\"\nsharing.dynamic.alpha = 1.0\n");
    section(&port("1537 B"), "1537 B holds no packet of 1538 B", &port("1538 B"));
    section(&buffer("1537 B"), "all of them would be dropped", &buffer("1538 B"));
}

/// All flows of a job start when others have ended: nothing arrives that could be counted.
#[test]
fn a_number_of_flows_has_no_effect_on_jobs() {
    let job = "tag = \"sort\"\nkind = \"terasort\"\ninput = \"1 MB\"\nreducers = 1\n";
    let alone = |measure: &str| {
        format!(
            "weft = 1\nname = \"x\"\nseeds = [1]\n[topology.single-switch]\nhosts = 4\n[[traffic]]\n{job}{measure}"
        )
    };
    let counted = "[measure]\nflows = 10\n";
    let found = refused(&alone(counted));
    assert!(
        found
            .iter()
            .any(|mistake| mistake.contains("`measure.flows` has no effect: all flows are those of jobs")),
        "{found:?}"
    );
    accepted(&alone(""));
    accepted(&small(&format!("[[traffic]]\n{job}")));
}

/// A setting of one framework has an effect where a sweep has another as well.
#[test]
fn settings_of_one_framework_may_stand_beside_others_in_a_sweep() {
    let sort = |framework: &str, sweep: &str| {
        format!(
            "weft = 1\nname = \"x\"\nseeds = [1]\n[topology.single-switch]\nhosts = 4\n[[traffic]]\ntag = \"sort\"\n\
             kind = \"terasort\"\ninput = \"1 MB\"\nreducers = 1\nslow_start = 0.5\nframework = \"{framework}\"\n{sweep}"
        )
    };
    accepted(&sort("tez", ""));
    accepted(&sort("tez", "[sweep]\n\"traffic.sort.framework\" = [\"tez\", \"spark\"]\n"));
    let found = refused(&sort("spark", ""));
    assert!(
        found.len() == 1 && found[0].contains("`slow_start` has no effect: a stage of spark"),
        "{found:?}"
    );
    let none = refused(
        "weft = 1\nname = \"x\"\nseeds = [1]\ntraffic = []\n[topology.single-switch]\nhosts = 4\n[measure]\nflows = 9\n",
    );
    assert!(none.len() == 1 && none[0].contains("no traffic: give at least one"), "{none:?}");
}

#[test]
fn remarks_tell_what_limits_a_load_and_which_cases_have_other_flows() {
    let told = |text: &str| accepted(text).remarks(std::path::Path::new(""));
    assert!(told(&small(""))[0].contains("hosts, not uplinks, limit the load"), "{:?}", told(&small("")));
    let of_receivers = |to: &str| {
        small("").replace("load = 0.5", &format!("load = 0.5\nload_of = \"{to}\"\nfrom = [0]\nto = [2, 3]"))
    };
    assert_eq!(told(&of_receivers("hosts")), Vec::<String>::new());
    let one = told(&of_receivers("receivers").replace("0.5", "0.8"));
    assert_eq!(one, ["traffic web: the load is 1.60 times what the cables of the senders carry."]);
    let listed = |until: &str| {
        let flows =
            "{ from = 0, to = 1, size = \"1 MB\" }, { from = 2, to = 1, size = \"1 MB\", at = \"100 us\" }";
        let list = format!("\n[[traffic]]\ntag = \"list\"\nkind = \"list\"\nflows = [{flows}]\n");
        let text = small("").replace("[measure]\n", &format!("[measure]\nuntil = \"{until}\"\n"));
        told(&(text + &list)).into_iter().filter(|told| told.contains("left out")).collect::<Vec<_>>()
    };
    let late = "traffic list: 1 of 2 flows start at 100 us or later, when the run ends, and are left out.";
    assert_eq!(listed("100 us"), [late]);
    assert_eq!(listed("101 us"), Vec::<String>::new());
    let sweep =
        |counts: &str| {
            let text = small("[sweep]\ntransport = [\"newreno\", \"pdq\"]\n[switch]\narbiter = \"pdq\"\n");
            told(&text.replace(
                "load = 0.5",
                &format!("load = 0.5\nload_of = \"hosts\"\nload_counts = \"{counts}\""),
            ))
        };
    assert!(sweep("wire")[0].contains("The flows of `transport=pdq` are not those of `transport=newreno`"));
    assert_eq!(sweep("payload"), Vec::<String>::new());
}

/// A chain of eight switches has 14 links of 10 Gb/s between them. With a load of 0.5, flows between them bring 70 Gb/s, and
/// 16 of the 56 pairs of switches cross the middle in one direction: 20 Gb/s.
#[test]
fn a_link_of_a_chain_is_offered_more_than_the_load() {
    let chain = |load: &str, more: &str| {
        remarks(&format!(
            "weft = 1\nname = \"x\"\nseeds = [1]\n[topology.parking-lot]\nswitches = 8\nhosts_per_switch = 20\n\
             host_link = {{ rate = \"10 Gbps\" }}\nbottleneck = {{ rate = \"10 Gbps\" }}\n[transport.udp]\n\
             [[traffic]]\ntag = \"w\"\nload = {load}\nsizes = \"20 kB\"\n{more}[measure]\nflows = 100\n"
        ))
    };
    let told = chain("0.5", "");
    assert!(told.contains("is offered 2.00 times its rate"), "{told}");
    assert_eq!(chain("0.24", ""), "");
    let other = |stop: &str| {
        format!("{stop}[[traffic]]\ntag = \"v\"\nload = 0.2\nsizes = \"20 kB\"\nstart = \"1 ms\"\n")
    };
    assert!(chain("0.24", &other("")).contains("is offered 1.76 times its rate"), "both send");
    assert_eq!(chain("0.24", &other("stop = \"1 ms\"\n")), "", "one after the other");
}

#[test]
fn visibility_matters_to_balancers_that_look() {
    section(
        "[balance.round-robin]\n[switch]\nvisibility = \"instant\"\nengines = 2\n",
        "does not use queue lengths",
        "[balance.drill]\n[switch]\nvisibility = \"instant\"\nengines = 2\n",
    );
    section(
        "[balance.drill]\n[switch]\nvisibility = \"instant\"\n",
        "a single engine sees all its decisions at once",
        "[balance.drill]\n[switch]\nvisibility = \"store\"\n",
    );
    let sweep = "[sweep]\nbalance = [\"ecmp\", \"drill\"]\n";
    accepted(&small(&format!("[switch]\nvisibility = \"instant\"\nengines = 2\n{sweep}")));
}

#[test]
fn a_balancer_needs_a_choice() {
    let with_spines =
        |spines: &str, balance: &str| small(balance).replace("spines = 2", &format!("spines = {spines}"));
    let random = "[balance.random]\n";
    rule(
        &with_spines("1", random),
        "every switch has a single port towards each host",
        &with_spines("2", random),
    );
    accepted(&with_spines("1", "[balance.ecmp]\n"));
}

#[test]
fn marks_of_one_queue_have_no_scope() {
    section(
        "[transport.dctcp]\n[switch.ecn.step]\nscope = \"port\"\n",
        "there is only one queue per port",
        "[transport.dctcp]\n[switch]\nqueues = 2\nschedule = \"drr\"\n[switch.ecn.step]\nscope = \"port\"\n",
    );
}

#[test]
fn a_queue_limit_lies_below_that_of_the_port() {
    section(
        "[[switch.port]]\nat = \"leaf*\"\nto = \"host*\"\nqueue_limit = \"1 MB\"\n",
        "a port holds 1 MB in all",
        "[[switch.port]]\nat = \"leaf*\"\nto = \"host*\"\nqueue_limit = \"200 kB\"\n",
    );
}

#[test]
fn a_first_window_holds_a_segment() {
    section(
        "[transport.newreno]\ninitial_window = \"1 B\"\n",
        "a first window of 1 B holds no segment",
        "[transport.newreno]\ninitial_window = \"1460 B\"\n",
    );
}

#[test]
fn a_table_of_flowlets_with_an_entry_for_every_flow_has_no_size() {
    section(
        "[balance.letflow]\nexact = true\ntable_size = 100\n",
        "every flow has its own entry",
        "[balance.letflow]\ntable_size = 100\n",
    );
    section("[balance.letflow]\ngap = \"-1 us\"\n", "-1 us", "[balance.letflow]\ngap = \"0 us\"\n");
    section("[balance.letflow]\ntable_size = 0\n", "out of range", "[balance.letflow]\ntable_size = 1\n");
}

#[test]
fn estimates_of_congestion_decay_now_and_then() {
    section("[balance.conga]\ndre_period = \"0 us\"\n", "always zero", "[balance.conga]\n");
    section(
        "[balance.conga]\nfeedback = false\nage_out = \"1 ms\"\n",
        "feedback is off",
        "[balance.conga]\nfeedback = false\n",
    );
    section("[balance.conga]\nmetric_bits = 7\n", "out of range", "[balance.conga]\nmetric_bits = 6\n");
}

#[test]
fn tables_of_weights_hold_something() {
    section("[balance.wcmp]\ntable_size = 0\n", "sum to zero", "[balance.wcmp]\ntable_size = 8\n");
    section(
        "[balance.wcmp]\noversubscription = 0.9\n",
        "out of range",
        "[balance.wcmp]\noversubscription = 1.0\n",
    );
}

#[test]
fn flowcells_hold_payload() {
    section("[balance.presto]\ncell = \"0 B\"\n", "is empty", "[balance.presto]\ncell = \"1 B\"\n");
}

#[test]
fn named_failures_leave_leaves_a_path_at_some_time() {
    let names =
        |leaf: &str| (0..2).map(|spine| format!("\"{leaf}-spine{spine}\"")).collect::<Vec<_>>().join(",");
    let fails = |leaf, when: &str| format!("[[failure]]\ncables = [{}]\n{when}", names(leaf));
    for leaf in ["leaf0", "leaf1"] {
        for when in ["at = \"1 ms\"\n", "repair_at = \"1 ms\"\n"] {
            section(&fails(leaf, ""), "for the whole run", &fails(leaf, when));
        }
    }
}

/// Leaf 0 has the first spine only and leaf 1 the second: their packets would have to pass a third leaf.
#[test]
fn valley_free_components_leave_every_pair_a_route() {
    let with = |valley_free: bool| {
        let balance = format!("[balance.drill]\nvalley_free = {valley_free}\n");
        let failure = "[[failure]]\ncables = [\"leaf0-spine1\", \"leaf1-spine0\"]\n";
        small(&format!("{balance}{failure}")).replace("leaves = 2", "leaves = 3")
    };
    rule(&with(true), "no path from leaf1 to leaf0 goes up, then down", &with(false));
}

#[test]
fn labels_have_room_for_the_ports() {
    let hosts = |hosts| {
        let more = small("[balance.presto]\n");
        more.replace("hosts_per_leaf = 2", &format!("hosts_per_leaf = {hosts}"))
    };
    rule(&hosts(254), "a label can name ports below 255", &hosts(253));
}

#[test]
fn flowcells_need_hosts_that_make_them() {
    let shim = "[transport.newreno]\nreorder_shim = true\nshim_rule = \"flowcells\"\n";
    section(shim, "only balance", &format!("[balance.presto]\n{shim}"));
    section(
        &format!("[balance.presto]\n{shim}shim_timeout = \"9 us\"\n"),
        "shim_rule is",
        &format!("[balance.presto]\n{shim}hold_alpha = 3.0\n"),
    );
    newreno("hold_beta = 1.0\n", "reorder_shim is off", "");
}

#[test]
fn red_thresholds_rise() {
    section(
        "[switch]\necn = { kind = \"red\", min = \"50 kB\", max = \"20 kB\" }\n",
        "K_max is below K_min",
        "[switch]\necn = { kind = \"red\", min = \"20 kB\", max = \"50 kB\" }\n",
    );
}

#[test]
fn pi_is_given_one_pair_of_gains_and_samples_some_time_apart() {
    let pi = |own: &str| format!("[transport.dctcp]\n[switch]\necn = {{ kind = \"pi\", {own} }}\n");
    let whole = pi("a = 2e-6, b = 1e-6");
    section(&pi("a = 2e-6"), "`a` needs `b`", &whole);
    section(&pi("b = 1e-6"), "`b` needs `a`", &whole);
    section(&pi("a = 2e-6, b = 1e-6, k1 = 1e-6"), "the gains are given as", &whole);
    section(&pi("a = 2e-6, b = 1e-6, k2 = 1e-6"), "the gains are given as", &pi("k1 = 1e-6, k2 = 1e-6"));
    section(&pi("k1 = 0, k2 = 0"), "with gains of 0 nothing is ever marked", &pi("k1 = 0"));
    section(&pi("a = 0, b = 0"), "with gains of 0 nothing is ever marked", &pi("a = 1e-6, b = 0"));
    section(
        &pi("a = 1e-6, b = 2e-6"),
        "`a` = 1e-6 and `b` = 2e-6 make a gain negative",
        &pi("a = 2e-6, b = 2e-6"),
    );
    section(&pi("a = -2e-6, b = -3e-6"), "`b` must be at least 0, `a` at least `b`", &whole);
    section(&pi("every = \"1 ns\""), "at least 100 ns apart", &pi("every = \"1 us\""));
    section(&pi("packet = \"0 B\""), "a packet of at least 1 B", &pi("packet = \"1 B\""));
    let pie = |own: &str| format!("[transport.dctcp]\n[switch]\necn = {{ kind = \"pie\", {own} }}\n");
    section(&pie("every = \"0 ns\""), "at least 100 ns apart", &pie("every = \"15 ms\""));
}

#[test]
fn the_size_of_a_packet_matters_where_packets_are_counted() {
    section(
        "[transport.dctcp]\n[switch]\necn = { kind = \"step\", threshold = \"30 kB\", packet = \"1000 B\" }\n",
        "the thresholds are given in bytes",
        "[transport.dctcp]\n[switch]\necn = { kind = \"step\", threshold = \"20 pkt\", packet = \"1000 B\" }\n",
    );
}

#[test]
fn traffic_fits_the_network() {
    section(
        "[[traffic]]\ntag = \"b\"\nkind = \"incast\"\nfan_in = 4\nsizes = \"1 kB\"\n",
        "senders",
        "[[traffic]]\ntag = \"b\"\nkind = \"incast\"\nfan_in = 3\nsizes = \"1 kB\"\n",
    );
    section(
        "[[traffic]]\ntag = \"b\"\nload = 0.1\nsizes = \"web-saerch\"\n",
        "web-search",
        "[[traffic]]\ntag = \"b\"\nload = 0.1\nsizes = \"web-search\"\n",
    );
    section(
        "[[traffic]]\ntag = \"web\"\nload = 0.1\nsizes = \"1 kB\"\n",
        "two entries of `traffic` have the tag `web`",
        "[[traffic]]\ntag = \"web2\"\nload = 0.1\nsizes = \"1 kB\"\n",
    );
    rule(&format!("{HEAD}{SECTIONS}"), "never end", &small(""));
    rule(
        &format!("{HEAD}traffic = []\n[topology.leaf-spine]\n"),
        "no traffic: give at least one",
        &small(""),
    );
}

#[test]
fn a_load_belongs_to_open_loop_arrivals() {
    section(
        "[[traffic]]\ntag = \"b\"\nkind = \"permutation\"\nsizes = \"1 kB\"\nload = 0.5\n",
        "unknown key `load` in `traffic.b`; it is a setting of kind = \"open-loop\"",
        "[[traffic]]\ntag = \"b\"\nkind = \"permutation\"\nsizes = \"1 kB\"\n",
    );
}

#[test]
fn every_entry_sends_something() {
    section(
        "[[traffic]]\ntag = \"b\"\nload = 0.1\nsizes = \"1 kB\"\nstart = \"2 ms\"\nstop = \"1 ms\"\n",
        "before it starts",
        "[[traffic]]\ntag = \"b\"\nload = 0.1\nsizes = \"1 kB\"\nstart = \"1 ms\"\nstop = \"2 ms\"\n",
    );
    rule(
        &format!("{HEAD}{SECTIONS}start = \"3 ms\"\n[measure]\nuntil = \"3 ms\"\n"),
        "the run ends at 3 ms",
        &format!("{HEAD}{SECTIONS}start = \"2 ms\"\n[measure]\nuntil = \"3 ms\"\n"),
    );
}

#[test]
fn a_problem_deep_in_a_list_is_shown_where_it_is_written() {
    let graph = "[topology.graph]\nhosts = 2\nswitches = [\"a\"]\n[[topology.graph.links]]\nfrom = \"host0\"\nto = \"a\"\nrate = \"1 Gbps\"\n\
        [[topology.graph.links]]\nfrom = \"hots1\"\nto = \"a\"\nrate = \"1 Gbps\"\n[[traffic]]\ntag = \"t\"\nkind = \"permutation\"\nsizes = \"1 kB\"\n";
    let text = format!("{HEAD}{graph}");
    let found = refused(&text);
    let line = 1 + text.lines().position(|line| line.contains("hots1")).unwrap();
    assert!(found[0].starts_with(&format!("{line}: topology.graph.links[1].from: ")), "{found:#?}");
    accepted(&text.replace("hots1", "host1"));
}

/// The same for lines of `[transport.newreno]`.
fn newreno(broken: &str, what: &str, kept: &str) {
    let text = |lines: &str| format!("[transport.newreno]\n{lines}");
    section(&text(broken), what, &text(kept));
}

#[test]
fn families_have_their_article() {
    section("[switch]\norder = 3\n", "expected the name of an order", "[switch]\norder = \"fifo\"\n");
    section(
        "[switch]\n[switch.order]\n",
        "`switch.order` does not name an order",
        "[switch]\norder = \"fifo\"\n",
    );
}

#[test]
fn packets_carry_payload() {
    newreno("mtu = \"40 B\"\n", "no room for payload", "mtu = \"41 B\"\n");
    newreno(
        "mtu = \"52 B\"\ntimestamps = true\n",
        "no room for payload",
        "mtu = \"53 B\"\ntimestamps = true\n",
    );
    newreno("mtu = \"65500 B\"\n", "exceed 65535 bytes", "mtu = \"9000 B\"\n");
}

#[test]
fn flows_age() {
    let marks = "[switch]\necn.step.threshold = \"60 kB\"\n";
    let text = |lines: &str| format!("{marks}[transport.l2dct]\n{lines}");
    section(&text("ecn = \"on\"\n"), "l2dct always uses marks, in its own way", &text(""));
    section(
        &text("young = \"2 MB\"\nold = \"1 MB\"\n"),
        "old from 1 MB on, but young up to 2 MB",
        &text("young = \"1 MB\"\nold = \"1 MB\"\n"),
    );
}

#[test]
fn time_outs_are_ordered() {
    newreno(
        "min_rto = \"2 s\"\nmax_rto = \"1 s\"\n",
        "exceeds the maximum",
        "min_rto = \"1 s\"\nmax_rto = \"2 s\"\n",
    );
}

#[test]
fn probes_need_rack() {
    newreno("tlp = true\n", "needs loss_detection", "tlp = true\nloss_detection = \"rack\"\n");
    newreno(
        "tlp_slack = \"1 ms\"\n",
        "tlp is off",
        "tlp = true\nloss_detection = \"rack\"\ntlp_slack = \"1 ms\"\n",
    );
    newreno(
        "loss_detection = \"rack\"\ndup_threshold = 4\n",
        "RACK detects loss by time",
        "dup_threshold = 4\n",
    );
    newreno(
        "loss_detection = \"rack\"\nsack = false\n",
        "RACK goes by selective acknowledgements",
        "dup_threshold = 5\nsack = false\n",
    );
    newreno(
        "rack_slack = \"2 ms\"\n",
        "loss_detection is not",
        "loss_detection = \"rack\"\nrack_slack = \"2 ms\"\n",
    );
}

#[test]
fn reordering_is_learnt_with_sack() {
    newreno("undo = true\nsack = false\n", "it needs selective", "undo = true\n");
    newreno("max_reordering = 127\nsack = false\n", "it needs selective", "max_reordering = 127\n");
    newreno("max_reordering = 3\n", "starts at dup_threshold", "max_reordering = 3\ndup_threshold = 2\n");
    newreno(
        "loss_detection = \"rack\"\nmax_reordering = 9\n",
        "RACK detects loss by time",
        "loss_detection = \"rack\"\nundo = true\n",
    );
}

#[test]
fn receive_windows_are_constant_or_tune_themselves() {
    newreno("receive_window = \"1 MB\"\nautotune = {}\n", "or tunes itself, not both", "autotune = {}\n");
    newreno(
        "autotune = { initial = \"4 MB\", max = \"3 MB\" }\n",
        "the window starts at 4 MB, beyond its maximum of 3 MB",
        "autotune = { initial = \"64 kB\", max = \"3 MB\" }\n",
    );
}

#[test]
fn windows_hold_a_packet() {
    newreno(
        "receive_window = \"1459 B\"\n",
        "a packet carries 1460 B, which a window of 1459 B never lets through",
        "receive_window = \"1460 B\"\n",
    );
    newreno(
        "autotune = { initial = \"1 kB\" }\n",
        "a window of 1 kB never lets through",
        "autotune = { initial = \"1460 B\" }\n",
    );
    let pairs = |lines: &str| format!("[transport.roce]\n{lines}");
    section(&pairs("window = \"0 B\"\n"), "a window of 0 B never", &pairs("window = \"1456 B\"\n"));
}

#[test]
fn mechanisms_are_on_where_they_are_set() {
    let alone = "tso = true\ntso_min_segments = 2\n";
    newreno(alone, "tso_time allows, which is not given", &format!("{alone}tso_time = \"1 ms\"\n"));
    newreno("tso = true\ntso_rtt_log = 9\n", "tso_time allows", "tso = true\n");
    newreno(
        "shim_timeout = \"50 us\"\n",
        "reorder_shim is off",
        "shim_timeout = \"50 us\"\nreorder_shim = true\n",
    );
    newreno("tso_limit = \"32 KiB\"\n", "tso is off", "tso_limit = \"32 KiB\"\ntso = true\n");
    newreno("impatient = true\n", "only without sack", "impatient = true\nsack = false\n");
    newreno("delayed_ack = 1\nquick_acks = 8\n", "acknowledged at once", "delayed_ack = 2\nquick_acks = 8\n");
}

/// Datagrams at a constant rate beside other flows leave the transport something to do.
#[test]
fn flows_at_constant_rates_need_no_transport() {
    let text = |lines: &str, rest: &str| {
        let traffic =
            "kind = \"constant\"\ntag = \"c\"\nfrom = 0\nto = 2\nrate = \"1 Gbps\"\nduration = \"1 ms\"\n";
        let topology = SECTIONS.split("[[traffic]]").next().expect("the network");
        format!(
            "{HEAD}{topology}[transport.{lines}\n[[traffic]]\n{traffic}{rest}[measure]\nuntil = \"9 ms\"\n"
        )
    };
    let other = "[[traffic]]\ntag = \"web\"\nload = 0.5\nsizes = \"10 kB\"\n";
    for lines in ["udp]\nrate = \"1 Gbps\"", "newreno]\ninitial_window = \"3 pkt\""] {
        rule(&text(lines, ""), "a constant rate of their own", &text(lines, other));
    }
}

#[test]
fn slow_start_ends_early_where_set() {
    let text = |lines: &str| format!("[transport.cubic]\n{lines}");
    section(
        &text("hystart = false\nhystart_paced = true\n"),
        "hystart is off",
        &text("hystart_paced = true\n"),
    );
}

#[test]
fn ticks_are_counted() {
    let text = |lines: &str| format!("[transport.cubic]\n{lines}");
    let linux = text("hz = 1000\narithmetic = \"linux\"\n");
    section(&text("hz = 1000\n"), "arithmetic is not", &linux);
}

#[test]
fn marks_are_set_and_read() {
    let step = "[switch]\necn = \"step\"\n";
    section("[transport.dctcp]\n", "dctcp reacts to marks", &format!("[transport.dctcp]\n{step}"));
    section(step, "newreno cannot be marked", &format!("[transport.newreno]\necn = \"on\"\n{step}"));
    section(
        "[transport.newreno]\necn = \"on\"\n",
        "no switch marks",
        &format!("[transport.newreno]\necn = \"on\"\n{step}"),
    );
    section(
        &format!("[transport.dctcp]\necn = \"on\"\n{step}"),
        "in its own way",
        &format!("[transport.dctcp]\n{step}"),
    );
    accepted(&small(&format!("{step}[sweep]\ntransport = [\"newreno\", \"dctcp\"]\n")));
    accepted(&small("[switch]\necn = { kind = \"red\", non_ect = \"drop\" }\n"));
}

#[test]
fn class_maps_name_queues_and_change_something() {
    let with = |queues: u32, map: &str| format!("[switch]\nqueues = {queues}\nclass_map = {map}\n");
    let study = with(8, "[1, 0, 2, 3, 4, 4, 5, 7]");
    section(&with(2, "[1, 2]"), "class 1 has no queue 2: ports have 2", &with(2, "[1, 0]"));
    assert!(refused(&small(&with(2, "[\n1,\n2]")))[0].starts_with("20: switch.class_map[1]: "));
    section(&with(1, "[0]"), "only one queue per port", &study);
    section(&with(4, "[0, 1, 2, 3]"), "goes to this queue without it", &with(4, "[0, 0, 2, 3]"));
    section(&with(2, "[1, 0, 1, 1, 1, 1, 1, 1, 1]"), "9 entries, but there are 8 classes", &study);
    let tiers = format!("{study}[switch.spine]\nclass_map = [0, 1]\n");
    accepted(&small(&tiers));
    let pausing = "buffer = \"9 MB\"\npfc.classes = [0, 1]\n";
    section(
        &format!("{study}{pausing}[switch.spine]\nclass_map = [0, 1]\n"),
        "neighbours map classes to queues alike",
        &format!("{study}{pausing}"),
    );
}

#[test]
fn priority_groups_share_limits() {
    let with = |rest: &str| format!("[switch]\nqueues = 4\nbuffer = \"9 MB\"\n{rest}");
    let pausing = with("pfc.classes = [0, 1]\ngroup_map = [2, 2, 0, 3]\n");
    let divided = with("sharing.mmu = {}\ngroup_map = [0, 1, 2, 2]\n");
    accepted(&small(&divided));
    section(
        &with("pfc.classes = [0]\ngroup_map = [0, 1, 2, 3, 3]\n"),
        "5 entries, but ports have 4 queues",
        &pausing,
    );
    section(&with("pfc.classes = [0, 1]\ngroup_map = [8]\n"), "queue 0 has no group 8", &pausing);
    section(&with("group_map = [1, 1]\n"), "only lossy queues share a group", &with(""));
    section(
        &with("pfc.classes = [0, 1]\ngroup_map = [0, 1, 2, 2]\n"),
        "only lossy queues share a group",
        &pausing,
    );
    section(&with("sharing.mmu = {}\ngroup_map = [3, 2, 1, 0]\n"), "no two queues share a group", &divided);
    section(
        &with("pfc.classes = [1]\ngroup_map = [1]\n"),
        "queues 1 and 0 share a group, but only queue 1 is lossless",
        &pausing,
    );
    let pools = |first: &str| {
        with(&format!(
            "group_map = [0, 0]\nsharing.mmu.pools = [{{ classes = [{first}], share = \"40 %\" }}, \
             {{ classes = [1, 2], share = \"60 %\" }}]\n"
        ))
    };
    section(&pools("0, 3"), "queues 0 and 1 share a group, but not a service pool", &divided);
    accepted(&small(&format!("{divided}[switch.spine]\ngroup_map = [3, 2, 1, 0]\n")));
}

/// A class in the map has the queue that the map gives it, and flows that fall keep their order.
#[test]
fn class_maps_serve_classes_and_keep_their_order() {
    let entry = |map: &str| {
        format!(
            "[switch]\nqueues = 2\n{map}[[traffic]]\ntag = \"bulk\"\nload = 0.1\nsizes = \"1 MB\"\nclass = 2\n"
        )
    };
    section(&entry(""), "class 2 has no queue of its own", &entry("class_map = [1, 1, 0]\n"));
    let falls = |map: &str| {
        format!(
            "[switch]\nsharing.infinite = {{}}\nqueues = 3\nschedule = \"strict\"\nclass_map = {map}\n\
             [transport.newreno]\npias.thresholds = [\"20 kB\"]\n"
        )
    };
    section(&falls("[1, 0]"), "use classes 0 to 1, which need a queue each", &falls("[0, 2]"));
}

/// Readable parts of the file are judged even if other parts cannot be read.
#[test]
fn mistakes_of_both_kinds_come_at_once() {
    let text = format!(
        "{HEAD}{}",
        r#"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
[switch]
bufer = "1 MB"
sharing = { kind = "static", per_port = "1 MB" }
[transport.newreno]
min_rto = "5 s"
max_rto = "1 s"
[[traffic]]
tag = "web"
laod = 0.5
sizes = "web-serch"
[[traffic]]
tag = "rpc"
load = 0.5
sizes = "gogle-rpc"
pairs = "any"
[[traffic]]
tag = "none"
kind = "constant"
rate = "1 Gbps"
from = 9
[measure]
flows = 10
warm_up = "2 ms"
until = "1 ms"
[[expect]]
value = "fct.men"
above = 1
"#
    );
    let found = match ScenarioFile::parse(&text, "test.toml").and_then(|file| file.validate(&KNOWN)) {
        Ok(_) => panic!("accepted"),
        Err(mistakes) => listed(&mistakes),
    };
    let told = [
        "unknown key `bufer`",
        "min_rto",
        "`traffic.web.load` is missing",
        "unknown key `laod`",
        "web-serch",
        "gogle-rpc",
        "there is no host 9",
        "warm_up",
        "unknown metric `fct.men`",
    ];
    assert_eq!(found.len(), told.len(), "{found:#?}");
    for (found, told) in found.iter().zip(told) {
        assert!(found.contains(told), "{told}: {found}");
    }
}

/// Nothing is invented about unreadable parts: the buffer that is missing here is only written wrongly, and so is the
/// end of the traffic.
#[test]
fn one_mistake_has_no_followers() {
    let one = |text: &str| {
        let found = refused(text);
        assert_eq!(found.len(), 1, "{found:#?}");
    };
    let switch = "[switch]\nbuffer = \"1 MV\"\nsharing = { kind = \"dynamic\", minimum = \"9 kB\" }\n";
    one(&small(switch));
    one(&format!("{HEAD}{SECTIONS}[measure]\nflows = \"many\"\n"));
    one(&small("[routing]\nconvergence = \"instant\"\n").replace("leaves = 2", "leaves = true"));
    one(&format!("{HEAD}{SECTIONS}[mesure]\nflows = 100\n"));
    let jitter = "[[traffic]]\ntag = \"i\"\nkind = \"incast\"\nfan_in = 2\nsizes = \"1 kB\"\n\
                  period = \"20 mss\"\njitter = \"15 ms\"\ncount = 2\n";
    one(&small(jitter));
    one(&small("[sweep]\nbalance = [\"ecmp\", \"dril\"]\n"));
}

/// A switch with these lines of priority flow control.
fn pfc(broken: &str, what: &str, kept: &str) {
    let text = |lines: &str| format!("[switch]\nbuffer = \"40 MB\"\n{lines}");
    section(&text(broken), what, &text(kept));
}

#[test]
fn priority_flow_control_is_sound() {
    let on = "pfc.classes = [0]\n";
    pfc("pfc.classes = [1]\n", "class 1 has no queue of its own", on);
    pfc("pfc.classes = [0, 0]\n", "listed twice", on);
    pfc("pfc.xoff = \"10 kB\"\npfc.classes = []\nqueues = 2\n", "no class pauses", on);
    pfc(
        "pfc.classes = [0]\npfc.xoff = \"10 kB\"\npfc.alpha = 2.0\n",
        "XOFF is static",
        "pfc.classes = [0]\npfc.alpha = 2.0\n",
    );
    pfc(
        "pfc.classes = [0]\npfc.xoff = \"2 kB\"\n",
        "which is not above zero",
        "pfc.classes = [0]\npfc.xoff = \"2 kB\"\npfc.xon_offset = \"1 kB\"\n",
    );
    pfc("pfc.classes = [0]\npfc.quanta = 10\n", "at least 51", "pfc.classes = [0]\npfc.quanta = 51\n");
    pfc(
        "pfc.classes = [0]\npfc.watchdog_action = \"forward\"\n",
        "there is no watchdog",
        "pfc.classes = [0]\npfc.watchdog = \"1 ms\"\npfc.watchdog_action = \"forward\"\n",
    );
    pfc(
        "pfc.classes = [0]\npfc.headroom = \"30 MB\"\n",
        "the buffer has 40 MB",
        "pfc.classes = [0]\npfc.headroom = \"30 kB\"\n",
    );
    let storm = |lines: &str| format!("[switch]\nbuffer = \"40 MB\"\n{on}[[pause_storm]]\n{lines}");
    let good = storm("host = \"host1\"\nuntil = \"1 ms\"\n");
    section(&storm("host = \"hots1\"\nuntil = \"1 ms\"\n"), "there is no host called `hots1`", &good);
    section(&storm("host = \"host1\"\nat = \"1 ms\"\nuntil = \"1 ms\"\n"), "must end after it starts", &good);
    let until = |lines: &str| small(&storm(lines)).replace("flows = 100", "until = \"5 ms\"");
    let late = until("host = \"host1\"\nat = \"5 ms\"\nuntil = \"6 ms\"\n");
    rule(&late, "the run ends at 5 ms", &until("host = \"host1\"\nat = \"4 ms\"\nuntil = \"6 ms\"\n"));
}

#[test]
fn a_single_incast_has_no_period() {
    let incast = |lines: &str| {
        let flows = format!("kind = \"incast\"\nfan_in = 2\n{lines}");
        small("").replace("load = 0.5\n", &flows).replace("flows = 100", "until = \"5 ms\"")
    };
    rule(
        &incast("period = \"1 ms\"\n"),
        "there is a single event",
        &incast("period = \"1 ms\"\ncount = 2\n"),
    );
}

#[test]
fn a_dynamic_xoff_has_something_to_divide() {
    section(
        "[switch]\npfc.classes = [0]\n",
        "a fraction of the free memory",
        "[switch]\npfc.classes = [0]\npfc.xoff = \"10 kB\"\n",
    );
}

/// A switch whose memory is managed, with two queues, the second of which pauses.
fn mmu(broken: &str, what: &str, kept: &str) {
    let text = |lines: &str| {
        format!("[switch]\nbuffer = \"40 MB\"\nqueues = 2\npfc.classes = [1]\n[switch.sharing.mmu]\n{lines}")
    };
    section(&text(broken), what, &text(kept));
}

#[test]
fn memory_management_is_sound() {
    mmu("lossy_alpha = 0\n", "0", "lossy_alpha = 0.5\n");
    mmu("headroom_pool = \"2 kB\"\n", "too small for one paused class", "headroom_pool = \"1 MB\"\n");
    mmu(
        "headroom_pool = \"39.99 MB\"\n",
        "leave nothing of the buffer of 40 MB",
        "headroom_pool = \"30 MB\"\n",
    );
    mmu("group_minimum = \"10 MB\"\n", "leave nothing of the buffer of 40 MB", "group_minimum = \"10 kB\"\n");
    mmu("queue_minimum = \"10 MB\"\n", "leave nothing of the buffer of 40 MB", "queue_minimum = \"10 kB\"\n");
    mmu("lossy_limit = \"1 MB\"\nlossy_alpha = 2.0\n", "the limit is fixed", "lossy_limit = \"1 MB\"\n");
    mmu("port_minimum = \"1 kB\"\n", "the group minima already use it up", "port_minimum = \"9 kB\"\n");
    let pool = |classes: &str, share: &str| {
        format!("[[switch.sharing.mmu.pools]]\nclasses = {classes}\nshare = \"{share}\"\n")
    };
    let good = pool("[0]", "40 %") + &pool("[1]", "60 %");
    mmu(&(pool("[0]", "50 %") + &pool("[1]", "60 %")), "the pools add up to 110 %", &good);
    mmu(&pool("[0]", "40 %"), "class 1 has no pool", &good);
    mmu(&pool("[0, 1, 1]", "40 %"), "class 1 is listed twice", &good);
    mmu(&pool("[0, 1, 2]", "40 %"), "class 2 has no queue", &good);
    let head = "[switch]\nbuffer = \"40 MB\"\n";
    let pool = "[switch.sharing.mmu]\nheadroom_pool = \"1 MB\"\n";
    section(
        &format!("{head}{pool}"),
        "no class pauses",
        &format!("{head}queues = 2\npfc.classes = [1]\n{pool}"),
    );
    let limit = "[switch.sharing.mmu]\nlossy_limit = \"1 MB\"\n";
    section(
        &format!("{head}pfc.classes = [0]\n{limit}"),
        "every class is lossless",
        &format!("{head}{limit}"),
    );
    section("[switch.sharing.mmu]\n", "the memory to manage", &format!("{head}[switch.sharing.mmu]\n"));
}

#[test]
fn classes_of_entries_have_queues_and_paused_ports_exist() {
    let entry = |switch: &str, class: u32| {
        format!(
            "[switch]\n{switch}\n[[traffic]]\ntag = \"more\"\nkind = \"permutation\"\nsizes = \"1 kB\"\nclass = {class}\n"
        )
    };
    let drill = |switch: &str| {
        format!("[switch]\nbuffer = \"40 MB\"\n{switch}\n[balance.drill]\nexclude_paused = true\n")
    };
    section(&drill(""), "no class pauses", &drill("pfc.classes = [0]"));
    section(&entry("queues = 2", 2), "class 2 has no queue of its own", &entry("queues = 2", 1));
}

/// The remarks on a scenario without mistakes.
fn remarks(text: &str) -> String {
    crate::accepted(text).remarks(std::path::Path::new("")).join("\n")
}

/// DRILL(2,1) in its usual form is not remarked upon; whoever asks for more ports than there are is.
#[test]
fn drill_looks_at_ports_that_exist() {
    let of = |drill: &str| remarks(&small(&format!("[balance.drill]\n{drill}")));
    let seen = "looks at 3 ports, but no switch chooses among more than 2";
    assert!(of("choices = 2\n").contains(seen), "{}", of("choices = 2\n"));
    assert!(!of("").contains("looks at"), "{}", of(""));
    assert!(!of("choices = 1\n").contains("looks at"));
}

#[test]
fn several_queues_hold_packets_of_several_classes() {
    let four = small("[switch]\nqueues = 4\nschedule = \"strict\"\n");
    let one = remarks(&four);
    assert!(one.contains("switch.queues = 4, but all packets are in queue 0"), "{one}");
    let two = four + "\n[[traffic]]\ntag = \"more\"\nclass = 3\nload = 0.1\nsizes = \"10 kB\"\n";
    assert!(!remarks(&two).contains("all packets"));
}

/// Flows have 10 kB, exponential ones no limit.
#[test]
fn windows_that_no_flow_fills_are_remarked_upon() {
    let of = |window: &str, sizes: &str| {
        let text = small(&format!("[transport.newreno]\nreceive_window = \"{window}\"\n"));
        remarks(&text.replace("\"10 kB\"", &format!("\"{sizes}\"")))
    };
    assert!(of("10 kB", "10 kB").contains("transport.newreno.receive_window = 10 kB never limits a flow"));
    assert!(!of("9999 B", "10 kB").contains("never limits"));
    assert!(!of("10 MB", "exponential(10 kB)").contains("never limits"));
}

#[test]
fn gaps_are_repaired_where_packets_can_be_missing() {
    let lossless = "[switch]\nqueues = 8\nbuffer = \"4 MB\"\nsharing = \"dynamic\"\necn = \"red\"\n[switch.pfc]\nclasses = [3]\n";
    let of =
        |more: &str| remarks(&small(&format!("{lossless}{more}[transport.dcqcn]\nnack_every = \"1 us\"\n")));
    let idle = "transport.dcqcn.nack_every has no effect";
    assert!(of("").contains(idle), "{}", of(""));
    assert!(!of("[balance.drill]\n").contains(idle), "packets overtake each other");
    assert!(!of("headroom = \"1 kB\"\n").contains(idle), "some may be dropped");
    assert!(!of("[[failure]]\nrandom = 1\n").contains(idle));
}

/// HPCC needs the round trip of its network, and the packets of a flow on one path.
#[test]
fn hpcc_is_told_what_keeps_it_from_its_work() {
    let on = |topology: &str, balance: &str, law: &str| {
        format!(
            "weft = 1\nname = \"hpcc\"\nbalance = \"{balance}\"\n{topology}\n[switch]\narbiter = \"telemetry\"\n\
             [transport.hpcc]\n{law}\n[[traffic]]\ntag = \"all\"\nkind = \"permutation\"\nsizes = \"1 MB\"\n"
        )
    };
    let paths = "[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2";
    let told = |topology: &str, balance: &str, law: &str| remarks(&on(topology, balance, law));
    let short = "flows of hpcc cannot use their links: base_rtt is 1 us";
    let spread = "windows of hpcc stay as they begin";
    assert!(told(paths, "ecmp", "base_rtt = \"1 us\"").contains(short));
    let fine = told(paths, "ecmp", "base_rtt = \"1 ms\"");
    assert!(!fine.contains("hpcc"), "{fine}");
    for (balance, spreads) in [("drill", true), ("random", true), ("letflow", false)] {
        let found = told(paths, balance, "base_rtt = \"1 ms\"");
        assert_eq!(found.contains(spread), spreads, "{balance}: {found}");
    }
    for (law, words) in [
        ("base_rtt = \"0 ps\"", "must be at least 1 ns"),
        ("min_rate = \"1 Tbps\"", "is not below the fastest link"),
        ("report_header = \"2 kB\"", "payload"),
    ] {
        let found = crate::refused(&on(paths, "ecmp", law)).join("\n");
        assert!(found.contains(words), "{law}: {found}");
    }
}
