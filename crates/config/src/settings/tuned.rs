//! Profiles of tuned: the section `[sysctl]` of an INI file. `>` before a value only raises a lower one; `${name}`
//! stands for a value of `[variables]`. Other sections are skipped, and so is a profile that `include` names.

use super::sysctl::not_a_setting;
use super::{LinuxSetting, LinuxSettings};
use crate::place::{SourceFile, lines};
use std::collections::HashMap;

/// The settings of a profile.
///
/// # Errors
/// The first line that is neither a section nor a setting, with file and line.
pub fn read(source: &SourceFile) -> Result<LinuxSettings, String> {
    let mut told = LinuxSettings::default();
    let mut variables: HashMap<&str, &str> = HashMap::new();
    let mut section = "";
    for (number, (start, line)) in lines(&source.text).enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
            continue;
        }
        let Some((name, value)) = text.split_once('=') else {
            return Err(not_a_setting((source, number), text));
        };
        let (name, value) = (name.trim(), value.trim().trim_start_matches(['>', '<']).trim());
        let at = start + line.len() - line.trim_start().len();
        match section {
            "variables" => {
                variables.insert(name, value);
            }
            "sysctl" if name.contains(['.', '/']) => match filled(value, &variables) {
                Some(value) => {
                    told.settings.push(LinuxSetting::new(name, value.trim_matches(['"', '\'']), at))
                }
                None => told.other.push(format!("{name} (computed)")),
            },
            _ => told.other.push(format!("[{section}]")),
        }
    }
    Ok(told)
}

/// A value with its variables substituted once; `None` if it needs anything else, such as a function.
fn filled(value: &str, variables: &HashMap<&str, &str>) -> Option<String> {
    let mut parts = value.split("${");
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}')?;
        let known = variables.get(name.trim()).filter(|known| !known.contains("${"))?;
        text.push_str(known);
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_functions_are_not() {
        let variables = HashMap::from([("most", "16777216"), ("loop", "${loop}")]);
        assert_eq!(filled("4096 131072 ${most}", &variables).as_deref(), Some("4096 131072 16777216"));
        for asks in ["${f:virt_check:1:2}", "${loop}", "${most", "${none}"] {
            assert_eq!(filled(asks, &variables), None, "{asks}");
        }
    }
}
