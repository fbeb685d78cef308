//! Which colours of packets a SONiC profile marks: `ecn` names them, `wred_<colour>_enable` switches each on.

use weft_config::json::{JsonContent, JsonNode};

/// The colours of packets: green unless a policer says otherwise.
pub(super) const COLOURS: [&str; 3] = ["green", "yellow", "red"];

/// Whether `ecn` includes a colour.
fn asks(node: &JsonNode, colour: &str) -> bool {
    let ecn = node.get("ecn").and_then(JsonNode::word).unwrap_or("");
    ecn == "ecn_all" || ecn.split('_').any(|word| word == colour)
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
    (!enables(node, "green")).then(|| (place("green"), why.to_owned(), "set wred_green_enable to \"true\""))
}

/// Whether green packets are dropped early, because the profile is enabled for them and does not mark them.
pub(super) fn drops(node: &JsonNode) -> bool {
    enables(node, "green") && !asks(node, "green")
}

/// Yellow and red, if `ecn` includes them but the profile disables them.
pub(super) fn unmarked(node: &JsonNode) -> Vec<(&'static str, usize)> {
    let off = |colour: &&str| asks(node, colour) && !enables(node, colour);
    let place = |colour: &'static str| switch_of(node, colour).map(|node| (colour, node.at));
    COLOURS[1..].iter().copied().filter(off).filter_map(place).collect()
}
