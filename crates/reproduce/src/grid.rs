//! Grids as `claims.toml` describes them: which claims stand side by side. Must not depend on claims or findings.

use serde::Deserialize;
use toml::Spanned;

/// The placeholder for the value of a column in the claim of a row.
const COLUMN: &str = "{}";
/// The placeholder for the position on a line in the claim of a row.
const POSITION: &str = "[]";

/// A table of claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimGrid {
    pub(crate) id: Spanned<String>,
    /// Heading.
    pub(crate) title: String,
    /// The header of the first column.
    pub(crate) rows_are: String,
    /// Two positions: each cell is then the straight line through the claims at both.
    #[serde(default)]
    pub(crate) line: Vec<f64>,
    #[serde(rename = "column")]
    pub(crate) columns: Vec<GridColumn>,
    #[serde(rename = "row")]
    pub(crate) rows: Vec<GridRow>,
    /// The conclusion.
    #[serde(default)]
    pub(crate) note: String,
}

/// A column: the part of a claim's id that its cells share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridColumn {
    pub(crate) name: String,
    pub(crate) at: String,
}

/// A row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridRow {
    pub(crate) name: String,
    /// The id of its claims, in which `{}` stands for the column and `[]` for the position on a line.
    pub(crate) claim: String,
}

impl ClaimGrid {
    /// The ids of all claims.
    pub(crate) fn ids(&self) -> Vec<String> {
        let of_row =
            |row: &GridRow| self.columns.iter().flat_map(|column| self.cell(row, column)).collect::<Vec<_>>();
        self.rows.iter().flat_map(of_row).collect()
    }

    /// The ids of the claims of a cell: two of a line, otherwise one.
    pub(crate) fn cell(&self, row: &GridRow, column: &GridColumn) -> Vec<String> {
        let id = row.claim.replace(COLUMN, &column.at);
        if self.line.is_empty() {
            return vec![id];
        }
        self.line.iter().map(|position| id.replace(POSITION, &position.to_string())).collect()
    }
}
