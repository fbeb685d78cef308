//! Figures of a reproduction: measured lines together with the published points they are compared with. Must not depend
//! on runs, only on stored values and tables of published points.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;
use weft_draw::figure::Axis;

use crate::folder::Folder;

/// The placeholder in a measure for the position on the axis.
const PLACE: &str = "{}";

/// A figure: lines over one axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureSource {
    pub(crate) id: Spanned<String>,
    /// A sentence with the main observation.
    pub(crate) title: String,
    /// The claims it illustrates.
    pub(crate) claims: Vec<String>,
    /// The experiment of measures that do not name one.
    pub(crate) experiment: String,
    pub(crate) x: FigureAxis,
    pub(crate) y: FigureAxis,
    #[serde(rename = "series")]
    pub(crate) series: Vec<FigureLine>,
}

/// An axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureAxis {
    name: String,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    log: bool,
}

/// A measured line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureLine {
    pub(crate) name: String,
    /// A measure, in which `{}` stands for the position on the axis.
    pub(crate) measure: String,
    /// The positions on the axis.
    pub(crate) at: Vec<f64>,
    /// Factor between a position and its value on the axis.
    #[serde(default = "one")]
    pub(crate) scale: f64,
    /// The published points it is compared with.
    pub(crate) published: Option<PublishedTable>,
}

fn one() -> f64 {
    1.0
}

/// The rows and columns to take from a table of published points.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedTable {
    /// A file beside the claims: comma-separated, with a header line.
    pub(crate) file: String,
    /// The columns with position and value.
    pub(crate) x: String,
    pub(crate) y: String,
    /// Only rows that have these values.
    #[serde(default, rename = "where")]
    pub(crate) rows: BTreeMap<String, String>,
}

impl FigureLine {
    /// The measure at each position.
    pub(crate) fn measures(&self) -> Vec<String> {
        self.at.iter().map(|at| self.measure.replace(PLACE, &at.to_string())).collect()
    }
}

impl PublishedTable {
    /// The points, in the order of the file.
    ///
    /// # Errors
    /// There is no such file, column or row, or a point is not a number.
    pub(crate) fn points(&self, folder: &Folder) -> Result<Vec<(f64, f64)>, String> {
        let text = folder.files.get(&self.file).ok_or_else(|| format!("there is no file `{}`", self.file))?;
        let mut rows = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split(',').collect::<Vec<_>>());
        let head = rows.next().unwrap_or_default();
        let column = |name: &str| {
            let found = head.iter().position(|known| *known == name);
            found.ok_or_else(|| format!("{} has no column `{name}`, only {}", self.file, head.join(", ")))
        };
        let (x, y) = (column(&self.x)?, column(&self.y)?);
        let wanted = self.rows.iter().map(|(name, value)| Ok((column(name)?, value.as_str())));
        let wanted = wanted.collect::<Result<Vec<_>, String>>()?;
        let chosen = rows.filter(|row| wanted.iter().all(|(column, value)| row.get(*column) == Some(value)));
        let number = |row: &[&str], column: usize| {
            let text = row.get(column).copied().unwrap_or_default();
            text.parse::<f64>().map_err(|_| format!("{}: `{text}` is not a number", self.file))
        };
        let points = chosen.map(|row| Ok((number(&row, x)?, number(&row, y)?)));
        let points = points.collect::<Result<Vec<_>, String>>()?;
        if points.is_empty() {
            Err(format!("{} has no row with these values", self.file))
        } else {
            Ok(points)
        }
    }
}

impl FigureSource {
    /// Every measure, line by line.
    pub(crate) fn measures(&self) -> Vec<String> {
        self.series.iter().flat_map(FigureLine::measures).collect()
    }
}

impl FigureAxis {
    pub(crate) fn axis(&self) -> Axis {
        Axis { name: self.name.clone(), unit: self.unit.clone(), log: self.log, ..Axis::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: &str) -> Result<Vec<(f64, f64)>, String> {
        let files = [("a.csv".to_owned(), "# words\nname,n,y\na,2,1.5\nb,2,7\na,4,2.5\nc,1,?\n".to_owned())];
        let folder = Folder { name: "x".to_owned(), files: files.into() };
        toml::from_str::<PublishedTable>(&format!("file = \"a.csv\"\nx = \"n\"\n{of}"))
            .unwrap()
            .points(&folder)
    }

    #[test]
    fn published_points_are_rows_of_a_table() {
        assert_eq!(points("y = \"y\"\nwhere = { name = \"a\" }"), Ok(vec![(2.0, 1.5), (4.0, 2.5)]));
        assert!(points("y = \"z\"").unwrap_err().contains("no column `z`, only name, n, y"));
        assert!(points("y = \"y\"\nwhere = { name = \"d\" }").unwrap_err().contains("no row"));
        assert!(points("y = \"y\"").unwrap_err().contains("`?` is not a number"));
    }

    #[test]
    fn a_place_stands_in_the_measure() {
        let text = "name = \"a\"\nmeasure = \"jain(load = {})\"\nat = [0.08, 0.8]";
        let line: FigureLine = toml::from_str(text).unwrap();
        assert_eq!(line.measures(), ["jain(load = 0.08)", "jain(load = 0.8)"]);
    }
}
