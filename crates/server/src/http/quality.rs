//! Parses lists with weights, as in `Accept` and `Accept-Encoding` (RFC 9110 §12.4.2). An item with an invalid weight
//! counts as unacceptable: sending something that a client may not want is the worse mistake.

/// A weight in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::http) struct Weight(u16);

impl Weight {
    /// Not acceptable.
    pub(in crate::http) const ZERO: Self = Self(0);
    pub(in crate::http) const FULL: Self = Self(1000);

    /// `0`, `0.5`, `1.000`: at most three digits after the point, and at most one.
    fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        if part.len() > 3 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = part.bytes().chain([b'0'; 3]).take(3);
        let thousandths = digits.fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
        match (whole, thousandths) {
            ("0", thousandths) => Some(Self(thousandths)),
            ("1", 0) => Some(Self::FULL),
            _ => None,
        }
    }
}

/// An item of a list: its name, without parameters, and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct Item<'a> {
    pub name: &'a str,
    pub weight: Weight,
}

/// The items of a header value. Empty ones are skipped.
pub(in crate::http) fn items(value: &str) -> impl Iterator<Item = Item<'_>> {
    split(value, b',').filter_map(|item| {
        let mut parts = split(item, b';').map(trim);
        let name = parts.next().filter(|name| !name.is_empty())?;
        let weights = parts.filter_map(|part| part.split_once('='));
        let mut weights = weights.filter(|(name, _)| trim(name).eq_ignore_ascii_case("q"));
        let weight = match weights.next() {
            Some((_, text)) => Weight::parse(trim(text)).unwrap_or(Weight::ZERO),
            None => Weight::FULL,
        };
        Some(Item { name, weight })
    })
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Splits at `sign`, but not inside quotes.
fn split(text: &str, sign: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let all = rest?;
        let (mut quoted, mut escaped) = (false, false);
        let end = all.bytes().position(|byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = quoted,
                b'"' => quoted = !quoted,
                _ => return byte == sign && !quoted,
            }
            false
        });
        let (item, more) = match end {
            Some(at) => (&all[..at], Some(&all[at + 1..])),
            None => (all, None),
        };
        rest = more;
        Some(item)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_zero_to_one_with_three_digits_at_most() {
        for (text, thousandths) in [
            ("0", 0),
            ("0.", 0),
            ("0.000", 0),
            ("0.5", 500),
            ("0.05", 50),
            ("0.001", 1),
            ("1", 1000),
            ("1.", 1000),
            ("1.000", 1000),
        ] {
            assert_eq!(Weight::parse(text), Some(Weight(thousandths)), "{text}");
        }
        for bad in
            ["", ".5", "-0", "+1", "1.001", "2", "0.0001", "0,5", "1e0", "00", "01", "0.5x", "inf", "0.+5"]
        {
            assert_eq!(Weight::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn items_have_a_name_and_a_weight() {
        let read = |value| items(value).map(|item| (item.name, item.weight.0)).collect::<Vec<_>>();
        assert_eq!(read("br, gzip;q=0.5"), [("br", 1000), ("gzip", 500)]);
        assert_eq!(read(" br ;\tQ = 0.2 ,, ;q=1, *;q=0"), [("br", 200), ("*", 0)]);
        assert_eq!(read("a;x=\"1,2;q=0\\\"\";q=0.3, b"), [("a", 300), ("b", 1000)]);
        assert_eq!(read("a;q=2, b;q=, c;q"), [("a", 0), ("b", 0), ("c", 1000)]);
        assert_eq!(read(""), []);
    }
}
