//! Several transports in one world, chosen by traffic entries and groups of hosts as a scenario would: an entry's
//! choice takes precedence over that of the sender's group, and a receiver follows its own host where both ends run
//! TCP, or queue pairs, under one law.

use std::sync::Arc;

use weft_core::{HostId, Random};
use weft_plan::{Setup, Stacks};
use weft_transport::card::{
    CardSettings, fifo::FifoCardSettings, marking::MarkingCardSettings, strict::StrictCardSettings,
};
use weft_transport::protocols;
use weft_transport::roce::settings::QueuePairSettings;
use weft_transport::settings::Tcp;
use weft_transport::{Transport, TransportSettings};
use weft_workload::Flow;

use super::{ends, full_packet, one_in};

/// Now and then groups of hosts and traffic entries have transports of their own. Returns all in use, in the order of
/// [`Stacks::all`].
pub(super) fn mix(
    setup: &mut Setup,
    base: &TransportSettings,
    random: &mut Random,
) -> Vec<TransportSettings> {
    if !one_in(random, 4) {
        return vec![base.clone()];
    }
    let mut all = vec![base.clone()];
    let groups: Vec<u16> = (0..1 + random.below(3)).map(|group| own(group > 0, &mut all, random)).collect();
    let entries: Vec<Option<u16>> =
        (0..1 + random.below(3)).map(|_| one_in(random, 2).then(|| own(true, &mut all, random))).collect();
    let by_group = |group: &u16| entries.iter().map(|entry| entry.unwrap_or(*group)).collect();
    let senders: Vec<Vec<u16>> = groups.iter().map(by_group).collect();
    setup.tags = (0..entries.len()).map(|entry| format!("entry {entry}")).collect();
    setup.stacks = Stacks {
        all: all.iter().map(|one| Arc::new(Transport::new(one))).collect(),
        group_of_host: (0..setup.graph.hosts()).map(|_| random.below(groups.len() as u32) as u16).collect(),
        receivers: senders.iter().map(|from| to_all(&all, from, &senders)).collect(),
        senders,
    };
    all
}

/// The number of a transport: the first of all, one that is known or another.
fn own(differs: bool, all: &mut Vec<TransportSettings>, random: &mut Random) -> u16 {
    if !differs {
        return 0;
    }
    if one_in(random, 4) {
        return random.below(all.len() as u32) as u16;
    }
    let mut other = ends::any(random);
    all.iter().for_each(|known| agree(&mut other, known));
    all.push(other);
    (all.len() - 1) as u16
}

/// The receivers of the flows of a group of senders, by group of the receiver and entry.
fn to_all(all: &[TransportSettings], from: &[u16], groups: &[Vec<u16>]) -> Vec<Vec<u16>> {
    let receiver = |sender: u16, own: u16| {
        let (sent, received) = (&all[usize::from(sender)], &all[usize::from(own)]);
        let has_ends = sent.tcp().is_some() || sent.roce().is_some();
        if sent.name() == received.name() && has_ends { own } else { sender }
    };
    let of = |to: &Vec<u16>| from.iter().zip(to).map(|(sender, own)| receiver(*sender, *own)).collect();
    groups.iter().map(of).collect()
}

/// The part of a transport that all laws over TCP share.
fn tcp_of(transport: &mut TransportSettings) -> Option<&mut Tcp> {
    match transport {
        TransportSettings::NewReno(protocols::newreno::TcpNewRenoSettings { tcp, .. })
        | TransportSettings::Cubic(protocols::cubic::TcpCubicSettings { tcp, .. })
        | TransportSettings::Dctcp(protocols::dctcp::TcpDctcpSettings { tcp, .. })
        | TransportSettings::L2dct(protocols::l2dct::TcpL2dctSettings { tcp, .. })
        | TransportSettings::Htcp(protocols::htcp::TcpHtcpSettings { tcp, .. }) => Some(tcp),
        _ => None,
    }
}

/// The part of a transport that all queue pairs share.
fn pairs_of(transport: &mut TransportSettings) -> Option<&mut QueuePairSettings> {
    match transport {
        TransportSettings::Roce(protocols::roce::RoceFixedSettings { pairs, .. })
        | TransportSettings::Dcqcn(protocols::dcqcn::RoceDcqcnSettings { pairs, .. })
        | TransportSettings::Timely(protocols::timely::RoceTimelySettings { pairs, .. })
        | TransportSettings::PatchedTimely(protocols::patched_timely::RocePatchedTimelySettings {
            pairs,
            ..
        })
        | TransportSettings::TimelyPi(protocols::timely_pi::RoceTimelyPiSettings { pairs, .. }) => {
            Some(pairs)
        }
        _ => None,
    }
}

/// Two ends under one law have one format of packets.
fn agree(other: &mut TransportSettings, known: &TransportSettings) {
    let same = other.name() == known.name();
    if let (Some(pairs), Some(known)) = (pairs_of(other).filter(|_| same), known.roce()) {
        *pairs = QueuePairSettings {
            mtu: known.mtu,
            header: known.header,
            framing: known.framing,
            least_wire: known.least_wire,
            recovery: known.recovery,
            tlt: known.tlt.clone(),
            ..pairs.clone()
        };
    }
    let (Some(tcp), Some(known)) = (tcp_of(other).filter(|_| same), known.tcp()) else { return };
    *tcp = Tcp {
        mtu: known.mtu,
        header: known.header,
        framing: known.framing,
        least_wire: known.least_wire,
        timestamps: known.timestamps,
        sack: known.sack,
        handshake: known.handshake,
        ecn: known.ecn,
        ..tcp.clone()
    };
}

/// Each flow belongs to one of the traffic entries.
pub(super) fn deal(setup: &Setup, flows: Vec<Flow>, random: &mut Random) -> Vec<Flow> {
    let entries = setup.tags.len() as u32;
    flows.into_iter().map(|flow| Flow { tag: random.below(entries) as u16, ..flow }).collect()
}

/// Now and then some or all hosts have cards with a queue of their own, where nothing pauses and no flow is endless.
pub(super) fn queue_at_cards(setup: &mut Setup, all: &[TransportSettings], random: &mut Random) {
    let endless = |own: &TransportSettings| matches!(own, TransportSettings::Udp(udp) if udp.rate.is_none());
    if !one_in(random, 5) || setup.pauses() || all.iter().any(endless) {
        return;
    }
    let full = full_packet(setup);
    let limit = one_in(random, 3).then(|| full * (5 + u64::from(random.below(100))));
    let card = match random.below(3) {
        0 => CardSettings::FifoCard(FifoCardSettings { limit }),
        1 => CardSettings::MarkingCard(MarkingCardSettings {
            threshold: full * u64::from(random.below(20)),
            limit,
        }),
        _ => CardSettings::StrictCard(StrictCardSettings {
            threshold: one_in(random, 2).then(|| full * u64::from(random.below(20))),
            limit,
        }),
    };
    if one_in(random, 2) {
        return setup.card = card;
    }
    let some = (0..setup.graph.hosts()).filter(|_| one_in(random, 2));
    setup.cards = some.map(|host| (HostId(host), card.clone())).collect();
}
