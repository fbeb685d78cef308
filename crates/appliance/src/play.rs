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
use weft_router::{Application, BUFFER};

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

/// What the ports read: the content of a file each, empty without one.
pub(crate) type CaptureFiles = Vec<Vec<u8>>;

/// Longest capture, limited by what the router's clock counts.
const LONGEST: u64 = 200 * 86_400 * 1_000_000_000;

/// Plays all captures to their ends, or until `stop` is set, or until a file cannot be written.
pub(crate) fn play<A: Application>(
    plan: &RouterPlan,
    (stop, started, files): (&AtomicBool, impl FnOnce() -> io::Result<()>, &CaptureFiles),
    playback: Playback<A>,
) -> Result<RouterReport, ApplianceError> {
    let mut playback = playback.with_burst(plan.burst);
    let frames = recorded(plan, files)?;
    let first = frames.first().map_or(0, |frame| frame.time_ns);
    let mut writers = writers(plan)?;
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
            let message = wrong(port, path, &format!("cannot be written to its end: {cause}"));
            ApplianceError::Ports { messages: vec![message] }
        }
        _ => ApplianceError::Playback { cause },
    }
}

fn nanoseconds(time: Time) -> u64 {
    time.since(Time::ZERO).0 / Span::from_ns(1).0
}

fn wrong(port: &PlannedPort, path: &Path, message: &str) -> String {
    format!("port `{}`: {}: {message}", port.name, path.display())
}

/// The files that the ports read, and every problem with them and with those that are to be written.
pub(crate) fn read_captures(plan: &RouterPlan) -> (CaptureFiles, Vec<String>) {
    let mut problems = Vec::new();
    let mut found = |port: &PlannedPort| {
        let PortDevice::Capture { read, write } = &port.device else { return Vec::new() };
        let content = read.as_ref().map_or(Ok(Vec::new()), |path| contents(port, path));
        if let Some(path) = write.as_ref().filter(|path| path.exists()) {
            problems.push(wrong(port, path, EXISTS));
        }
        content.unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        })
    };
    (plan.ports.iter().map(&mut found).collect(), problems)
}

/// What is wrong with a file to write that exists.
const EXISTS: &str = "exists already; remove it or choose another name";

/// A file that a port reads. The part of it that is a capture must be sound; its last record may be cut off.
fn contents(port: &PlannedPort, path: &Path) -> Result<Vec<u8>, String> {
    let content =
        std::fs::read(path).map_err(|error| wrong(port, path, &format!("cannot be read: {error}")))?;
    let is_damage = |frame: Result<_, CaptureError>| frame.err().filter(|error| !is_cut(*error));
    match CaptureReader::new(&content).map(|mut frames| frames.find_map(is_damage)) {
        Err(error) | Ok(Some(error)) => Err(wrong(port, path, &error.to_string())),
        Ok(None) => Ok(content),
    }
}

fn is_cut(error: CaptureError) -> bool {
    matches!(error, CaptureError::Cut { .. })
}

/// All frames of sound files, in the order in which they arrive: by time, then port, then position.
fn recorded<'a>(plan: &RouterPlan, files: &'a [Vec<u8>]) -> Result<Vec<Recorded<'a>>, ApplianceError> {
    let mut all = Vec::new();
    for ((number, port), file) in (0..).zip(&plan.ports).zip(files) {
        let PortDevice::Capture { read: Some(path), .. } = &port.device else { continue };
        let (before, mut long, mut cut_off) = (all.len(), 0, 0);
        for frame in CaptureReader::new(file).into_iter().flatten() {
            match frame {
                Ok(frame) => {
                    long += usize::from(frame.bytes.len() > BUFFER);
                    cut_off += usize::from(frame.is_cut);
                    all.push(Recorded { time_ns: frame.time_ns, port: number, bytes: frame.bytes });
                }
                Err(cut) => {
                    let (file, count) = (path.display(), all.len() - before);
                    let _ = writeln!(io::stderr(), "{file}: {cut}; the {count} frames before it are read");
                }
            }
        }
        if cut_off > 0 {
            let _ = writeln!(
                io::stderr(),
                "{}: the recorder has cut off the ends of {cut_off} frames (snap length): the router sees what is left, and counts packets whose \
                 bytes are missing as malformed",
                path.display()
            );
        }
        if long > 0 {
            let _ = writeln!(
                io::stderr(),
                "{}: dropped for being longer than the {BUFFER} bytes of a buffer, perhaps because the recorder saw coalesced packets (GRO, \
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

/// The files that the ports write, none of which may exist. If one cannot be written, none is left behind.
fn writers(plan: &RouterPlan) -> Result<Vec<Option<BufWriter<File>>>, ApplianceError> {
    let opened: Vec<Result<Option<BufWriter<File>>, String>> = plan.ports.iter().map(writer).collect();
    let messages: Vec<String> = opened.iter().filter_map(|one| one.as_ref().err().cloned()).collect();
    if messages.is_empty() {
        return Ok(opened.into_iter().flatten().collect());
    }
    for (port, opened) in plan.ports.iter().zip(opened) {
        if let (PortDevice::Capture { write: Some(path), .. }, Ok(Some(_))) = (&port.device, opened) {
            let _ = std::fs::remove_file(path);
        }
    }
    Err(ApplianceError::Ports { messages })
}

fn writer(port: &PlannedPort) -> Result<Option<BufWriter<File>>, String> {
    let PortDevice::Capture { write: Some(path), .. } = &port.device else { return Ok(None) };
    let begin = || {
        let mut file = BufWriter::new(File::create_new(path)?);
        file.write_all(&[section_header(), interface_description(&port.name)].concat())?;
        Ok(file)
    };
    begin().map(Some).map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => wrong(port, path, EXISTS),
        _ => wrong(port, path, &format!("cannot be written: {error}")),
    })
}
