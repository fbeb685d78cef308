//! `weft import`: converts files of other simulators into a scenario.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use weft_core::input::{LARGEST_LIST, LARGEST_SCENARIO, read_packed};
use weft_core::units::did_you_mean;
use weft_core::{Bytes, Rate, Span};
use weft_scenario::ScenarioFile;
use weft_topology::import as topology;
use weft_workload::ListedFlow;
use weft_workload::import as workload;

use crate::Error;

/// The formats, each with the files it needs.
const FORMATS: &[(&str, &str)] = &[
    ("hpcc", "topology.txt and optionally flow.txt of the HPCC simulator and its forks"),
    ("htsim", "a .topo file and optionally a .cm connection matrix of htsim"),
];

/// Maximum number of flows listed in a scenario; more go into a file beside it.
const MOST_INLINE: usize = 1_000;

/// A scenario made of files of another simulator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedScenario {
    /// The scenario.
    pub text: String,
    /// Files that it names, which belong beside it: name and contents.
    pub files: Vec<(String, String)>,
}

/// Every format with the files it needs.
pub(crate) fn formats() -> Vec<(String, String)> {
    FORMATS.iter().map(|(name, files)| ((*name).to_owned(), (*files).to_owned())).collect()
}

/// Reads the files and makes a scenario that will be written to `out`, or shown.
pub(crate) fn import(format: &str, files: &[PathBuf], out: Option<&Path>) -> Result<ImportedScenario, Error> {
    let format = match format {
        "hpcc" => topology::Format::Hpcc,
        "htsim" => topology::Format::Htsim,
        other => return Err(unknown(other)),
    };
    let [network, rest @ ..] = files else {
        return Err(Error::BadInput("name the topology file to import".to_owned()));
    };
    let imported = topology::read(format, network).map_err(|cause| Error::BadInput(cause.to_string()))?;
    let mut text = opening(network, files);
    text += &topology::to_scenario(&imported);
    if matches!(format, topology::Format::Hpcc) {
        text += &hpcc_settings(&imported);
    }
    let lists: Vec<Vec<ListedFlow>> =
        rest.iter().map(|path| flows(format, path, &imported)).collect::<Result<_, _>>()?;
    let first = lists.iter().flatten().map(|flow| flow.at).min().unwrap_or(Span::ZERO);
    if first > Span::ZERO {
        text += &format!(
            "\n# All flows start {first} earlier than in the files, where the first one starts then.\n"
        );
    }
    let mut beside = Vec::new();
    for (number, (path, mut listed)) in rest.iter().zip(lists).enumerate() {
        listed.iter_mut().for_each(|flow| flow.at -= first);
        let tag = if number == 0 { "imported".to_owned() } else { format!("imported-{}", number + 1) };
        text += "\n";
        if listed.len() <= MOST_INLINE {
            text += &workload::to_scenario(&listed, &tag);
        } else {
            let name = flow_file(path, listed.len(), (out, number))?;
            text += &format!("[[traffic]]\ntag = \"{tag}\"\nkind = \"list\"\nfile = \"{name}\"\n");
            beside.push((name, workload::to_csv(&listed)));
        }
    }
    if rest.is_empty() {
        text += NO_FLOWS;
    }
    accepted(ImportedScenario { text, files: beside }, files)
}

/// The flows of a file, between hosts of an imported network.
fn flows(
    format: topology::Format,
    path: &Path,
    imported: &topology::Imported,
) -> Result<Vec<ListedFlow>, Error> {
    let text = read_packed(path, LARGEST_LIST)
        .map_err(|cause| Error::BadInput(format!("{}: {cause}", path.display())))?;
    let name = path.display().to_string();
    let listed = match format {
        topology::Format::Hpcc => {
            workload::hpcc(&name, &text, |number| imported.host_of_number.get(&number).copied())
        }
        topology::Format::Htsim => workload::htsim(&name, &text, imported.graph.hosts),
    };
    listed.map_err(|cause| Error::BadInput(cause.to_string()))
}

/// The name of the file for the flows of a scenario that is written to `out`.
fn flow_file(path: &Path, flows: usize, (out, before): (Option<&Path>, usize)) -> Result<String, Error> {
    let Some(stem) = out.and_then(Path::file_stem) else {
        return Err(Error::BadInput(format!(
            "{}: found {flows} flows; more than {MOST_INLINE} are written to a file beside the scenario: give --out FILE",
            path.display()
        )));
    };
    let good = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let stem: String = stem.to_string_lossy().chars().map(good).collect();
    Ok(if before == 0 { format!("{stem}.flows.csv") } else { format!("{stem}.flows-{}.csv", before + 1) })
}

/// The scenario, if `weft check` finds no mistake in it.
fn accepted(imported: ImportedScenario, files: &[PathBuf]) -> Result<ImportedScenario, Error> {
    let text = &imported.text;
    let names = files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let refused = |found: String| Error::BadInput(format!("{names}: found {found}"));
    if text.len() as u64 > LARGEST_SCENARIO {
        let words = format!("a network and flows that make a scenario of {} bytes", text.len());
        return Err(refused(format!("{words}; allowed: up to {LARGEST_SCENARIO}")));
    }
    let folder = std::env::temp_dir().join(format!("weft-import-{}", std::process::id()));
    lay_out(&folder, &imported.files)?;
    let checked = ScenarioFile::parse(text, &names)
        .and_then(|file| file.in_folder(&folder).validate(&weft_prepare::METRICS));
    let _ = std::fs::remove_dir_all(&folder);
    match checked {
        Ok(_) => Ok(imported),
        Err(mistakes) => {
            let first = mistakes.list().iter().take(10).map(|mistake| mistake.message.as_str());
            Err(refused(format!(
                "something that is not a valid scenario: {}",
                first.collect::<Vec<_>>().join("; ")
            )))
        }
    }
}

/// Puts the files that a scenario names where `weft check` finds them.
fn lay_out(folder: &Path, files: &[(String, String)]) -> Result<(), Error> {
    let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    files.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text)).map_err(failed)
}

/// The DCQCN settings of the HPCC simulator's `run.py` for hosts of this rate: topology and flow files of that
/// simulator name neither switches nor transport.
fn hpcc_settings(imported: &topology::Imported) -> String {
    let switches: BTreeSet<&str> = imported.graph.switches.iter().map(String::as_str).collect();
    let of_hosts = imported
        .graph
        .links
        .iter()
        .filter(|link| !(switches.contains(link.from.as_str()) && switches.contains(link.to.as_str())));
    let rate = of_hosts.map(|link| link.rate).max().unwrap_or(Rate::from_gbps(50));
    let per_25g = |amount: u64| (u128::from(amount) * u128::from(rate.0) / 25_000_000_000) as u64;
    let (least, most) = (per_25g(100_000).max(1_000), per_25g(400_000).max(4_000));
    let (buffer, slowest) = (per_25g(8_000_000).max(1_000_000), rate.min(Rate::from_gbps(1)));
    let (additive, hyper) = (per_25g(5_000_000).max(1), per_25g(50_000_000).max(1));
    let (least, most, buffer) = (Bytes(least), Bytes(most), Bytes(buffer));
    let (additive, hyper) = (Rate(additive), Rate(hyper));
    format!(
        "
# The imported files describe neither switches nor transport. These are the settings of DCQCN in the simulator's run.py
# for hosts at {rate}; compare them with your configuration. That simulator also scales the marking thresholds of faster
# ports by their rate, which [[switch.port]] can do. For HPCC itself (CC_MODE 3), replace [transport.dcqcn] with
# [transport.hpcc]: mtu = \"1086 B\", base_rtt the longest round trip, target = U_TARGET, most_stages = MI_THRESH. In
# [switch], give arbiter = \"telemetry\" instead of ecn.
[switch]
buffer   = \"{buffer}\"    # BUFFER_SIZE
queues   = 4
schedule = \"strict\"
sharing  = {{ kind = \"dynamic\", alpha = 1.0 }}
# KMIN_MAP, KMAX_MAP, PMAX_MAP
ecn      = {{ kind = \"red\", at = \"dequeue\", min = \"{least}\", max = \"{most}\", max_probability = \"20 %\", scope = \"queue\", non_ect = \"pass\" }}
pfc      = {{ classes = [3], alpha = 0.125 }}    # USE_DYNAMIC_PFC_THRESHOLD

[transport.dcqcn]
mtu               = \"1044 B\"    # PACKET_PAYLOAD_SIZE and headers
timing            = \"free-running\"
alpha_timer       = \"1 us\"      # ALPHA_RESUME_INTERVAL
decrease_interval = \"4 us\"      # RATE_DECREASE_INTERVAL
increase_timer    = \"300 us\"    # RP_TIMER
recovery_events   = 1             # FAST_RECOVERY_TIMES
additive_step     = \"{additive}\"   # RATE_AI
hyper_step        = \"{hyper}\"  # RATE_HAI
min_rate          = \"{slowest}\"    # MIN_RATE
hyper_increase    = \"timer\"     # rates rise by the timer alone: that simulator counts no bytes
byte_counter      = \"1 TB\"
clamp_target      = false         # CLAMP_TARGET_RATE
cnp_interval      = \"0 ps\"      # every marked packet is answered
"
    )
}

/// Placeholder traffic for a scenario without a flow file: every scenario needs some.
const NO_FLOWS: &str = "
# No flow file was given: every host sends 1 MB to one other. Replace this with your own traffic.
[[traffic]]
tag = \"permutation\"
kind = \"permutation\"
sizes = \"1 MB\"
";

/// The first keys of a scenario; the name comes from the first file.
fn opening(network: &Path, files: &[PathBuf]) -> String {
    let stem = network.file_stem().unwrap_or_default().to_string_lossy();
    let good = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = stem.chars().map(good).take(100).collect();
    let name = match name.trim_matches('-') {
        "" => "imported",
        name => name,
    };
    let plain = |path: &PathBuf| path.display().to_string().replace(char::is_control, "?");
    let files: Vec<String> = files.iter().map(plain).collect();
    format!("# Imported from {}\nweft = 1\nname = \"{name}\"\n\n", files.join(", "))
}

fn unknown(format: &str) -> Error {
    let hint = did_you_mean(format, FORMATS.iter().map(|(name, _)| *name));
    let allowed: Vec<String> = FORMATS.iter().map(|(name, files)| format!("{name}: {files}")).collect();
    Error::BadInput(format!("there is no format `{format}`{hint}\nallowed:\n  {}", allowed.join("\n  ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scenario's name has no hyphen at either end.
    #[test]
    fn scenarios_are_called_after_their_network() {
        for (file, name) in [("a/net_1.txt", "net_1"), ("(my net).txt", "my-net"), ("é.txt", "imported")] {
            let found = opening(Path::new(file), &[]);
            assert!(found.contains(&format!("name = \"{name}\"\n")), "{found}");
        }
    }
}
