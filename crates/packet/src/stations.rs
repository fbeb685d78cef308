//! Stations on the links of a router, found by ARP and neighbour discovery: a cache with bounds for each link, and
//! packets that wait for an answer.
//!
//! A station of the cache is incomplete until it answers, then reachable; after its lifetime it is asked again, and
//! remains in use meanwhile (STALE and PROBE of RFC 4861, section 7.3.2, combined).
//!
//! Must not depend on routes or devices: it takes the time and messages, and returns what to send.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::Mac;
use weft_core::{Span, Time};

/// Bounds and times of the cache. The bounds apply per link; one link never takes the room of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourLimits {
    /// Maximum number of stations of a link.
    pub stations: usize,
    /// Maximum number of unresolved stations of a link.
    pub unanswered: usize,
    /// Maximum number of packets that wait for one station; a new one replaces the oldest.
    pub waiting: usize,
    /// Interval between requests to a station that does not answer.
    pub retry: Span,
    /// Number of requests before giving up.
    pub questions: u8,
    /// Time after which the address of a station is verified.
    pub lifetime: Span,
}

impl Default for NeighbourLimits {
    fn default() -> NeighbourLimits {
        NeighbourLimits {
            stations: 4096,
            unanswered: 256,
            waiting: 4,
            retry: Span::from_s(1),
            questions: 3,
            lifetime: Span::from_s(30),
        }
    }
}

/// A station: a port, and an IP address on its link.
pub type Station = (u16, IpAddr);

#[derive(Clone, Debug)]
struct Entry {
    mac: Option<Mac>,
    /// When the next request is due.
    due: Time,
    /// Requests since the last answer.
    asked: u8,
    /// IP packets waiting for it.
    waiting: Vec<Vec<u8>>,
}

/// How a station makes its MAC address known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// It asks for us, so we will answer it.
    Question,
    /// It answers or announces itself by ARP: the newest message counts (RFC 826).
    Answer,
    /// It answers or announces itself by a neighbour advertisement (RFC 4861, section 4.4).
    Advertisement {
        /// Whether it answers a solicitation.
        solicited: bool,
        /// Whether it replaces another MAC address.
        overrides: bool,
    },
}

/// The outcome for a packet to a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The station is known.
    Known(Mac),
    /// The packet waits, and a request must be sent now.
    Ask,
    /// The packet waits; a request has been sent. The number of packets dropped to make room for it.
    Waits(usize),
    /// There is no room for another station.
    Full,
}

/// The actions due by a given time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DueQuestions {
    /// Stations for which to send a request.
    pub ask: Vec<Station>,
    /// Stations given up, with the packets that waited for them.
    pub gone: Vec<(Station, Vec<Vec<u8>>)>,
    /// Packets that waited for a station that has been set permanently.
    pub ready: Vec<(Station, Mac, Vec<u8>)>,
}

/// Number of stations of a link in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LinkLoad {
    stations: usize,
    unanswered: usize,
}

/// The cache.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    limits: NeighbourLimits,
    stations: BTreeMap<Station, Entry>,
    /// By port.
    loads: BTreeMap<u16, LinkLoad>,
    /// Packets that waited when their station was set permanently.
    ready: Vec<(Station, Mac, Vec<u8>)>,
}

impl Announcement {
    /// Whether it proves that the station hears us, so that it need not be asked; ARP cannot express this.
    fn is_certain(self) -> bool {
        !matches!(self, Announcement::Advertisement { solicited: false, .. })
    }
}

impl Entry {
    /// Called when a station that has answered before announces its MAC address; its lifetime would end at `due`.
    /// Returns whether the address is new. Advertisements are processed according to RFC 4861, section 7.2.5.
    fn hear(&mut self, (now, due): (Time, Time), mac: Mac, how: Announcement) -> bool {
        let is_new = self.mac != Some(mac);
        let replaces = !matches!(how, Announcement::Advertisement { overrides: false, .. });
        if is_new && !replaces {
            // A message contradicts the known address, which is verified unless that is already under way.
            if self.asked == 0 {
                self.due = now;
            }
            return false;
        }
        self.mac = Some(mac);
        if how.is_certain() {
            (self.due, self.asked) = (due, 0);
        } else if is_new {
            (self.due, self.asked) = (now, 0);
        }
        is_new
    }
}

impl Neighbours {
    /// An empty cache.
    #[must_use]
    pub fn new(limits: NeighbourLimits) -> Neighbours {
        Neighbours { limits, ..Neighbours::default() }
    }

    /// Number of stations, resolved or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stations.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stations.is_empty()
    }

    /// The MAC address of a station that has answered.
    #[must_use]
    pub fn mac(&self, station: Station) -> Option<Mac> {
        self.stations.get(&station)?.mac
    }

    /// Whether a station has answered.
    #[must_use]
    pub fn is_resolved(&self, station: Station) -> bool {
        self.mac(station).is_some()
    }

    /// Whether a station is in the cache, resolved or not.
    #[must_use]
    pub fn has(&self, station: Station) -> bool {
        self.stations.contains_key(&station)
    }

    /// Whether packets wait for a station.
    #[must_use]
    pub fn is_waited_for(&self, station: Station) -> bool {
        self.stations.get(&station).is_some_and(|entry| !entry.waiting.is_empty())
    }

    /// Every station that has answered.
    pub fn known(&self) -> impl Iterator<Item = (Station, Mac)> + '_ {
        self.stations.iter().filter_map(|(station, entry)| Some((*station, entry.mac?)))
    }

    /// Resolves the station of a packet.
    pub fn resolve(&mut self, now: Time, station: Station, packet: &[u8]) -> Resolution {
        if let Some(entry) = self.stations.get_mut(&station) {
            if let Some(mac) = entry.mac {
                return Resolution::Known(mac);
            }
            let over = (entry.waiting.len() + 1).saturating_sub(self.limits.waiting);
            entry.waiting.drain(..over.min(entry.waiting.len()));
            entry.waiting.push(packet.to_vec());
            return Resolution::Waits(over);
        }
        let load = self.load(station.0);
        if load.stations >= self.limits.stations || load.unanswered >= self.limits.unanswered {
            return Resolution::Full;
        }
        let entry =
            Entry { mac: None, due: now + self.limits.retry, asked: 1, waiting: vec![packet.to_vec()] };
        self.insert(station, entry);
        Resolution::Ask
    }

    fn load(&self, port: u16) -> LinkLoad {
        self.loads.get(&port).copied().unwrap_or_default()
    }

    /// Adds or replaces a station; returns what it replaces.
    fn insert(&mut self, station: Station, entry: Entry) -> Option<Entry> {
        let before = self.remove(station);
        let load = self.loads.entry(station.0).or_default();
        load.stations += 1;
        load.unanswered += usize::from(entry.mac.is_none());
        self.stations.insert(station, entry);
        before
    }

    fn remove(&mut self, station: Station) -> Option<Entry> {
        let entry = self.stations.remove(&station)?;
        let load = self.loads.entry(station.0).or_default();
        load.stations -= 1;
        load.unanswered -= usize::from(entry.mac.is_none());
        Some(entry)
    }

    /// Sets the MAC address of a station permanently: it is never asked, and announcements do not change it. Packets
    /// that waited for it are [due](Neighbours::due).
    pub fn fix(&mut self, station: Station, mac: Mac) {
        let entry = Entry { mac: Some(mac), due: Time::NEVER, asked: 0, waiting: Vec::new() };
        let Some(before) = self.insert(station, entry) else { return };
        self.ready.extend(before.waiting.into_iter().map(|packet| (station, mac, packet)));
    }

    /// Whether the MAC address of a station has been set permanently.
    #[must_use]
    pub fn is_fixed(&self, station: Station) -> bool {
        self.stations.get(&station).is_some_and(|entry| entry.due == Time::NEVER)
    }

    /// Withdraws a permanent MAC address: the station is forgotten.
    pub fn release(&mut self, station: Station) {
        if self.is_fixed(station) {
            self.remove(station);
        }
    }

    /// Called when a station announces its MAC address. Without a request of ours, it is believed only if it has
    /// asked us. Returns the packets that waited, and whether its address is new.
    pub fn learn(
        &mut self,
        now: Time,
        station: Station,
        mac: Mac,
        how: Announcement,
    ) -> (Vec<Vec<u8>>, bool) {
        let due = now + self.limits.lifetime;
        let has_room = self.load(station.0).stations < self.limits.stations;
        match self.stations.get_mut(&station) {
            Some(entry) if entry.due == Time::NEVER => (Vec::new(), false),
            Some(entry) if entry.mac.is_some() => (Vec::new(), entry.hear((now, due), mac, how)),
            None if how != Announcement::Question || !has_room => (Vec::new(), false),
            _ => {
                let due = if how.is_certain() { due } else { now };
                let entry = Entry { mac: Some(mac), due, asked: 0, waiting: Vec::new() };
                let waiting = self.insert(station, entry).map_or(Vec::new(), |before| before.waiting);
                (waiting, true)
            }
        }
    }

    /// Forgets the stations of a port that have answered and whose packets now take another route; returns them.
    pub fn forget(&mut self, port: u16) -> Vec<Station> {
        let is_gone = |(station, entry): &(&Station, &Entry)| {
            station.0 == port && entry.mac.is_some() && entry.due < Time::NEVER
        };
        let gone: Vec<Station> = self.stations.iter().filter(is_gone).map(|(station, _)| *station).collect();
        for station in &gone {
            self.remove(*station);
        }
        gone
    }

    /// Gives up all packets that wait; returns their numbers by port.
    pub fn abandon(&mut self) -> Vec<(u16, u64)> {
        let mut numbers: BTreeMap<u16, u64> = BTreeMap::new();
        for ((port, _), entry) in &mut self.stations {
            *numbers.entry(*port).or_default() += entry.waiting.len() as u64;
            entry.waiting.clear();
        }
        for ((port, _), ..) in self.ready.drain(..) {
            *numbers.entry(port).or_default() += 1;
        }
        numbers.into_iter().collect()
    }

    /// Takes the actions due by now.
    pub fn due(&mut self, now: Time) -> DueQuestions {
        let mut found = DueQuestions { ready: std::mem::take(&mut self.ready), ..DueQuestions::default() };
        for (station, entry) in self.stations.iter_mut().filter(|(_, entry)| entry.due <= now) {
            if entry.asked < self.limits.questions {
                entry.asked += 1;
                entry.due = now + self.limits.retry;
                found.ask.push(*station);
            } else {
                found.gone.push((*station, std::mem::take(&mut entry.waiting)));
            }
        }
        for (station, _) in &found.gone {
            self.remove(*station);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Station = (0, IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2)));
    const MAC: Mac = Mac([2; 6]);

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_s(seconds)
    }

    #[test]
    fn packets_wait_for_the_answer_and_the_oldest_leaves() {
        let mut cache = Neighbours::new(NeighbourLimits::default());
        assert_eq!(cache.resolve(at(0), HERE, &[0]), Resolution::Ask);
        let more: Vec<_> = (1..6).map(|n| cache.resolve(at(0), HERE, &[n])).collect();
        assert_eq!(more, [0, 0, 0, 1, 1].map(Resolution::Waits));
        assert_eq!(
            cache.learn(at(0), HERE, MAC, Announcement::Answer),
            (vec![vec![2], vec![3], vec![4], vec![5]], true)
        );
        assert_eq!(cache.resolve(at(0), HERE, &[9]), Resolution::Known(MAC));
    }

    #[test]
    fn a_station_that_does_not_answer_is_given_up() {
        let mut cache = Neighbours::new(NeighbourLimits::default());
        let _ = cache.resolve(at(0), HERE, &[7]);
        assert_eq!(cache.due(at(0)), DueQuestions::default());
        assert_eq!((cache.due(at(1)).ask, cache.due(at(2)).ask), (vec![HERE], vec![HERE]));
        assert_eq!(cache.due(at(3)).gone, [(HERE, vec![vec![7]])]);
        assert!(cache.is_empty());
    }

    #[test]
    fn a_station_is_asked_again_and_used_meanwhile() {
        let mut cache = Neighbours::new(NeighbourLimits::default());
        let _ = cache.learn(at(0), HERE, MAC, Announcement::Question);
        assert_eq!((cache.due(at(29)).ask, cache.due(at(30)).ask), (vec![], vec![HERE]));
        assert_eq!(cache.mac(HERE), Some(MAC));
        assert_eq!(cache.learn(at(30), HERE, MAC, Announcement::Answer), (vec![], false));
        assert_eq!(cache.due(at(59)), DueQuestions::default());
        for second in [60, 61, 62] {
            assert_eq!(cache.due(at(second)).ask, [HERE]);
        }
        assert_eq!(cache.due(at(63)).gone, [(HERE, vec![])]);
    }

    #[test]
    fn what_is_set_for_good_stays() {
        let mut cache = Neighbours::new(NeighbourLimits::default());
        let _ = cache.resolve(at(0), HERE, &[0]);
        cache.fix(HERE, MAC);
        assert_eq!(cache.learn(at(1), HERE, Mac([9; 6]), Announcement::Question), (vec![], false));
        assert_eq!(cache.due(at(1)).ready, [(HERE, MAC, vec![0])], "what waited may leave");
        assert_eq!((cache.due(at(1_000)), cache.mac(HERE)), (DueQuestions::default(), Some(MAC)));
        assert_eq!(cache.load(0), LinkLoad { stations: 1, unanswered: 0 });
        cache.release(HERE);
        assert_eq!((cache.mac(HERE), cache.resolve(at(2), HERE, &[1])), (None, Resolution::Ask));
        cache.release(HERE);
        assert_eq!(cache.len(), 1, "only what was set for good is released");
    }

    #[test]
    fn the_stations_of_a_link_that_is_down_are_forgotten_and_questions_stay() {
        let mut cache = Neighbours::new(NeighbourLimits::default());
        let other: Station = (1, HERE.1);
        let asked: Station = (0, IpAddr::from([10, 0, 0, 3]));
        (0..2).for_each(|port| drop(cache.learn(at(0), (port, HERE.1), MAC, Announcement::Question)));
        assert_eq!(cache.resolve(at(0), asked, &[1]), Resolution::Ask);
        assert_eq!(cache.forget(0), [HERE]);
        assert_eq!((cache.mac(HERE), cache.mac(other)), (None, Some(MAC)));
        assert_eq!(cache.learn(at(1), asked, MAC, Announcement::Answer).0, [[1]], "its packet still waits");
    }

    #[test]
    fn strangers_cannot_fill_it() {
        let limits = NeighbourLimits { stations: 10, unanswered: 4, ..NeighbourLimits::default() };
        let mut cache = Neighbours::new(limits);
        let station = |n: u8| (0, IpAddr::from([10, 0, 0, n]));
        let asked = (0..200).filter(|n| cache.resolve(at(0), station(*n), &[]) == Resolution::Ask).count();
        assert_eq!((asked, cache.len()), (4, 4));
        let _ = cache.learn(at(0), station(250), MAC, Announcement::Answer);
        assert_eq!(cache.len(), 4, "an answer to no question is not believed");
        (100..200).for_each(|n| drop(cache.learn(at(0), station(n), MAC, Announcement::Question)));
        assert_eq!(cache.len(), 10);
        assert_eq!(
            cache.due(at(9)).ask.len() + cache.due(at(10)).ask.len(),
            8,
            "the limits count what is there"
        );
    }

    /// A scan of one link, from within and from without, and a new station on each of two others.
    #[test]
    fn a_scan_of_one_link_takes_no_room_of_another() {
        let limits = NeighbourLimits { stations: 10, unanswered: 4, ..NeighbourLimits::default() };
        let mut cache = Neighbours::new(limits);
        for n in 0..=255 {
            let _ = cache.resolve(at(0), (1, IpAddr::from([10, 1, 0, n])), &[]);
            let _ = cache.learn(at(0), (1, IpAddr::from([10, 1, 1, n])), MAC, Announcement::Question);
        }
        assert_eq!(cache.load(1), LinkLoad { stations: 10, unanswered: 4 });
        assert_eq!(cache.resolve(at(0), (1, IpAddr::from([10, 1, 2, 1])), &[]), Resolution::Full);
        assert_eq!(cache.resolve(at(0), (0, HERE.1), &[1]), Resolution::Ask);
        assert_eq!(cache.learn(at(0), (0, HERE.1), MAC, Announcement::Answer), (vec![vec![1]], true));
        assert!(cache.learn(at(0), (2, HERE.1), MAC, Announcement::Question).1);
    }

    #[test]
    fn an_advertisement_without_override_changes_nothing_but_raises_a_doubt() {
        let said = |solicited, overrides| Announcement::Advertisement { solicited, overrides };
        let other = Mac([9; 6]);
        let mut cache = Neighbours::new(NeighbourLimits::default());
        assert_eq!(cache.learn(at(0), HERE, MAC, said(true, true)), (vec![], false), "nobody has asked");
        let _ = cache.resolve(at(0), HERE, &[1]);
        assert_eq!(
            cache.learn(at(0), HERE, MAC, said(true, false)),
            (vec![vec![1]], true),
            "the first word counts"
        );
        assert_eq!(cache.learn(at(1), HERE, MAC, said(false, true)), (vec![], false));
        assert_eq!(cache.due(at(29)), DueQuestions::default());
        assert_eq!(cache.due(at(30)).ask, [HERE], "what nobody has asked for is no proof that it hears us");
        let _ = cache.learn(at(30), HERE, MAC, said(true, false));
        assert_eq!(cache.learn(at(31), HERE, other, said(true, false)), (vec![], false));
        assert_eq!((cache.mac(HERE), cache.due(at(31)).ask), (Some(MAC), vec![HERE]), "stale: asked again");
        assert_eq!(cache.learn(at(31), HERE, other, said(true, false)), (vec![], false));
        assert_eq!(cache.due(at(31)), DueQuestions::default(), "a question is under way");
        let _ = cache.learn(at(31), HERE, MAC, said(true, false));
        assert_eq!(cache.due(at(60)), DueQuestions::default(), "it has answered");
        assert_eq!(cache.learn(at(60), HERE, other, said(false, true)), (vec![], true));
        assert_eq!((cache.mac(HERE), cache.due(at(60)).ask), (Some(other), vec![HERE]), "used, and verified");
        assert_eq!(cache.learn(at(61), HERE, MAC, said(true, true)), (vec![], true));
        assert_eq!(
            (cache.mac(HERE), cache.due(at(90)), cache.due(at(91)).ask),
            (Some(MAC), DueQuestions::default(), vec![HERE])
        );
    }
}
