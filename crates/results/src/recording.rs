//! Writes a run to its folder: flows as they finish, everything else at the end. Memory does not depend on the number
//! of flows. Must not depend on statistics.

use crate::derived::{IdealSchedules, Kept};
use crate::detail::Detail;
use crate::disk::DiskError;
use crate::files;
use crate::manifest::Manifest;
use crate::rows::{FlowRow, flow_of, row_of};
use crate::summary::{RunFacts, Summary};
use crate::survey::{FlowStatistics, RecordSurvey};
use crate::sweep::Run;
use crate::tables::{self, FlowColumns};
use std::fs::File;
use std::path::{Path, PathBuf};
use weft_core::record::{FlowRecord, RunRecord};
use weft_table::DataTable;
use weft_table::sorter::{Scratch, Sorter};
use weft_table::{csv, parquet};

/// Number of flows held in memory: in the list being sorted, and in a row group of `flows.parquet`.
const ROWS: usize = 1 << 15;

/// Words of a flow.
const WORDS: usize = size_of::<FlowRow>() / 8;

/// Words that each sorted list of figures may use per flow held in memory. Figures are short, so these lists hold
/// more flows.
const FIGURES: usize = 8;

/// A run being recorded. Until it is finished there is only a hidden folder beside its own, which is removed if this is
/// dropped.
pub struct Recording {
    building: Building,
    scratch: Scratch,
    rows: usize,
    flows: Sorter<WORDS>,
    /// Whether any flow has an identifier from a flow file.
    listed: bool,
    /// Whether any flow has a deadline.
    dated: bool,
}

/// The hidden folder of a run being recorded.
struct Building(PathBuf);

impl Drop for Building {
    fn drop(&mut self) {
        // a partial folder takes space on a disk that may be full
        let _ = weft_store::discard(&self.0, None);
    }
}

impl Recording {
    /// Starts recording a run into `folder`. Its present contents stay until the end.
    ///
    /// # Errors
    /// The folder that could not be created, and why.
    pub fn begin(folder: &Path) -> Result<Recording, DiskError> {
        Recording::holding(folder, ROWS)
    }

    fn holding(folder: &Path, rows: usize) -> Result<Recording, DiskError> {
        let building = weft_store::begin(folder)?;
        Ok(Recording {
            flows: Sorter::new(&Scratch::new(&building, rows * WORDS), "flows"),
            scratch: Scratch::new(&building, rows * FIGURES),
            rows,
            building: Building(building),
            listed: false,
            dated: false,
        })
    }

    /// Adds a flow, in any order.
    ///
    /// # Errors
    /// The file that could not be written, and why.
    pub fn add(&mut self, flow: &FlowRecord) -> Result<(), DiskError> {
        self.listed |= flow.listed.is_some();
        self.dated |= flow.deadline.is_some();
        Ok(self.flows.add(row_of(flow))?)
    }

    /// Writes everything about the run: `manifest.json`, `scenario.toml`, `summary.json`, `detail.json` and the
    /// tables that are kept, as `.parquet` and perhaps `.csv`, and `quiver.svg` unless its drawing is empty; then
    /// puts it all in the place of `folder`, which lies where the run was begun. Flows in the record are ignored.
    /// Returns what was written.
    ///
    /// # Errors
    /// The file that could not be written, and why. The folder is then unchanged.
    pub fn finish(
        self,
        folder: &Path,
        (record, kept): (&RunRecord, &Kept),
        manifest: &Manifest,
        (scenario, quiver): (&str, String),
    ) -> Result<Run, DiskError> {
        let Recording { building, scratch, rows, flows, listed, dated } = self;
        let kept = &kept.of(record.measured);
        let columns = FlowColumns {
            tags: record.tags.clone().into(),
            hosts: record.nodes.iter().map(|node| node.name.clone()).collect(),
            reordering: kept.reordering,
            listed,
            dated,
        };
        let written = Written::new(&building.0, kept.csv.takes(flows.len()));
        let parts = flows.sorted()?.map(|row| Ok(flow_of(&row?)));
        let table =
            |flows: &[FlowRecord]| tables::of_manifest(tables::flows(record, flows, &columns), manifest);
        let written = (kept.flows && kept.tables).then_some(written);
        let flows = write_flows((parts, rows), (record, &table), written, (scratch, kept.ideals))?;
        let facts = RunFacts { wall_s: manifest.wall_s, threads: manifest.threads };
        let mut run = Run {
            manifest: Manifest { without_tables: !kept.tables, ..manifest.clone() },
            detail: Detail::of(record, &flows).keeping(kept),
            summary: Summary::of(record, flows, &facts).keeping(kept),
            scenario: scenario.to_owned(),
            link: String::new(),
            quiver,
        };
        let tables = if kept.tables { tables::of_run(record, kept) } else { Vec::new() };
        if let Some(text) = crate::monitor::queue_monitor(record).filter(|_| kept.tables && kept.queues) {
            crate::disk::write_text(&building.0.join("queue-monitor.txt"), &text)?;
        }
        files::fill(&building.0, &mut run, tables, kept.csv)?;
        weft_store::settle(&building.0)?;
        weft_store::replace(&building.0, folder)?;
        Ok(run)
    }
}

/// Writes everything about a run whose record holds all its flows.
///
/// # Errors
/// The file that could not be written, and why. The folder is then unchanged.
pub fn write_run(
    folder: &Path,
    record: &RunRecord,
    manifest: &Manifest,
    scenario: &str,
    kept: &Kept,
) -> Result<Run, DiskError> {
    let mut recording = Recording::begin(folder)?;
    record.flows.iter().try_for_each(|flow| recording.add(flow))?;
    recording.finish(folder, (record, kept), manifest, (scenario, String::new()))
}

/// Writes the table of flows, if kept, in batches of `rows` rows, and computes the flows' statistics in the same
/// pass.
fn write_flows(
    (flows, rows): (impl Iterator<Item = Result<FlowRecord, DiskError>>, usize),
    (record, table): (&RunRecord, &impl Fn(&[FlowRecord]) -> DataTable),
    mut written: Option<Written>,
    (scratch, ideals): (Scratch, IdealSchedules),
) -> Result<FlowStatistics, DiskError> {
    let mut survey = RecordSurvey::new(record, scratch, ideals);
    let mut part = Vec::new();
    for flow in flows {
        let flow = flow?;
        survey.add(&flow)?;
        part.push(flow);
        if part.len() == rows {
            written.as_mut().map_or(Ok(()), |written| written.append(&table(&part)))?;
            part.clear();
        }
    }
    written.map_or(Ok(()), |written| written.finish(&table(&part)))?;
    Ok(survey.finish()?)
}

/// A table written in parts, as CSV and Parquet.
struct Written {
    folder: PathBuf,
    with_csv: bool,
    /// The files, from the first part on.
    files: Option<TableFiles>,
}

/// Its files.
struct TableFiles {
    csv: Option<(PathBuf, csv::CsvWriter<File>)>,
    parquet: (PathBuf, parquet::ParquetWriter),
}

impl Written {
    fn new(folder: &Path, with_csv: bool) -> Written {
        Written { folder: folder.to_owned(), with_csv, files: None }
    }

    fn append(&mut self, part: &DataTable) -> Result<(), DiskError> {
        let files = match &mut self.files {
            Some(files) => files,
            none => none.insert(TableFiles::new(&self.folder, part, self.with_csv)?),
        };
        if let Some((path, csv)) = &mut files.csv {
            csv.append(part).map_err(DiskError::io(path))?;
        }
        let (path, parquet) = &mut files.parquet;
        parquet.append(part).map_err(DiskError::parquet(path))
    }

    /// Writes the last part, which may be empty.
    fn finish(mut self, part: &DataTable) -> Result<(), DiskError> {
        if part.rows() > 0 || self.files.is_none() {
            self.append(part)?;
        }
        self.files.map_or(Ok(()), TableFiles::finish)
    }
}

impl TableFiles {
    /// Creates the files, with the name and the columns of `part`.
    fn new(folder: &Path, part: &DataTable, with_csv: bool) -> Result<TableFiles, DiskError> {
        let create = |end: &str| {
            let path = folder.join(format!("{}.{end}", part.name));
            let file = File::create(&path).map_err(DiskError::io(&path))?;
            Ok::<_, DiskError>((path, file))
        };
        let csv = with_csv.then(|| create("csv")).transpose()?;
        let (path, file) = create("parquet")?;
        let writer = parquet::ParquetWriter::new(part, file).map_err(DiskError::parquet(&path))?;
        let csv = csv.map(|(path, file)| (path, csv::CsvWriter::new(file)));
        Ok(TableFiles { csv, parquet: (path, writer) })
    }

    fn finish(self) -> Result<(), DiskError> {
        if let Some((path, csv)) = self.csv {
            csv.finish().map_err(DiskError::io(&path))?;
        }
        let (path, parquet) = self.parquet;
        parquet.finish().map_err(DiskError::parquet(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use weft_core::record::{Measured, QueueEvents};
    use weft_core::{Bytes, FlowId, HostId, Span, Time};

    /// Flows of all sizes with ties, some unfinished, some before the warm-up.
    fn flow(n: u32) -> FlowRecord {
        let start = Time(u64::from(n) * 1_000);
        let taken = Span(5_000_000 + u64::from(n * 7_919 % 1_009) * 10_000);
        FlowRecord {
            flow: FlowId(n),
            tag: (n % 3) as u16,
            source: HostId(n % 5),
            destination: HostId(n % 7),
            size: Bytes(10u64.pow(2 + n % 6) + u64::from(n % 11)),
            start,
            end: (!n.is_multiple_of(13)).then_some(start + taken),
            ideal: Span::from_us(4),
            delivered: Bytes(u64::from(n)),
            dupacks: n % 5,
            dupacks_reorder: n % 4,
            ..FlowRecord::default()
        }
    }

    fn record() -> RunRecord {
        RunRecord {
            tags: ["a", "b", "c"].map(str::to_owned).to_vec(),
            warm_up: Time(100_000),
            ended: Time(2_000_000),
            ..RunRecord::default()
        }
    }

    /// A new folder.
    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("weft-recording-{}-{name}", std::process::id()));
        fs::create_dir_all(&place).expect("there is room for temporary files");
        place
    }

    /// The output if this many rows are held at once and flows arrive in the order of their ends.
    fn written(rows: usize) -> (Run, String) {
        let root = place(&rows.to_string());
        let folder = root.join("seed-1");
        let mut recording = Recording::holding(&folder, rows).expect("it can be written");
        let mut flows: Vec<_> = (0..1_000).map(flow).collect();
        flows.sort_by_key(|flow| (flow.end, flow.flow));
        flows.iter().for_each(|flow| recording.add(flow).expect("it can be written"));
        let (record, manifest) = (record(), Manifest::default());
        let mut run = recording
            .finish(&folder, (&record, &Kept::ALL), &manifest, ("", String::new()))
            .expect("it can be written");
        let mut names: Vec<_> = fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("a file").file_name())
            .collect();
        names.sort();
        assert!(names.iter().all(|name| weft_store::is_ours(&name.to_string_lossy())), "{names:?}");
        assert!(names.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{names:?}");
        assert_eq!(fs::read_dir(&root).expect("a folder").count(), 1, "nothing is left beside it");
        let table = fs::read_to_string(folder.join("flows.csv")).expect("a table");
        let read = files::read_run(&folder).expect("it reads back").manifest;
        assert_eq!(read.files["flows.csv"], table.len() as u64);
        assert!(read.files.contains_key("flows.parquet") && !read.files.contains_key("summary.json"));
        // how long a Parquet file is depends on its row groups
        run.manifest.files.clear();
        fs::remove_dir_all(&root).expect("it is ours");
        (run, table)
    }

    #[test]
    fn it_does_not_show_how_much_was_held_at_once() {
        let (all, table) = written(ROWS);
        assert_eq!(table.lines().count(), 1_001);
        let numbers = table.lines().skip(1).map(|line| line.split(',').next().expect("a number"));
        assert!(numbers.eq((0..1_000).map(|n| n.to_string())), "flows are ordered by their number");
        assert_eq!(all.summary.fct_us.tags.len(), 3);
        let in_memory = RunRecord { flows: (0..1_000).map(flow).collect(), ..record() };
        assert_eq!(all.summary, Summary::new(&in_memory, &RunFacts::default()));
        assert_eq!(all.detail, Detail::new(&in_memory));
        for rows in [1_000, 100, 7] {
            assert_eq!(written(rows), (all.clone(), table.clone()), "{rows}");
        }
    }

    /// No key and no column is zero for quantities that no transport of a run has; written files read back.
    #[test]
    fn duplicate_acknowledgements_that_are_not_measured_are_in_no_file() {
        let written = |name: &str, measured: Measured| {
            let folder = place(name).join("seed-1");
            let record = RunRecord { flows: (0..9).map(flow).collect(), measured, ..record() };
            let run =
                write_run(&folder, &record, &Manifest::default(), "", &Kept::ALL).expect("it is written");
            let [summary, flows] = ["summary.json", "flows.csv"]
                .map(|file| fs::read_to_string(folder.join(file)).expect("a file"));
            assert_eq!(files::read_run(&folder).expect("it reads back").summary, run.summary);
            fs::remove_dir_all(folder.parent().expect("a folder")).expect("it is ours");
            [summary, flows]
                .map(|text| (text.contains("dupacks"), text.contains("over_3"), text.contains("ooo_packets")))
        };
        let [summary, flows] = written("dupacks", Measured::ALL);
        assert_eq!((summary, flows), ((true, true, false), (true, false, true)));
        let [summary, flows] =
            written("no-dupacks", Measured::ALL.without(weft_core::record::Quantity::DuplicateAcks));
        assert_eq!((summary, flows), ((false, false, false), (false, false, true)));
    }

    /// What the store does not know it would take for a file of the user, and keep.
    #[test]
    fn the_store_knows_every_file_of_results() {
        let tables = crate::columns::TABLES.iter();
        let tables = tables.flat_map(|table| ["csv", "parquet"].map(|end| format!("{}.{end}", table.name)));
        let files = crate::columns::FILES.iter().map(|(name, _)| (*name).to_owned());
        let passing = ["flows", "fct", "slowdown", "samples"].map(|stem| format!(".{stem}.rows"));
        for name in tables.chain(files) {
            assert!(weft_store::is_ours(&name), "{name}");
            assert!(weft_store::is_ours(&format!(".{name}.partial")), ".{name}.partial");
        }
        assert!(passing.iter().all(|name| weft_store::is_ours(name)), "{passing:?}");
    }

    #[test]
    fn a_run_with_a_queue_monitor_is_replaced_again_and_again() {
        let root = place("again");
        let record = RunRecord { queue_events: Some(QueueEvents::default()), ..record() };
        for _ in 0..3 {
            let run = write_run(&root.join("seed-1"), &record, &Manifest::default(), "", &Kept::ALL);
            run.expect("it can be written");
            assert!(root.join("seed-1/queue-monitor.txt").exists());
            assert_eq!(fs::read_dir(&root).expect("a folder").count(), 1, "nothing is left beside it");
        }
        fs::remove_dir_all(&root).expect("it is ours");
    }

    /// Tables are never read back, so that only their sizes tell what became of them.
    #[test]
    fn files_that_have_another_size_are_found() {
        let folder = place("sizes").join("seed-1");
        let record = RunRecord { flows: (0..9).map(flow).collect(), ..record() };
        let run = write_run(&folder, &record, &Manifest::default(), "name = \"x\"\n", &Kept::ALL);
        let manifest = run.expect("it is written").manifest;
        let told = || files::check_sizes(&folder, &manifest).map_err(|cause| cause.to_string());
        assert_eq!(told(), Ok(()));
        let flows = folder.join("flows.parquet");
        fs::write(&flows, "PAR1").expect("writable");
        assert!(told().is_err_and(|why| why.contains("flows.parquet: 4 bytes instead of ")));
        fs::remove_file(&flows).expect("it is ours");
        assert!(told().is_err_and(|why| why.contains("flows.parquet: ")));
        assert!(files::read_run(&folder).is_ok(), "statistics do not need it");
        fs::write(folder.join("scenario.toml"), "").expect("writable");
        let why = files::read_run(&folder).expect_err("reports need the scenario").to_string();
        assert!(why.contains("scenario.toml: 0 bytes instead of 11: damaged"), "{why}");
        let older = Manifest { files: Default::default(), ..manifest };
        assert!(files::check_sizes(&folder, &older).is_ok());
        fs::remove_dir_all(folder.parent().expect("a folder")).expect("it is ours");
    }

    #[test]
    fn a_recording_that_is_given_up_leaves_nothing() {
        let root = place("given-up");
        let mut recording = Recording::holding(&root.join("seed-1"), 10).expect("it can be written");
        (0..100).for_each(|n| recording.add(&flow(n)).expect("it can be written"));
        assert_eq!(fs::read_dir(&root).expect("a folder").count(), 1);
        drop(recording);
        fs::remove_dir(&root).expect("it is empty");
    }
}
