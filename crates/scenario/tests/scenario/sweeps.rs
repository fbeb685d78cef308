//! `[sweep]`, `[demo]` and `--set`.

use crate::{accepted, listed, refused, small};
use weft_scenario::{Case, Metrics, Scenario, ScenarioFile};

fn labels(scenario: &Scenario) -> Vec<String> {
    scenario.cases().iter().map(weft_scenario::Case::label).collect()
}

fn set(text: &str, arguments: &[&str], demo: bool) -> Result<Scenario, Vec<String>> {
    let mut file = ScenarioFile::parse(text, "test.toml").unwrap();
    for argument in arguments {
        file = file.set(argument);
    }
    let file = if demo { file.reduced() } else { file };
    file.validate(&Metrics::ANY).map_err(|mistakes| listed(&mistakes))
}

const SWEEP: &str = "[sweep]\n\"balance\" = [\"ecmp\", \"drill\"]\n\"traffic.web.load\" = [0.1, 0.3, 0.8]\n";

#[test]
fn without_a_sweep_there_is_one_case() {
    let scenario = accepted(&small(""));
    assert_eq!(labels(&scenario), [""]);
    assert_eq!(scenario.cases()[0].settings, scenario.settings);
}

#[test]
fn a_sweep_is_the_cross_product_in_the_order_of_the_file() {
    let scenario = accepted(&small(SWEEP));
    let expected: Vec<String> = ["ecmp", "drill"]
        .iter()
        .flat_map(|b| ["0.1", "0.3", "0.8"].iter().map(move |l| format!("balance={b},traffic.web.load={l}")))
        .collect();
    assert_eq!(labels(&scenario), expected);
    assert_eq!(scenario.cases()[4].settings.balance.name(), "drill");
}

#[test]
fn a_swept_member_keeps_the_settings_that_the_file_gives_it() {
    let scenario = accepted(&small(&format!("[balance.drill]\nchoices = 7\n{SWEEP}")));
    assert!(scenario.cases()[5].to_toml().contains("choices = 7"));
    assert!(!scenario.cases()[0].to_toml().contains("choices = 7"));
    let table = accepted(&small(
        "[balance.drill]\nchoices = 7\n[sweep]\nbalance = [\"drill\", { drill = { choices = 4 } }]\n",
    ));
    assert!(table.cases()[0].to_toml().contains("choices = 7"));
    assert!(table.cases()[1].to_toml().contains("choices = 4"));
    assert_eq!(labels(&table)[1], "balance=drill choices=4");
}

/// A table changes what it names: in a sweep, on the command line and in a named case alike.
#[test]
fn a_table_changes_only_what_it_names() {
    let base = "[balance.drill]\nchoices = 7\nmemory = 3\n";
    let sweep =
        "[sweep]\nbalance = [{ drill = {} }, { drill = { choices = 4 } }, { drill = { memory = 0 } }]\n";
    let swept = accepted(&small(&format!("{base}{sweep}")));
    let told = |scenario: &Scenario, case: usize| scenario.cases()[case].to_toml();
    for (case, choices, memory) in [(0, 7, 3), (1, 4, 3), (2, 7, 0)] {
        let text = told(&swept, case);
        assert!(
            text.contains(&format!("choices = {choices}")) && text.contains(&format!("memory = {memory}"))
        );
    }
    let again = ScenarioFile::parse(&swept.to_toml(), "again.toml").unwrap().validate(&Metrics::ANY).unwrap();
    let settings = |scenario: &Scenario| scenario.cases()[1].settings.clone();
    assert_eq!((labels(&again), settings(&again)), (labels(&swept), settings(&swept)));
    let one = set(&small(base), &["balance={ drill = { choices = 4 } }"], false).unwrap();
    assert!(told(&one, 0).contains("memory = 3") && told(&one, 0).contains("choices = 4"));
    let named = accepted(&small(&format!(
        "{base}[sweep]\nmode = \"cases\"\n[[sweep.case]]\nname = \"as it is\"\nbalance = {{ drill = {{}} }}\n\
         [[sweep.case]]\nname = \"other\"\nbalance = {{ kind = \"drill\", choices = 4 }}\n"
    )));
    assert!(told(&named, 0).contains("memory = 3") && told(&named, 1).contains("memory = 3"));
}

/// A case is chosen by its label and keeps it, and settings of the file for other cases are not mistakes.
/// An empty table names nothing; it erases no section of the file. One that is optional appears with its defaults.
#[test]
fn an_empty_table_changes_nothing_and_is_refused() {
    for path in ["switch", "measure"] {
        let found = set(&small(""), &[&format!("{path}={{}}")], false).unwrap_err();
        assert!(
            found.iter().any(|one| one.contains(&format!("`{path}` names no setting to change"))),
            "{found:?}"
        );
    }
    let scenario = set(&small(""), &["switch.voq={}"], false);
    assert!(scenario.is_ok_and(|scenario| scenario.to_toml().contains("voq")));
}

#[test]
fn an_alternative_is_chosen_by_its_label() {
    let text = small(
        "[switch]\necn = { kind = \"step\", threshold = \"30 kB\" }\n[sweep]\n\
         transport = [\"dctcp\", \"cubic\", { cubic = { min_rto = \"5 ms\" } }]\n\"switch.latency\" = [\"0 ns\", \"1 us\"]\n",
    );
    let all = accepted(&text);
    for argument in ["sweep.transport=cubic", "transport=cubic"] {
        let chosen = set(&text, &[argument], false).unwrap();
        assert_eq!(labels(&chosen), labels(&all)[2..4], "{argument}");
        assert_eq!(chosen.cases()[1].settings, all.cases()[3].settings);
        assert_eq!(chosen.settings.transport.name(), "cubic");
        let again = ScenarioFile::parse(&chosen.to_toml(), "again.toml").unwrap().validate(&Metrics::ANY);
        assert_eq!(again.unwrap().cases()[1].settings, chosen.cases()[1].settings);
    }
    let table =
        set(&text, &["sweep.transport=cubic min_rto=5 ms", "sweep.switch.latency=1 us"], false).unwrap();
    assert_eq!(labels(&table), labels(&all)[5..]);
    let wrong = |argument: &str| set(&text, &[argument], false).unwrap_err();
    assert!(wrong("sweep.transport=cubbic")[0].contains("the sweep does not run over `cubbic`"));
    let idle = set(&text, &["sweep.transport=cubic", "switch.ecn.step.threshold=20 kB"], false).unwrap_err();
    assert!(idle[0].contains("has no effect"), "{idle:?}");
}

#[test]
fn paths_reach_into_members_and_may_be_written_as_tables() {
    let scenario =
        accepted(&small("[balance.drill]\n[sweep.balance.drill]\nchoices = [1, 2]\nmemory = [0, 1]\n"));
    assert_eq!(scenario.cases().len(), 4);
    assert_eq!(labels(&scenario)[3], "balance.drill.choices=2,balance.drill.memory=1");
}

#[test]
fn a_mistake_in_a_sweep_is_shown_in_the_sweep() {
    let text = small(
        "[sweep]\n\"balance\" = [\"ecmp\", \"dril\"]\n\"trafic.web.load\" = [0.1, 0.2]\n\"traffic.wob.load\" = [0.1, 0.2]\n\"traffic.web.load\" = [0.1, \"x\"]\n",
    );
    let first = text.lines().position(|line| line == "[sweep]").unwrap() + 2;
    let found = refused(&text);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!(found[0], format!("{first}: balance: unknown balancer `dril`"));
    assert!(found[1].contains("`trafic` is unknown"));
    assert!(found[2].contains("no entry of the list is called `wob`"));
    assert!(found[3].starts_with(&format!("{}: traffic.web.load:", first + 3)), "{found:#?}");
}

#[test]
fn sweeps_without_effect_are_refused() {
    assert!(refused(&small("[sweep]\nbalance = [\"ecmp\"]\n"))[0].contains("fewer than two values"));
    assert!(refused(&small("[sweep]\nbalance = []\n"))[0].contains("fewer than two values"));
    assert!(refused(&small("[sweep]\nbalance = \"ecmp\"\n"))[0].contains("runs over a list"));
    assert!(refused(&small("[sweep]\nbalance = [\"ecmp\", \"drill\", \"ecmp\"]\n"))[0].contains("twice"));
    let lost = refused(&small("[balance.drill]\nchoices = 3\n[sweep]\nbalance = [\"ecmp\", \"random\"]\n"));
    assert!(lost.iter().any(|m| m.contains("`balance.drill.choices` has no effect: no case")), "{lost:#?}");
    // One case has no use for the table, the other none for the setting.
    let parts = "[switch]\nsharing = { static = { per_port = \"100 kB\" } }\ncolor = { red = \"5 MB\" }\n[transport.newreno]\n[sweep]\n\
                 \"transport.newreno.tlt\" = [false, {}]\n";
    let found = refused(&small(parts));
    assert!(found.len() == 1 && found[0].contains("`switch.color.red` has no effect"), "{found:#?}");
    let crossed =
        refused(&small("[sweep]\nbalance = [\"ecmp\", \"drill\"]\n\"balance.drill.choices\" = [1, 2]\n"));
    assert!(crossed[0].contains("has no effect: the balancer is `ecmp`"), "{crossed:#?}");
}

/// All cases have the seeds and the name of the scenario: one that gives others would be ignored.
#[test]
fn what_all_cases_share_is_not_swept() {
    let named = "[sweep]\nmode = \"cases\"\n[[sweep.case]]\nname = \"a\"\nseeds = [5, 6]\n[[sweep.case]]\nname = \"b\"\n\
                 \"switch.latency\" = \"1 us\"\n";
    let line = small(named).lines().position(|line| line == "seeds = [5, 6]").unwrap() + 1;
    let found = refused(&small(named));
    assert_eq!(found, [format!("{line}: seeds: `seeds` is the same in all cases of a sweep")]);
    for (key, values) in
        [("seeds", "[[1], [2, 3]]"), ("name", "['a', 'b']"), ("about", "['a', 'b']"), ("weft", "[1, 2]")]
    {
        let told = format!("`{key}` is the same in all cases");
        let by_file = refused(&small(&format!("[sweep]\n{key} = {values}\n")));
        let by_line = set(&small(""), &[&format!("sweep.{key}={values}")], false).unwrap_err();
        for found in [by_file, by_line] {
            assert!(found.len() == 1 && found[0].contains(&told), "{found:?}");
        }
    }
    let file = ScenarioFile::parse(&small("[sweep]\nexpect = [1, 2]\n"), "test.toml").unwrap();
    let mistakes = file.validate(&Metrics::ANY).unwrap_err();
    let allowed = mistakes.list()[0].allowed.clone().unwrap();
    assert!(allowed.contains("balance") && !allowed.contains("seeds"), "{allowed}");
}

/// Equal settings in other words are one case.
#[test]
fn a_value_in_two_units_is_one_value() {
    let found = set(&small(""), &["sweep.traffic.web.load=[0.1, '10 %', 0.2]"], false).unwrap_err();
    assert!(found[0].contains("twice: `10 %` is `0.1`") && found.len() == 1, "{found:?}");
    let sizes = "[sweep]\n\"switch.sharing.static.per_port\" = [\"1 MB\", \"1000 kB\"]\n";
    let found = refused(&small(&format!("[switch.sharing.static]\nper_port = \"2 MB\"\n{sizes}")));
    assert!(found[0].contains("twice: `1000 kB` is `1 MB`") && found.len() == 1, "{found:?}");
    assert_eq!(set(&small(""), &["sweep.traffic.web.load=[0.1, '11 %']"], false).unwrap().cases().len(), 2);
}

#[test]
fn cases_can_be_named_one_by_one() {
    let scenario = accepted(&small(
        "[sweep]\nmode = \"cases\"\n[[sweep.case]]\nname = \"plain\"\n[[sweep.case]]\nname = \"both\"\nbalance = \"drill\"\n\"traffic.web.load\" = 0.9\n",
    ));
    assert_eq!(labels(&scenario), ["case=plain", "case=both"]);
    assert_eq!(scenario.cases()[1].settings.balance.name(), "drill");
    assert!(refused(&small("[sweep]\nmode = \"cases\"\n"))[0].contains("needs at least one"));
    assert!(
        refused(&small("[sweep]\nmode = \"cases\"\n[[sweep.case]]\nbalance = \"drill\"\n"))[0]
            .contains("a unique name")
    );
    for name in [" plain", "plain\t", " "] {
        let text =
            format!("[sweep]\nmode = \"cases\"\n[[sweep.case]]\nname = {name:?}\nbalance = \"drill\"\n");
        assert!(refused(&small(&text))[0].contains("begins or ends with a blank"), "{name:?}");
    }
    assert!(refused(&small("[sweep]\nmode = \"prodct\"\n"))[0].contains("unknown sweep mode"));
}

#[test]
fn too_many_cases_are_a_typing_error() {
    let seeds: Vec<String> = (0..101).map(|n| format!("{}", 0.001 * f64::from(n + 1))).collect();
    let loads = seeds.join(", ");
    let text = small(&format!(
        "[balance.drill]\n[sweep]\n\"traffic.web.load\" = [{loads}]\n\"balance.drill.choices\" = [{}]\n",
        (1..101).map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
    ));
    assert!(refused(&text).iter().any(|m| m.contains("10100 cases")));
}

#[test]
fn the_command_line_wins_over_file_and_sweep() {
    let text = small(SWEEP);
    let fixed = set(&text, &["balance=random"], false).unwrap();
    assert_eq!(labels(&fixed), ["traffic.web.load=0.1", "traffic.web.load=0.3", "traffic.web.load=0.8"]);
    assert_eq!(fixed.settings.balance.name(), "random");
    let fewer = set(&text, &["traffic.web.load=[0.2, 0.4]", "switch.latency=2 us"], false).unwrap();
    assert_eq!(fewer.cases().len(), 4);
    assert!(fewer.cases()[0].to_toml().contains("latency = \"2 us\""));
}

#[test]
fn the_command_line_adds_an_axis() {
    let plain =
        set(&small(""), &["sweep.balance=ecmp, drill", "sweep.switch.latency=1 us,2 us"], false).unwrap();
    let expected = ["ecmp", "drill"].iter().flat_map(|balance| {
        ["1 us", "2 us"].iter().map(move |latency| format!("balance={balance},switch.latency={latency}"))
    });
    assert_eq!(labels(&plain), expected.collect::<Vec<_>>());
    assert_eq!(plain.cases()[3].settings.balance.name(), "drill");
    // what it says can be repeated from the resolved scenario
    let again = ScenarioFile::parse(&plain.to_toml(), "again.toml").unwrap().validate(&Metrics::ANY).unwrap();
    assert_eq!(labels(&again), labels(&plain));
    let other =
        set(&small(SWEEP), &["sweep.balance=[{ drill = { choices = 3 } }, \"conga\"]"], false).unwrap();
    assert_eq!(other.cases().len(), 6);
    assert_eq!(labels(&other)[0], "balance=drill choices=3,traffic.web.load=0.1");
    let wrong = |argument: &str| set(&small(""), &[argument], false).unwrap_err();
    assert!(wrong("sweep.balance=drill")[0].contains("a sweep runs over a list of values"));
    assert!(wrong("sweep.balance=ecmp,dril")[0].contains("unknown balancer `dril`"));
    assert!(wrong("sweep.balanc=ecmp,drill")[0].contains("`balanc` is not a setting"));
    assert!(wrong("sweep.balance=ecmp,ecmp")[0].contains("this value twice"));
}

/// Of a choice and a setting on one path, whatever their order, one has no effect.
#[test]
fn a_case_is_not_chosen_and_set_at_once() {
    let both = ["sweep.balance=ecmp", "balance=drill"];
    for arguments in [both, [both[1], both[0]]] {
        let refused = set(&small(SWEEP), &arguments, false).unwrap_err();
        assert!(refused[0].contains("`balance` is set as well, so this has no effect"), "{refused:?}");
    }
    assert!(set(&small(SWEEP), &["sweep.balance=ecmp", "switch.latency=1us"], false).is_ok());
}

#[test]
fn a_mistake_on_the_command_line_is_shown_there() {
    let text = small("");
    let wrong = |argument: &str| set(&text, &[argument], false).unwrap_err();
    assert_eq!(wrong("balance")[0], "1: balance: `balance` is not an assignment");
    assert!(wrong("balanc=drill")[0].starts_with("1: balanc: `balanc` is not a setting"));
    assert!(wrong("switch.latency=2")[0].contains("bare number"));
    assert!(wrong("balance=dril")[0].contains("unknown balancer `dril`"));
    let found = wrong("traffic.load=0.8");
    assert!(
        found[0].contains("no entry of the list is called `load`; name one by its tag or by its number"),
        "{found:?}"
    );
    let found = wrong("failure.cables=leaf0-spine0");
    assert!(found[0].contains("the scenario has no entry of this list"), "{found:?}");
}

#[test]
fn the_demo_cuts_down_seeds_and_sweep() {
    let text = small(&format!(
        "{SWEEP}[demo]\nseeds = [7]\nbalance = \"drill\"\n\"traffic.web.load\" = [0.3, 0.8]\n\"measure.flows\" = 10\n"
    ));
    let demo = set(&text, &[], true).unwrap();
    assert_eq!(labels(&demo), ["traffic.web.load=0.3", "traffic.web.load=0.8"]);
    assert_eq!((demo.settings.seeds, demo.settings.measure.flows), (vec![7], Some(10)));
    let full = set(&text, &[], false).unwrap();
    assert_eq!((full.cases().len(), full.settings.measure.flows), (6, Some(100)));
}

#[test]
fn a_demo_is_checked_even_if_nobody_asks_for_it() {
    assert!(refused(&small("[demo]\n\"measure.flow\" = 10\n"))[0].contains("`flow` is unknown"));
    assert!(refused(&small("[demo]\n\"measure.flows\" = \"few\"\n"))[0].contains("expected a whole number"));
    assert!(refused(&small(&format!("{SWEEP}[demo]\n\"traffic.web.load\" = [0.1, \"y\"]\n"))).len() == 1);
}

/// A table in a case chooses a member of a family and sets it up, as the same table does outside of one.
#[test]
fn a_case_may_choose_by_a_table() {
    let text = small(
        "[switch]\nsharing = { kind = \"static\", per_port = \"90 kB\" }\n[transport.newreno]\nmin_rto = \"5 ms\"\n\
         [sweep]\nmode = \"cases\"\n[[sweep.case]]\nname = \"tcp\"\n\
         [[sweep.case]]\nname = \"ranked\"\n\"switch.order\" = \"ranked\"\n\
         transport = { pfabric = { initial_window = 9, rto = \"60 us\" } }\n\
         \"switch.sharing\" = { kind = \"static\", per_port = \"36 kB\" }\n",
    );
    let scenario = accepted(&text);
    let cases = scenario.cases();
    assert_eq!(cases.len(), 2);
    let told: Vec<String> = cases.iter().map(|case| format!("{:?}", case.settings.transport)).collect();
    assert!(told[0].starts_with("NewReno"), "{told:?}");
    assert!(told[1].contains("initial_window: 9"), "{told:?}");
    let sharing = format!("{:?}", cases[1].settings.switch.every.sharing);
    assert!(sharing.contains("36000"), "{sharing}");
}

const CASES: &str = "[sweep]\nmode = \"cases\"\n\
    [[sweep.case]]\nname = \"spread\"\nbalance = \"drill\"\n\
    [[sweep.case]]\nname = \"hashed\"\nbalance = \"ecmp\"\n\
    [[sweep.case]]\nname = \"blind\"\nbalance = \"random\"\n";

#[test]
fn named_cases_can_be_chosen_on_the_command_line_and_in_the_demo() {
    let chosen = |arguments: &[&str]| labels(&set(&small(CASES), arguments, false).unwrap());
    assert_eq!(chosen(&[]).len(), 3);
    assert_eq!(chosen(&["case=hashed"]), ["case=hashed"]);
    assert_eq!(chosen(&["sweep.case=hashed"]), ["case=hashed"]);
    assert_eq!(chosen(&["sweep.case=blind,spread"]), ["case=spread", "case=blind"]);
    let demo = small(&format!("{CASES}[demo]\ncase = [\"spread\", \"hashed\"]\n"));
    assert_eq!(labels(&set(&demo, &[], true).unwrap()), ["case=spread", "case=hashed"]);
    assert_eq!(labels(&set(&demo, &[], false).unwrap()).len(), 3);
}

/// Settings of the command line or the demo apply to every case, even if the case sets them, and whatever the order.
#[test]
fn what_is_set_on_the_command_line_holds_in_cases_that_set_it() {
    let text = small(
        "[balance.drill]\n[sweep]\nmode = \"cases\"\n[[sweep.case]]\nname = \"few\"\nbalance = { drill = { choices = 1 } }\n\
         \"switch.buffer\" = \"1 MB\"\n[[sweep.case]]\nname = \"hashed\"\nbalance = \"ecmp\"\n\
         [demo]\n\"switch.buffer\" = \"2 MB\"\n",
    );
    let told = |arguments: &[&str], demo| -> Vec<String> {
        let settings =
            |case: &Case| format!("{:?} {:?}", case.settings.balance, case.settings.switch.every.buffer);
        set(&text, arguments, demo).unwrap().cases().iter().map(settings).collect()
    };
    assert!(told(&[], false)[0].contains("choices: 1") && told(&[], false)[0].contains("1000000"));
    assert!(told(&[], true).iter().all(|case| case.contains("2000000")), "{:?}", told(&[], true));
    let both = told(&["switch.buffer=3 MB", "balance.drill.choices=4"], true);
    assert!(both[0].contains("choices: 4") && both[1].starts_with("Ecmp"), "{both:?}");
    assert!(both.iter().all(|case| case.contains("3000000")), "{both:?}");
    for order in [["switch.buffer=3 MB", "case=few"], ["case=few", "switch.buffer=3 MB"]] {
        let one = told(&order, false);
        assert!(one.len() == 1 && one[0].contains("3000000") && one[0].contains("choices: 1"), "{one:?}");
    }
    let again = accepted(&set(&text, &["switch.buffer=3 MB"], false).unwrap().to_toml());
    assert!(
        again.cases().iter().all(|case| case.to_toml().contains("buffer = \"3 MB\"")),
        "what is written down"
    );
}

#[test]
fn values_of_an_axis_give_way_to_the_command_line() {
    let text = small(
        "[sweep]\nbalance = [\"ecmp\", { drill = { choices = 4, memory = 0 } }]\n\"traffic.web.load\" = [0.2, 0.3]\n",
    );
    let scenario = set(&text, &["balance.drill.choices=9"], false).unwrap();
    let told = |scenario: &Scenario, case: usize| scenario.cases()[case].to_toml();
    assert!(told(&scenario, 2).contains("choices = 9") && told(&scenario, 2).contains("memory = 0"));
    assert!(told(&scenario, 0).contains("ecmp"));
    assert_eq!(accepted(&scenario.to_toml()).cases()[2].settings, scenario.cases()[2].settings);
    let listed = small(
        "[switch]\nqueues = 3\nschedule = \"strict\"\necn = \"step\"\n[transport.dctcp]\n[sweep]\nmode = \"cases\"\n\
         [[sweep.case]]\nname = \"x\"\n\"transport.dctcp.pias.thresholds\" = [\"20 kB\", \"200 kB\"]\n",
    );
    let entry = set(&listed, &["case=x", "transport.dctcp.pias.thresholds[0]=50 kB"], false).unwrap();
    assert!(told(&entry, 0).contains("[\"50 kB\", \"200 kB\"]"), "an entry of the list that a case sets");
    let same = text.replace("\"ecmp\"", "{ drill = { choices = 3, memory = 0 } }");
    let mistakes = set(&same, &["balance.drill.choices=9"], false).expect_err("both are alike");
    assert!(mistakes[0].contains("of the sweep are one case"), "{mistakes:?}");
}

#[test]
fn a_case_that_is_not_there_is_refused() {
    for argument in ["case=hash", "sweep.case=hash,blind"] {
        let mistakes = set(&small(CASES), &[argument], false).unwrap_err().join("\n");
        assert!(mistakes.contains("the sweep has no case `hash`"), "{mistakes}");
    }
    let demo = small(&format!("{CASES}[demo]\ncase = \"spred\"\n"));
    assert!(refused(&demo).join("\n").contains("the sweep has no case `spred`"));
}

/// A tag may be a number; every entry is still within reach, by the number in brackets.
#[test]
fn a_tag_that_is_a_number_hides_no_entry() {
    let entry = |tag: &str| format!("\n[[traffic]]\ntag = \"{tag}\"\nload = 0.1\nsizes = \"10 kB\"\n");
    let text = small("") + &entry("0");
    let loads = |argument: &str| {
        let scenario = set(&text, &[argument], false).unwrap_or_else(|told| panic!("{told:?}"));
        let flows = scenario.settings.traffic.iter().map(|entry| format!("{:?}", entry.flows));
        flows.map(|flows| flows.contains("0.33")).collect::<Vec<bool>>()
    };
    assert_eq!(loads("traffic[0].load=0.33"), [true, false]);
    assert_eq!(loads("traffic.0.load=0.33"), [false, true], "a tag comes before a number");
    assert_eq!(loads("traffic[1].load=0.33"), [false, true]);
    assert_eq!(loads("traffic.1.load=0.33"), [false, true], "no entry has the tag");
    assert_eq!(loads("traffic[web].load=0.33"), [true, false]);
    let told = set(&text, &["traffic[2].load=0.33"], false).expect_err("there are two entries");
    assert!(told[0].contains("no entry of the list is called `2`"), "{told:?}");
}

/// A number is told to be too large, not to be a text; all arguments and the file are checked at once.
#[test]
fn arguments_that_cannot_be_read_are_reported_with_the_mistakes_of_the_file() {
    let arguments =
        ["measure.flows=9223372036854775808", "balance", "sweep.switch.engines=1,18446744073709551616"];
    let told = set(&small("[balance.dril]\n"), &arguments, false).expect_err("four mistakes");
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].contains("unknown balancer `dril`"), "{told:?}");
    assert!(told[1].contains("measure.flows: `9223372036854775808` is out of range"), "{told:?}");
    assert!(told[2].contains("`balance` is not an assignment"), "{told:?}");
    assert!(told[3].contains("`18446744073709551616` is out of range"), "{told:?}");
}
