//! `weft import`: files of other simulators become one scenario.

use std::path::PathBuf;

use weft_core::units::did_you_mean;
use weft_topology::import as topology;
use weft_workload::import as workload;

use crate::Error;

/// The formats, each with the files it wants.
const FORMATS: &[(&str, &str)] = &[
    ("hpcc", "topology.txt, and if there is one flow.txt, of the HPCC simulator and its forks"),
    ("htsim", "a .topo file, and if there is one a .cm connection matrix, of htsim"),
];

/// Reads the files and writes a scenario.
pub(crate) fn import(format: &str, files: &[PathBuf]) -> Result<String, Error> {
    let format = match format {
        "hpcc" => topology::Format::Hpcc,
        "htsim" => topology::Format::Htsim,
        other => return Err(unknown(other)),
    };
    let [network, rest @ ..] = files else {
        return Err(Error::BadInput("name the topology file to import".to_owned()));
    };
    let imported = topology::read(format, network).map_err(|cause| Error::BadInput(cause.to_string()))?;
    let mut text = topology::to_scenario(&imported);
    for path in rest {
        let flows = std::fs::read_to_string(path)
            .map_err(|cause| Error::BadInput(format!("{}: {cause}", path.display())))?;
        let name = path.display().to_string();
        let listed = match format {
            topology::Format::Hpcc => {
                workload::hpcc(&name, &flows, |number| imported.host_of_number.get(&number).copied())
            }
            topology::Format::Htsim => workload::htsim(&name, &flows),
        };
        let listed = listed.map_err(|cause| Error::BadInput(cause.to_string()))?;
        text += "\n";
        text += &workload::to_scenario(&listed, "imported");
    }
    Ok(text)
}

fn unknown(format: &str) -> Error {
    let hint = did_you_mean(format, FORMATS.iter().map(|(name, _)| *name));
    let allowed: Vec<String> = FORMATS.iter().map(|(name, files)| format!("{name}: {files}")).collect();
    Error::BadInput(format!("there is no format `{format}`{hint}\nallowed:\n  {}", allowed.join("\n  ")))
}
