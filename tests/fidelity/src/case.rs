//! What is compared: one entry per trace.

use crate::figures::Kind;

/// A trace and the scenario that repeats it; both carry its name.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Name of trace and scenario.
    pub name: &'static str,
    /// What it is, for a heading.
    pub title: &'static str,
    /// Which figures tell of it.
    pub kind: Kind,
    /// Figures cover what happens after so many seconds, when slow start is over.
    pub from: f64,
    /// How far a figure may differ, as a share: 3 %, or 5 % where the round trip is 2 ms and the recorded hosts' timers,
    /// late by tens of microseconds, are per cents of it.
    pub band: f64,
    /// What is known to differ by more.
    pub deviations: &'static [Deviation],
}

/// A figure that differs by more than the case's band, with its explanation.
#[derive(Clone, Copy, Debug)]
pub struct Deviation {
    /// Name of the figure.
    pub figure: &'static str,
    /// By how much the simulated figure differs, as a share of the real one: least and greatest.
    pub between: (f64, f64),
    /// Why.
    pub because: &'static str,
}

/// All cases.
pub const CASES: &[Case] = &[
    Case {
        name: "A_reno_1f",
        title: "Reno, 100 Mb/s, 20 ms, a queue of one path",
        kind: Kind::SawTooth,
        from: 2.0,
        band: 0.03,
        deviations: &[],
    },
    Case {
        name: "A_cubic_1f",
        title: "CUBIC with HyStart on the same path",
        kind: Kind::SawTooth,
        from: 2.0,
        band: 0.03,
        deviations: &[],
    },
    Case {
        name: "Anohs_cubic_1f",
        title: "CUBIC without HyStart on the same path",
        kind: Kind::SawTooth,
        from: 2.0,
        band: 0.03,
        deviations: &[],
    },
    Case {
        name: "Aecn20_reno_2f",
        title: "Two Reno flows with classic ECN, marks from 20 packets on",
        kind: Kind::MarkedSawTooth,
        from: 2.0,
        band: 0.03,
        deviations: &[],
    },
    Case {
        name: "Bsmooth_reno_1f",
        title: "Reno, 100 Mb/s, 2 ms, a queue of 4 packets",
        kind: Kind::Noise,
        from: 2.0,
        band: 0.05,
        deviations: &[],
    },
    Case {
        name: "D_dctcp_2f",
        title: "Two DCTCP flows, 200 Mb/s, 2 ms, marks from 10 packets on",
        kind: Kind::MarkedNoise,
        from: 1.0,
        band: 0.05,
        deviations: &[],
    },
    Case {
        name: "H_htcp_1f",
        title: "H-TCP, 100 Mb/s, 100 ms, a queue of one path",
        kind: Kind::SawTooth,
        from: 4.0,
        band: 0.03,
        deviations: &[],
    },
];
