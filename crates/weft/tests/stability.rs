//! DRILL(d, m) on one switch with unequal outputs, simulated packet by packet, against theorems 1 and 2.

use serde_json::Value;
use weft::{StabilityOptions, analyse_stability};

/// Standard errors that count as growth, as `weft analyse stability` says itself.
const CLEAR: f64 = 4.0;

/// The only system of a call, as JSON and as text.
fn found((rates, load): (&str, f64), policy: &str, (units, seed): (u64, u64)) -> (Value, String) {
    let (rates, policies) = (Some(rates.to_owned()), Some(policy.to_owned()));
    let options = StabilityOptions { rates, load, policies, units, seed, ..Default::default() };
    let analysis = analyse_stability(&options).expect("valid options");
    let json: Value = serde_json::from_str(&analysis.json).expect("valid JSON");
    assert_eq!(json["systems"].as_array().map(Vec::len), Some(1));
    (json["systems"][0].clone(), analysis.text)
}

fn number(system: &Value, key: &str) -> f64 {
    system[key].as_f64().unwrap_or_else(|| panic!("{key} of {system}"))
}

#[test]
fn the_growth_found_is_the_growth_predicted() {
    for (policy, grows) in [("1:0", true), ("2:0", true), ("1:1", false), ("4:0", false)] {
        let (system, _) = found(("10,1,1,1", 0.9), policy, (2_000, 1));
        let off = (number(&system, "growth") - number(&system, "growth_predicted")).abs();
        assert_eq!(system["grows"], grows, "{system}");
        assert!(off < CLEAR * number(&system, "growth_error").max(0.02), "{system}");
    }
}

/// The backlog of a join-the-shortest-queue system rises from zero and falls again; this is not growth.
#[test]
fn a_short_run_of_a_bounded_system_is_not_called_growth() {
    for (rates, policy) in [("4,1", "1024:1024"), ("1x4", "5:1")] {
        for (units, grows) in [(200, Value::Null), (600, Value::Bool(false))] {
            for seed in 1..=20 {
                let (system, _) = found((rates, 0.9), policy, (units, seed));
                assert_eq!(system["grows"], grows, "{units} units: {system}");
            }
        }
    }
}

/// DRILL(3, 0) at load 0.95 leaves the slow outputs 3.0875 packets per unit, 0.0875 more than they can send: a run
/// that is too short says so, and one of the length it names decides.
#[test]
fn a_marginal_system_says_how_long_a_run_has_to_be() {
    let missed = 0.25 * 0.95 * 13.0;
    let (system, text) = found(("10,1,1,1", 0.95), "3:0", (1_000, 1));
    assert_eq!(system["grows"], Value::Null, "{system}");
    let named = text.split("--units ").nth(1).and_then(|rest| rest.split(' ').next());
    let units: u64 = named.and_then(|units| units.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    let errors = (missed - 3.0) / (missed / units as f64).sqrt();
    assert!((errors - 6.0).abs() < 0.01, "{units} units are {errors} errors");
    let (system, _) = found(("10,1,1,1", 0.95), "3:0", (units, 1));
    assert_eq!(system["grows"], true, "{system}");
    let off = (number(&system, "growth") - number(&system, "growth_predicted")).abs();
    assert!(off < CLEAR * number(&system, "growth_error"), "{system}");
}
