//! Forms of the same work, measured in turn (A B A B …), so that whatever else the machine does meets all of them alike. A
//! comparison is the median of the ratios of neighbouring passes; where the machine is too busy, there is none.

use crate::crew::{Crew, TimedPass};

/// The least share of its time that a worker has a core in a pass that counts.
const HAS_ITS_CORE: f64 = 0.95;
/// The most by which the medians of both halves of the rounds may differ, as a factor; for large effects it is a tenth of the effect,
/// both as logarithms.
const AGREEMENT: f64 = 1.1;

/// Passes by round, then by form.
pub(super) struct Rounds(Vec<Vec<TimedPass>>);

impl Rounds {
    /// Measures forms of work in turn.
    pub(super) fn measure(crews: &mut [Crew], rounds: usize) -> Rounds {
        Rounds((0..rounds).map(|_| crews.iter_mut().map(Crew::pass).collect()).collect())
    }

    /// How many times as fast one form is as another.
    ///
    /// # Errors
    /// The cores are busy with other work.
    pub(super) fn ratio(&self, form: usize, base: usize) -> Result<f64, String> {
        let pair = |round: &Vec<TimedPass>| {
            let (form, base) = (round[form], round[base]);
            (form.share.min(base.share) >= HAS_ITS_CORE).then_some(form.mpps / base.mpps)
        };
        let ratios: Vec<f64> = self.0.iter().filter_map(pair).collect();
        let (counted, all) = (ratios.len(), self.0.len());
        if counted < all.div_ceil(2).max(2) {
            return Err(format!(
                "the cores are busy: in {} of {all} passes a thread waited for one",
                all - counted
            ));
        }
        let (earlier, later) = ratios.split_at(counted / 2);
        let (earlier, later) = (median(earlier), median(later));
        let whole = median(&ratios);
        if (earlier / later).ln().abs() > AGREEMENT.ln().max(whole.ln().abs() / 10.0) {
            return Err(format!(
                "the cores are busy: the ratio is {earlier:.3} in one half of the passes and {later:.3} in the other"
            ));
        }
        Ok(whole)
    }
}

/// The median; of an even number of values, the mean of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
    f64::midpoint(at(values.len().saturating_sub(1) / 2), at(values.len() / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of two forms, the second with rate 1, from the rate and the share of the first.
    fn rounds(first: &[(f64, f64)]) -> Rounds {
        let pass = |mpps, share| TimedPass { mpps, share };
        Rounds(first.iter().map(|(mpps, share)| vec![pass(*mpps, *share), pass(1.0, 1.0)]).collect())
    }

    #[test]
    fn a_ratio_is_the_median_of_the_passes_that_had_their_cores() {
        let quiet = [(2.0, 1.0), (2.1, 1.0), (9.0, 0.5), (2.0, 0.96), (50.0, 1.0), (2.05, 1.0)];
        assert_eq!(rounds(&quiet).ratio(0, 1), Ok(2.05));
        assert_eq!(rounds(&quiet).ratio(1, 0), Ok(1.0 / 2.05));
    }

    #[test]
    fn busy_cores_give_no_ratio() {
        let starved = [(2.0, 0.6), (2.0, 0.7), (2.0, 1.0), (2.0, 0.9)];
        let told = rounds(&starved).ratio(0, 1).unwrap_err();
        assert_eq!(told, "the cores are busy: in 3 of 4 passes a thread waited for one");
        let drifting = [(2.0, 1.0), (2.0, 1.0), (2.3, 1.0), (2.3, 1.0)];
        let told = rounds(&drifting).ratio(0, 1).unwrap_err();
        let words = "the cores are busy: the ratio is 2.000 in one half of the passes and 2.300 in the other";
        assert_eq!(told, words);
        assert!(rounds(&[(2.0, 1.0)]).ratio(0, 1).is_err(), "one pass agrees with nothing");
        let large = [(100.0, 1.0), (100.0, 1.0), (130.0, 1.0), (130.0, 1.0)];
        assert_eq!(rounds(&large).ratio(0, 1), Ok(115.0), "the halves differ by little beside the effect");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(
            [median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0]), median(&[5.0])],
            [2.0, 2.5, 5.0]
        );
    }
}
