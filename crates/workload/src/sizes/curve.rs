//! An empirical distribution function given by points. Must not depend on the file system.
//!
//! Rules: between two points sizes are uniform (linear interpolation in size); a repeated size is an atom; a repeated
//! share is a gap without flows; a first share above 0 is an atom at the first size.

/// Points (size in bytes, share of flows not larger), both ascending, the last share 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    /// The number of points below each `n / STEPS`, from which a search starts.
    below: Vec<u32>,
}

/// Equal steps of the share whose points are known.
const STEPS: u16 = 256;

/// Maximum number of mistakes reported per file.
const MOST_MISTAKES: usize = 10;

/// Problems with points; `word` and `numbers` give the position of each.
fn mistakes(points: &[(f64, f64)], (word, numbers): (&str, &[usize])) -> Vec<String> {
    let is_in_range =
        |&(size, share): &(f64, f64)| (0.0..=1e15).contains(&size) && (0.0..=1.0).contains(&share);
    let mut found = Vec::new();
    for (at, (point, number)) in points.iter().zip(numbers).enumerate() {
        let before = at.checked_sub(1).map(|before| points[before]);
        if !is_in_range(point) {
            found
                .push(format!("{word} {number}: needs a size from 0 to 10^15 bytes and a share from 0 to 1"));
        } else if before.is_some_and(|(size, share)| point.0 < size || point.1 < share) {
            found.push(format!("{word} {number}: sizes and shares must not decrease"));
        }
    }
    match points.last() {
        _ if !found.is_empty() => {}
        None => found.push("there are no points".to_owned()),
        Some((_, share)) if *share != 1.0 => found.push(format!("the last share is {share}; it must be 1")),
        Some((0.0, _)) => found.push("the largest size is 0; a flow must have at least one byte".to_owned()),
        Some(_) => {}
    }
    found
}

impl Curve {
    /// A distribution through these points.
    ///
    /// # Errors
    /// All mistakes, each with the number of its point from 1.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Curve, String> {
        let numbers: Vec<usize> = (1..=points.len()).collect();
        match mistakes(&points, ("point", &numbers)).as_slice() {
            [] => Ok(Curve::through(points)),
            found => Err(found.join("; ")),
        }
    }

    fn through(points: Vec<(f64, f64)>) -> Curve {
        let below = |step: u16| {
            let share = f64::from(step) / f64::from(STEPS);
            points.partition_point(|point| point.1 < share) as u32
        };
        Curve { below: (0..=STEPS).map(below).collect(), points }
    }

    /// Reads lines with a size in bytes and a share, separated by a comma or spaces. Lines that start with `#` or a
    /// letter (a table header) and empty lines are skipped.
    ///
    /// # Errors
    /// All mistakes, each with its line.
    pub fn read(text: &str) -> Result<Curve, String> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let rows = lines.filter(|(_, line)| {
            !line.is_empty() && !line.starts_with(|c: char| c == '#' || c.is_alphabetic())
        });
        let (mut points, mut numbers, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for (number, line) in rows {
            match point(line) {
                Some(point) => {
                    points.push(point);
                    numbers.push(number);
                }
                None => found.push(format!(
                    "line {number}: found `{line}`; allowed: a size in bytes and a share, such as 1460,0.5"
                )),
            }
        }
        if found.is_empty() {
            found = mistakes(&points, ("line", &numbers));
        }
        let others = found.len().saturating_sub(MOST_MISTAKES);
        found.truncate(MOST_MISTAKES);
        if others > 0 {
            found.push(format!("{others} more lines like these"));
        }
        if found.is_empty() { Ok(Curve::through(points)) } else { Err(found.join("; ")) }
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The size at a share: the first point not below it, interpolated from the previous point.
    #[must_use]
    pub fn at(&self, share: f64) -> f64 {
        let above = self.first_not_below(share).min(self.points.len() - 1);
        let (size, high) = self.points[above];
        match above.checked_sub(1).map(|below| self.points[below]) {
            Some((least, low)) if high > low => least + (size - least) * ((share - low) / (high - low)),
            _ => size,
        }
    }

    fn first_not_below(&self, share: f64) -> usize {
        let step = (share * f64::from(STEPS)).clamp(0.0, f64::from(STEPS));
        let from = self.below[step as usize] as usize;
        from + self.points[from..].iter().take_while(|point| point.1 < share).count()
    }

    /// The mean in bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.expectation(|least, most| (least + most) / 2.0)
    }

    /// The mean of the smaller of a size and `limit`, in bytes.
    #[must_use]
    pub fn mean_up_to(&self, limit: f64) -> f64 {
        self.expectation(|least, most| {
            let turn = limit.clamp(least, most);
            match most > least {
                true => {
                    ((turn * turn - least * least) / 2.0 + limit.min(turn) * (most - turn)) / (most - least)
                }
                false => least.min(limit),
            }
            .min(limit)
        })
    }

    /// The mean number of packets with at most `packet` bytes of payload; at least one per flow.
    #[must_use]
    pub fn mean_packets(&self, packet: f64) -> f64 {
        // integral of ceil(s / packet) from 0 to s
        let area = |s: f64| {
            let full = (s / packet).floor();
            packet * full * (full + 1.0) / 2.0 + (full + 1.0) * (s - full * packet)
        };
        self.expectation(|least, most| match most > least {
            true => (area(most) - area(least)) / (most - least),
            false => (most / packet).ceil().max(1.0),
        })
    }

    /// Weights the mean over each piece (from smallest to largest size) by its share.
    fn expectation(&self, piece: impl Fn(f64, f64) -> f64) -> f64 {
        let (first, atom) = self.points[0];
        let pieces = self.points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * piece(pair[0].0, pair[1].0));
        atom * piece(first, first) + pieces.sum::<f64>()
    }
}

fn point(line: &str) -> Option<(f64, f64)> {
    let mut words = line.split([',', ' ', '\t', ';']).filter(|word| !word.is_empty());
    let point = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some(point)
}
