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

    pub(super) fn push(&mut self, row: &[u64]) {
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
            entry.0 = self.row(entry.1 as usize)[column];
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

/// Sorts by the words, the least significant byte first; bytes in which all words agree are skipped.
fn by_digits<'a>(mut entries: &'a mut [Entry], mut spare: &'a mut [Entry]) {
    let digit = |word: u64, byte: usize| usize::from(word.to_le_bytes()[byte]);
    let mut counts = [[0u32; 256]; 8];
    for (word, _) in entries.iter() {
        for (byte, counts) in counts.iter_mut().enumerate() {
            counts[digit(*word, byte)] += 1;
        }
    }
    let mut is_elsewhere = false;
    for (byte, counts) in counts.iter_mut().enumerate() {
        if counts[digit(entries[0].0, byte)] as usize == entries.len() {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for entry in entries.iter() {
            let place = &mut counts[digit(entry.0, byte)];
            spare[*place as usize] = *entry;
            *place += 1;
        }
        std::mem::swap(&mut entries, &mut spare);
        is_elsewhere = !is_elsewhere;
    }
    if is_elsewhere {
        spare.copy_from_slice(entries);
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
