//! How near a simulated figure is to the real one, and whether that is what is expected.

use crate::Pair;
use crate::case::{Case, Deviation};
use crate::course::Course;
use crate::figures::{Figure, figures};

/// A figure of both sides.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// What the real hosts did.
    pub real: Figure,
    /// What the simulated ones did, on average over their courses.
    pub simulated: Figure,
    /// Least and greatest value of the courses, if there are several.
    pub range: Option<(f64, f64)>,
    /// The entry that explains why they differ, if they are known to differ by more than the band.
    pub deviation: Option<&'static Deviation>,
    /// How far they may differ.
    pub band: f64,
}

/// Compares the figures of both sides.
#[must_use]
pub fn verdicts(pair: &Pair) -> Vec<Verdict> {
    compared(pair, &pair.simulated, pair.case.deviations)
}

/// The same of the experiment: what it settles is no deviation any more. Nothing without one.
#[must_use]
pub fn settled(pair: &Pair) -> Vec<Verdict> {
    if pair.experiment.is_empty() { Vec::new() } else { compared(pair, &pair.experiment, &[]) }
}

/// What an experiment is said to settle and does not.
#[must_use]
pub fn unsettled(pair: &Pair) -> Vec<&'static str> {
    let said = pair.case.experiment.map_or(&[][..], |experiment| experiment.settles);
    let verdicts = settled(pair);
    let holds = |name: &str| verdicts.iter().any(|verdict| verdict.real.name == name && verdict.holds());
    said.iter().copied().filter(|name| !holds(name)).collect()
}

fn compared(pair: &Pair, simulated: &[Course], deviations: &'static [Deviation]) -> Vec<Verdict> {
    let Case { kind, from, band, .. } = *pair.case;
    let of = |course| figures(course, kind, from);
    let courses: Vec<Vec<Figure>> = simulated.iter().map(of).collect();
    let values = |place: usize| courses.iter().map(move |figures| figures[place].value);
    let mean = |place| values(place).sum::<f64>() / courses.len() as f64;
    let range = |place| (values(place).fold(f64::MAX, f64::min), values(place).fold(f64::MIN, f64::max));
    let real = of(&pair.real).into_iter().enumerate();
    real.map(|(place, real)| Verdict {
        real,
        simulated: Figure { value: mean(place), ..real },
        range: (courses.len() > 1).then(|| range(place)),
        deviation: deviations.iter().find(|deviation| deviation.figure == real.name),
        band,
    })
    .collect()
}

impl Verdict {
    /// By how much the simulated figure exceeds the real one, as a share of it.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.simulated.value / self.real.value - 1.0
    }

    /// The difference lies in the band, or, of a known deviation, where it is known to be and outside the band: a
    /// deviation that is gone has to be taken off the list.
    #[must_use]
    pub fn holds(&self) -> bool {
        let difference = self.difference();
        let near = difference.abs() <= self.band;
        match self.deviation {
            None => near,
            Some(Deviation { between: (least, greatest), .. }) => {
                !near && (*least..=*greatest).contains(&difference)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(simulated: f64, deviation: Option<&'static Deviation>) -> Verdict {
        let figure = |value| Figure { name: "drops", unit: "", value };
        Verdict { real: figure(100.0), simulated: figure(simulated), range: None, deviation, band: 0.03 }
    }

    #[test]
    fn a_figure_lies_in_the_band_or_where_it_is_known_to_be() {
        static KNOWN: Deviation =
            Deviation { figure: "drops", between: (0.02, 0.10), because: "the world is round" };
        for (simulated, deviation, holds) in [
            (102.9, None, true),
            (96.9, None, false),
            (107.0, Some(&KNOWN), true),
            (111.0, Some(&KNOWN), false),
            (102.5, Some(&KNOWN), false),
        ] {
            assert_eq!(verdict(simulated, deviation).holds(), holds, "{simulated}");
        }
    }
}
