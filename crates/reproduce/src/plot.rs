//! Turns a drawing into a figure: measured and published values together.

use crate::drawing::{FigureLine, FigureSource};
use crate::finding::{SeedValues, Tabled};
use crate::folder::Folder;
use weft_draw::figure::{Figure, Series};

impl FigureSource {
    /// The figure with measured and published values. Lines without a value are left out.
    pub(crate) fn figure(&self, found: &Tabled, folder: &Folder) -> Figure {
        let mut series = Vec::new();
        for (number, (line, values)) in self.series.iter().zip(&found.rows).enumerate() {
            series.push(measured(line, values, number));
            let points = line.published.as_ref().and_then(|published| published.points(folder).ok());
            series.extend(points.map(|points| published(line, &points, number)));
        }
        Figure {
            id: self.id.get_ref().to_lowercase(),
            title: self.title.clone(),
            caption: "Solid: measured. Dotted: published.".to_owned(),
            x: self.x.axis(),
            y: self.y.axis(),
            series: series.into_iter().filter(|one| one.y.iter().any(Option::is_some)).collect(),
            ..Figure::default()
        }
    }
}

fn measured(line: &FigureLine, values: &[SeedValues], scheme: usize) -> Series {
    let found: Vec<_> = values.iter().map(SeedValues::estimate).collect();
    let end = |pick: fn(&weft_report::statistics::Estimate) -> Option<f64>| {
        let ends: Vec<Option<f64>> = found.iter().map(|one| one.as_ref().and_then(pick)).collect();
        if ends.iter().any(Option::is_some) { ends } else { Vec::new() }
    };
    Series {
        name: line.name.clone(),
        scheme: Some(scheme),
        x: line.at.iter().map(|at| at * line.scale).collect(),
        y: found.iter().map(|one| one.as_ref().map(|one| one.mean)).collect(),
        low: end(|one| one.low),
        high: end(|one| one.high),
        ..Series::default()
    }
}

fn published(line: &FigureLine, points: &[(f64, f64)], scheme: usize) -> Series {
    Series {
        name: format!("{}, published", line.name),
        scheme: Some(scheme),
        reference: true,
        x: points.iter().map(|(x, _)| *x).collect(),
        y: points.iter().map(|(_, y)| Some(*y)).collect(),
        ..Series::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_stands_scaled_on_the_axis() {
        let text = "name = \"a\"\nmeasure = \"jain(load = {})\"\nat = [0.08, 0.8]\nscale = 1.25";
        let line: FigureLine = toml::from_str(text).unwrap();
        let values =
            |value: f64| SeedValues { seeds: vec![1, 2], values: vec![value, value + 2.0], ratio: false };
        let series = measured(&line, &[values(1.0), SeedValues::default()], 3);
        assert_eq!((series.x, series.y), (vec![0.1, 1.0], vec![Some(2.0), None]));
        assert_eq!((series.low.len(), series.scheme), (2, Some(3)));
    }
}
