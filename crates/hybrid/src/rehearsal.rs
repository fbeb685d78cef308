//! The rehearsal: the jobs as fluid with openings of an unloaded network. It takes milliseconds and shows the probe
//! when the jobs first use the network and which bulk transfers to repeat in packets.

use weft_core::record::FlowRecord;
use weft_core::{Bytes, Span, Time};
use weft_plan::{Setup, Watch};
use weft_workload::Flow;

use crate::background::Background;
use crate::drive::Drive;
use crate::moment::STRETCH;
use crate::openings::windows;

/// The course of the jobs if nothing delays their calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rehearsal {
    /// Their first transfer.
    pub(crate) first: Time,
    /// Bulk transfers that start within the stretch, timed from its beginning, with what they carry until its end.
    pub(crate) bulk: Vec<Flow>,
    /// Time from the end of the last bulk transfer towards a host to the calls that it makes after all of them.
    pub(crate) rest: Span,
}

/// The assumed rest if no call follows the bulk transfers, and its bounds.
const REST: (Span, Span) = (Span::from_ms(300), Span::from_s(4));

impl Rehearsal {
    /// # Errors
    /// Other traffic ends before the jobs.
    pub(crate) fn of(setup: &Setup, background: &Background, watch: Watch<'_>) -> Result<Rehearsal, String> {
        let drive = Drive::new(setup, background.clone(), None);
        let mut records = Vec::new();
        let own = |record: &FlowRecord| record.flow.index() >= background.flows.len();
        let mut take = |record: &FlowRecord| {
            records.extend(own(record).then(|| record.clone()));
            true
        };
        drive.run(&mut take, watch)?;
        records.sort_unstable_by_key(|record| (record.start, record.flow));
        let large = |record: &&FlowRecord| record.size.0 as f64 > windows(setup, &of(record)).0;
        let begins = records.iter().find(large).map_or(Time::NEVER, |record| record.start);
        let within = |record: &&FlowRecord| record.start >= begins && record.start < begins + STRETCH;
        let bulk = records.iter().filter(large).filter(within).map(|record| cut(record, begins)).collect();
        let first = records.first().map_or(Time::ZERO, |record| record.start);
        Ok(Rehearsal { first, bulk, rest: rest(&records, &large) })
    }
}

fn rest(records: &[FlowRecord], large: &impl Fn(&&FlowRecord) -> bool) -> Span {
    let ends = records.iter().filter(large).filter_map(|record| record.end);
    let Some(end) = ends.max() else { return REST.0 };
    let after = |record: &&FlowRecord| !large(record) && record.start >= end;
    let Some(last) = records.iter().rfind(after) else { return REST.0 };
    let hosts = [last.source, last.destination];
    let towards = records.iter().filter(large).filter(|record| hosts.contains(&record.destination));
    let loaded = towards.filter_map(|record| record.end).max().unwrap_or(Time::ZERO);
    let among = |record: &&FlowRecord| hosts.contains(&record.source) && hosts.contains(&record.destination);
    let calls = records.iter().filter(after).find(among).map_or(end, |record| record.start);
    calls.since(loaded).clamp(REST.0, REST.1)
}

fn of(record: &FlowRecord) -> Flow {
    Flow::new(record.tag, record.start, (record.source, record.destination), record.size)
}

/// The part of a transfer within the stretch that begins at an instant.
fn cut(record: &FlowRecord, begins: Time) -> Flow {
    let start = Time::ZERO + record.start.since(begins);
    let whole = record.end.map_or(STRETCH, |end| end.since(record.start));
    let room = (Time::ZERO + STRETCH).since(start);
    let part = (room.seconds() / whole.seconds().max(1e-12)).min(1.0);
    let size = Bytes(((record.size.0 as f64 * part) as u64).clamp(1, record.size.0.max(1)));
    Flow { start, size, ..of(record) }
}
