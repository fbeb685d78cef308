//! Rows in memory, and their order. Must not depend on files.

/// Minimum number of rows for which a radix sort takes fewer instructions than a comparison sort.
const MANY: usize = 256;

/// Rows of the same number of words, one after the other.
pub struct Rows {
    words: Vec<u64>,
    width: usize,
}

/// A row by its index, and the word by which it is being sorted.
type Entry = (u64, u32);

impl Rows {
    pub(super) fn of_width(width: usize) -> Rows {
        Rows { words: Vec::new(), width }
    }

    /// Adds a row of known width, so that no call copies it.
    #[inline]
    pub(super) fn push<const N: usize>(&mut self, row: &[u64; N]) {
        self.words.extend_from_slice(row);
    }

    pub(super) fn len(&self) -> usize {
        self.words.len() / self.width
    }

    pub(super) fn row(&self, place: usize) -> &[u64] {
        &self.words[place * self.width..][..self.width]
    }

    /// The indices of the rows in ascending order of the rows.
    pub(super) fn order(&self) -> Vec<u32> {
        let count = u32::try_from(self.len()).expect("a sorter spills its rows before there are 2^32");
        let mut entries: Vec<Entry> = (0..count).map(|place| (0, place)).collect();
        let mut spare = vec![(0, 0); entries.len()];
        self.sort(&mut entries, &mut spare, 0);
        entries.into_iter().map(|(_, place)| place).collect()
    }

    /// Takes the rows, in order, as bytes.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        let order = self.order();
        let mut bytes = vec![0; 8 * self.words.len()];
        for (place, row) in order.into_iter().zip(bytes.chunks_exact_mut(8 * self.width)) {
            let words = row.as_chunks_mut().0.iter_mut().zip(self.row(place as usize));
            words.for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        }
        self.words.clear();
        bytes
    }

    /// Sorts rows that agree in all words before `column`.
    fn sort(&self, entries: &mut [Entry], spare: &mut [Entry], column: usize) {
        if column == self.width {
            return;
        }
        if entries.len() < MANY {
            let rest = |place: u32| &self.row(place as usize)[column..];
            return entries.sort_unstable_by(|a, b| rest(a.1).cmp(rest(b.1)));
        }
        for entry in entries.iter_mut() {
            entry.0 = self.words[entry.1 as usize * self.width + column];
        }
        by_digits(entries, spare);
        let mut from = 0;
        while from < entries.len() {
            let word = entries[from].0;
            let equal = entries[from..].iter().take_while(|entry| entry.0 == word).count();
            if equal > 1 {
                self.sort(&mut entries[from..from + equal], &mut spare[from..from + equal], column + 1);
            }
            from += equal;
        }
    }
}

/// Bits of a digit, and the number of its values.
const BITS: u32 = 11;
const VALUES: usize = 1 << BITS;

/// Sorts by the words: by the two highest digits in which they differ, the lower one first, then each group that agrees in these by
/// comparison.
fn by_digits(entries: &mut [Entry], spare: &mut [Entry]) {
    let Some((first, _)) = entries.first().copied() else { return };
    let differ = entries.iter().fold(0, |bits, (word, _)| bits | word ^ first);
    if differ == 0 {
        return;
    }
    // the words agree in all bits above these two digits
    let from = (u64::BITS - differ.leading_zeros()).max(2 * BITS) - 2 * BITS;
    distribute(entries, spare, from);
    distribute(spare, entries, from + BITS);
    if from > 0 {
        entries.chunk_by_mut(|a, b| a.0 >> from == b.0 >> from).for_each(|group| {
            if group.len() > 1 {
                group.sort_unstable();
            }
        });
    }
}

/// Puts entries in the order of one digit, without changing the order of those that agree in it.
fn distribute(entries: &[Entry], to: &mut [Entry], from: u32) {
    let digit = |word: u64| (word >> from) as usize % VALUES;
    let mut places = [0_u32; VALUES];
    entries.iter().for_each(|(word, _)| places[digit(*word)] += 1);
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for entry in entries {
        let place = &mut places[digit(entry.0)];
        to[*place as usize] = *entry;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few and many rows, with words that agree in most bytes, all bytes, and none.
    #[test]
    fn the_order_is_that_of_comparing_rows() {
        for count in [0, 1, 2, MANY - 1, MANY, 5_000] {
            for kinds in [1, 3, 200, u64::MAX] {
                let mut rows = Rows::of_width(3);
                let mut seed = kinds;
                let mut draw = |kinds: u64| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    seed.rotate_right(20) % kinds
                };
                (0..count).for_each(|_| rows.push(&[draw(kinds), draw(7), draw(kinds)]));
                let mut expected: Vec<_> = (0..count).map(|place| rows.row(place)).collect();
                expected.sort_unstable();
                let order: Vec<_> = rows.order().into_iter().map(|place| rows.row(place as usize)).collect();
                assert_eq!(order, expected, "{count} rows, {kinds} different words");
            }
        }
    }
}
