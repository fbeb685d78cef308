//! Reads files: those of devices into one network, and each scenario into networks of its own.

use weft_device_config::model::Network;
use weft_device_config::told::Coverage;
use weft_device_config::{ConfigFile, FileKind};

mod scenario;

/// Reads files as one device into the network; a scenario, alone in its list, yields networks of its own, which are
/// returned. The error lists everything that prevents files from being read.
pub(crate) fn read(files: &[ConfigFile<'_>], network: &mut Network) -> Result<Vec<Network>, Vec<String>> {
    weft_device_config::read(files, network)?;
    let Some((number, source, FileKind::Scenario)) = files.first().copied() else { return Ok(Vec::new()) };
    let cases = scenario::read(number, source, &network.site).map_err(|refusal| vec![refusal])?;
    let read = vec![("cases".to_owned(), cases.len())];
    network.coverage.push((number, Coverage { read, ..Coverage::default() }));
    Ok(cases)
}
