//! Interfaces with several queues, one for each worker, in a network namespace of its own.
#![cfg(target_os = "linux")]

mod namespace;

use std::sync::Arc;
use std::time::Duration;

use weft_appliance::{WatchAddress, watch};
use weft_router::backend::xdp::{XdpInterface, XdpQueue};
use weft_router::{Backend, FrameBatch, FramePool};

use namespace::{HOSTS, datagram, is_inside, links_of_queues, sound, while_running};

/// Queues of every interface.
const QUEUES: usize = 2;
/// Frames that a host sends by each of its queues.
const SENT: [u64; QUEUES] = [300, 120];

/// Buffers of a host besides those that its queues lend to the kernel.
const OWN_BUFFERS: u32 = 256;

/// A host that sends by the queue it names: on a pair of virtual links, what leaves by a queue arrives at the queue of the same number.
struct QueuedHost {
    queues: Vec<XdpQueue>,
    pool: FramePool,
}

impl QueuedHost {
    fn on(interface: &str) -> QueuedHost {
        let attached = Arc::new(XdpInterface::attach(interface, None).unwrap());
        let mut pool = FramePool::for_kernel(QUEUES as u32 * XdpQueue::LENDS + OWN_BUFFERS, |_, _| {});
        let open = |queue| XdpQueue::open(Arc::clone(&attached), 0, queue as u32, &mut pool).unwrap();
        QueuedHost { queues: (0..QUEUES).map(open).collect(), pool }
    }

    fn send(&mut self, queue: usize, count: u64) {
        for _ in 0..count {
            let mut frames = vec![self.pool.store(&datagram(100), 0).unwrap()];
            assert_eq!(self.queues[queue].transmit(&mut self.pool, &mut frames).unwrap(), 0);
        }
    }

    /// Buffers that neither it nor the kernel uses: with nothing to send, each queue lends half of what it may.
    fn free(&mut self) -> u32 {
        assert_eq!(self.received(), [0; QUEUES]);
        self.pool.free() as u32
    }

    /// The number of frames that have arrived at each queue, until none comes for a fifth of a second.
    fn received(&mut self) -> [u64; QUEUES] {
        let (mut found, mut idle) = ([0; QUEUES], 0);
        while idle < 20 {
            idle += 1;
            for (found, queue) in found.iter_mut().zip(&mut self.queues) {
                let mut batch = FrameBatch::default();
                queue.receive(&mut self.pool, &mut batch).unwrap();
                *found += batch.frames().len() as u64;
                idle = if batch.frames().is_empty() { idle } else { 0 };
                batch.frames().iter().for_each(|frame| self.pool.give(frame.buffer));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        found
    }
}

/// Worker n gets what arrives at queue n, all of it and nothing else, and sends it by queue n.
#[test]
fn each_worker_has_a_queue_of_each_interface() {
    if !is_inside("each_worker_has_a_queue_of_each_interface") {
        return;
    }
    links_of_queues(QUEUES as u32);
    let socket = std::env::temp_dir().join(format!("weft-queues-{}", std::process::id()));
    let side = |name: &str, n: usize| {
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"xdp:{name}\"\naddresses = [\"10.{n}.0.1/24\"]\n\
             [[neighbour]]\naddress = \"10.{n}.0.2\"\nstation = \"{}\"\n",
            HOSTS[n - 1]
        )
    };
    let head = format!("workers = {QUEUES}\nmetrics = \"unix:{}\"\n", socket.display());
    let (mut left, mut right) = (QueuedHost::on("host0"), QueuedHost::on("host1"));
    let (mut arrived, mut page) = ([0; QUEUES], String::new());
    let report = while_running(&(head + &side("left", 1) + &side("right", 2)), || {
        // Fewer at once than rings hold.
        for _ in 0..10 {
            (0..QUEUES).for_each(|queue| left.send(queue, SENT[queue] / 10));
            let more = right.received();
            (0..QUEUES).for_each(|queue| arrived[queue] += more[queue]);
        }
        page = watch::ask(&WatchAddress::Unix(socket.clone()), "/metrics").unwrap();
    });
    let report = report.unwrap();
    let counters = sound(&report);
    assert_eq!((arrived, counters.received, counters.missed), (SENT, SENT.iter().sum(), 0), "{report}");
    for (worker, sent) in SENT.iter().enumerate() {
        for what in ["received", "sent"] {
            let line = format!("weft_router_{what}_frames_total{{worker=\"{worker}\"}} {sent}\n");
            assert!(page.contains(&line), "{line}: {page}");
        }
    }
}

/// More frames arrive than rings hold while nobody reads: the rest is counted, what was in the rings arrives, and so does all that
/// comes later, again and again. Every buffer returns to its pool.
#[test]
fn a_queue_that_was_not_read_goes_on() {
    if !is_inside("a_queue_that_was_not_read_goes_on") {
        return;
    }
    links_of_queues(QUEUES as u32);
    let (mut left, mut right) = (QueuedHost::on("host0"), QueuedHost::on("left"));
    let (sent, slots) = (3_000, u64::from(XdpQueue::LENDS / 2));
    for round in 0..3 {
        left.send(1, sent);
        let missed = right.queues[1].losses().missed;
        let arrived = right.received();
        assert_eq!((arrived, missed), ([0, slots], sent - slots), "round {round}");
        left.send(1, 700);
        left.send(0, 50);
        assert_eq!((right.received(), right.queues[1].losses().missed), ([50, 700], 0), "round {round}");
    }
    let unused = OWN_BUFFERS + QUEUES as u32 * XdpQueue::LENDS / 2;
    assert_eq!((left.free(), right.free()), (unused, unused));
    // Frames of another pool lie elsewhere.
    let mut other = FramePool::for_kernel(4, |_, _| {});
    let mut frames = vec![other.store(&datagram(100), 0).unwrap()];
    assert!(left.queues[0].transmit(&mut other, &mut frames).is_err());
    assert_eq!((frames.len(), other.free()), (0, 4));
}
