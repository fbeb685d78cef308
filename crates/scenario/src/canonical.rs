//! Sweep and expectations of a scenario as TOML.

use crate::overlay::Edit;
use crate::sweep::{Alternative, SweepAxis};
use weft_codec::canonical::{node_text, quoted};
use weft_mistake::node::{Content, Toml, TomlEntry};

/// `[sweep]` as TOML; empty when nothing is swept.
pub(crate) fn sweep_text(axes: &[SweepAxis]) -> String {
    let changes = |alternative: &Alternative| {
        let line = |change: &Edit| format!("{} = {}\n", quoted(&change.path), node_text(&change.value));
        format!(
            "\n[[sweep.case]]\nname = {}\n{}",
            quoted(&alternative.label),
            alternative.changes.iter().map(line).collect::<String>()
        )
    };
    match axes {
        [cases] if cases.named => {
            let cases: String = cases.alternatives.iter().map(changes).collect();
            format!("\n[sweep]\nmode = \"cases\"\n{cases}")
        }
        // A chosen alternative is in the settings.
        axes => {
            let values = |axis: &SweepAxis| -> Vec<String> {
                axis.alternatives.iter().map(|alternative| node_text(&alternative.said)).collect()
            };
            let line = |axis: &SweepAxis| format!("{} = [{}]\n", quoted(&axis.path), values(axis).join(", "));
            let lines: String = axes.iter().filter(|axis| axis.alternatives.len() > 1).map(line).collect();
            if lines.is_empty() { lines } else { format!("\n[sweep]\n{lines}") }
        }
    }
}

/// Every `[[expect]]` of the file as TOML.
pub(crate) fn expectations_text(document: &Toml) -> String {
    let Some(Toml { content: Content::List(items), .. }) = document.get("expect") else {
        return String::new();
    };
    let line = |entry: &TomlEntry| format!("{} = {}\n", entry.key, node_text(&entry.node));
    let item = |item: &Toml| format!("\n[[expect]]\n{}", item.entries().iter().map(line).collect::<String>());
    items.iter().map(item).collect()
}
