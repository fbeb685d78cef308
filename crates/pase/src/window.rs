//! The window of a PASE flow, in packets: DCTCP (Alizadeh et al., SIGCOMM 2010) from the size that a grant sets. Must not
//! depend on packets or time.

/// The window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaseWindow {
    size: f64,
    threshold: f64,
    most: f64,
    gain: f64,
    /// The share of marked packets.
    alpha: f64,
    /// Answers, and marked ones, in this window of data, which ends with the answer to packet `end`.
    answers: u64,
    marked: u64,
    end: u64,
    /// What has cut it in this window of data.
    cut: WindowCut,
}

/// What has cut a window.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WindowCut {
    Nothing,
    /// A mark; the window's size before.
    Mark(f64),
    Loss,
}

impl PaseWindow {
    pub(crate) fn new(size: f64, most: f64, gain: f64) -> PaseWindow {
        PaseWindow {
            size: size.min(most),
            threshold: f64::MAX,
            most,
            gain,
            alpha: 1.0,
            answers: 0,
            marked: 0,
            end: 0,
            cut: WindowCut::Nothing,
        }
    }

    /// Whole packets; at least one.
    pub(crate) fn packets(&self) -> u64 {
        self.size.max(1.0) as u64
    }

    pub(crate) fn threshold(&self) -> u64 {
        self.threshold.min(1e15) as u64
    }

    /// Sets the size by a grant; from there the window grows by a packet per round trip.
    pub(crate) fn set(&mut self, size: f64) {
        self.size = size.clamp(1.0, self.most);
        self.threshold = self.size;
    }

    /// Reacts to the loss of everything in flight.
    pub(crate) fn collapse(&mut self) {
        self.threshold = (self.size / 2.0).max(2.0);
        self.size = 1.0;
    }

    /// Reacts to some lost packets: at most once per window of data. If a mark has cut it there, both together take half.
    pub(crate) fn halve(&mut self) {
        let before = match self.cut {
            WindowCut::Nothing => self.size,
            WindowCut::Mark(before) => before,
            WindowCut::Loss => return,
        };
        self.cut = WindowCut::Loss;
        self.lower(self.size.min(before / 2.0));
    }

    fn lower(&mut self, size: f64) {
        self.size = size.max(1.0);
        self.threshold = self.size.max(2.0);
    }

    /// Called when payload was answered: `missing` is the first packet not answered, `next` the first never sent.
    pub(crate) fn answered(&mut self, marked: bool, (missing, next): (u64, u64)) {
        self.answers += 1;
        self.marked += u64::from(marked);
        if missing > self.end {
            let share = self.marked as f64 / self.answers as f64;
            self.alpha += self.gain * (share - self.alpha);
            (self.answers, self.marked, self.end, self.cut) = (0, 0, next, WindowCut::Nothing);
        }
        if marked && self.cut == WindowCut::Nothing {
            self.cut = WindowCut::Mark(self.size);
            self.lower(self.size * (1.0 - self.alpha / 2.0));
        } else if !marked {
            self.size += if self.size < self.threshold { 1.0 } else { 1.0 / self.size };
            self.size = self.size.min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_marks_it_doubles_up_to_the_threshold_then_adds_a_packet() {
        let mut window = PaseWindow::new(10.0, 1000.0, 1.0 / 16.0);
        (0..10).for_each(|n| window.answered(false, (n, 20)));
        assert_eq!(window.packets(), 20);
        window.set(5.0);
        (0..5).for_each(|n| window.answered(false, (10 + n, 30)));
        assert_eq!(window.packets(), 5, "almost 6");
        window.answered(false, (16, 30));
        assert_eq!(window.packets(), 6);
    }

    /// Alpha forgets its start, 15/16 per window, and a window is cut by half of it once.
    #[test]
    fn marks_cut_it_once_per_window_by_half_of_alpha() {
        let mut window = PaseWindow::new(100.0, 1000.0, 1.0 / 16.0);
        (1..=20).for_each(|n| window.answered(false, (n, n)));
        let before = window.size;
        [21, 21, 21].into_iter().for_each(|missing| window.answered(true, (missing, 100)));
        let alpha = window.alpha;
        assert!(alpha < 0.5 && (window.size - before * (1.0 - alpha / 2.0)).abs() < 1e-9, "{window:?}");
    }

    /// A mark that cuts next to nothing excuses no loss, and a loss after one that halves cuts no more.
    #[test]
    fn a_mark_and_a_loss_in_one_window_take_half_together() {
        for alpha in [0.0, 0.5, 1.0] {
            let mut window = PaseWindow::new(100.0, 1000.0, 1.0 / 16.0);
            window.answered(false, (1, 50));
            window.alpha = alpha;
            window.answered(true, (2, 60));
            assert!((window.size - 101.0 * (1.0 - alpha / 2.0)).abs() < 1e-9, "{window:?}");
            (0..2).for_each(|_| window.halve());
            assert_eq!(window.size, 50.5, "{alpha}");
        }
    }
}
