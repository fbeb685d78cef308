//! Lists that may become long gain an eighth when they are full, because doubling would leave up to half of them unused. The
//! operating system moves large blocks without copying them.

/// A list of at least this many bytes grows sparingly; a shorter one doubles.
const LARGE: usize = 4 << 20;

/// Appends an item to a list that may become long.
pub fn push_sparingly<T>(list: &mut Vec<T>, item: T) {
    let full = list.len() == list.capacity();
    if full && size_of_val(&list[..]) >= LARGE {
        list.reserve_exact(list.len() / 8);
    }
    list.push(item);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_has_little_room_to_spare() {
        let mut list = Vec::new();
        (0..3_000_000_u64).for_each(|n| push_sparingly(&mut list, n));
        assert!(list.iter().copied().eq(0..3_000_000));
        assert!(list.capacity() < 3_000_000 * 9 / 8, "{}", list.capacity());
    }
}
