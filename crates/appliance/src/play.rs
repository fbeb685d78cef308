//! Plays captures through a router: frames of files in, frames to files out, on recorded time.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_core::{Span, Time};
use weft_packet::capture::{
    CaptureError, CaptureReader, enhanced_packet, interface_description, section_header,
};
use weft_packet::rss::FlowQueues;
use weft_router::{Application, STRIDE};

use crate::failure::ApplianceError;
use crate::outcome::RouterReport;
use crate::plan::{PlannedPort, PortDevice, RouterPlan};
use crate::playback::{Playback, PlayedFrame};

/// A frame of the captures.
struct Recorded<'a> {
    time_ns: u64,
    port: u16,
    bytes: &'a [u8],
}

/// Longest capture, limited by what the router's clock counts.
const LONGEST: u64 = 200 * 86_400 * 1_000_000_000;

/// Plays all captures to their ends, or until `stop` is set, or until a file cannot be written.
pub(crate) fn play<A: Application>(
    plan: &RouterPlan,
    (stop, started): (&AtomicBool, impl FnOnce() -> io::Result<()>),
    playback: Playback<A>,
) -> Result<RouterReport, ApplianceError> {
    let mut playback = playback.with_burst(plan.burst);
    let files = plan.ports.iter().map(contents).collect::<Result<Vec<_>, _>>()?;
    let frames = recorded(plan, &files)?;
    let first = frames.first().map_or(0, |frame| frame.time_ns);
    let mut writers = plan.ports.iter().map(writer).collect::<Result<Vec<_>, _>>()?;
    started().map_err(|cause| ApplianceError::Start { cause })?;
    let queues = FlowQueues::among(plan.workers);
    let mut failed_at = None;
    let mut sent = |frame: PlayedFrame<'_>| {
        let Some(file) = &mut writers[usize::from(frame.port)] else { return Ok(()) };
        let record = enhanced_packet(0, first + nanoseconds(frame.time), frame.bytes);
        file.write_all(&record).inspect_err(|_| failed_at = Some(frame.port))
    };
    let mut run = || -> io::Result<()> {
        for frame in frames.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            let time = Time::ZERO + Span::from_ns(frame.time_ns - first);
            let bytes = frame.bytes;
            let reader = plan.reader_of(&plan.ports[usize::from(frame.port)]);
            let worker = reader.unwrap_or_else(|| queues.queue_of(bytes));
            playback.arrive(worker, PlayedFrame { time, port: frame.port, bytes }, &mut sent)?;
        }
        playback.finish(&mut sent)
    };
    let outcome = run();
    let flushed = outcome.and_then(|()| flush(&mut writers, &mut failed_at));
    let failure = flushed.err().map(|cause| unwritten(plan, failed_at, cause));
    Ok(RouterReport { failure, ..RouterReport::of(playback.counters()) })
}

/// Writes what is still in memory; `failed_at` becomes the port of a file that cannot be written.
fn flush(writers: &mut [Option<BufWriter<File>>], failed_at: &mut Option<u16>) -> io::Result<()> {
    for (port, file) in (0..).zip(writers).filter_map(|(port, file)| Some((port, file.as_mut()?))) {
        file.flush().inspect_err(|_| *failed_at = Some(port))?;
    }
    Ok(())
}

/// A file that could not be written to its end.
fn unwritten(plan: &RouterPlan, port: Option<u16>, cause: io::Error) -> ApplianceError {
    let port = port.and_then(|port| plan.ports.get(usize::from(port)));
    match port.map(|port| (port, &port.device)) {
        Some((port, PortDevice::Capture { write: Some(path), .. })) => {
            wrong(port, path, &format!("cannot be written to its end: {cause}"))
        }
        _ => ApplianceError::Playback { cause },
    }
}

fn nanoseconds(time: Time) -> u64 {
    time.since(Time::ZERO).0 / Span::from_ns(1).0
}

fn wrong(port: &PlannedPort, path: &Path, message: &str) -> ApplianceError {
    let (port, file) = (port.name.clone(), path.display().to_string());
    ApplianceError::Capture { port, file, message: message.to_owned() }
}

/// The file that a port reads; empty without one.
fn contents(port: &PlannedPort) -> Result<Vec<u8>, ApplianceError> {
    match &port.device {
        PortDevice::Capture { read: Some(path), .. } => {
            std::fs::read(path).map_err(|error| wrong(port, path, &format!("cannot be read: {error}")))
        }
        _ => Ok(Vec::new()),
    }
}

/// All frames, in the order in which they arrive: by time, then port, then position.
fn recorded<'a>(plan: &RouterPlan, files: &'a [Vec<u8>]) -> Result<Vec<Recorded<'a>>, ApplianceError> {
    let mut all = Vec::new();
    for ((number, port), file) in (0..).zip(&plan.ports).zip(files) {
        let PortDevice::Capture { read: Some(path), .. } = &port.device else { continue };
        let damaged = |error: CaptureError| wrong(port, path, &error.to_string());
        let (before, mut long) = (all.len(), 0);
        for frame in CaptureReader::new(file).map_err(damaged)? {
            match frame {
                Ok(frame) => {
                    long += usize::from(frame.bytes.len() > STRIDE);
                    all.push(Recorded { time_ns: frame.time_ns, port: number, bytes: frame.bytes });
                }
                Err(cut @ CaptureError::Cut { .. }) => {
                    let (file, count) = (path.display(), all.len() - before);
                    let _ = writeln!(io::stderr(), "{file}: {cut}; the {count} frames before it are read");
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        if long > 0 {
            let _ = writeln!(
                io::stderr(),
                "{}: dropped for being longer than the {STRIDE} bytes of a buffer, perhaps because the recorder saw coalesced packets (GRO, \
                 LRO, TSO): {long} of its frames",
                path.display()
            );
        }
    }
    all.sort_by_key(|frame| (frame.time_ns, frame.port));
    if let (Some(first), Some(last)) = (all.first(), all.last())
        && last.time_ns - first.time_ns > LONGEST
    {
        let cause = io::Error::new(io::ErrorKind::InvalidData, "the captures span more than 200 days");
        return Err(ApplianceError::Playback { cause });
    }
    Ok(all)
}

/// The file that a port writes; it must not exist.
fn writer(port: &PlannedPort) -> Result<Option<BufWriter<File>>, ApplianceError> {
    let PortDevice::Capture { write: Some(path), .. } = &port.device else { return Ok(None) };
    let begin = || {
        let mut file = BufWriter::new(File::create_new(path)?);
        file.write_all(&[section_header(), interface_description(&port.name)].concat())?;
        Ok(file)
    };
    begin().map(Some).map_err(|error: io::Error| {
        let message = match error.kind() {
            io::ErrorKind::AlreadyExists => "exists already; remove it or choose another name".to_owned(),
            _ => format!("cannot be written: {error}"),
        };
        wrong(port, path, &message)
    })
}
