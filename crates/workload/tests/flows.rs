//! Flows have the load, the independence and the shape of their settings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use weft_core::random::mix;
use weft_core::settings::Share;
use weft_core::{Bytes, HostId, Rate, Span, Time};
use weft_workload::pattern::{AnyPattern, Late};
use weft_workload::pattern::{
    all_to_all::AllToAllSettings,
    constant::ConstantSettings,
    groups::{self, GroupsSettings},
    incast::IncastSettings,
    list::ListSettings,
    mice,
    open_loop::{self, HotLeaves, OpenLoopSettings},
    permutation::PermutationSettings,
    random::RandomPairsSettings,
    shuffle::ShuffleSettings,
    stride::StrideSettings,
    terasort::TeraSortSettings,
};
use weft_workload::site::{Pairs, PatternSite};
use weft_workload::{
    Flow, Flows, FrameworkSettings, Framing, Limits, PatternSettings, Shape, SizeDistribution,
    TrafficSettings, check, generate, notes,
};

/// A leaf-spine network as traffic sees it.
struct Network {
    leaf_of_host: Vec<u16>,
    host_rate: Vec<Rate>,
    uplinks: Vec<Rate>,
}

impl Network {
    fn new(leaves: u16, hosts_per_leaf: usize, uplink_gbps: u64) -> Network {
        let leaf_of_host: Vec<u16> = (0..leaves).flat_map(|leaf| vec![leaf; hosts_per_leaf]).collect();
        let host_rate = vec![Rate::from_gbps(10); leaf_of_host.len()];
        Network { leaf_of_host, host_rate, uplinks: vec![Rate::from_gbps(uplink_gbps); usize::from(leaves)] }
    }

    /// 16 leaves of 20 hosts, 160 Gb/s up from each.
    fn drill() -> Network {
        Network::new(16, 20, 160)
    }

    fn shape(&self) -> Shape<'_> {
        Shape {
            leaf_of_host: &self.leaf_of_host,
            host_rate: &self.host_rate,
            uplink_capacity: &self.uplinks,
            framing: Framing { mss: Bytes(1460), overhead: Bytes(78), least: Bytes(84) },
            folder: Path::new(""),
            host_names: &[],
        }
    }

    fn flows(&self, traffic: &[TrafficSettings], limits: Limits, seed: u64) -> Vec<Flow> {
        generate(traffic, &self.shape(), &limits, seed).expect("valid traffic").iter().collect()
    }

    fn problems(&self, pattern: PatternSettings) -> Vec<String> {
        let limits = Limits { measured_flows: Some(1), ..Limits::default() };
        check(&[entry("a", pattern)], &self.shape(), &limits).iter().map(ToString::to_string).collect()
    }
}

fn entry(tag: &str, pattern: PatternSettings) -> TrafficSettings {
    TrafficSettings {
        tag: tag.to_owned(),
        start: Span::ZERO,
        stop: None,
        class: None,
        deadline: None,
        pattern,
    }
}

fn open_loop(load: f64, sizes: &str) -> OpenLoopSettings {
    OpenLoopSettings { load: Share(load), sizes: sizes.to_owned(), ..Default::default() }
}

fn measured(flows: u64) -> Limits {
    Limits { measured_flows: Some(flows), ..Limits::default() }
}

fn poisson(load: f64, sizes: &str) -> TrafficSettings {
    entry("trace", PatternSettings::OpenLoop(open_loop(load, sizes)))
}

/// From the first of two leaves to the second.
fn one_way(load: f64) -> OpenLoopSettings {
    OpenLoopSettings { from: (0..10).collect(), to: (10..20).collect(), ..open_loop(load, "web-search") }
}

#[test]
fn listed_senders_and_receivers_are_the_only_ones_and_carry_the_load_of_their_uplink() {
    let network = Network::new(2, 10, 10);
    let flows = network.flows(&[entry("a", PatternSettings::OpenLoop(one_way(0.8)))], measured(40_000), 1);
    let (found, error) = realised(&flows, network.shape().framing, 10e9);
    assert!((found - 0.8).abs() < error, "{found} +- {error}");
    let mut pairs = BTreeMap::new();
    flows.iter().for_each(|flow| *pairs.entry((flow.source.0, flow.destination.0)).or_insert(0_u32) += 1);
    assert_eq!(pairs.len(), 100);
    assert!(pairs.iter().all(|((from, to), count)| *from < 10 && *to >= 10 && (300..500).contains(count)));
}

#[test]
fn listed_hosts_that_have_nobody_to_send_to_are_refused() {
    let network = Network::new(2, 10, 10);
    let among = |from: &[u32], to: &[u32]| {
        let settings = OpenLoopSettings { from: from.to_vec(), to: to.to_vec(), ..open_loop(0.5, "1 kB") };
        network.problems(PatternSettings::OpenLoop(settings))
    };
    assert_eq!(among(&[0, 1], &[12, 13]), Vec::<String>::new());
    assert_eq!(among(&[0, 12], &[13]), ["traffic[0].to: host 12 has no other host to send to"]);
    assert_eq!(among(&[20], &[]), ["traffic[0].from: there is no host 20; they are numbered 0 to 19"]);
}

/// One receiver: neither it nor the hosts of its leaf send to it; the load is that of the others.
#[test]
fn hosts_without_a_receiver_do_not_send() {
    let network = Network::new(2, 10, 10);
    for (pairs, senders) in [(Pairs::OtherLeaf, 10), (Pairs::Any, 19)] {
        let settings = OpenLoopSettings {
            to: vec![12],
            pairs,
            load_of: open_loop::LoadOf::Receivers,
            ..open_loop(0.5, "1 kB")
        };
        let limits = Limits { measured_flows: Some(5_000), ..Limits::default() };
        let flows = network.flows(&[entry("t", PatternSettings::OpenLoop(settings))], limits, 1);
        let from: BTreeSet<u32> = flows.iter().map(|flow| flow.source.0).collect();
        assert!(from.len() == senders && !from.contains(&12), "{from:?}");
    }
}

#[test]
fn a_flow_has_56_bytes() {
    assert!(size_of::<Flow>() <= 56);
}

/// Offered wire rate as a share of `capacity`, and three standard errors of it (compound Poisson process).
fn realised(flows: &[Flow], framing: Framing, capacity: f64) -> (f64, f64) {
    let seconds = flows.last().unwrap().start.seconds();
    let bits: Vec<f64> = flows.iter().map(|flow| framing.wire(flow.size).bits() as f64).collect();
    let (sum, squares) = (bits.iter().sum::<f64>(), bits.iter().map(|b| b * b).sum::<f64>());
    (sum / seconds / capacity, 3.0 * squares.sqrt() / seconds / capacity)
}

#[test]
fn the_load_is_the_share_of_the_uplinks_that_was_asked_for() {
    let network = Network::drill();
    for (load, sizes) in
        [(0.1, "facebook-web"), (0.8, "facebook-web"), (0.8, "web-search"), (0.3, "facebook-hadoop")]
    {
        let flows = network.flows(&[poisson(load, sizes)], measured(100_000), 1);
        let (found, error) = realised(&flows, network.shape().framing, 16.0 * 160e9);
        assert!((found - load).abs() < error && error < 0.06 * load, "{sizes} {load}: {found} +- {error}");
    }
}

#[test]
fn with_any_pairs_more_flows_are_needed_to_load_the_uplinks() {
    let network = Network::drill();
    let settings = OpenLoopSettings { pairs: Pairs::Any, ..open_loop(0.5, "facebook-web") };
    let flows = network.flows(&[entry("a", PatternSettings::OpenLoop(settings))], measured(100_000), 2);
    let leaf = |host: HostId| network.leaf_of_host[host.index()];
    let crossing: Vec<Flow> =
        flows.iter().filter(|flow| leaf(flow.source) != leaf(flow.destination)).copied().collect();
    // of 319 others 300 are under another leaf
    let share = crossing.len() as f64 / flows.len() as f64;
    let expected = 300.0 / 319.0;
    assert!((share - expected).abs() < 3.0 * (expected * (1.0 - expected) / 1e5f64).sqrt(), "{share}");
    let (found, error) = realised(&crossing, network.shape().framing, 16.0 * 160e9);
    assert!((found - 0.5).abs() < error, "{found} +- {error}");
}

#[test]
fn where_only_some_leaves_send_the_load_is_a_share_of_their_uplinks() {
    let network = Network::drill();
    let settings = OpenLoopSettings { sending_leaves: Share(0.47), ..open_loop(0.8, "facebook-web") };
    let flows = network.flows(&[entry("a", PatternSettings::OpenLoop(settings))], measured(100_000), 1);
    let leaf = |host: HostId| network.leaf_of_host[host.index()];
    // 0.47 of 16 leaves, rounded up
    let senders: BTreeSet<HostId> = flows.iter().map(|flow| flow.source).collect();
    assert_eq!((senders.len(), senders.iter().map(|host| leaf(*host)).max()), (8 * 20, Some(7)));
    let receivers: BTreeSet<HostId> = flows.iter().map(|flow| flow.destination).collect();
    assert_eq!(receivers.len(), 320);
    let (found, error) = realised(&flows, network.shape().framing, 8.0 * 160e9);
    assert!((found - 0.8).abs() < error && error < 0.05, "{found} +- {error}");

    let nobody = OpenLoopSettings { sending_leaves: Share(0.0), ..open_loop(0.8, "64 kB") };
    assert!(network.problems(PatternSettings::OpenLoop(nobody))[0].contains("then no host sends"));
}

/// Eight racks send 80 % on average: one 98 %, the seven others what is left, 77.4 % each.
#[test]
fn hot_racks_offer_more_at_the_same_mean() {
    let network = Network::drill();
    let hot = |leaves, factor| OpenLoopSettings {
        sending_leaves: Share(0.5),
        hot: Some(HotLeaves { leaves, factor }),
        ..open_loop(0.8, "64 kB")
    };
    let cold = (8.0 * 0.8 - 0.98) / 7.0;
    let bursts =
        OpenLoopSettings { arrivals: open_loop::Arrivals::Lognormal, burstiness: Some(1.0), ..hot(1, 1.225) };
    for settings in [hot(1, 1.225), bursts] {
        let entries = [entry("a", PatternSettings::OpenLoop(settings))];
        let flows = network.flows(&entries, measured(200_000), 1);
        let leaf = |flow: &Flow| network.leaf_of_host[flow.source.index()];
        let seconds = flows.last().unwrap().start.seconds();
        for (from, expected) in (0..8).zip([0.98].into_iter().chain([cold; 7])) {
            let own: Vec<Flow> = flows.iter().filter(|flow| leaf(flow) == from).copied().collect();
            let bits: f64 =
                own.iter().map(|flow| network.shape().framing.wire(flow.size).bits() as f64).sum();
            let found = bits / seconds / 160e9;
            assert!((found - expected).abs() < 4.0 * expected / (own.len() as f64).sqrt(), "{from}: {found}");
        }
        let told = "traffic a: 1 hot leaf offers 98.0 % load, each of the other 7 77.4 %";
        assert_eq!(notes(&entries, &network.shape(), None), [told]);
    }
    let refused = |settings| network.problems(PatternSettings::OpenLoop(settings)).join("\n");
    assert!(refused(hot(8, 1.1)).contains("hot.leaves: 8 leaves send, and at least one"));
    assert!(refused(hot(1, 1.0)).contains("hot.factor: 1 is not a skew"));
    assert!(
        refused(hot(4, 2.0)).contains("hot.factor: hot leaves would send everything; it must be below 2.00")
    );
}

#[test]
fn shares_by_uplinks_load_every_leaf_alike() {
    let mut network = Network::drill();
    network.uplinks[3] = Rate::from_gbps(80);
    network.uplinks[7] = Rate(0);
    let settings = OpenLoopSettings { shares: open_loop::Shares::Uplinks, ..open_loop(0.9, "64 kB") };
    let flows = network.flows(&[entry("a", PatternSettings::OpenLoop(settings))], measured(200_000), 1);
    let (found, error) = realised(&flows, network.shape().framing, 14.5 * 160e9);
    assert!((found - 0.9).abs() < error, "{found} +- {error}");
    let ends: [fn(&Flow) -> HostId; 2] = [|flow| flow.source, |flow| flow.destination];
    for end in ends {
        let at = |leaf: u16| {
            flows.iter().filter(|flow| network.leaf_of_host[end(flow).index()] == leaf).count() as f64
        };
        assert_eq!(at(7), 0.0);
        // half the uplinks, half the flows, except the pairs that would stay under one leaf
        let expected = 0.5 * (14.5 - 0.5) / (14.5 - 1.0);
        let (full, half) = (at(0), at(3));
        assert!((half / full - expected).abs() < 4.0 * expected / half.sqrt(), "{}", half / full);
    }

    let mut alone = Network::drill();
    alone.uplinks[1..].fill(Rate(0));
    let settings = OpenLoopSettings { shares: open_loop::Shares::Uplinks, ..open_loop(0.9, "64 kB") };
    assert!(alone.problems(PatternSettings::OpenLoop(settings))[0].contains("fewer than two leaves"));
}

#[test]
fn whole_segments_carry_the_same_load_without_short_packets() {
    let network = Network::drill();
    let sizes = |whole_segments| {
        let settings = OpenLoopSettings { whole_segments, ..open_loop(0.8, "facebook-web") };
        network.flows(&[entry("a", PatternSettings::OpenLoop(settings))], measured(100_000), 1)
    };
    let (bare, whole) = (sizes(false), sizes(true));
    let rounded = |flow: &Flow| flow.size.0.div_ceil(1460) * 1460;
    assert!(bare.iter().zip(&whole).all(|(bare, whole)| rounded(bare) == whole.size.0));
    let (found, error) = realised(&whole, network.shape().framing, 16.0 * 160e9);
    assert!((found - 0.8).abs() < error, "{found} +- {error}");
}

#[test]
fn surviving_capacity_scales_the_load_and_nothing_else() {
    let (healthy, mut broken) = (Network::drill(), Network::drill());
    broken.uplinks[3] = Rate::from_gbps(120);
    let traffic = [poisson(0.9, "facebook-web")];
    let ends = |network: &Network| network.flows(&traffic, measured(1000), 1);
    let (before, after) = (ends(&healthy), ends(&broken));
    let ratio = after[999].start.seconds() / before[999].start.seconds();
    assert!((ratio - 64.0 / 63.0).abs() < 1e-6, "{ratio}");
    let who = |flows: &[Flow]| {
        flows.iter().map(|flow| (flow.source, flow.destination, flow.size)).collect::<Vec<_>>()
    };
    assert_eq!(who(&before), who(&after));
}

#[test]
fn load_of_hosts_and_a_fabric_that_is_faster_than_its_hosts() {
    let hosts = OpenLoopSettings { load_of: open_loop::LoadOf::Hosts, ..open_loop(0.6, "web-search") };
    let of_hosts = [entry("a", PatternSettings::OpenLoop(hosts))];
    let network = Network::drill();
    let flows = network.flows(&of_hosts, measured(50_000), 3);
    let (found, error) = realised(&flows, network.shape().framing, 320.0 * 10e9);
    assert!((found - 0.6).abs() < error, "{found} +- {error}");
    assert!(notes(&of_hosts, &network.shape(), None).is_empty());

    for network in [Network::new(4, 4, 400), Network::new(4, 4, 0)] {
        let uplinks = [poisson(0.5, "64 kB")];
        let flows = network.flows(&uplinks, measured(50_000), 3);
        let (found, error) = realised(&flows, network.shape().framing, 16.0 * 10e9);
        assert!((found - 0.5).abs() < error, "{found} +- {error}");
        assert!(notes(&uplinks, &network.shape(), None)[0].contains("160 Gbps that the senders can send"));
    }
}

/// One client fetches from all others: half of its cable.
#[test]
fn load_of_receivers_is_of_their_cables_alone() {
    let from = (1..40).collect();
    let load_of = open_loop::LoadOf::Receivers;
    let settings =
        OpenLoopSettings { load_of, from, to: vec![0], pairs: Pairs::Any, ..open_loop(0.5, "64 kB") };
    let network = Network::drill();
    let flows = network.flows(&[entry("a", PatternSettings::OpenLoop(settings))], measured(50_000), 3);
    assert!(flows.iter().all(|flow| flow.destination == HostId(0)));
    let (found, error) = realised(&flows, network.shape().framing, 10e9);
    assert!((found - 0.5).abs() < error, "{found} +- {error}");
}

/// Payload alone fills the share: the same flows come more often, by the factor of the bytes that the wire carries
/// beside payload.
#[test]
fn load_of_payload_leaves_headers_out() {
    use open_loop::LoadCounts;
    let network = Network::drill();
    let framing = network.shape().framing;
    let flows = |load_counts, sizes, whole_segments| {
        let settings = OpenLoopSettings { load_counts, whole_segments, ..open_loop(0.5, sizes) };
        network.flows(&[entry("a", PatternSettings::OpenLoop(settings))], measured(1000), 1)
    };
    let packets = |size: u64| size.div_ceil(framing.mss.0);
    for (sizes, whole_segments, payload, packets) in [
        ("64 kB", false, 64_000, packets(64_000)),
        ("64 kB", true, packets(64_000) * framing.mss.0, packets(64_000)),
        ("100 B", false, 100, 1),
    ] {
        let [wire, alone] =
            [LoadCounts::Wire, LoadCounts::Payload].map(|counts| flows(counts, sizes, whole_segments));
        let ratio = wire[999].start.seconds() / alone[999].start.seconds();
        let expected = 1.0 + (packets * framing.overhead.0) as f64 / payload as f64;
        assert!((ratio / expected - 1.0).abs() < 1e-4, "{sizes}: {ratio} instead of {expected}");
        assert!(wire.iter().zip(&alone).all(|(a, b)| (a.size, a.source) == (b.size, b.source)));
    }
}

/// Variance over mean of the number of flows in each of `bins` equal intervals.
fn dispersion(flows: &[Flow], bins: usize) -> f64 {
    let end = flows.last().unwrap().start.0 + 1;
    let mut counts = vec![0.0f64; bins];
    flows
        .iter()
        .for_each(|flow| counts[(flow.start.0 as u128 * bins as u128 / u128::from(end)) as usize] += 1.0);
    let mean = flows.len() as f64 / bins as f64;
    counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (bins - 1) as f64 / mean
}

#[test]
fn poisson_arrivals_are_as_dispersed_as_they_should_be_and_fixed_ones_not_at_all() {
    let network = Network::drill();
    let flows = network.flows(&[poisson(0.5, "facebook-web")], measured(100_000), 4);
    let found = dispersion(&flows, 2000);
    // the index of dispersion of n bins has a standard deviation of sqrt(2/n)
    assert!((found - 1.0).abs() < 3.0 * (2.0f64 / 2000.0).sqrt(), "{found}");
    let fixed = OpenLoopSettings { arrivals: open_loop::Arrivals::Fixed, ..open_loop(0.5, "facebook-web") };
    let flows = network.flows(&[entry("a", PatternSettings::OpenLoop(fixed))], measured(1000), 4);
    let gaps: BTreeSet<Span> = flows.windows(2).map(|pair| pair[1].start.since(pair[0].start)).collect();
    assert_eq!(gaps.len(), 1);
}

/// Flows whose hosts each have lognormal gaps.
fn bursty(load: f64, burstiness: f64) -> OpenLoopSettings {
    let arrivals = open_loop::Arrivals::Lognormal;
    OpenLoopSettings { arrivals, burstiness: Some(burstiness), ..open_loop(load, "1 kB") }
}

#[test]
fn lognormal_gaps_of_a_host_have_the_mean_of_the_load_and_the_asked_deviation() {
    let network = Network::new(4, 5, 50);
    let flows =
        network.flows(&[entry("a", PatternSettings::OpenLoop(bursty(0.5, 1.5)))], measured(400_000), 6);
    let even = network.flows(&[poisson(0.5, "1 kB")], measured(400_000), 6);
    let lasts = |flows: &[Flow]| flows.last().unwrap().start.0 as f64;
    assert!((lasts(&flows) / lasts(&even) - 1.0).abs() < 0.03, "{} {}", lasts(&flows), lasts(&even));
    let of_host: Vec<f64> =
        flows.iter().filter(|flow| flow.source == HostId(7)).map(|flow| flow.start.0 as f64).collect();
    let logs: Vec<f64> = of_host.windows(2).map(|pair| (pair[1] - pair[0]).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
    // 20 000 gaps: the deviation of a normal distribution is known to 0.5 %, three times that is allowed
    assert!((deviation - 1.5).abs() < 0.0225, "{deviation}");
}

/// A process that began with a gap would crowd the start: most gaps are short, so that 2000 hosts send as many flows
/// in half a mean gap as they should in a whole one. A process that has always run sends as many in any time as the
/// load says.
#[test]
fn lognormal_arrivals_have_no_crowd_at_the_start() {
    let network = Network::new(40, 50, 500);
    let ends = |settings| {
        let flows = network.flows(&[entry("a", PatternSettings::OpenLoop(settings))], measured(2_000), 9);
        flows.last().unwrap().start.0 as f64
    };
    let ratio = ends(bursty(0.5, 1.5)) / ends(open_loop(0.5, "1 kB"));
    assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
}

/// The index of dispersion of a renewal process tends to variance / mean^2 of its gaps, e^(s^2) - 1 here: 1.72 for s = 1.
#[test]
fn lognormal_arrivals_are_as_dispersed_as_renewals_are() {
    let network = Network::new(4, 5, 50);
    let flows =
        network.flows(&[entry("a", PatternSettings::OpenLoop(bursty(0.5, 1.0)))], measured(400_000), 7);
    let found = dispersion(&flows, 1000);
    assert!((found - 1.72).abs() < 3.0 * 1.72 * (2.0f64 / 1000.0).sqrt(), "{found}");
}

#[test]
fn bursty_hosts_send_as_often_as_their_uplinks_say() {
    let mut network = Network::new(4, 5, 50);
    network.uplinks[0] = Rate(network.uplinks[0].0 / 2);
    let settings = OpenLoopSettings { shares: open_loop::Shares::Uplinks, ..bursty(0.5, 1.0) };
    let flows =
        network.flows(&[entry("a", PatternSettings::OpenLoop(settings.clone()))], measured(400_000), 8);
    let one_clock = OpenLoopSettings { arrivals: open_loop::Arrivals::Poisson, burstiness: None, ..settings };
    let drawn = network.flows(&[entry("a", PatternSettings::OpenLoop(one_clock))], measured(400_000), 8);
    let share = |flows: &[Flow]| {
        flows.iter().filter(|flow| network.leaf_of_host[flow.source.index()] == 0).count() as f64 / 400_000.0
    };
    assert!((share(&flows) / share(&drawn) - 1.0).abs() < 0.02, "{} {}", share(&flows), share(&drawn));
}

#[test]
fn sources_and_destinations_are_uniform_and_under_different_leaves() {
    let network = Network::new(4, 5, 50);
    let flows = network.flows(&[poisson(0.5, "1 kB")], measured(80_000), 5);
    let (mut from, mut to) = (vec![0.0f64; 20], vec![0.0f64; 20]);
    for flow in &flows {
        assert_ne!(network.leaf_of_host[flow.source.index()], network.leaf_of_host[flow.destination.index()]);
        from[flow.source.index()] += 1.0;
        to[flow.destination.index()] += 1.0;
    }
    for counts in [from, to] {
        let chi2: f64 = counts.iter().map(|count| (count - 4000.0).powi(2) / 4000.0).sum();
        assert!(chi2 < 43.82, "chi-square {chi2} with 19 degrees of freedom, 0.1 % point 43.82");
    }
}

#[test]
fn hosts_that_are_cut_off_take_no_part() {
    let mut network = Network::new(4, 5, 50);
    network.host_rate[7] = Rate(0);
    let patterns = [
        PatternSettings::OpenLoop(open_loop(0.5, "1 kB")),
        PatternSettings::Permutation(PermutationSettings { sizes: "1 kB".into() }),
        PatternSettings::AllToAll(AllToAllSettings { sizes: "1 kB".into() }),
        PatternSettings::RandomPairs(RandomPairsSettings {
            sizes: "1 kB".into(),
            flows_per_host: 20,
            ..Default::default()
        }),
    ];
    for pattern in patterns {
        let flows = network.flows(&[entry("a", pattern)], measured(2000), 6);
        assert!(flows.iter().all(|flow| flow.source != HostId(7) && flow.destination != HostId(7)));
        assert!(flows.iter().any(|flow| flow.source == HostId(19)));
    }
}

fn hash(flows: &[Flow]) -> u64 {
    let words = flows
        .iter()
        .flat_map(|f| [f.start.0, f.size.0, f.source.0.into(), f.destination.0.into(), f.tag.into()]);
    words.fold(0, |hash, word| mix(hash ^ word))
}

#[test]
fn golden_flows_never_move() {
    let flows = Network::drill().flows(&[poisson(0.8, "facebook-web")], measured(1000), 1);
    assert_eq!((flows.len(), hash(&flows)), (1000, GOLDEN));
    assert_ne!(hash(&Network::drill().flows(&[poisson(0.8, "facebook-web")], measured(1000), 2)), GOLDEN);
}
const GOLDEN: u64 = 9_313_216_106_559_253_968;

/// The flows of a tag without the tag's number.
fn of(traffic: &[TrafficSettings], flows: &[Flow], tag: &str) -> Vec<Flow> {
    let index = traffic.iter().position(|entry| entry.tag == tag).unwrap() as u16;
    let own = flows.iter().filter(|flow| flow.tag == index);
    own.map(|flow| Flow { tag: 0, ..*flow }).collect()
}

#[test]
fn another_entry_moves_nobodys_flows() {
    let network = Network::drill();
    let limits = Limits { until: Some(Time(2_000_000_000)), ..Limits::default() };
    let alone = [poisson(0.5, "facebook-web")];
    let burst = IncastSettings { fan_in: 30, sizes: "20 kB".into(), count: 3, ..Default::default() };
    let both = [entry("query", PatternSettings::Incast(burst)), poisson(0.5, "facebook-web")];
    let before = of(&alone, &network.flows(&alone, limits, 9), "trace");
    let after = of(&both, &network.flows(&both, limits, 9), "trace");
    assert!(before.len() > 500);
    assert_eq!(before, after);
}

#[test]
fn load_moves_times_only() {
    let network = Network::drill();
    let at = |load| network.flows(&[poisson(load, "facebook-web")], measured(500), 1);
    let (low, high) = (at(0.1), at(0.8));
    for (a, b) in low.iter().zip(&high) {
        assert_eq!((a.source, a.destination, a.size), (b.source, b.destination, b.size));
        assert!((a.start.seconds() / b.start.seconds() - 8.0).abs() < 1e-3);
    }
}

#[test]
fn limits_count_measured_flows_and_cut_time() {
    let network = Network::drill();
    let traffic = [poisson(0.5, "facebook-web")];
    let warm_up = Time(1_000_000_000);
    let flows = network.flows(&traffic, Limits { warm_up, measured_flows: Some(300), until: None }, 1);
    assert_eq!(flows.iter().filter(|flow| flow.start >= warm_up).count(), 300);
    assert!(flows[0].start < warm_up);
    let until = Time(3_000_000_000);
    let flows = network.flows(&traffic, Limits { until: Some(until), ..Limits::default() }, 1);
    assert!(flows.len() > 1000 && flows.last().unwrap().start < until);
    let window =
        TrafficSettings { start: Span::from_ms(1), stop: Some(Span::from_ms(2)), ..traffic[0].clone() };
    let flows = network.flows(&[window], Limits::default(), 1);
    assert!(
        flows.iter().all(|flow| (1_000_000_000..2_000_000_000).contains(&flow.start.0)) && flows.len() > 300
    );
}

#[test]
fn a_permutation_is_a_derangement_and_another_seed_another_one() {
    let network = Network::new(8, 16, 160);
    let pattern = PatternSettings::Permutation(PermutationSettings { sizes: "20 MB".into() });
    let draw = |seed| network.flows(&[entry("p", pattern.clone())], Limits::default(), seed);
    for seed in 0..20 {
        let flows = draw(seed);
        let sources: BTreeSet<HostId> = flows.iter().map(|flow| flow.source).collect();
        let destinations: BTreeSet<HostId> = flows.iter().map(|flow| flow.destination).collect();
        assert_eq!((flows.len(), sources.len(), destinations.len()), (128, 128, 128));
        assert!(flows.iter().all(|flow| flow.source != flow.destination && flow.start == Time::ZERO));
    }
    assert_ne!(draw(0), draw(1));
}

#[test]
fn incast_has_different_senders_at_every_event() {
    let network = Network::new(4, 10, 100);
    let settings = IncastSettings {
        fan_in: 30,
        flows_per_sender: 1,
        sizes: "64 kB".into(),
        count: 5,
        period: Span::from_ms(1),
        jitter: Span::from_us(10),
        pairs: Pairs::OtherLeaf,
        receiver: None,
    };
    let flows = network.flows(&[entry("i", PatternSettings::Incast(settings))], Limits::default(), 1);
    assert_eq!(flows.len(), 150);
    let mut receivers = BTreeSet::new();
    for (event, flows) in flows.chunks(30).enumerate() {
        let to = flows[0].destination;
        receivers.insert(to);
        let from: BTreeSet<HostId> = flows.iter().map(|flow| flow.source).collect();
        // all 30 hosts of the three other leaves
        assert_eq!(from.len(), 30);
        assert!(flows.iter().all(|flow| flow.destination == to && flow.size == Bytes(64_000)));
        let from_event = |flow: &Flow| flow.start.since(Time(event as u64 * 1_000_000_000));
        assert!(flows.iter().all(|flow| from_event(flow) < Span::from_us(10)));
    }
    assert!(receivers.len() > 1);
}

/// The message about flows that an entry's end leaves out holds for every seed and does not depend on draws.
#[test]
fn late_incasts_are_counted_for_all_seeds() {
    let network = Network::drill();
    let of = |count, jitter, stop| {
        let (sizes, period) = ("1 kB".into(), Span::from_us(20));
        let settings = IncastSettings { fan_in: 5, sizes, count, period, jitter, ..Default::default() };
        let pattern = PatternSettings::Incast(settings);
        TrafficSettings { stop: Some(stop), start: Span::from_us(30), ..entry("i", pattern) }
    };
    let late = |entry: &TrafficSettings| {
        let shape = network.shape();
        let site = PatternSite::new(&shape, (0, "i"), Time(entry.start.0), 0);
        let end = Time(entry.stop.expect("given").0);
        AnyPattern::new(&entry.pattern, ()).late(&site, end).expect("incasts are counted")
    };
    for jitter in [0, 7, 20].map(Span::from_us) {
        let mut spread = 0;
        for stop in (10..260).step_by(3).map(Span::from_us) {
            let entry = of(10, jitter, stop);
            let Late { least, most, all } = late(&entry);
            assert!(all == 50 && most - least <= 10, "{least} to {most} of {all}");
            spread += most - least;
            for seed in 0..3 {
                let left =
                    all - network.flows(std::slice::from_ref(&entry), Limits::default(), seed).len() as u64;
                assert!((least..=most).contains(&left), "{left} of {least} to {most}, {jitter}, {stop}");
            }
        }
        assert_eq!(spread == 0, jitter == Span::ZERO);
    }
    let told = |entry: TrafficSettings| notes(&[entry], &network.shape(), None);
    let many = of(1_000_000_000, Span::ZERO, Span::from_us(51));
    let all_but_two = "traffic i: 4999999990 of 5000000000 flows start at 51 us or later, when the entry stops, and are left out";
    assert_eq!(told(many), [all_but_two]);
    let few = told(of(10, Span::from_us(7), Span::from_us(51)));
    assert!(few[0].starts_with("traffic i: 40 to 45 of 50 flows start at 51 us or later"), "{few:?}");
}

#[test]
fn each_sender_of_an_incast_has_as_many_flows() {
    let network = Network::new(4, 10, 100);
    let settings = IncastSettings {
        fan_in: 15,
        flows_per_sender: 4,
        sizes: "16 kB".into(),
        count: 3,
        period: Span::from_ms(1),
        jitter: Span::ZERO,
        pairs: Pairs::Any,
        receiver: None,
    };
    let flows = network.flows(&[entry("i", PatternSettings::Incast(settings))], Limits::default(), 1);
    for event in flows.chunks(60) {
        let from: BTreeSet<HostId> = event.iter().map(|flow| flow.source).collect();
        assert_eq!(from.len(), 15);
        let of = |host: &HostId| event.iter().filter(|flow| flow.source == *host).count();
        assert!(from.iter().all(|host| of(host) == 4));
        assert!(
            event.iter().all(|flow| flow.start == event[0].start && flow.destination == event[0].destination)
        );
    }
}

/// DRILL's Fig. 14: 32 of 320 hosts send 10 kB each to 32 others, drawn anew every 10 ms.
#[test]
fn groups_are_disjoint_and_drawn_anew() {
    let network = Network::drill();
    let sent = |matching| {
        let settings = GroupsSettings {
            senders: 32,
            receivers: 32,
            sizes: "10 kB".into(),
            matching,
            count: 4,
            period: Span::from_ms(10),
        };
        network.flows(&[entry("g", PatternSettings::Groups(settings))], Limits::default(), 1)
    };
    let (all, pairwise) = (sent(groups::Matching::All), sent(groups::Matching::Pairwise));
    assert_eq!((all.len(), pairwise.len()), (4 * 1024, 4 * 32));
    let mut groups = BTreeSet::new();
    for (event, flows) in all.chunks(1024).enumerate() {
        let pairs: BTreeSet<_> = flows.iter().map(|flow| (flow.source, flow.destination)).collect();
        let from: BTreeSet<_> = pairs.iter().map(|(from, _)| *from).collect();
        let to: BTreeSet<_> = pairs.iter().map(|(_, to)| *to).collect();
        assert_eq!((pairs.len(), from.len(), to.len()), (1024, 32, 32));
        assert!(from.is_disjoint(&to));
        assert!(flows.iter().all(|flow| flow.start == Time(event as u64 * 10_000_000_000)));
        groups.insert((from, to));
    }
    assert_eq!(groups.len(), 4);
    for flows in pairwise.chunks(32) {
        let to: BTreeSet<_> = flows.iter().map(|flow| flow.destination).collect();
        assert_eq!(to.len(), 32, "one each");
    }
}

/// Mice run between the pairs of the elephants, later and repeatedly.
#[test]
fn mice_follow_their_elephants() {
    let network = Network::new(4, 8, 8);
    let mice = mice::Mice { sizes: "50 kB".into(), every: Span::from_ms(100), count: 3 };
    let pattern = RandomPairsSettings {
        sizes: "1 GB".into(),
        pairs: Pairs::OtherLeaf,
        mice: Some(mice),
        ..Default::default()
    };
    let flows =
        network.flows(&[entry("r", PatternSettings::RandomPairs(pattern.clone()))], Limits::default(), 1);
    let (elephants, mice): (Vec<&Flow>, Vec<_>) =
        flows.iter().partition(|flow| flow.size == Bytes(1_000_000_000));
    assert_eq!((elephants.len(), mice.len()), (32, 96));
    let pairs: BTreeSet<_> = elephants.iter().map(|flow| (flow.source, flow.destination)).collect();
    for (round, mice) in mice.chunks(32).enumerate() {
        let own: BTreeSet<_> = mice.iter().map(|flow| (flow.source, flow.destination)).collect();
        assert_eq!(own, pairs);
        assert!(mice.iter().all(|flow| flow.start == Time((round as u64 + 1) * 100_000_000_000)));
    }
    let alone = RandomPairsSettings { mice: None, ..pattern };
    let alone = network.flows(&[entry("r", PatternSettings::RandomPairs(alone))], Limits::default(), 1);
    assert!(alone.iter().eq(elephants), "mice move no elephant");
}

/// Background among the hosts of one rack: each sends to one other of them, by several flows.
#[test]
fn listed_hosts_send_in_parallel_to_the_hosts_drawn() {
    let network = Network::new(2, 8, 8);
    let rack: Vec<u32> = (8..16).collect();
    let pattern = RandomPairsSettings {
        sizes: "1 GB".into(),
        flows_per_pair: 4,
        from: rack.clone(),
        to: rack.clone(),
        ..Default::default()
    };
    let drawn = |seed| -> Vec<(u32, u32)> {
        let entry = entry("r", PatternSettings::RandomPairs(pattern.clone()));
        let flows = network.flows(&[entry], Limits::default(), seed);
        flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect()
    };
    let flows = drawn(1);
    assert_eq!(flows.len(), 8 * 4);
    assert!(flows.iter().all(|(from, to)| from != to && rack.contains(from) && rack.contains(to)));
    let pairs: BTreeSet<_> = flows.iter().copied().collect();
    assert!(pairs.iter().map(|(from, _)| *from).eq(8..16), "one destination each");
    assert!(pairs.iter().all(|pair| flows.iter().filter(|flow| *flow == pair).count() == 4));
    assert_ne!(drawn(2), flows, "another seed draws other pairs");
    let alone = RandomPairsSettings { from: vec![8], to: vec![8], ..pattern.clone() };
    let problems =
        check(&[entry("r", PatternSettings::RandomPairs(alone))], &network.shape(), &Limits::default());
    assert_eq!(problems[0].to_string(), "traffic[0].to: host 8 has no other host to send to");
}

#[test]
fn stride_all_to_all_and_shuffle_are_complete() {
    let network = Network::new(2, 3, 30);
    let sizes = String::from("1 kB");
    let pairs = |pattern| -> Vec<(u32, u32)> {
        let flows = network.flows(&[entry("a", pattern)], Limits::default(), 1);
        flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect()
    };
    let stride = pairs(PatternSettings::Stride(StrideSettings { step: 4, sizes: sizes.clone(), mice: None }));
    assert_eq!(stride, [(0, 4), (1, 5), (2, 0), (3, 1), (4, 2), (5, 3)]);
    let every: BTreeSet<(u32, u32)> =
        (0..6).flat_map(|a| (0..6).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
    let all = pairs(PatternSettings::AllToAll(AllToAllSettings { sizes: sizes.clone() }));
    assert_eq!((all.len(), all.into_iter().collect::<BTreeSet<_>>()), (30, every.clone()));
    let spacing = Span::from_us(50);
    let shuffle = PatternSettings::Shuffle(ShuffleSettings { sizes, spacing: Some(spacing) });
    let flows = network.flows(&[entry("a", shuffle)], Limits::default(), 1);
    assert_eq!(flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect::<BTreeSet<_>>(), every);
    let mut turns: BTreeMap<HostId, Vec<u64>> = BTreeMap::new();
    flows.iter().for_each(|flow| turns.entry(flow.source).or_default().push(flow.start.0 / spacing.0));
    assert!(turns.into_values().all(|turns| turns == [0, 1, 2, 3, 4]));
}

/// Whenever its first flow comes, traffic begins with the least `start`.
#[test]
fn traffic_begins_with_its_first_entry() {
    let network = Network::new(2, 3, 30);
    let shuffled = |tag, start| {
        let (sizes, spacing) = (String::from("1 kB"), Some(Span::from_us(50)));
        let pattern = PatternSettings::Shuffle(ShuffleSettings { sizes, spacing });
        TrafficSettings { start, ..entry(tag, pattern) }
    };
    let begins = |traffic: &[TrafficSettings]| {
        let flows = generate(traffic, &network.shape(), &Limits::default(), 1).expect("valid traffic");
        flows.begins().since(Time::ZERO)
    };
    let (early, late) = (shuffled("a", Span::from_us(30)), shuffled("b", Span::from_us(700)));
    assert_eq!(begins(&[late.clone(), early]), Span::from_us(30));
    assert_eq!(begins(&[late.clone(), shuffled("c", Span::ZERO)]), Span::ZERO);
    assert_eq!(begins(&[late]), Span::from_us(700));
}

/// The same orders as at intervals; only the dependencies differ.
#[test]
fn a_shuffle_without_spacing_takes_turns() {
    let network = Network::new(2, 3, 30);
    let shuffled = |spacing| {
        let sizes = String::from("1 kB");
        entry("a", PatternSettings::Shuffle(ShuffleSettings { sizes, spacing }))
    };
    let shuffle = |spacing| {
        generate(&[shuffled(spacing)], &network.shape(), &Limits::default(), 1).expect("valid traffic")
    };
    let order = |flows: &Flows, source: u32| -> Vec<HostId> {
        flows.iter().filter(|flow| flow.source.0 == source).map(|flow| flow.destination).collect()
    };
    let (spaced, in_turn) = (shuffle(Some(Span::from_us(50))), shuffle(None));
    assert!(!spaced.take_turns() && in_turn.is_in_turn(0) && !in_turn.is_in_turn(1));
    assert_eq!((in_turn.last_turn(0), spaced.last_turn(0)), (Some(Time::NEVER), None));
    let stopped = TrafficSettings { stop: Some(Span::from_us(25)), ..shuffled(None) };
    let stopped = generate(&[stopped], &network.shape(), &Limits::default(), 1).expect("valid traffic");
    assert_eq!(stopped.last_turn(0), Some(Time::ZERO + Span::from_us(25)));
    assert!((0..6).all(|source| order(&in_turn, source) == order(&spaced, source)));
}

#[test]
fn constant_flows_carry_their_rate_for_their_duration() {
    let network = Network::new(2, 3, 30);
    let settings = ConstantSettings {
        rate: Rate::from_gbps(4),
        duration: Span::from_ms(2),
        from: Some(1),
        count: 3,
        ..Default::default()
    };
    let faster = ConstantSettings { rate: Rate::from_gbps(400), ..settings.clone() };
    let told = |settings| notes(&[entry("c", PatternSettings::Constant(settings))], &network.shape(), None);
    assert!(told(faster)[0].contains("400 Gbps exceeds a cable") && told(settings.clone()).is_empty());
    let flows = network.flows(&[entry("c", PatternSettings::Constant(settings))], Limits::default(), 1);
    assert_eq!(flows.len(), 3);
    for flow in flows {
        assert_eq!((flow.constant_rate(), flow.size), (Some(Rate::from_gbps(4)), Bytes(1_000_000)));
        assert!(flow.source == HostId(1) && flow.destination != HostId(1));
    }
}

fn listed(at: u64, from: u32, to: u32) -> weft_workload::ListedFlow {
    weft_workload::ListedFlow { at: Span::from_us(at), from, to, size: Bytes(100), deadline: None }
}

#[test]
fn a_list_is_sorted_and_starts_with_its_entry() {
    let network = Network::new(2, 3, 30);
    let flows = vec![listed(9, 0, 1), listed(2, 5, 1), listed(2, 3, 1)];
    let pattern = PatternSettings::List(ListSettings { flows, file: None });
    let late = TrafficSettings { start: Span::from_us(10), ..entry("l", pattern) };
    let flows = network.flows(&[late], Limits::default(), 1);
    let found: Vec<_> = flows.iter().map(|flow| (flow.start.0 / 1_000_000, flow.source.0)).collect();
    assert_eq!(found, [(12, 3), (12, 5), (19, 0)]);
}

#[test]
fn settings_that_do_not_fit_together_are_named() {
    let network = Network::new(2, 3, 30);
    let one = |pattern| {
        let problems = network.problems(pattern);
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.into_iter().next().unwrap()
    };
    let sizes = || String::from("1 kB");
    assert!(
        one(PatternSettings::OpenLoop(open_loop(0.0, "1 kB"))).starts_with("traffic[0].load: a load of 0")
    );
    assert!(
        one(PatternSettings::OpenLoop(open_loop(0.5, "web-serch")))
            .starts_with("traffic[0].sizes: there is no")
    );
    let lognormal = OpenLoopSettings { burstiness: None, ..bursty(0.5, 1.0) };
    assert!(
        one(PatternSettings::OpenLoop(lognormal)).starts_with("traffic[0].burstiness: lognormal arrivals")
    );
    assert!(one(PatternSettings::OpenLoop(bursty(0.5, 7.0))).contains("7 is not between"));
    let poisson = OpenLoopSettings { burstiness: Some(1.0), ..open_loop(0.5, "1 kB") };
    assert!(one(PatternSettings::OpenLoop(poisson)).contains("it applies only to"));
    let burst = IncastSettings { fan_in: 6, sizes: sizes(), ..Default::default() };
    assert_eq!(
        one(PatternSettings::Incast(burst)),
        "traffic[0].fan_in: 6 senders are asked for, but only 5 hosts can send"
    );
    let burst = IncastSettings { fan_in: 2, sizes: sizes(), receiver: Some(6), ..Default::default() };
    assert_eq!(
        one(PatternSettings::Incast(burst)),
        "traffic[0].receiver: there is no host 6; they are numbered 0 to 5"
    );
    let jitter = Span::from_ms(11);
    let burst = IncastSettings { fan_in: 2, sizes: sizes(), count: 2, jitter, ..Default::default() };
    assert!(one(PatternSettings::Incast(burst)).starts_with("traffic[0].jitter"));
    for step in [0, 6, 12] {
        let stride = StrideSettings { step, sizes: sizes(), mice: None };
        assert!(one(PatternSettings::Stride(stride)).starts_with("traffic[0].step"));
    }
    let crowd = GroupsSettings { senders: 3, receivers: 4, sizes: sizes(), ..Default::default() };
    assert_eq!(
        one(PatternSettings::Groups(crowd)),
        "traffic[0].senders: senders and receivers need 7 different hosts; there are 6"
    );
    let mice = |size: &str, every| Some(mice::Mice { sizes: size.into(), every, count: 1 });
    let stride = StrideSettings { step: 1, sizes: sizes(), mice: mice("50 kX", Span::from_ms(1)) };
    assert!(one(PatternSettings::Stride(stride)).starts_with("traffic[0].mice.sizes"));
    let stride = StrideSettings { step: 1, sizes: sizes(), mice: mice("50 kB", Span::ZERO) };
    assert!(one(PatternSettings::Stride(stride)).starts_with("traffic[0].mice.every"));
    let flows = vec![listed(0, 0, 1), listed(0, 2, 2)];
    let list = ListSettings { flows, file: None };
    assert_eq!(one(PatternSettings::List(list)), "traffic[0].flows[1].to: host 2 cannot send to itself");
    assert!(one(PatternSettings::List(ListSettings::default())).starts_with("traffic[0].flows"));
    let missing = ListSettings { file: Some("no-such-file.csv".into()), ..Default::default() };
    assert!(one(PatternSettings::List(missing)).starts_with("traffic[0].file: no-such-file.csv"));
    let many = RandomPairsSettings { sizes: sizes(), flows_per_host: 10_000_000, ..Default::default() };
    assert!(one(PatternSettings::RandomPairs(many)).starts_with("traffic[0].flows_per_host"));
    let many = RandomPairsSettings { sizes: sizes(), flows_per_pair: 10_000_000, ..Default::default() };
    assert!(one(PatternSettings::RandomPairs(many)).starts_with("traffic[0].flows_per_pair"));
    let silent = ConstantSettings { rate: Rate(1), ..Default::default() };
    assert!(one(PatternSettings::Constant(silent)).starts_with("traffic[0].rate"));
    let itself =
        ConstantSettings { rate: Rate::from_gbps(1), from: Some(1), to: Some(1), ..Default::default() };
    assert!(one(PatternSettings::Constant(itself)).starts_with("traffic[0].to"));
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let both = PatternSettings::OpenLoop(open_loop(0.0, "nonsense"));
    let traffic = [entry("a", both.clone()), entry("a", both)];
    let problems = check(&traffic, &Network::drill().shape(), &Limits::default());
    let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    let expected =
        ["traffic[0].sizes", "traffic[0].load", "traffic[1].tag", "traffic[1].sizes", "traffic[1].load"];
    assert_eq!(paths, expected);
}

#[test]
fn one_leaf_has_no_other_and_one_host_no_partner() {
    let message =
        |network: Network| network.problems(PatternSettings::OpenLoop(open_loop(0.5, "1 kB"))).remove(0);
    assert!(message(Network::new(1, 8, 0)).starts_with("traffic[0].pairs: all hosts are under one leaf"));
    assert!(message(Network::new(1, 1, 0)).starts_with("traffic[0]: at least two hosts"));
}

#[test]
fn arrivals_without_an_end_are_refused() {
    let problems = check(&[poisson(0.5, "1 kB")], &Network::drill().shape(), &Limits::default());
    assert!(problems[0].to_string().starts_with("traffic[0].stop: this traffic never ends"));
    let finite = PatternSettings::Permutation(PermutationSettings { sizes: "1 kB".into() });
    assert!(check(&[entry("p", finite)], &Network::drill().shape(), &Limits::default()).is_empty());
}

#[test]
fn sizes_of_flows_are_those_of_the_distribution() {
    let flows = Network::drill().flows(&[poisson(0.5, "facebook-cache")], measured(100_000), 8);
    let Ok(SizeDistribution::Curve(curve)) = SizeDistribution::read("facebook-cache", Path::new("")) else {
        panic!("bundled")
    };
    // the atom of a repeated size, and the share at a point
    let count =
        |wanted: &dyn Fn(u64) -> bool| flows.iter().filter(|flow| wanted(flow.size.0)).count() as f64 / 1e5;
    assert!((count(&|size| size <= 350) - 0.19).abs() < 0.004);
    assert!((count(&|size| size <= 1_500_000) - 0.701).abs() < 0.005);
    assert!(curve.at(0.7005) > 600_000.0);
}

#[test]
fn flows_and_sizes_may_stand_in_files_beside_the_scenario() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("flows.csv"), "start_us,src,dst,bytes\n7,2,0,900\n3,0,1,500\n").unwrap();
    std::fs::write(folder.join("sizes.csv"), "size,cdf\n100,0\n300,1\n").unwrap();
    let network = Network::new(2, 3, 30);
    let shape = Shape { folder, ..network.shape() };
    let list = ListSettings { file: Some("flows.csv".into()), ..Default::default() };
    let traffic = [entry("l", PatternSettings::List(list)), poisson(0.5, "sizes.csv")];
    let flows = generate(&traffic, &shape, &measured(1000), 1).unwrap();
    let listed: Vec<_> =
        flows.iter().filter(|flow| flow.tag == 0).map(|flow| (flow.start, flow.size)).collect();
    assert_eq!(listed, [(Time(3_000_000), Bytes(500)), (Time(7_000_000), Bytes(900))]);
    let drawn: Vec<u64> = flows.iter().filter(|flow| flow.tag == 1).map(|flow| flow.size.0).collect();
    assert_eq!(drawn.len(), 998, "all others of the 1000 that count");
    assert!(drawn.iter().all(|size| (100..=300).contains(size)));
}

/// Another entry before it changes neither its flows nor their deadlines: with and without background traffic a scheme must meet the
/// same ones.
#[test]
fn deadlines_do_not_depend_on_other_entries() {
    let (network, limits) =
        (Network::new(2, 3, 30), Limits { until: Some(Time(40_000_000_000)), ..Limits::default() });
    let dated = || TrafficSettings {
        deadline: Some("exponential(20 ms, 3 ms)".into()),
        ..poisson(0.5, "web-search")
    };
    let background = entry("background", PatternSettings::OpenLoop(open_loop(0.2, "web-search")));
    let of = |traffic: &[TrafficSettings], tag: u16| -> Vec<(Time, Bytes, Span)> {
        let flows = network.flows(traffic, limits, 1);
        let own = flows.iter().filter(|flow| flow.tag == tag);
        own.map(|flow| (flow.start, flow.size, flow.deadline)).collect()
    };
    let alone = of(&[dated()], 0);
    let drawn: BTreeSet<Span> = alone.iter().map(|(.., deadline)| *deadline).collect();
    assert!(alone.len() > 20 && drawn.len() > 10, "{alone:?}");
    assert_eq!(of(&[background.clone(), dated()], 1), alone);
    let other = TrafficSettings { tag: "other".into(), ..dated() };
    assert_ne!(of(&[other, dated()], 0), alone, "two entries do not draw the same");
    assert_eq!(
        of(&[background, dated()], 0).iter().filter(|(.., deadline)| *deadline > Span::ZERO).count(),
        0
    );
}

#[test]
fn columns_that_are_not_read_are_told() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let network = Network::new(2, 3, 30);
    let shape = Shape { folder, ..network.shape() };
    let told = |columns: &str| {
        let file = format!("unread{}.csv", columns.len());
        let row = ",5".repeat(columns.matches(',').count());
        std::fs::write(folder.join(&file), format!("start_us,src,dst,bytes{columns}\n0,2,0,9{row}\n"))
            .unwrap();
        let list = ListSettings { file: Some(file), ..Default::default() };
        notes(&[entry("l", PatternSettings::List(list))], &shape, None)
    };
    assert_eq!(told(""), [""; 0]);
    assert_eq!(told(",flow_id,deadline_us"), [""; 0]);
    assert_eq!(told(",class"), ["traffic l: the column class of unread6.csv is not read"]);
    assert_eq!(
        told(",class,deadline_ms,tag"),
        ["traffic l: the columns class, tag of unread22.csv are not read"]
    );
}

#[test]
fn malformed_rows_and_rows_with_unknown_hosts_are_named_together() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let text = "flow_id,start_us,src,dst,bytes\n1,x,0,1,9\n2,0,0,99,9\n3,0,0,1,9\n-4,0,0,1,9\n";
    std::fs::write(folder.join("bad-rows.csv"), text).unwrap();
    let network = Network::new(2, 3, 30);
    let shape = Shape { folder, ..network.shape() };
    let list = ListSettings { file: Some("bad-rows.csv".into()), ..Default::default() };
    let problems = check(&[entry("l", PatternSettings::List(list))], &shape, &Limits::default());
    let lines: Vec<bool> = [2, 3, 5]
        .iter()
        .zip(&problems)
        .map(|(line, problem)| problem.message.contains(&format!("bad-rows.csv:{line}: ")))
        .collect();
    assert_eq!((lines.as_slice(), problems.len()), ([true; 3].as_slice(), 3), "{problems:?}");
}

fn sort(hosts: &[u32], change: impl FnOnce(&mut FrameworkSettings)) -> PatternSettings {
    let mut runs = FrameworkSettings { compute: hosts.to_vec(), replicas: 1, ..FrameworkSettings::default() };
    change(&mut runs);
    let job = TeraSortSettings { input: Bytes(1 << 30), reducers: 1, runs, ..TeraSortSettings::default() };
    PatternSettings::TeraSort(job)
}

/// Two jobs cannot give one host different disks; a message says that each has its own containers there.
#[test]
fn jobs_on_one_host_have_the_same_disks_and_containers_of_their_own() {
    let network = Network::new(4, 4, 100);
    let both = |second| [entry("a", sort(&[1, 2, 3], |_| {})), entry("b", second)];
    let problems = |second| check(&both(second), &network.shape(), &Limits::default());
    let told = |second| notes(&both(second), &network.shape(), None);
    let other = problems(sort(&[3, 4], |runs| runs.disks = 2));
    assert_eq!(other.len(), 1, "{other:?}");
    assert_eq!(other[0].path, "traffic[1].disks");
    assert!(other[0].message.starts_with("host 3 has other disks in the traffic entry `a`"), "{other:?}");
    let slower = problems(sort(&[1, 2, 3], |runs| runs.disk_rate = Rate::from_mbps(500)));
    assert_eq!(slower[0].path, "traffic[1].disk_rate");
    assert!(problems(sort(&[4, 5], |runs| runs.disks = 2)).is_empty(), "they share no host");
    assert!(problems(sort(&[3, 4], |_| {})).is_empty());
    let shared = told(sort(&[2, 3, 4], |_| {}));
    assert!(shared[0].starts_with("traffic b: 2 of its hosts run tasks of a too"), "{shared:?}");
    // Files on a host of the other job take its disks, not its containers.
    assert!(told(sort(&[4, 5], |runs| runs.data = vec![1])).is_empty());
}

#[test]
fn settings_of_jobs_that_change_nothing_are_told() {
    let network = Network::new(4, 4, 100);
    let told = |hosts: &[u32], change: fn(&mut FrameworkSettings)| {
        notes(&[entry("a", sort(hosts, change))], &network.shape(), None).concat()
    };
    let late = |runs: &mut FrameworkSettings| (runs.speculation, runs.speculation_share) = (true, Share(1.0));
    assert!(
        told(&[1, 2], late).starts_with("traffic a: no task ever gets a copy: with speculation_share = 1")
    );
    assert!(told(&[1], |runs| runs.speculation = true).contains("only one runs tasks"));
    let equal = |runs: &mut FrameworkSettings| (runs.stragglers, runs.straggler_slowdown) = (Share(0.1), 1.0);
    assert!(told(&[1, 2], equal).contains("straggler_slowdown is 1"));
    let usual = |runs: &mut FrameworkSettings| (runs.speculation, runs.stragglers) = (true, Share(0.1));
    assert_eq!(told(&[1, 2], usual), "");
}
