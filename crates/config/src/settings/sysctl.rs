//! Linux sysctl files: `name = value`, comments after `#` or `;`, names with dots or slashes.

use super::{LinuxSetting, LinuxSettings};
use crate::place::{SourceFile, lines};

/// The settings of a file.
///
/// # Errors
/// The first line that sets nothing, with file and line.
pub fn read(source: &SourceFile) -> Result<LinuxSettings, String> {
    let mut told = LinuxSettings::default();
    for (number, (start, line)) in lines(&source.text).enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        let at = start + line.len() - line.trim_start().len();
        match text.split_once('=') {
            Some((name, value)) => told.settings.push(LinuxSetting::new(name, value, at)),
            // An exclusion from a pattern such as `net.ipv4.conf.*.rp_filter`.
            None if text.starts_with('-') => told.other.push(text.trim_start_matches('-').replace('/', ".")),
            None => return Err(not_a_setting((source, number), text)),
        }
    }
    Ok(told)
}

/// The error for a line that sets nothing.
pub(super) fn not_a_setting((source, number): (&SourceFile, usize), text: &str) -> String {
    let found: String = text.chars().take(40).collect();
    format!("{}:{}: found `{}`; allowed: name = value", source.name, number + 1, found.escape_debug())
}

/// Whether every line, other than comments, sets a name such as `vm.swappiness`.
#[must_use]
pub fn looks_like(text: &str) -> bool {
    let mut said = lines(text).map(|(_, line)| line.trim()).filter(|line| !line.is_empty());
    let mut any = false;
    let all = said.all(|line| {
        let name = line.split_once('=').map(|(name, _)| name.trim().trim_start_matches('-'));
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/*".contains(c);
        let sets = name.is_some_and(|name| name.contains(['.', '/']) && name.chars().all(plain));
        any |= sets;
        sets || line.starts_with(['#', ';'])
    });
    any && all
}
