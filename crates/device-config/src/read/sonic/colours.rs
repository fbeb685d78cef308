//! Which colours of packets a SONiC profile marks: `ecn` names them, `wred_<colour>_enable` switches each on.

use weft_config::json::{JsonContent, JsonNode};

/// The colours of packets: green unless a policer says otherwise.
pub(super) const COLOURS: [&str; 3] = ["green", "yellow", "red"];

/// Values of `ecn`.
pub(super) const MODES: [&str; 8] = [
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
];

/// The value of `ecn`.
fn mode(node: &JsonNode) -> &str {
    node.get("ecn").map_or("ecn_none", |ecn| ecn.word().unwrap_or(""))
}

/// Whether `ecn` has one of its values.
pub(super) fn is_valid(node: &JsonNode) -> bool {
    MODES.contains(&mode(node))
}

/// Whether `ecn` includes any colour.
pub(super) fn marks(node: &JsonNode) -> bool {
    is_valid(node) && mode(node) != "ecn_none"
}

/// Whether `ecn` includes a colour.
fn asks(node: &JsonNode, colour: &str) -> bool {
    let ecn = mode(node);
    marks(node) && (ecn == "ecn_all" || ecn.split('_').any(|word| word == colour))
}

/// The thresholds of a colour that the profile lacks.
fn missing(node: &JsonNode, colour: &str) -> Option<&'static str> {
    ["min_threshold", "max_threshold"].into_iter().find(|end| node.get(&format!("{colour}_{end}")).is_none())
}

/// The colour whose thresholds are judged: green, unless only another is in use.
pub(super) fn judged(node: &JsonNode) -> &'static str {
    let in_use = |colour: &str| enables(node, colour) || asks(node, colour);
    let whole = |colour: &&str| missing(node, colour).is_none();
    match in_use("green") {
        true => "green",
        false => COLOURS.into_iter().find(whole).unwrap_or("green"),
    }
}

fn switch_of<'a>(node: &'a JsonNode, colour: &str) -> Option<&'a JsonNode> {
    node.get(&format!("wred_{colour}_enable"))
}

fn enables(node: &JsonNode, colour: &str) -> bool {
    let on = |node: &JsonNode| node.word() == Some("true") || node.content == JsonContent::Flag(true);
    switch_of(node, colour).is_some_and(on)
}

/// Why green packets are not marked, and the position that says so (`None` if nothing does).
pub(super) fn disabled(node: &JsonNode) -> Option<(Option<usize>, String, &'static str)> {
    let place = |colour: &str| switch_of(node, colour).map(|node| node.at);
    let others: Vec<&str> = COLOURS[1..].iter().copied().filter(|colour| asks(node, colour)).collect();
    if !COLOURS.iter().any(|colour| enables(node, colour)) {
        let at = COLOURS.iter().find_map(|colour| place(colour));
        return Some((at, "is not enabled".to_owned(), "set wred_green_enable to \"true\""));
    }
    if !asks(node, "green") {
        let why = format!(
            "ecn names only {}: packets are green unless a policer colours them, and green packets are not marked",
            others.join(" and ")
        );
        return Some((node.get("ecn").map(|node| node.at), why, "set ecn to \"ecn_all\""));
    }
    let why = "wred_green_enable is not true: packets are green unless a policer colours them, and green packets are not marked";
    if !enables(node, "green") {
        return Some((place("green"), why.to_owned(), "set wred_green_enable to \"true\""));
    }
    let end = missing(node, "green")?;
    let why =
        format!("has no green_{end}: without it the switch takes its whole buffer, which no queue reaches");
    Some((None, why, "set green_min_threshold and green_max_threshold"))
}

/// Whether green packets are dropped early, because the profile is enabled for them and does not mark them.
pub(super) fn drops(node: &JsonNode) -> bool {
    let works = is_valid(node) && missing(node, "green").is_none();
    works && enables(node, "green") && !asks(node, "green")
}

/// Yellow and red, if `ecn` includes them but the profile disables them.
pub(super) fn unmarked(node: &JsonNode) -> Vec<(&'static str, usize)> {
    let off = |colour: &&str| asks(node, colour) && !enables(node, colour);
    let place = |colour: &'static str| switch_of(node, colour).map(|node| (colour, node.at));
    COLOURS[1..].iter().copied().filter(off).filter_map(place).collect()
}
