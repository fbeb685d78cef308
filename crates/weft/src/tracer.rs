//! One flow of a scenario followed: the run is computed again, with observers at every switch and at the flow's hosts.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use weft_core::record::{FlowRecord, RunRecord};
use weft_core::{FlowId, Span, Time};
use weft_plan::{Division, Setup};
use weft_report::DiskError;
use weft_report::text::duration;
use weft_sim::Simulation;
use weft_trace::pcapng::{CapturedFlow, SECTION, capture};
use weft_trace::{TcpOnWire, WireProtocol, table};
use weft_workload::Flow;

use crate::Error;
use crate::overwrite::{begins_with, may_replace};

/// The inputs of [`trace`](crate::trace) besides the scenario.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// The flow's number, as in `flows.csv`.
    pub flow: u32,
    /// The seed; the scenario's first if absent.
    pub seed: Option<u64>,
    /// Apply the scenario's `[demo]` table.
    pub demo: bool,
    /// Overrides `path=value`, applied in this order.
    pub set: Vec<String>,
    /// Write the table here as CSV.
    pub csv: Option<PathBuf>,
    /// Write a capture here, pcapng.
    pub pcap: Option<PathBuf>,
}

/// The trace of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceOutcome {
    /// One sentence: who sent what to whom, and the outcome.
    pub summary: String,
    /// The table for a terminal, one row per event.
    pub table: String,
}

pub(crate) fn trace(path: &Path, options: &TraceOptions) -> Result<TraceOutcome, Error> {
    may_write(options)?;
    let cases = weft_prepare::prepare(path, &options.set, options.demo)?;
    let [case] = cases.as_slice() else {
        return Err(Error::BadInput(format!(
            "{}: the scenario has {} cases, and a flow belongs to one: choose it with --set case=NAME, or with --set \
             sweep.KEY=VALUE for every key of a [sweep] without named cases",
            path.display(),
            cases.len()
        )));
    };
    let seed = options.seed.or(case.settings.seeds.first().copied()).unwrap_or(1);
    let setup = Setup { division: Division::LONE, ..case.setup(seed)? };
    let transports = setup.clone();
    let (record, found) = Simulation::new(setup).run_traced(FlowId(options.flow));
    let Some(flow) = record.flows.iter().find(|flow| flow.flow.0 == options.flow) else {
        let last = record.flows.iter().map(|flow| flow.flow.0).max().unwrap_or(0);
        return Err(Error::BadInput(format!(
            "there is no flow {}: with seed {seed} the run has flows 0 to {last}",
            options.flow
        )));
    };
    let wire = on_wire(&transports, flow);
    let (protocol, table) = (wire.protocol, table::text(&found, &record, wire.protocol));
    if let Some(csv) = &options.csv {
        write(csv, |file| file.write_all(table::csv(&found, &record, protocol).as_bytes()))?;
    }
    if let Some(pcap) = &options.pcap {
        write(pcap, |file| capture(file, (&found, &record), wire))?;
    }
    Ok(TraceOutcome { summary: summary(&record, flow, seed), table })
}

/// Refuses to overwrite anything other than an earlier trace or capture, before the run takes its time.
fn may_write(options: &TraceOptions) -> Result<(), Error> {
    let place = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    if let (Some(csv), Some(pcap)) = (&options.csv, &options.pcap)
        && place(csv) == place(pcap)
    {
        return Err(Error::BadInput(format!("{}: --csv and --pcap name the same file", csv.display())));
    }
    let header = table::header();
    let trace = |path: &PathBuf| may_replace(path, "trace", |path| begins_with(path, header.as_bytes()));
    let capture = |path: &PathBuf| may_replace(path, "capture", |path| begins_with(path, &SECTION));
    options.csv.as_ref().map_or(Ok(()), trace)?;
    options.pcap.as_ref().map_or(Ok(()), capture)
}

/// Writes a file so that it is either complete or unchanged, and where a link leads; to a device or a pipe directly.
fn write(path: &Path, fill: impl Fn(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Error> {
    let failed = |cause| DiskError::Io { path: path.to_owned(), cause };
    let filled = |file| {
        let mut file = BufWriter::new(file);
        fill(&mut file).and_then(|()| file.flush()).map_err(failed)
    };
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if place.exists() && !place.is_file() {
        return Ok(File::options().write(true).open(path).map_err(failed).and_then(filled)?);
    }
    Ok(weft_store::in_place(&place, filled)?)
}

/// The protocol of its packets on a real wire.
fn on_wire(setup: &Setup, flow: &FlowRecord) -> CapturedFlow {
    let spec = Flow::new(flow.tag, flow.start, (flow.source, flow.destination), flow.size);
    let transport = setup.sender(&spec);
    let agreed = transport.tcp().map_or(TcpOnWire::default(), |tcp| {
        let largest = tcp.receive_window.or(tcp.autotune.as_ref().map(|autotune| autotune.max));
        let (timestamps, sack) = (tcp.timestamps, tcp.sack);
        TcpOnWire { timestamps, sack, receive_window: largest.map(|window| window.0) }
    });
    let protocol = match transport.protocol() {
        "tcp" => WireProtocol::Tcp(agreed),
        "roce" => WireProtocol::Roce,
        _ => WireProtocol::Udp,
    };
    CapturedFlow { protocol, size: flow.size.0, mss: transport.mss() }
}

fn summary(record: &RunRecord, flow: &FlowRecord, seed: u64) -> String {
    let name = |host: u32| record.nodes[host as usize].name.as_str();
    let time = |span: Span| duration(span.seconds() * 1e6);
    let end = match flow.end {
        Some(end) => format!("finishes after {}", time(end.since(flow.start))),
        None => "does not finish".to_owned(),
    };
    format!(
        "Flow {} ({}), {} to {}, {} B, seed {seed}: starts at {} and {end}; alone it would take {}.",
        flow.flow.0,
        record.tags.get(usize::from(flow.tag)).map_or("", String::as_str),
        name(flow.source.0),
        name(flow.destination.0),
        flow.size.0,
        time(flow.start.since(Time::ZERO)),
        time(flow.ideal)
    )
}
