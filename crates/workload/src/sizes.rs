//! Distributions of flow sizes. Must not depend on arrival processes.
//!
//! Written in a scenario as a size (`"64 kB"`: every flow), a bundled name (`"web-search"`), a file of points
//! (`"sizes.csv"`), or a formula: `"uniform(1 kB, 2 MB)"`, `"exponential(100 kB)"`, `"pareto(10 kB, 1.5)"` with the
//! minimum size and the shape.

pub mod bundled;
mod curve;

use crate::framing::Framing;
use std::path::Path;
use weft_core::input::{LARGEST_LIST, read_text};
use weft_core::random::rounded;
use weft_core::units::nearest;
use weft_core::{Bytes, Random};

pub use bundled::{BUNDLED, Bundled};
pub use curve::Curve;

/// A distribution of payload sizes; every sample is at least one byte.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeDistribution {
    /// All flows are equal.
    Fixed(Bytes),
    /// Points of a distribution function, linear between them; also uniform sizes.
    Curve(Curve),
    /// Exponential with this mean in bytes.
    Exponential(f64),
    /// Pareto: P(S > s) = (least / s)^shape.
    Pareto {
        /// Least size in bytes.
        least: f64,
        /// Exponent, above 1 so that the mean is finite.
        shape: f64,
    },
}

impl SizeDistribution {
    /// Parses a scenario's value; relative files start at `folder`.
    ///
    /// # Errors
    /// One sentence on what is wrong and what is allowed.
    pub fn read(text: &str, folder: &Path) -> Result<SizeDistribution, String> {
        let text = text.trim();
        if let Some(bundled) = BUNDLED.iter().find(|bundled| bundled.name == text) {
            return Ok(SizeDistribution::Curve(bundled.curve()));
        }
        if let Some((name, arguments)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            return formula(name.trim(), &arguments.split(',').map(str::trim).collect::<Vec<_>>());
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) && !is_file(text) {
            return size(text).map(SizeDistribution::Fixed);
        }
        if !is_file(text) {
            return Err(unknown(text));
        }
        let path = folder.join(text);
        let points =
            read_text(&path, LARGEST_LIST).map_err(|error| format!("{}: {error}", path.display()))?;
        Curve::read(&points)
            .map(SizeDistribution::Curve)
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Mean payload in bytes, of the distribution before rounding to whole bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            SizeDistribution::Fixed(size) => size.0 as f64,
            SizeDistribution::Curve(curve) => curve.mean(),
            SizeDistribution::Exponential(mean) => *mean,
            SizeDistribution::Pareto { least, shape } => least * shape / (shape - 1.0),
        }
    }

    /// The largest size in bytes; infinite if sizes have no bound.
    #[must_use]
    pub fn largest(&self) -> f64 {
        match self {
            SizeDistribution::Fixed(size) => size.0 as f64,
            SizeDistribution::Curve(curve) => curve.at(1.0),
            SizeDistribution::Exponential(_) | SizeDistribution::Pareto { .. } => f64::INFINITY,
        }
    }

    /// Mean of the smaller of a flow's size and `limit`: E\[min(S, limit)\].
    #[must_use]
    pub fn mean_up_to(&self, limit: f64) -> f64 {
        match self {
            SizeDistribution::Fixed(size) => limit.min(size.0 as f64),
            SizeDistribution::Curve(curve) => curve.mean_up_to(limit),
            SizeDistribution::Exponential(mean) => mean * -(-limit / mean).exp_m1(),
            SizeDistribution::Pareto { least, .. } if limit <= *least => limit,
            SizeDistribution::Pareto { least, shape } => {
                least + least / (shape - 1.0) * (1.0 - (least / limit).powf(shape - 1.0))
            }
        }
    }

    /// Mean number of packets of at most `mss` bytes of payload.
    #[must_use]
    pub fn mean_packets(&self, mss: Bytes) -> f64 {
        let packet = mss.0 as f64;
        match self {
            SizeDistribution::Fixed(size) => size.0.div_ceil(mss.0) as f64,
            SizeDistribution::Curve(curve) => curve.mean_packets(packet),
            // Σ P(S > k·packet) is a geometric series
            SizeDistribution::Exponential(mean) => 1.0 / (1.0 - (-packet / mean).exp()),
            SizeDistribution::Pareto { least, shape } => pareto_packets(*least, *shape, packet),
        }
    }

    /// Mean bytes on the wire: payload and the overhead of every packet; with sizes that are all equal also the padding of the last.
    #[must_use]
    pub fn mean_wire(&self, framing: Framing) -> f64 {
        if let SizeDistribution::Fixed(size) = self {
            return framing.wire(*size).0 as f64;
        }
        self.mean() + self.mean_packets(framing.mss) * framing.overhead.0 as f64
    }

    /// A random size by inversion of the distribution function, rounded to whole bytes.
    pub fn draw(&self, random: &mut Random) -> Bytes {
        let size = match self {
            SizeDistribution::Fixed(size) => return *size,
            SizeDistribution::Curve(curve) => curve.at(random.unit()),
            SizeDistribution::Exponential(mean) => random.exponential(*mean),
            SizeDistribution::Pareto { least, shape } => least * (1.0 - random.unit()).powf(-1.0 / shape),
        };
        Bytes(rounded(size).max(1))
    }
}

/// Mean packets of a Pareto flow: Σ P(S > k·packet), with the far tail approximated by its integral and half its
/// first term.
fn pareto_packets(least: f64, shape: f64, packet: f64) -> f64 {
    const TERMS: u32 = 100_000;
    let beyond = |k: f64| (least / (k * packet)).min(1.0).powf(shape);
    let near: f64 = (1..TERMS).map(|k| beyond(k.into())).sum();
    let far = f64::from(TERMS);
    1.0 + near + beyond(far) * (far / (shape - 1.0) + 0.5)
}

fn is_file(text: &str) -> bool {
    text.contains('/') || [".csv", ".txt"].iter().any(|end| text.to_lowercase().ends_with(end))
}

fn size(text: &str) -> Result<Bytes, String> {
    match text.parse() {
        Ok(Bytes(0)) => Err("a flow must have at least one byte".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(format!("`{text}`: {error}")),
    }
}

fn formula(name: &str, arguments: &[&str]) -> Result<SizeDistribution, String> {
    match (name, arguments) {
        ("uniform", [least, most]) => {
            let (least, most) = (size(least)?, size(most)?);
            let points = vec![(least.0 as f64, 0.0), (most.0 as f64, 1.0)];
            Curve::new(points)
                .map(SizeDistribution::Curve)
                .map_err(|_| format!("uniform({least}, {most}): the smaller size comes first"))
        }
        ("exponential", [mean]) => Ok(SizeDistribution::Exponential(size(mean)?.0 as f64)),
        ("pareto", [least, shape]) => {
            let number = shape.parse().ok().filter(|shape: &f64| *shape > 1.0 && shape.is_finite());
            let shape = number.ok_or_else(|| {
                format!("`{shape}` is not a shape; give a number above 1, or the mean is infinite")
            })?;
            Ok(SizeDistribution::Pareto { least: size(least)?.0 as f64, shape })
        }
        _ => Err(format!(
            "`{name}({})` is not a known formula; there are uniform(1 kB, 2 MB), exponential(100 kB), pareto(10 kB, 1.5)",
            arguments.join(", ")
        )),
    }
}

fn unknown(text: &str) -> String {
    let names = || BUNDLED.iter().map(|bundled| bundled.name);
    match nearest(text, names()) {
        Some(near) => format!("there is no size distribution called `{text}`; did you mean `{near}`?"),
        None => {
            let known = names().collect::<Vec<_>>().join(", ");
            format!(
                "there is no size distribution called `{text}`; give a size such as \"64 kB\", a .csv or .txt file, or one of {known}"
            )
        }
    }
}

#[cfg(test)]
mod tests;
