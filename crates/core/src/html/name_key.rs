//! Encodes short names as numbers, so that they are compared in one step instead of byte by byte.

/// The first sixteen bytes of a name as a number that sorts like the name; in lower case if `small`, for names that ignore
/// case.
#[inline]
pub(super) const fn name_key(name: &[u8], small: bool) -> u128 {
    (eight(name, 0, small) as u128) << 64 | eight(name, 8, small) as u128
}

const fn eight(name: &[u8], from: usize, small: bool) -> u64 {
    let end = if name.len() < from + 8 { name.len() } else { from + 8 };
    let mut packed = 0;
    let mut at = from;
    while at < end {
        let letter = if small { name[at].to_ascii_lowercase() } else { name[at] };
        packed |= (letter as u64) << (8 * (from + 7 - at));
        at += 1;
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_order_of_their_names() {
        let names = ["", "A", "a", "aa", "ab", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "b"];
        assert!(names.map(|name| name_key(name.as_bytes(), false)).is_sorted_by(|a, b| a < b));
        assert_eq!(name_key(b"foreignObject", true), name_key(b"FOREIGNobject", true));
        assert_ne!(name_key(b"Mu", false), name_key(b"mu", false));
    }
}
