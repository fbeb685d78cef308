//! What is written of a run and of its sweep, from `measure`. Must not depend on folders.

use weft_report::{CsvTables, IdealSchedule, IdealSchedules, Kept};
use weft_scenario::{CsvFiles, IdealChoice, MeasureSettings, Recorded};

/// The ideal schedules of `measure.ideals`.
fn ideals(wanted: &[IdealChoice]) -> IdealSchedules {
    wanted.iter().fold(IdealSchedules::NONE, |set, choice| {
        set.and(match choice {
            IdealChoice::BigSwitch => IdealSchedule::BigSwitch,
            IdealChoice::Srpt => IdealSchedule::ShortestRemaining,
            IdealChoice::Sjf => IdealSchedule::ShortestFirst,
            IdealChoice::Las => IdealSchedule::LeastAttained,
            IdealChoice::Ps => IdealSchedule::ProcessorSharing,
        })
    })
}

/// The parts of the record selected by `measure.record`.
pub(crate) fn kept(measure: &MeasureSettings) -> Kept {
    let wanted = |what: Recorded| measure.record.contains(&what);
    Kept {
        flows: wanted(Recorded::Flows),
        links: wanted(Recorded::Links),
        hops: wanted(Recorded::Hops),
        queues: wanted(Recorded::Queues),
        reordering: wanted(Recorded::Reordering),
        drops: wanted(Recorded::Drops),
        tables: true,
        ideals: ideals(&measure.ideals),
        csv: csv_tables(measure.csv),
    }
}

/// The tables selected by `measure.csv`.
pub(crate) fn csv_tables(wanted: CsvFiles) -> CsvTables {
    match wanted {
        CsvFiles::Small => CsvTables::Small,
        CsvFiles::All => CsvTables::All,
        CsvFiles::Never => CsvTables::Never,
    }
}
