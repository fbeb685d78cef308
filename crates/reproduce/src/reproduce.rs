//! One call: from claims to measures, runs, findings and pages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft::{Error, run_batches};

use crate::context::MeasureContext;
use crate::drawing::{FigureLine, FigureSource};
use crate::finding::{
    ClaimFinding, ClaimFindings, ClaimStatus, NO_VALUE, RESULTS, SeedValues, Tabled, verdict,
};
use crate::folder::Folder;
use crate::form::Form;
use crate::measure::Runs;
use crate::options::ReproduceOptions;
use crate::plan::{Located, ReproductionPlan};
use crate::source::{Assumption, Otherwise, PublishedClaim, PublishedSource, Sensitivity, read};
use crate::{choice, definition, options, report, terminal};

mod mistakes;

/// Why a claim is not run in the quick form.
const TOO_SMALL: &str = "the quick form is too small for it";

/// Approximate disk space of a run's statistics: most is in its `detail.json`, which grows with the links.
const BYTES_OF_A_RUN: usize = 150_000;

/// The amount about to be run and written.
fn announcement((all, open): (usize, usize), out: &Path) -> String {
    let there = if all > open { format!(", {} are there", all - open) } else { String::new() };
    let megabytes = (open * BYTES_OF_A_RUN).div_ceil(1_000_000);
    format!(
        "{open} runs to compute{there}; writes statistics without tables, about {megabytes} MB, to {}; searches may add runs",
        out.display()
    )
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReproduceOutcome {
    /// The report, one HTML file.
    pub report: PathBuf,
    /// Counts and one entry per claim, for a terminal of 80 columns.
    pub terminal: String,
    /// Claims that were measured and lie outside their bands.
    pub not_reproduced: usize,
    /// Runs that failed.
    pub failed_runs: usize,
    /// Whether the call was stopped early; what was complete has been judged.
    pub interrupted: bool,
    /// Runs reused from an earlier call.
    pub reused: usize,
    /// The other builds that computed reused runs, as version and commit, and the number of their runs.
    pub builds: Vec<(String, usize)>,
}

/// A chosen claim with the measure of each part, or the reason why there is none.
struct Asked<'a> {
    claim: &'a PublishedClaim,
    parts: Vec<Result<Located, String>>,
    /// The measures with the claim's alternative choice, if it has one.
    otherwise: Vec<Result<Located, String>>,
}

/// Claims under an assumption, each with the measures of its parts.
struct Assumed<'a> {
    assumption: &'a Assumption,
    claims: Vec<(&'a PublishedClaim, Vec<Result<Located, String>>)>,
}

/// A figure with its measures, line by line.
struct Drawn<'a> {
    drawing: &'a FigureSource,
    lines: Vec<Vec<Result<Located, String>>>,
}

/// A table with its measures, row by row.
struct Rows<'a> {
    table: &'a Sensitivity,
    rows: Vec<Result<Vec<Located>, String>>,
}

/// Measures the claims of a source, known by name or by folder.
///
/// # Errors
/// [`Error::BadInput`] if there is no such source or claim, or there is a mistake in a folder; [`Error::Failed`] if
/// results cannot be written.
pub fn reproduce(name: &str, mut options: ReproduceOptions) -> Result<ReproduceOutcome, Error> {
    let folder = Folder::find(name)?;
    let source = PublishedSource::read(&folder)?;
    let claims = choice::choose(&source, &options.claims)?;
    options::refuse_idle(&source, &claims, &options)?;
    let destination = options.write.as_deref().map(options::destination).transpose()?;
    options.run.out = options.run.out.join(&folder.name);
    folder.unpack(&options.run.out)?;
    let mut plan = ReproductionPlan::new(&source, &options.run.out, options.run.seeds.clone());
    let (form, command) = (options.form, options.command(name));
    options.run.demo = form == Form::Quick;
    let mut asked: Vec<Asked<'_>> = claims.iter().map(|claim| ask(&mut plan, claim, form)).collect();
    let wanted = |table: &&Sensitivity| {
        options.tables && table.claims.iter().any(|id| claims.iter().any(|claim| claim.id.get_ref() == id))
    };
    let tables: Vec<Rows<'_>> =
        source.tables.iter().filter(wanted).map(|table| rows(&mut plan, table, form)).collect();
    let drawn = |drawing: &&FigureSource| {
        drawing.claims.iter().any(|id| claims.iter().any(|claim| claim.id.get_ref() == id))
    };
    let figures: Vec<Drawn<'_>> =
        source.figures.iter().filter(drawn).map(|drawing| draw(&mut plan, drawing, form)).collect();
    let assumptions = source.assumptions.iter().filter(|_| options.assumptions);
    let mut assumed: Vec<Assumed<'_>> =
        assumptions.map(|assumption| assume(&mut plan, assumption, &claims)).collect();
    mistakes::refuse(&source, (&asked, &figures))?;
    let (solved, unsolved) = plan.solve(options.run.jobs);
    let (measured, unmeasured, stopped) = plan.measure(form, (&options.announce, &options.run.stop));
    let batches = plan.batches();
    (options.announce)(&announcement(weft::count_runs(&batches, &options.run)?, &options.run.out));
    let mut collected = run_batches(&batches, &options.run)?;
    let reused = collected.reused;
    let mut runs = Runs::new(&plan, (collected.runs, solved.clone(), measured.clone()));
    while !collected.interrupted && look_further(&mut plan, (&mut asked, &mut assumed), &runs) {
        collected = run_batches(&plan.batches(), &options.run)?;
        runs = Runs::new(&plan, (collected.runs, solved.clone(), measured.clone()));
    }
    let (failures, interrupted) =
        ([unsolved, unmeasured, collected.failures].concat(), stopped || collected.interrupted);
    let facts = Facts { folder: &folder, source: &source, form, interrupted, failures: &failures };
    let findings = ClaimFindings {
        figures: facts.drawn(&figures, &runs),
        assumed: facts.assumed(&assumed, &runs),
        ..facts.findings(&asked, &tables, &runs)
    };
    findings.write(&options.run.out.join(RESULTS))?;
    if let Some(path) = destination {
        let mut kept = ClaimFindings::read(&path)?;
        let better = kept.take(&findings);
        kept.write(&path)?;
        if !better.is_empty() {
            let file = path.display();
            (options.announce)(&format!(
                "{file} keeps its findings from more or larger runs: {}",
                better.join(", ")
            ));
        }
    }
    let path = report::write(&options.run.out, (&source, &folder), (&plan, &runs), (&findings, command))?;
    Ok(ReproduceOutcome {
        report: path,
        terminal: terminal::summary(&source, &claims, &findings),
        not_reproduced: claims.iter().filter(|claim| is_not_reproduced(claim, &findings)).count(),
        failed_runs: failures.len(),
        interrupted,
        reused,
        builds: collected.builds,
    })
}

fn is_not_reproduced(claim: &PublishedClaim, findings: &ClaimFindings) -> bool {
    verdict(claim, findings) == ClaimStatus::NotReproduced
}

/// Plans the cases of a claim.
fn ask<'a>(plan: &mut ReproductionPlan<'_>, claim: &'a PublishedClaim, form: Form) -> Asked<'a> {
    let context =
        MeasureContext { experiment: &claim.experiment, at: &claim.at, form, ..MeasureContext::default() };
    let mut all = |context: &MeasureContext<'_>| {
        let too_small = context.form == Form::Quick && !claim.quick && !context.varied;
        let small = || Err(TOO_SMALL.to_owned());
        let locate = |expression| if too_small { small() } else { plan.locate(expression, context) };
        let parts: Vec<Result<Located, String>> = claim.expressions().into_iter().map(locate).collect();
        parts.iter().flatten().for_each(|one| plan.want(one));
        parts
    };
    let parts = all(&context);
    let other = |other: &Otherwise| {
        all(&MeasureContext { set: &other.set, varied: true, form: other.form(form), ..context })
    };
    // if the quick form is too small for a claim, it is too small for its alternative choice
    let asked_for = claim.otherwise.as_ref().filter(|_| form != Form::Quick || claim.quick);
    let otherwise = asked_for.map_or(Vec::new(), other);
    Asked { claim, parts, otherwise }
}

/// Plans the cases of claims under an assumption.
fn assume<'a>(
    plan: &mut ReproductionPlan<'_>,
    assumption: &'a Assumption,
    claims: &[&'a PublishedClaim],
) -> Assumed<'a> {
    let mut parts = |claim: &'a PublishedClaim| {
        let set = assumption.set.as_slice();
        let (experiment, at) = (claim.experiment.as_str(), claim.at.as_str());
        let context = MeasureContext { experiment, at, set, varied: true, form: Form::Quick, seed: None };
        // a claim judged with its alternative choice in the reduced form is judged under an assumption, too
        let locate = |expression| match claim.quick || claim.otherwise.is_some() {
            true => plan.locate(expression, &context),
            false => Err(TOO_SMALL.to_owned()),
        };
        let parts: Vec<_> = claim.expressions().into_iter().map(locate).collect();
        parts.iter().flatten().for_each(|one| plan.want(one));
        (claim, parts)
    };
    let measured = claims.iter().filter(|claim| claim.not_comparable.is_empty());
    Assumed { assumption, claims: measured.map(|claim| parts(claim)).collect() }
}

/// Plans the next positions of searches; returns whether there were any. A position that cannot be run ends its search.
fn look_further(
    plan: &mut ReproductionPlan<'_>,
    (asked, assumed): (&mut [Asked<'_>], &mut [Assumed<'_>]),
    runs: &Runs,
) -> bool {
    let mut looked = false;
    let asked = asked.iter_mut().flat_map(|asked| asked.parts.iter_mut().chain(&mut asked.otherwise));
    let assumed = assumed.iter_mut().flat_map(|assumed| &mut assumed.claims).flat_map(|(_, parts)| parts);
    for located in asked.chain(assumed).flatten() {
        for (search, seed, at) in runs.wanted(located) {
            looked |= plan.look(&mut located.searches[search], seed, at).is_ok();
        }
    }
    looked
}

/// Plans the cases of a table.
fn rows<'a>(plan: &mut ReproductionPlan<'_>, table: &'a Sensitivity, form: Form) -> Rows<'a> {
    let mut rows = Vec::new();
    for variant in &table.variants {
        let context = MeasureContext {
            experiment: variant.experiment.as_ref().unwrap_or(&table.experiment),
            at: &table.at,
            set: &variant.set,
            form: if table.reduced { Form::Quick } else { form },
            varied: true,
            seed: None,
        };
        let columns = table.columns.iter();
        let row: Result<Vec<Located>, String> =
            columns.map(|column| plan.locate(read(&column.measure), &context)).collect();
        if let Ok(row) = &row {
            row.iter().for_each(|one| plan.want(one));
        }
        rows.push(row);
    }
    Rows { table, rows }
}

/// Plans the cases of a figure.
fn draw<'a>(plan: &mut ReproductionPlan<'_>, drawing: &'a FigureSource, form: Form) -> Drawn<'a> {
    let context = MeasureContext { experiment: &drawing.experiment, form, ..MeasureContext::default() };
    let mut line = |line: &FigureLine| {
        let located =
            line.measures().iter().map(|measure| plan.locate(read(measure), &context)).collect::<Vec<_>>();
        located.iter().flatten().for_each(|one| plan.want(one));
        located
    };
    Drawn { drawing, lines: drawing.series.iter().map(&mut line).collect() }
}

/// The context of the call.
struct Facts<'a> {
    folder: &'a Folder,
    source: &'a PublishedSource,
    form: Form,
    interrupted: bool,
    failures: &'a [String],
}

impl Facts<'_> {
    fn findings(&self, asked: &[Asked<'_>], tables: &[Rows<'_>], runs: &Runs) -> ClaimFindings {
        let id = |asked: &Asked<'_>| asked.claim.id.get_ref().clone();
        let within = (self.source, self.folder);
        let claim = |asked: &Asked<'_>| {
            let definition = definition::of_claim(asked.claim, self.form, within);
            (id(asked), self.finding(&asked.parts, (definition, self.form), runs))
        };
        let other = |asked: &Asked<'_>| {
            let form = asked.claim.otherwise.as_ref().map_or(Form::Quick, |other| other.form(self.form));
            let definition = definition::of_other(asked.claim, form, within);
            (id(asked), self.finding(&asked.otherwise, (definition, form), runs))
        };
        let table = |rows: &Rows<'_>| (rows.table.id.get_ref().clone(), self.tabled(rows, runs));
        ClaimFindings {
            claims: asked.iter().map(claim).collect(),
            others: asked.iter().filter(|asked| !asked.otherwise.is_empty()).map(other).collect(),
            tables: tables.iter().map(table).collect(),
            ..ClaimFindings::default()
        }
    }

    fn assumed(
        &self,
        assumed: &[Assumed<'_>],
        runs: &Runs,
    ) -> BTreeMap<String, BTreeMap<String, ClaimFinding>> {
        let claims = |Assumed { assumption, claims }: &Assumed<'_>| {
            let finding = |(claim, parts): &(&PublishedClaim, Vec<Result<Located, String>>)| {
                let definition = definition::of_assumed(claim, assumption, (self.source, self.folder));
                let found = self.finding(parts, (definition, Form::Quick), runs);
                (claim.id.get_ref().clone(), found)
            };
            (assumption.id.get_ref().clone(), claims.iter().map(finding).collect())
        };
        assumed.iter().map(claims).collect()
    }

    fn drawn(&self, figures: &[Drawn<'_>], runs: &Runs) -> BTreeMap<String, Tabled> {
        let value = |place: &Result<Located, String>| {
            place.as_ref().map_or(SeedValues::default(), |one| runs.values(one))
        };
        let figure = |drawn: &Drawn<'_>| {
            let all: Vec<Located> = drawn.lines.iter().flatten().flatten().cloned().collect();
            let tabled = Tabled {
                definition: definition::of_figure(drawn.drawing, self.form, (self.source, self.folder)),
                program: runs.program(&all),
                epoch: weft::epoch().to_owned(),
                rows: drawn.lines.iter().map(|line| line.iter().map(value).collect()).collect(),
                size: runs.size(&all),
                ..Tabled::default()
            };
            (drawn.drawing.id.get_ref().clone(), tabled)
        };
        figures.iter().map(figure).collect()
    }

    fn finding(
        &self,
        parts: &[Result<Located, String>],
        (definition, form): (String, Form),
        runs: &Runs,
    ) -> ClaimFinding {
        let located: Vec<Located> = parts.iter().flatten().cloned().collect();
        let value = |part: &Result<Located, String>| {
            part.as_ref().map_or(SeedValues::default(), |one| runs.values(one))
        };
        let why = parts.iter().find_map(|part| part.as_ref().err().cloned());
        let parts: Vec<SeedValues> = parts.iter().map(value).collect();
        let lost = parts.iter().any(|values| values.values.is_empty());
        let missing = || located.iter().find_map(|one| runs.why_missing(one));
        let not_run = if lost { why.or_else(missing).unwrap_or_else(|| self.lost()) } else { String::new() };
        let (size, program) = (runs.size(&located), runs.program(&located));
        let model = if size.is_figures() { weft_bench::routebricks::model_epoch() } else { "" }.to_owned();
        ClaimFinding {
            definition,
            form,
            not_run,
            parts,
            size,
            program,
            epoch: weft::epoch().to_owned(),
            model,
        }
    }

    fn tabled(&self, rows: &Rows<'_>, runs: &Runs) -> Tabled {
        let definition = definition::of_table(rows.table, self.form, (self.source, self.folder));
        let epoch = weft::epoch().to_owned();
        let mut tabled = Tabled { definition, epoch, ..Tabled::default() };
        let mut all = Vec::new();
        for (number, row) in rows.rows.iter().enumerate() {
            match row {
                Ok(located) => {
                    tabled.rows.push(located.iter().map(|one| runs.values(one)).collect());
                    all.extend(located.iter().cloned());
                }
                Err(why) => {
                    tabled.rows.push(Vec::new());
                    tabled.not_run.insert(number, why.clone());
                }
            }
        }
        (tabled.size, tabled.program) = (runs.size(&all), runs.program(&all));
        tabled
    }

    /// Why a measure has no value although its runs were requested.
    fn lost(&self) -> String {
        match self.failures.first() {
            _ if self.interrupted => "interrupted".to_owned(),
            Some(failure) => format!("a run failed: {failure}"),
            None => NO_VALUE.to_owned(),
        }
    }
}
