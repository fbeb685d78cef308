//! The cluster model still gives the figures that its epoch is a hash of.
//!
//! `WEFT_BLESS=1 cargo test -p weft-blueprint --test results` writes them again after an intended change; findings
//! about clusters are stale from then on.

use std::fs;
use std::path::{Path, PathBuf};

use weft_blueprint::epoch::reference_figures;
use weft_blueprint::{is_of_another_model, model_epoch};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

#[test]
fn figures_are_those_of_the_epoch() {
    let found = reference_figures(&folder()).unwrap_or_else(|mistakes| panic!("{}", mistakes.draw(false)));
    let list = folder().join("figures.txt");
    if std::env::var_os("WEFT_BLESS").is_some() {
        fs::write(&list, &found).expect("the list can be written");
    }
    let known = fs::read_to_string(&list).unwrap_or_default();
    assert!(found.lines().count() > 60, "{found}");
    for (now, then) in found.lines().zip(known.lines()) {
        assert_eq!(now, then, "the cluster model gives other figures; if intended, see the top of this file");
    }
    assert_eq!(found.lines().count(), known.lines().count());
}

#[test]
fn a_finding_is_of_another_model_if_its_epoch_differs() {
    assert!(!is_of_another_model(model_epoch()));
    assert!(is_of_another_model("000000000000"));
}

/// Findings that are older than the list were measured by the model with which it began.
#[test]
fn findings_older_than_the_list_are_of_the_first_model() {
    assert_eq!(is_of_another_model(""), model_epoch() != "f9ac3a5fe1af");
}
