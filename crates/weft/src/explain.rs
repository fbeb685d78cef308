//! What `weft explain` shows: the effective settings below a path.

use crate::Error;
use std::path::Path;
use weft_core::units::nearest;
use weft_scenario::explanation_table;

pub(crate) fn explain(path: &Path, prefix: Option<&str>, set: &[String]) -> Result<String, Error> {
    let scenario = weft_prepare::read(path, set, false)?;
    let rows = scenario.explain(prefix);
    if rows.is_empty() {
        return Err(Error::BadInput(no_setting(prefix.unwrap_or_default(), &scenario.paths())));
    }
    let of_balancer = rows.iter().any(|row| row.path.starts_with("balance"));
    let folder = path.parent().unwrap_or(Path::new("."));
    let state = if of_balancer { weft_analyse::balancer_state(&scenario, folder) } else { String::new() };
    Ok(match state.as_str() {
        "" => explanation_table(&rows),
        _ => format!("{}{state}", explanation_table(&rows)),
    })
}

/// No effective setting lies below `prefix`: the part of it that is unknown, the nearest name there, and all names there.
fn no_setting(prefix: &str, paths: &[String]) -> String {
    let mut known = "";
    for (end, _) in prefix.match_indices('.').chain([(prefix.len(), "")]) {
        if children(paths, &prefix[..end]).is_empty() {
            break;
        }
        known = &prefix[..end];
    }
    let names = children(paths, known);
    let unknown = prefix[known.len()..].trim_start_matches('.').split('.').next().unwrap_or_default();
    let near = nearest(unknown, names.iter().copied()).map(|near| {
        let dot = if known.is_empty() { "" } else { "." };
        format!("; did you mean `{known}{dot}{near}`?")
    });
    let place = if known.is_empty() { "the scenario".to_owned() } else { format!("`{known}`") };
    format!(
        "no setting starts with `{prefix}`{}\n  names in {place}: {}",
        near.unwrap_or_default(),
        names.join(", ")
    )
}

/// The names right below a path, each once, in the order of the settings.
fn children<'a>(paths: &'a [String], path: &str) -> Vec<&'a str> {
    let below = |candidate: &'a String| match path {
        "" => Some(candidate.as_str()),
        _ => candidate.strip_prefix(path)?.strip_prefix('.'),
    };
    let mut names: Vec<&str> = Vec::new();
    for name in paths.iter().filter_map(below).filter_map(|rest| rest.split('.').next()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_is_unknown_gets_the_nearest_name_and_all_names() {
        let paths =
            ["name", "switch.buffer", "switch.ecn.red.min", "transport.newreno.min_rto"].map(str::to_owned);
        let told = |prefix: &str| no_setting(prefix, &paths);
        assert_eq!(
            told("swich"),
            "no setting starts with `swich`; did you mean `switch`?\n  names in the scenario: name, switch, transport"
        );
        assert_eq!(
            told("switch.bufer"),
            "no setting starts with `switch.bufer`; did you mean `switch.buffer`?\n  names in `switch`: buffer, ecn"
        );
        assert_eq!(
            told("transport.dctcp.g"),
            "no setting starts with `transport.dctcp.g`\n  names in `transport`: newreno"
        );
        assert_eq!(
            told("switch.ecn.red.minn.x"),
            "no setting starts with `switch.ecn.red.minn.x`; did you mean `switch.ecn.red.min`?\n  names in `switch.ecn.red`: min"
        );
    }
}
