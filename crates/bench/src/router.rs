//! The cost of the router (`weft bench router`): packets per second, cycles and instructions per packet on rings in
//! memory, by application, table, frame size and batch. Measures the processor: no packet reaches a kernel.

use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use weft::Error;
use weft_core::Time;
use weft_packet::EthernetHeader;
use weft_router::app::forward::{CrossConnect, Forwarding};
use weft_router::backend::system::prefer_large_pages;
use weft_router::{Application, BATCH, Backend, FramePool, RouterWorker};

use self::scene::IpFamily::{self, V4, V6};
use self::scene::{OWN, STATION};
use self::work::workers;
use crate::crew::{Crew, Polled};
use crate::sealing::CipherSuite;
use crate::{cases, clock, count, pass, results};

mod scene;
mod work;

pub(crate) use scene::frame;

/// Frames per ring.
pub(crate) const RING: usize = 512;
/// Polls before measuring, and polls per measurement; a count uses fewer.
const WARM: usize = 20_000;
const POLLS: usize = 400_000;
const COUNTED_POLLS: usize = 2_000;
/// Sealing a packet takes about as long as routing this many, so cases that seal have fewer polls.
const SEALING: usize = 40;

/// The work of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseWork {
    /// Minimal forwarding.
    Forward,
    /// Routing, with this many routes in the table.
    Route(IpFamily, usize),
    /// Longest-prefix match alone, in such a table.
    Lookup(IpFamily, usize),
    /// Routing into a tunnel with these ciphers.
    Seal(CipherSuite),
}

/// A case of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterCase {
    /// Its name.
    pub name: &'static str,
    work: CaseWork,
    /// Bytes of a frame including FCS.
    size: usize,
    /// Maximum number of frames received at once.
    burst: usize,
}

const fn plain(name: &'static str, work: CaseWork) -> RouterCase {
    RouterCase { name, work, size: LEAST_FRAME, burst: BATCH }
}

impl RouterCase {
    const fn sized(self, size: usize) -> RouterCase {
        RouterCase { size, ..self }
    }

    const fn in_bursts(self, burst: usize) -> RouterCase {
        RouterCase { burst, ..self }
    }

    /// The ciphers of its tunnel, if it has one.
    fn sealed(&self) -> Option<CipherSuite> {
        match self.work {
            CaseWork::Seal(suite) => Some(suite),
            _ => None,
        }
    }

    /// As many polls as fit into the same time.
    fn fewer(&self, polls: usize) -> usize {
        if self.sealed().is_some() { polls / SEALING } else { polls }
    }
}

/// Bytes of the shortest Ethernet frame, and of the shortest that holds a UDP datagram in IPv6, both including FCS.
const LEAST_FRAME: usize = 64;
const LEAST_V6: usize = 66;
/// Routes of a table as large as that of 2009, and of one as large as today's.
const QUARTER: usize = 262_144;
const MILLION: usize = 1_000_000;

/// All cases.
pub const CASES: &[RouterCase] = &[
    plain("forward", CaseWork::Forward),
    plain("forward-1500", CaseWork::Forward).sized(1500),
    plain("route-256k", CaseWork::Route(V4, QUARTER)),
    plain("route-1m", CaseWork::Route(V4, MILLION)),
    plain("route-256k-1500", CaseWork::Route(V4, QUARTER)).sized(1500),
    plain("route-256k-32", CaseWork::Route(V4, QUARTER)).in_bursts(32),
    plain("route-256k-8", CaseWork::Route(V4, QUARTER)).in_bursts(8),
    plain("route-256k-1", CaseWork::Route(V4, QUARTER)).in_bursts(1),
    plain("route-v6-256k", CaseWork::Route(V6, QUARTER)).sized(LEAST_V6),
    plain("lookup-256k", CaseWork::Lookup(V4, QUARTER)),
    plain("lookup-1m", CaseWork::Lookup(V4, MILLION)),
    plain("lookup-v6-256k", CaseWork::Lookup(V6, QUARTER)),
    plain("gcm128-64", CaseWork::Seal(CipherSuite::Gcm128)),
    plain("gcm128-1400", CaseWork::Seal(CipherSuite::Gcm128)).sized(1400),
    plain("gcm256-1400", CaseWork::Seal(CipherSuite::Gcm256)).sized(1400),
    plain("cbc-sha1-1400", CaseWork::Seal(CipherSuite::CbcHmacSha1)).sized(1400),
];

/// The figures of a case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RouterFigures {
    /// Its name.
    pub name: String,
    /// Million packets per second on one core, the best of all passes.
    pub mpps: Option<f64>,
    /// Million packets per second on two cores together.
    pub mpps_on_two: Option<f64>,
    /// Clock cycles per packet on one core, at the rate that the kernel gives; absent where it gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// Time per packet divided by the time to copy 64 bytes from buffer to buffer.
    pub copies: Option<f64>,
    /// Instructions per packet.
    pub instructions: Option<f64>,
    /// For sealed packets: million packets per second that the cipher alone encrypts and signs on one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher_mpps: Option<f64>,
}

/// All figures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RouterResults {
    /// By case.
    pub cases: Vec<RouterFigures>,
    /// Nanoseconds to copy 64 bytes from one buffer to another.
    pub copy_ns: Option<f64>,
    /// The clock rate of the cores in MHz, as the kernel gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_mhz: Option<f64>,
}

/// Measures the cases with these names, or all if there are no names.
///
/// # Errors
/// There is no case of a name, counting is requested and valgrind is missing, or a count fails.
pub fn bench(
    names: &[String],
    passes: usize,
    only_count: bool,
    progress: fn(&str),
) -> Result<RouterResults, Error> {
    let chosen: Vec<&RouterCase> = names.iter().map(|name| case(name)).collect::<Result<_, _>>()?;
    let chosen = if names.is_empty() { CASES.iter().collect() } else { chosen };
    let counting = count::available();
    if only_count {
        counting.clone()?;
    }
    let copy_ns = (!only_count).then(copy_ns);
    let core_mhz = copy_ns.and_then(|_| clock::core_mhz());
    let mut results = RouterResults { copy_ns, core_mhz, ..RouterResults::default() };
    for case in chosen {
        progress(case.name);
        let mut figures = RouterFigures { name: case.name.to_owned(), ..RouterFigures::default() };
        // Under callgrind the cipher library takes another path than on the processor.
        if counting.is_ok() && case.sealed().is_none() {
            figures.instructions = Some(counted(case.name)?);
        }
        if let Some(copy_ns) = copy_ns {
            let one = best(passes, || rate(case, 1));
            figures.mpps = Some(one);
            figures.mpps_on_two = Some(best(passes, || rate(case, 2)));
            figures.cycles = core_mhz.map(|mhz| mhz / one);
            figures.copies = Some(1e3 / one / copy_ns);
            figures.cipher_mpps = case.sealed().map(|suite| best(passes, || alone_rate(case, suite)));
        }
        results.cases.push(figures);
    }
    Ok(results)
}

/// A case by name.
fn case(name: &str) -> Result<&'static RouterCase, Error> {
    CASES
        .iter()
        .find(|case| case.name == name)
        .ok_or_else(|| cases::absent(name, CASES.iter().map(|case| case.name)))
}

/// Million packets per second of a case on some cores, the best of all passes; 0 if there is no such case.
pub(crate) fn mpps(name: &str, cores: u64, passes: usize) -> f64 {
    case(name).map_or(0.0, |case| best(passes, || rate(case, cores)))
}

/// Instructions per packet of a case.
pub(crate) fn instructions(name: &str) -> Result<f64, Error> {
    counted(case(name)?.name)
}

/// Buffers for the frames of one ring.
pub(crate) fn pool() -> FramePool {
    FramePool::in_memory(RING as u32, prefer_large_pages)
}

/// A worker of minimal forwarding from a ring back to it.
pub(crate) fn forwarding(ring: Box<dyn Backend>, pool: FramePool, burst: usize) -> RouterWorker<Forwarding> {
    let app = Forwarding::new(vec![CrossConnect::new(0, OWN, STATION)]);
    RouterWorker::new(vec![ring], pool, app).with_burst(burst)
}

fn best(passes: usize, measure: impl Fn() -> f64) -> f64 {
    (0..passes).map(|_| measure()).fold(0.0, f64::max)
}

impl RouterResults {
    /// The figures as a table, beside those of other routers.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text =
            String::from("  case             Mpps, 1 core  2 cores  cycles  copies  instr/packet\n");
        let shown = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.1}"));
        for case in &self.cases {
            let [one, two, cycles] = [case.mpps, case.mpps_on_two, case.cycles].map(shown);
            let [copies, counted] = [case.copies, case.instructions].map(shown);
            let name = &case.name;
            let _ = writeln!(text, "  {name:<16} {one:>12} {two:>8} {cycles:>7} {copies:>7} {counted:>13}");
        }
        if self.cases.iter().any(|case| case.cipher_mpps.is_some()) {
            text += "\n  sealed           Mpps, 1 core  cipher alone\n";
        }
        for case in &self.cases {
            if let (Some(one), Some(alone)) = (case.mpps, case.cipher_mpps) {
                let _ = writeln!(text, "  {:<16} {one:>12.3} {alone:>13.3}", case.name);
            }
        }
        if let Some(ns) = self.copy_ns {
            let _ = writeln!(text, "\na copy of 64 bytes between buffers takes {ns:.2} ns here");
            text += &match self.core_mhz {
                Some(mhz) => format!(
                    "cycles are per packet on one core, of a clock of {mhz:.0} MHz: the rate in /proc/cpuinfo, which a core may exceed\n"
                ),
                None => "cycles are not known: /proc/cpuinfo gives no clock rate\n".to_owned(),
            };
        }
        text + PEERS
    }

    /// The figures as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers are always JSON")
    }

    /// Parses the JSON of an earlier call.
    ///
    /// # Errors
    /// [`Error::BadInput`] if it is anything else.
    pub fn read(name: &str, text: &str) -> Result<RouterResults, Error> {
        results::read(name, text, "weft bench router --json")
    }

    /// The cases that both calls counted, with their instructions per packet: now, and before.
    fn both(&self, before: &RouterResults) -> impl Iterator<Item = (&str, f64, f64)> {
        self.cases.iter().filter_map(|case| {
            let earlier = before.cases.iter().find(|earlier| earlier.name == case.name)?;
            Some((case.name.as_str(), case.instructions?, earlier.instructions?))
        })
    }

    /// The number of cases that both calls counted.
    #[must_use]
    pub fn compared_with(&self, before: &RouterResults) -> usize {
        self.both(before).count()
    }

    /// One sentence for every count that has grown by more than 3 % since `before`.
    #[must_use]
    pub fn worse_than(&self, before: &RouterResults) -> Vec<String> {
        let grown = self.both(before).filter(|(_, now, then)| *now > then * (1.0 + results::TOLERANCE));
        let sentence = |(name, now, then): (&str, f64, f64)| {
            let share = (now / then - 1.0) * 100.0;
            format!("router {name}: {now:.1} instructions per packet, before {then:.1} (+{share:.1} %)")
        };
        grown.map(sentence).collect()
    }
}

/// Measured in November 2026 on a virtual AMD EPYC with two cores at about 4.2 GHz, 64-byte packets in memory.
const PEERS: &str = "
Others, on a machine of this class (Mpps on 1 and 2 cores, instructions per packet):
  DPDK 22.11, ring and MAC rewrite          359  723  44
  DPDK rte_lpm, 256 K, random destinations   69  119  88
  DPDK rte_fib, 256 K, random destinations   68  125  99
  VPP, 65 536 random destinations            16    -   -
  FastClick, forwarding                      49   91   -
";

/// Workers for the case of this name, which must exist.
pub(crate) fn crew(name: &str, cores: u64) -> Crew {
    let case = case(name).expect("a case of the router");
    Crew::paced(workers(case, cores))
}

impl<A: Application> Polled for RouterWorker<A> {
    #[inline(never)]
    fn polls(&mut self, polls: usize) -> u64 {
        let before = self.counters().sent;
        for _ in 0..polls {
            self.poll(Time::ZERO).expect("rings in memory do not fail");
        }
        self.counters().sent - before
    }

    fn send_calls(&self) -> u64 {
        RouterWorker::send_calls(self)
    }
}

/// Million packets per second of `cores` workers together.
fn rate(case: &RouterCase, cores: u64) -> f64 {
    let mut crew = Crew::new(workers(case, cores), case.fewer(POLLS * 16 / case.burst));
    crew.run(case.fewer(WARM));
    crew.pass().mpps
}

/// Nanoseconds to copy 64 bytes from one buffer to another.
fn copy_ns() -> f64 {
    let mut pool = FramePool::in_memory(RING as u32, prefer_large_pages);
    let copies = 20_000_000_u32;
    let ((), seconds) = clock::timed(|| {
        for n in 0..copies {
            let from: [u8; 64] = *pool.buffer(n % RING as u32).first_chunk().expect("buffers are longer");
            pool.buffer((n + 1) % RING as u32)[..64].copy_from_slice(&std::hint::black_box(from));
        }
    });
    seconds * 1e9 / f64::from(copies)
}

/// Million packets per second that the cipher of a case encrypts and signs by itself.
fn alone_rate(case: &RouterCase, suite: CipherSuite) -> f64 {
    let mut text = text_of(case, suite);
    let times = (POLLS * 16 / SEALING) as u64;
    let ((), seconds) = clock::timed(|| suite.alone(&mut text, times));
    times as f64 / seconds / 1e6
}

/// What a cipher encrypts of the packet of a case.
fn text_of(case: &RouterCase, suite: CipherSuite) -> Vec<u8> {
    vec![0; suite.text(frame(case.size).len() - EthernetHeader::LEN)]
}

/// Instructions per packet of a case.
fn counted(name: &str) -> Result<f64, Error> {
    let (counts, output) = count::count_output(&format!("router/{name}"), Path::new("."), false)?;
    let sent: u64 = String::from_utf8_lossy(&output).trim().parse().unwrap_or(0);
    if sent == 0 {
        return Err(Error::Failed(format!("counting {name}: no packet was sent")));
    }
    Ok(counts.instructions as f64 / sent as f64)
}

/// The counted pass of a case; returns the number of packets sent.
///
/// # Errors
/// There is no such case.
pub(crate) fn one_pass(name: &str) -> Result<String, Error> {
    let case = case(name)?;
    let mut worker = workers(case, 1).remove(0);
    worker.polls(10);
    pass::loop_edge(0);
    let sent = worker.polls(case.fewer(COUNTED_POLLS));
    pass::loop_edge(sent);
    Ok(sent.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_than_before_is_named() {
        let results = |name: &str, instructions| {
            let figures = RouterFigures { name: name.to_owned(), instructions, ..RouterFigures::default() };
            RouterResults { cases: vec![figures], ..RouterResults::default() }
        };
        let before = results("forward", Some(40.0));
        assert_eq!(results("forward", Some(41.0)).worse_than(&before), [""; 0]);
        let sentence = "router forward: 42.0 instructions per packet, before 40.0 (+5.0 %)";
        assert_eq!(results("forward", Some(42.0)).worse_than(&before), [sentence]);
        for other in [results("forward", None), results("route-1m", Some(90.0))] {
            assert_eq!((other.worse_than(&before).len(), other.compared_with(&before)), (0, 0));
        }
        assert_eq!(before.compared_with(&before), 1);
        assert_eq!(RouterResults::read("x", &before.json()).unwrap().cases[0].instructions, Some(40.0));
    }

    /// The figures are of packets that were forwarded, none dropped.
    #[test]
    fn every_case_sends_every_packet() {
        for case in CASES.iter().filter(|case| !case.name.ends_with("1m")) {
            let sent: usize = one_pass(case.name).unwrap().parse().unwrap();
            assert_eq!(sent, case.fewer(COUNTED_POLLS) * case.burst, "{}", case.name);
        }
    }
}
