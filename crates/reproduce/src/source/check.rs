//! Mistakes in `claims.toml` beyond its syntax and shape. Reports all at once.

use std::collections::BTreeSet;

use super::{Part, PublishedClaim, PublishedSource, Sensitivity};
use crate::drawing::FigureSource;
use crate::folder::Folder;
use crate::grid::ClaimGrid;
use toml::Spanned;
use weft_bench::routebricks::{FigureOrigin, is_figure};
use weft_expression::{Expression, selectors};

/// All mistakes, in the order of the file.
pub(crate) fn all(source: &PublishedSource, folder: &Folder, text: &str) -> Vec<String> {
    let mut check = Check { source, text, seen: BTreeSet::new(), mistakes: Vec::new() };
    for experiment in &source.experiments {
        check.experiment(experiment, folder);
    }
    source.claims.iter().for_each(|claim| check.claim(claim));
    source.tables.iter().for_each(|table| check.table(table));
    source.figures.iter().for_each(|figure| check.figure(figure, folder));
    source.grids.iter().for_each(|grid| check.grid(grid));
    source.assumptions.iter().for_each(|assumption| check.unique(&assumption.id));
    check.mistakes
}

struct Check<'a> {
    source: &'a PublishedSource,
    text: &'a str,
    seen: BTreeSet<String>,
    mistakes: Vec<String>,
}

impl Check<'_> {
    fn experiment(&mut self, experiment: &super::Experiment, folder: &Folder) {
        let id = &experiment.id;
        if !self.seen.insert(id.clone()) {
            self.mistakes.push(format!("experiment {id}: two experiments have this id"));
        }
        match (&experiment.file, &experiment.awaited) {
            (Some(file), _) if !folder.files.contains_key(file) => {
                self.mistakes.push(format!("experiment {id}: there is no file `{file}` next to the claims"));
            }
            (None, None) if experiment.figures.is_none() => {
                self.mistakes
                    .push(format!("experiment {id}: it needs a `file`, or `awaited` with the reason"));
            }
            _ => {}
        }
        if let Some(name) = experiment.engine.as_ref().filter(|name| weft::engine(name).is_none()) {
            let known = weft::ENGINES.map(weft::Engine::name).join(", ");
            self.mistakes.push(format!("experiment {id}: no engine `{name}`; allowed: {known}"));
        }
        if let Some(name) = &experiment.figures
            && FigureOrigin::find(name).is_none()
        {
            let known = FigureOrigin::ALL.map(|(name, _)| name).join(", ");
            self.mistakes.push(format!("experiment {id}: no source `{name}` of figures; allowed: {known}"));
        }
    }

    /// Reports a mistake in the entry with this id.
    fn wrong(&mut self, id: &Spanned<String>, what: &str) {
        let line = self.text[..id.span().start].lines().count();
        self.mistakes.push(format!("line {line}, {}: {what}", id.get_ref()));
    }

    fn unique(&mut self, id: &Spanned<String>) {
        if !self.seen.insert(id.get_ref().clone()) {
            self.wrong(id, "this id is used twice");
        }
    }

    fn claim(&mut self, claim: &PublishedClaim) {
        let id = &claim.id;
        self.unique(id);
        if claim.parts.is_empty() && claim.not_comparable.is_empty() {
            self.wrong(id, "it needs a [[claim.part]], or `not_comparable` with the reason");
        }
        self.at(id, &claim.at);
        for part in &claim.parts {
            self.measure(id, &part.measure, &claim.experiment);
            self.band(id, part);
        }
    }

    fn table(&mut self, table: &Sensitivity) {
        let id = &table.id;
        self.unique(id);
        self.at(id, &table.at);
        for column in &table.columns {
            if Expression::parse(&column.measure).is_ok_and(|one| !one.searches().is_empty()) {
                self.wrong(id, "a table does not search; omit the bounds of `reach`");
            }
            self.measure(id, &column.measure, &table.experiment);
        }
        for named in table.variants.iter().filter_map(|variant| variant.experiment.as_ref()) {
            self.known(id, named);
        }
        self.claims(id, &table.claims);
    }

    fn known(&mut self, id: &Spanned<String>, experiment: &str) {
        if self.source.experiment(experiment).is_none() {
            self.wrong(id, &format!("there is no experiment `{experiment}`"));
        }
    }

    fn figure(&mut self, figure: &FigureSource, folder: &Folder) {
        let id = &figure.id;
        self.unique(id);
        for measure in figure.measures() {
            self.measure(id, &measure, &figure.experiment);
        }
        for published in figure.series.iter().filter_map(|line| line.published.as_ref()) {
            if let Err(why) = published.points(folder) {
                self.wrong(id, &why);
            }
        }
        self.claims(id, &figure.claims);
    }

    fn grid(&mut self, grid: &ClaimGrid) {
        let id = &grid.id;
        self.unique(id);
        self.claims(id, &grid.ids());
        let listed = grid.ids();
        for claim in self.source.claims.iter().filter(|claim| listed.contains(claim.id.get_ref())) {
            if claim.parts.first().is_none_or(|part| part.published.is_none()) {
                self.wrong(
                    id,
                    &format!("the first part of `{}` has no published number", claim.id.get_ref()),
                );
            }
        }
        if !(grid.line.is_empty() || matches!(grid.line.as_slice(), [from, to] if from != to)) {
            self.wrong(id, "a line goes through two positions");
        }
    }

    /// Checks that these claims exist.
    fn claims(&mut self, id: &Spanned<String>, claims: &[String]) {
        for claim in claims {
            if !self.source.claims.iter().any(|known| known.id.get_ref() == claim) {
                self.wrong(id, &format!("there is no claim `{claim}`"));
            }
        }
    }

    fn at(&mut self, id: &Spanned<String>, text: &str) {
        if !text.is_empty()
            && let Err(why) = selectors(text)
        {
            self.wrong(id, &format!("cannot read at = \"{text}\": {why}"));
        }
    }

    fn measure(&mut self, id: &Spanned<String>, text: &str, experiment: &str) {
        let expression = match Expression::parse(text) {
            Ok(expression) => expression,
            Err(why) => return self.wrong(id, &format!("cannot read `{text}`: {why}")),
        };
        self.levels(id, &expression);
        for (term, _) in expression.terms() {
            let is_known = weft::is_fluid_number(&term.metric)
                || is_figure(&term.metric)
                || weft_report::metric::find(&term.metric).is_some();
            if !is_known {
                let nearest = weft_report::metric::nearest(&term.metric);
                let hint = nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
                self.wrong(id, &format!("unknown metric `{}`{hint}", term.metric));
            }
            self.known(id, term.experiment.as_deref().unwrap_or(experiment));
        }
    }

    /// Checks that the level of a search has seeds.
    fn levels(&mut self, id: &Spanned<String>, expression: &Expression) {
        for (term, level, _) in expression.searches() {
            if level.terms().is_empty() {
                self.wrong(id, &format!("the level that `{}` is to reach must be measured", term.metric));
            }
        }
    }

    fn band(&mut self, id: &Spanned<String>, part: &Part) {
        let low = [part.from, part.above].into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
        let high = [part.to, part.below].into_iter().flatten().fold(f64::INFINITY, f64::min);
        let bounded = low > f64::NEG_INFINITY || high < f64::INFINITY || part.exactly.is_some();
        if part.one_run.is_some() {
            if bounded {
                self.wrong(id, "the value of one run is compared with runs, not with a band");
            }
        } else if part.exactly.is_none() && low == f64::NEG_INFINITY && high == f64::INFINITY {
            self.wrong(id, "a part needs from, to, above, below, exactly or one_run");
        } else if low > high {
            self.wrong(id, "this band contains no number");
        }
    }
}
