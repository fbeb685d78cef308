//! The workers of a case: what they poll, and the table that they share.

use std::net::IpAddr;
use std::sync::Arc;

use weft_fib::{AddressKey, Hop, IpPrefix, RouteReader};
use weft_router::app::route::{ErrorRate, Routing};
use weft_router::backend::memory::{DestinationDraw, DestinationList, MemoryRing, MemoryTraffic};
use weft_router::backend::system::prefer_large_pages;
use weft_router::control::{Control, NextHop};
use weft_router::tunnel::Tunnels;
use weft_router::{BATCH, Backend, FramePool, RouterWorker};

use super::scene::{ENDS, IpFamily, RoutedScene, begin_of, frame, frame_v6};
use super::{CaseWork, RING, RouterCase, forwarding};
use crate::crew::Polled;
use crate::sealing::CipherSuite;

/// Workers for a case, each with its own rings, over a shared table.
pub(super) fn workers(case: &RouterCase, count: u64) -> Vec<Box<dyn Polled>> {
    match case.work {
        CaseWork::Forward => {
            let frame = frame(case.size);
            let worker = |_| -> Box<dyn Polled> {
                let (ring, pool) = ring(&frame, MemoryTraffic::Same);
                Box::new(forwarding(ring, pool, case.burst))
            };
            (0..count).map(worker).collect()
        }
        CaseWork::Route(IpFamily::V4, prefixes) => {
            let (scene, frame) = (RoutedScene::v4(prefixes), frame(case.size));
            let traffic = |seed| MemoryTraffic::RandomDestinations(DestinationDraw::new(seed, &frame));
            (0..count).map(|number| router(case, (&scene.control, None), (&frame, traffic(number)))).collect()
        }
        CaseWork::Route(IpFamily::V6, prefixes) => {
            let (scene, frame) = (RoutedScene::v6(prefixes), frame_v6(case.size));
            let start = |number: u64| number as usize * scene.destinations.len() / 2;
            let list = |number| DestinationList::new(Arc::clone(&scene.destinations), start(number), &frame);
            let traffic = |number| MemoryTraffic::ListedDestinations(list(number));
            (0..count).map(|number| router(case, (&scene.control, None), (&frame, traffic(number)))).collect()
        }
        CaseWork::Lookup(family, prefixes) => (0..count).map(lookups(family, prefixes)).collect(),
        CaseWork::Seal(suite) => {
            let (control, frame) = (sealing(), frame(case.size));
            let traffic = || MemoryTraffic::Renewed(begin_of(&frame), frame.len() as u16);
            (0..count).map(|_| router(case, (&control, Some(suite)), (&frame, traffic()))).collect()
        }
    }
}

/// A ring of copies of a frame.
fn ring(frame: &[u8], traffic: MemoryTraffic) -> (Box<dyn Backend>, FramePool) {
    // A sealed packet is made in a free buffer.
    let mut pool = FramePool::in_memory((RING + 2 * BATCH) as u32, prefer_large_pages);
    (Box::new(MemoryRing::filled(&mut pool, RING, (0, frame), traffic)), pool)
}

/// A worker that routes, into a tunnel if it has ciphers.
fn router(
    case: &RouterCase,
    (control, suite): (&Arc<Control>, Option<CipherSuite>),
    (frame, traffic): (&[u8], MemoryTraffic),
) -> Box<dyn Polled> {
    let (ring, pool) = ring(frame, traffic);
    let tunnels = suite.map_or_else(Tunnels::default, |suite| suite.tunnels(ENDS));
    let app = Routing::new(Arc::clone(control), ErrorRate::default()).with_tunnels(Arc::new(tunnels));
    Box::new(RouterWorker::new(vec![ring], pool, app).with_burst(case.burst))
}

/// A table by which everything goes into the tunnel.
fn sealing() -> Arc<Control> {
    let control = RoutedScene::v4(0).control;
    let set = |address: [u8; 4], length, hop| {
        let prefix = IpPrefix::around(address.into(), length).expect("at most 32 bits");
        control.change(|state| state.set_route(prefix, hop)).expect("the table has room");
    };
    set([0; 4], 0, NextHop::Tunnel(0));
    set([10, 255, 1, 0], 24, NextHop::Station((0, IpAddr::from([10, 255, 1, 1]))));
    control
}

/// Makes workers that only look up, by number.
fn lookups(family: IpFamily, prefixes: usize) -> Box<dyn Fn(u64) -> Box<dyn Polled>> {
    match family {
        IpFamily::V4 => {
            let scene = RoutedScene::v4(prefixes);
            Box::new(move |number| {
                let reader = scene.control.read(|state| state.v4().reader());
                let start = number as usize * scene.destinations.len() / 2;
                let destinations = scene.destinations.iter().map(|address| *address as u32).collect();
                Box::new(LookupWorker::new(reader, destinations, start))
            })
        }
        IpFamily::V6 => {
            let scene = RoutedScene::v6(prefixes);
            Box::new(move |number| {
                let reader = scene.control.read(|state| state.v6().reader());
                let start = number as usize * scene.destinations.len() / 2;
                Box::new(LookupWorker::new(reader, Arc::clone(&scene.destinations), start))
            })
        }
    }
}

/// Looks up the next batch of a list of destinations in every poll.
struct LookupWorker<A: AddressKey> {
    reader: RouteReader<A>,
    destinations: Arc<[A]>,
    at: usize,
    hops: [Hop; BATCH],
}

impl<A: AddressKey> LookupWorker<A> {
    /// Begins near the place `start`.
    fn new(reader: RouteReader<A>, destinations: Arc<[A]>, start: usize) -> LookupWorker<A> {
        LookupWorker { reader, destinations, at: start / BATCH * BATCH, hops: [Hop::NONE; BATCH] }
    }
}

impl<A: AddressKey + Sync> Polled for LookupWorker<A> {
    #[inline(never)]
    fn polls(&mut self, polls: usize) -> u64 {
        for _ in 0..polls {
            let batch = match self.destinations.get(self.at..self.at + BATCH) {
                Some(batch) => batch,
                None => {
                    self.at = 0;
                    &self.destinations[..BATCH]
                }
            };
            batch.iter().for_each(|address| self.reader.root().anticipate(*address));
            self.reader.lookup_all(batch, &mut self.hops);
            std::hint::black_box(&mut self.hops);
            self.at += BATCH;
        }
        (polls * BATCH) as u64
    }
}
