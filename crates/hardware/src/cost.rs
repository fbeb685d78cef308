//! The cost of the engines: synthesis by Yosys to the cells of an open library, in gate equivalents, and estimates for
//! other technologies. Must not depend on vectors or on how decisions are made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fingerprint::fingerprint;

/// The library: OSU's cells for 180 nm, which Debian's package `qflow-tech-osu018` contains.
pub const LIBRARY: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";
/// Area of its NAND gate with two inputs (`NAND2X1`), the gate equivalent, in square micrometres.
const NAND2: f64 = 24.0;
/// Gate length of the library in nanometres.
const GATE_LENGTH: f64 = 180.0;
/// The part of a placed block that is filled with cells.
pub const UTILISATION: f64 = 0.7;
/// A small switch chip (Gibb et al., ANCS'13), in square millimetres.
pub const CHIP: f64 = 200.0;

/// Technologies for which the cost is estimated: nanometres, and the area of a gate equivalent in square micrometres.
pub const NODES: [(f64, f64); 3] = [(45.0, 0.798), (28.0, 0.49), (16.0, 0.2)];

/// A design to be synthesised.
#[derive(Clone, Debug)]
pub struct Design {
    /// Its name for the reader.
    pub name: String,
    /// The module.
    pub top: &'static str,
    /// Its parameters.
    pub parameters: Vec<(&'static str, u32)>,
}

/// The result of synthesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SynthesisCost {
    /// Cells, including flip-flops.
    pub cells: u32,
    /// Flip-flops.
    pub flip_flops: u32,
    /// Area of all cells in square micrometres of the library.
    pub area: f64,
    /// The longest path from flip-flop to flip-flop, without wires, in picoseconds of the library.
    pub path: f64,
}

impl SynthesisCost {
    /// As `synthesise_once` keeps it.
    fn read(text: &str) -> Option<SynthesisCost> {
        let [cells, flip_flops, area, path] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
        let (area, path) = (area.parse().ok()?, path.parse().ok()?);
        Some(SynthesisCost { cells: cells.parse().ok()?, flip_flops: flip_flops.parse().ok()?, area, path })
    }

    /// Gate equivalents: two-input NAND gates of the same area.
    #[must_use]
    pub fn gates(&self) -> f64 {
        self.area / NAND2
    }

    /// Square millimetres in a technology of [`NODES`].
    #[must_use]
    pub fn square_mm(&self, node: usize) -> f64 {
        self.gates() * NODES[node].1 / UTILISATION / 1e6
    }

    /// Decisions per second in the library or, scaling delays with gate length, in another technology.
    #[must_use]
    pub fn decisions_per_s(&self, node: Option<usize>) -> f64 {
        let scale = node.map_or(1.0, |node| NODES[node].0 / GATE_LENGTH);
        1e12 / (self.path * scale)
    }
}

impl Design {
    /// A DRILL engine with one group of one component, as the paper draws it, for a switch with one engine.
    #[must_use]
    pub fn drill(name: impl Into<String>, changes: &[(&'static str, u32)]) -> Design {
        let mut parameters = vec![("NP", 48), ("NG", 1), ("NC", 1), ("VIS", 0)];
        for change in changes {
            parameters.retain(|(name, _)| *name != change.0);
            parameters.push(*change);
        }
        Design { name: name.into(), top: "drill_engine", parameters }
    }

    /// The other is the module with the parameters of this one, whatever their names.
    #[must_use]
    pub fn is_as(&self, other: &Design) -> bool {
        self.top == other.top
            && self.parameters.len() == other.parameters.len()
            && self.parameters.iter().all(|parameter| other.parameters.contains(parameter))
    }

    /// Synthesises it, unless `scratch` holds the result of an earlier synthesis of the same files and parameters.
    ///
    /// # Errors
    /// As [`Design::synthesise`].
    pub fn synthesise_once(&self, files: &[PathBuf], scratch: &Path) -> Result<SynthesisCost, String> {
        let mut sorted = self.clone();
        sorted.parameters.sort_unstable();
        let mut texts = vec![MAPPING.to_owned(), sorted.commands(&[], "", ""), self.top.to_owned()];
        for file in files {
            texts.push(fs::read_to_string(file).map_err(|cause| format!("{}: {cause}", file.display()))?);
        }
        let name = format!("{:016x}", fingerprint(&texts));
        let known = scratch.join(format!("{name}.cost"));
        if let Some(cost) = fs::read_to_string(&known).ok().and_then(|text| SynthesisCost::read(&text)) {
            return Ok(cost);
        }
        let cost = self.synthesise(files, &scratch.join(&name))?;
        let SynthesisCost { cells, flip_flops, area, path } = cost;
        fs::write(&known, format!("{cells} {flip_flops} {area} {path}"))
            .map_err(|cause| format!("{}: {cause}", known.display()))?;
        Ok(cost)
    }

    /// Synthesises the design from the Verilog files; the tools write to `scratch`.
    ///
    /// # Errors
    /// If Yosys or the library is missing, or Yosys fails.
    pub fn synthesise(&self, files: &[PathBuf], scratch: &Path) -> Result<SynthesisCost, String> {
        if !Path::new(LIBRARY).exists() {
            return Err(format!("{LIBRARY} is missing: `make hardware-library` installs it"));
        }
        let failed = |what: &str, cause: std::io::Error| format!("{what}: {cause}");
        fs::create_dir_all(scratch).map_err(|cause| failed("scratch folder", cause))?;
        let at = |name| scratch.join(name).display().to_string();
        fs::write(at("abc.script"), MAPPING).map_err(|cause| failed("abc.script", cause))?;
        let (script, statistics, log) = (at("abc.script"), at("statistics"), at("log"));
        let commands = self.commands(files, &script, &statistics);
        let output = Command::new("yosys").args(["-q", "-l", &log, "-p", &commands]).output();
        let output = output.map_err(|cause| failed("yosys", cause))?;
        if !output.status.success() {
            return Err(format!("{}: {}", self.name, String::from_utf8_lossy(&output.stderr)));
        }
        let read = |name: &str| fs::read_to_string(name).map_err(|cause| failed(name, cause));
        read_cost(&read(&statistics)?, &read(&log)?).ok_or(format!("{}: no cost in {log}", self.name))
    }

    fn commands(&self, files: &[PathBuf], script: &str, statistics: &str) -> String {
        let files: String = files.iter().map(|file| format!(" {}", file.display())).collect();
        let parameters: String =
            self.parameters.iter().map(|(name, value)| format!(" -set {name} {value}")).collect();
        let top = self.top;
        format!(
            "read_verilog -sv{files}; blackbox drill_table; chparam{parameters} {top}; hierarchy -top {top}; \
             synth -flatten -top {top}; dfflibmap -liberty {LIBRARY}; abc -liberty {LIBRARY} -script {script}; \
             opt_clean; tee -o {statistics} stat -liberty {LIBRARY}"
        )
    }
}

/// How gates are mapped to cells: for area first, then buffers and sizes for speed, and the longest path.
const MAPPING: &str = "strash\nifraig\nscorr\ndc2\nstrash\ndch -f\nmap -B 0.9\ntopo\nbuffer -c -N 8\nupsize -D 100\n\
                       dnsize -D 100\nstime -p\n";

fn read_cost(statistics: &str, log: &str) -> Option<SynthesisCost> {
    let after = |text: &str, label: &str| -> Option<f64> {
        let rest = &text[text.rfind(label)? + label.len()..];
        rest.split_whitespace().next()?.parse().ok()
    };
    Some(SynthesisCost {
        cells: after(statistics, "Number of cells:")? as u32,
        flip_flops: after(statistics, "DFFPOSX1").unwrap_or(0.0) as u32,
        area: after(statistics.get(statistics.rfind("Chip area")?..)?, "':")?,
        path: after(log, "Delay =")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATISTICS: &str = "   Number of cells:              11682\n     DFFPOSX1                      547\n   \
                              Chip area for module '\\drill_engine': 348732.000000\n";
    const LOG: &str = "ABC: WireLoad = \"none\"  Gates =  11134   Area =   296220.00   Delay =  6758.13 ps";

    #[test]
    fn costs_are_read_from_what_the_tools_print() {
        let cost = read_cost(STATISTICS, LOG).expect("complete");
        assert_eq!(cost, SynthesisCost { cells: 11_682, flip_flops: 547, area: 348_732.0, path: 6758.13 });
        assert_eq!(read_cost(STATISTICS, "no path"), None);
    }

    #[test]
    fn area_and_speed_scale_by_the_stated_factors() {
        let cost = SynthesisCost { cells: 0, flip_flops: 0, area: 24e6 * 0.7, path: 1000.0 };
        assert!((cost.square_mm(0) - 0.798).abs() < 1e-9 && (cost.square_mm(2) - 0.2).abs() < 1e-9);
        assert!((cost.decisions_per_s(None) - 1e9).abs() < 1.0);
        assert!((cost.decisions_per_s(Some(0)) - 4e9).abs() < 1.0);
    }
}
