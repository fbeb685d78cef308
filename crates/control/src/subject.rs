//! A case of a scenario as one bottleneck with flows, the subject of all fluid commands.

use std::path;

use weft_core::settings::{Setting, Value};
use weft_core::units::did_you_mean;
use weft_core::{Bytes, LinkId, Rate, Span};
use weft_fluid::model::dcqcn::{Bottleneck, DcqcnFlow, DcqcnModel};
use weft_fluid::model::marking::Marking;
use weft_fluid::model::timely::{self, TimelyModel};
use weft_fluid::model::{Jitter, Start, dcqcn};
use weft_rate::{RateLawSettings, notification::NotificationSettings};
use weft_transport::protocols::AnyStack;
use weft_transport::{Transport, TransportSettings};

use crate::bottleneck::{self, BottleneckLink, FlowPath, MOST_FLOWS, WireSizes};
use crate::convert::{self, Unit};
use crate::{FluidOptions, range};
use weft_prepare::{Error, Prepared, prepare};

/// A case.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The labels of the case; empty if there is no sweep.
    pub(crate) label: String,
    /// The shared link.
    pub(crate) link: String,
    pub(crate) id: LinkId,
    pub(crate) unit: Unit,
    /// Payload of a full packet.
    pub(crate) payload: Bytes,
    /// Capacity in packets per second.
    pub(crate) capacity: f64,
    /// Loop delay without queueing, in seconds, including a notification's wait for its card; the longest if flows
    /// differ.
    pub(crate) delay: f64,
    /// Whether all flows have the same delay.
    pub(crate) alike: bool,
    pub(crate) groups: Vec<Start>,
    pub(crate) law: FluidLaw,
    pub(crate) jitter: Jitter,
    pub(crate) seed: u64,
    /// The simulated time of a packet run, in seconds.
    pub(crate) until: Option<f64>,
    /// What the model leaves out of the settings and the path.
    pub(crate) omitted: Vec<String>,
}

/// The law of all flows.
#[derive(Clone, Debug)]
pub(crate) enum FluidLaw {
    /// DCQCN, with each group's delay and line rate.
    Dcqcn {
        law: dcqcn::DcqcnParameters,
        marking: Marking,
        at_arrival: bool,
        /// The least rate in packets per second, and the first estimate.
        bounds: (f64, f64),
        /// How long a notification waits for its card, in seconds.
        late: f64,
        paths: Vec<(f64, f64)>,
    },
    /// TIMELY and its variants, with each group's initial estimate.
    Timely {
        settings: timely::TimelyParameters,
        estimates: Vec<f64>,
        /// The part of a measured round trip, in seconds, that is neither queueing nor subtracted.
        unsubtracted: Option<f64>,
    },
}

/// The settings of a transport that has a fluid model.
struct Sender {
    law: RateLawSettings,
    notification: NotificationSettings,
    packet: Bytes,
    payload: Bytes,
    feedback: Bytes,
    jitter: Span,
}

impl Sender {
    /// The time that a notification waits for its card; laws without notifications have none.
    fn late(&self) -> Span {
        if matches!(self.law, RateLawSettings::Dcqcn(_)) { self.notification.cnp_delay } else { Span::ZERO }
    }
}

impl Subject {
    /// All cases of a scenario.
    pub(crate) fn all(path: &path::Path, options: &FluidOptions) -> Result<Vec<Subject>, Error> {
        let cases = prepare(path, &options.set, false)?;
        let subject = |case: &Prepared| {
            let told = |cause: String| Error::BadInput(format!("{}: {cause}", path.display()));
            Subject::new(case, options).map_err(told)
        };
        let subjects = cases.iter().map(subject).collect::<Result<Vec<Subject>, Error>>()?;
        options.jitter.check(&subjects)?;
        Ok(subjects)
    }

    fn new(case: &Prepared, options: &FluidOptions) -> Result<Subject, String> {
        let sender = sender(&case.settings.transport, options.law.as_deref())?;
        let seed = case.settings.seeds[0];
        let jitter = options.jitter.of(sender.jitter).map_err(|cause| cause.to_string())?;
        let setup = case.setup(seed).map_err(|cause| cause.to_string())?;
        let mut found =
            bottleneck::find(&setup, WireSizes { data: sender.packet, feedback: sender.feedback })?;
        if let Some(delay) = &options.delay {
            let delay = range::span(delay).map_err(|cause| cause.to_string())?;
            found.paths.iter_mut().for_each(|path| path.round_trip = delay);
        }
        if let Some(flows) = options.flows {
            if !(1..=MOST_FLOWS).contains(&(flows as usize)) {
                return Err(format!("`--flows {flows}`: a fluid model has 1 to {MOST_FLOWS} flows"));
            }
            found.paths = (0..flows as usize).map(|n| found.paths[n % found.paths.len()]).collect();
        }
        let unit = Unit { packet: sender.packet };
        let groups = groups(&found, unit, &sender);
        let longest = found.paths.iter().map(|path| path.round_trip).max().unwrap_or(Span::ZERO);
        let alike = found.paths.iter().all(|path| path.round_trip == longest);
        let (law, omitted) = law(&sender, case, (unit, options.continued), (&found, &groups))?;
        Ok(Subject {
            label: case.labels.join(", "),
            link: found.name,
            id: found.id,
            payload: sender.payload,
            unit,
            capacity: unit.per_second(found.rate),
            delay: (longest + sender.late()).seconds(),
            alike,
            groups: groups.into_iter().map(|(start, _)| start).collect(),
            law,
            jitter,
            seed,
            until: case.settings.measure.until.map(Span::seconds),
            omitted,
        })
    }

    /// The number of flows.
    pub(crate) fn flows(&self) -> f64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// The bottleneck with equal DCQCN flows, for fixed points and margins; `None` for other laws.
    pub(crate) fn dcqcn(&self) -> Option<Bottleneck> {
        let FluidLaw::Dcqcn { law, marking, at_arrival: marks_at_arrival, .. } = self.law else {
            return None;
        };
        let (capacity, flows, delay) = (self.capacity, self.flows(), self.delay);
        Some(Bottleneck { capacity, flows, law, marking, delay, marks_at_arrival })
    }

    /// The minimum rate of a flow in packets per second; zero if the law has none.
    pub(crate) fn least(&self) -> f64 {
        if let FluidLaw::Dcqcn { bounds, .. } = &self.law { bounds.0 } else { 0.0 }
    }

    /// How long a notification waits for its card, in seconds; zero if the law has none.
    pub(crate) fn late(&self) -> f64 {
        if let FluidLaw::Dcqcn { late, .. } = self.law { late } else { 0.0 }
    }

    /// Whether the switch decides on marks when packets arrive.
    pub(crate) fn marks_at_arrival(&self) -> bool {
        matches!(self.law, FluidLaw::Dcqcn { at_arrival: true, .. })
    }

    /// The model over time for DCQCN.
    pub(crate) fn dcqcn_model(&self) -> Option<DcqcnModel> {
        let FluidLaw::Dcqcn { law, marking, at_arrival, bounds, paths, .. } = &self.law else { return None };
        let flow = |(start, (delay, line)): (&Start, &(f64, f64))| DcqcnFlow {
            start: *start,
            law: *law,
            delay: *delay,
            line: *line,
            least: bounds.0,
            estimate: bounds.1,
        };
        let flows = self.groups.iter().zip(paths).map(flow).collect();
        let mut model = DcqcnModel::new(self.capacity, *marking, flows);
        model.marks_at_arrival = *at_arrival;
        model.jittered(self.jitter, self.seed);
        Some(model)
    }

    /// The model over time for TIMELY and its variants.
    pub(crate) fn timely_model(&self) -> Option<TimelyModel> {
        let FluidLaw::Timely { settings, estimates, .. } = &self.law else { return None };
        let flow =
            |(start, estimate): (&Start, &f64)| timely::TimelyFlow { start: *start, estimate: *estimate };
        let mut model = TimelyModel::new(*settings, self.groups.iter().zip(estimates).map(flow).collect());
        model.jittered(self.jitter, self.seed);
        Some(model)
    }

    /// The first cell of a table row.
    pub(crate) fn title(&self) -> String {
        if self.label.is_empty() { self.counted() } else { self.label.clone() }
    }

    /// `1 flow`, `10 flows`.
    pub(crate) fn counted(&self) -> String {
        plural(self.flows())
    }

    /// The part of a round trip, in seconds, that is neither queueing nor subtracted by a law that measures round trips;
    /// `None` if the law subtracts something or measures none.
    pub(crate) fn unsubtracted(&self) -> Option<f64> {
        if let FluidLaw::Timely { unsubtracted, .. } = self.law { unsubtracted } else { None }
    }

    /// Whether every host integrates the deviation of its delay from a reference.
    pub(crate) fn integrates_at_hosts(&self) -> bool {
        let FluidLaw::Timely { settings, .. } = &self.law else { return false };
        matches!(settings.law, timely::TimelyLaw::Integrator { .. })
    }
}

/// A number of flows in words.
pub(crate) fn plural(flows: f64) -> String {
    format!("{flows} {}", if flows == 1.0 { "flow" } else { "flows" })
}

/// Groups of equal flows, in the order of each group's first flow, with the path of that flow.
fn groups(found: &BottleneckLink, unit: Unit, sender: &Sender) -> Vec<(Start, FlowPath)> {
    let listed = initial_rates(&sender.law);
    let share = sender_share(&sender.law);
    let mut groups: Vec<(Start, FlowPath)> = Vec::new();
    for (n, path) in found.paths.iter().enumerate() {
        let first = if listed.is_empty() {
            Rate((path.line.0 as f64 * share) as u64)
        } else {
            listed[n % listed.len()]
        };
        let rate = unit.per_second(Rate(first.0.min(path.line.0)));
        let start = Start { count: 1.0, at: path.start.seconds(), rate };
        let same = |(group, known): &&mut (Start, FlowPath)| group.rate == start.rate && known == path;
        match groups.iter_mut().find(same) {
            Some((group, _)) if !drawn_apart(&sender.law) => group.count += 1.0,
            _ => groups.push((start, *path)),
        }
    }
    groups
}

/// Whether every flow has a random initial state of its own.
fn drawn_apart(law: &RateLawSettings) -> bool {
    matches!(law, RateLawSettings::TimelyPi(own) if own.initial_factor > 0.0)
}

/// The share of the line rate at which a flow starts if it is alone at its host.
fn sender_share(law: &RateLawSettings) -> f64 {
    match law {
        RateLawSettings::FixedRate(_) | RateLawSettings::Dcqcn(_) | RateLawSettings::Hpcc(_) => 1.0,
        RateLawSettings::Timely(own) => own.measured.max_share,
        RateLawSettings::PatchedTimely(own) => own.measured.max_share,
        RateLawSettings::TimelyPi(own) => own.measured.max_share,
    }
}

fn initial_rates(law: &RateLawSettings) -> &[Rate] {
    match law {
        RateLawSettings::Dcqcn(own) => &own.initial_rates,
        _ => convert::measured(law).map_or(&[][..], |measured| measured.initial_rates()),
    }
}

/// The law, and notes on what its model leaves out.
fn law(
    sender: &Sender,
    case: &Prepared,
    (unit, continued): (Unit, bool),
    (found, groups): (&BottleneckLink, &[(Start, FlowPath)]),
) -> Result<(FluidLaw, Vec<String>), String> {
    if let RateLawSettings::Dcqcn(own) = &sender.law {
        let (marking, at_arrival) = convert::marking(&case.settings.switch.every.ecn, unit, continued)?;
        let law = convert::dcqcn(own, &sender.notification, unit);
        let late = sender.late().seconds();
        let bounds = (unit.per_second(own.min_rate), own.initial_alpha);
        let path =
            |(_, path): &(Start, FlowPath)| (path.round_trip.seconds() + late, unit.per_second(path.line));
        let paths = groups.iter().map(path).collect();
        let notes = convert::dcqcn_notes(own, &sender.notification);
        return Ok((FluidLaw::Dcqcn { law, marking, at_arrival, bounds, late, paths }, notes));
    }
    let measured =
        convert::measured(&sender.law).ok_or("`transport` controls no rate; there is nothing to model")?;
    let longest = found.paths.iter().max_by_key(|path| path.round_trip).copied();
    let path = longest.ok_or("no flow meets a switch")?;
    let settings = measured.settings(unit.per_second(found.rate), path, unit);
    let estimates =
        (0..groups.len() as u64).map(|flow| first_estimate(&sender.law, case.settings.seeds[0], flow));
    let (estimates, unsubtracted) = (estimates.collect(), measured.unsubtracted(path, unit));
    Ok((FluidLaw::Timely { settings, estimates, unsubtracted }, measured.notes(found)))
}

/// The initial value of a host's integrator, drawn as the packet simulation draws it.
fn first_estimate(law: &RateLawSettings, seed: u64, flow: u64) -> f64 {
    use weft_core::{Random, random::Purpose};
    match law {
        RateLawSettings::TimelyPi(own) => {
            own.initial_factor * Random::new(seed, Purpose::InitialRates, flow).unit()
        }
        _ => 0.0,
    }
}

/// Bytes of a congestion notification or of an acknowledgement on the wire: RoCE's with 16 bytes of payload.
const FEEDBACK: Bytes = Bytes(98);

/// The law of this name with its defaults, for packets of the transport's size; or the transport's law, if it has a
/// fluid model.
fn sender(transport: &TransportSettings, law: Option<&str>) -> Result<Sender, String> {
    let payload = Bytes(Transport::new(transport).mss());
    let sizes = transport.stack().sizes();
    let packet = sizes.mtu + sizes.framing;
    let (own, jitter) = match transport.stack() {
        AnyStack::Roce(pairs) => {
            (Some((pairs.law().clone(), pairs.notification().cloned())), pairs.settings().feedback_jitter)
        }
        _ => (None, Span::ZERO),
    };
    let (law, notification) = match (law, own) {
        (Some(name), _) => (named(name)?, None),
        (None, Some(own)) => own,
        (None, None) => return Err(refusal(transport)),
    };
    if WITHOUT_MODEL.contains(&law.name()) {
        return Err(refusal(transport));
    }
    let notification = notification.unwrap_or_default();
    Ok(Sender { law, notification, packet, payload, feedback: FEEDBACK, jitter })
}

/// Laws without a fluid model.
const WITHOUT_MODEL: [&str; 2] = ["none", "hpcc"];

/// Laws with a fluid model.
fn names() -> impl Iterator<Item = &'static str> {
    let all = RateLawSettings::FAMILY.members.iter().map(|member| member.name);
    all.filter(|name| !WITHOUT_MODEL.contains(name))
}

fn refusal(transport: &TransportSettings) -> String {
    format!(
        "`transport` is `{}`, which has no fluid model; `--law` takes one instead: {}",
        transport.name(),
        names().collect::<Vec<_>>().join(", ")
    )
}

/// A law with its defaults.
fn named(name: &str) -> Result<RateLawSettings, String> {
    let has_model = names().any(|known| known == name);
    let member = RateLawSettings::FAMILY.members.iter().find(|member| member.name == name && has_model);
    let member = member.ok_or_else(|| {
        let allowed = names().collect::<Vec<_>>().join(", ");
        format!("`--law {name}` is unknown{}; allowed: {allowed}", did_you_mean(name, names()))
    })?;
    Ok(RateLawSettings::from_value(&Value::Member(member.name, Box::new(member.table.defaults()))))
}
