//! Reads the `srcset` of a picture: URLs with sizes.

/// The URLs of a `srcset`: each may be followed by a size, and candidates are separated by commas.
pub(crate) fn urls(set: &str) -> impl Iterator<Item = &str> {
    let mut rest = set;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let url = word.trim_end_matches(',');
        // Without a size the comma is at the end of the URL; otherwise the size extends to the next comma.
        rest =
            if url.len() < word.len() { after } else { after.split_once(',').map_or("", |(_, next)| next) };
        (!url.is_empty()).then_some(url)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn sets_of_sources_are_taken_apart() {
        let urls = |set| super::urls(set).collect::<Vec<_>>();
        assert_eq!(urls("a.png, b.png 2x,c.png 3x"), ["a.png", "b.png", "c.png"]);
        assert_eq!(urls(" a,b.png 100w , "), ["a,b.png"]);
        assert_eq!(urls(""), [""; 0]);
        assert_eq!(urls(",,,"), [""; 0]);
        assert_eq!(urls("data:image/png;base64,AA== 1x, b 2x"), ["data:image/png;base64,AA==", "b"]);
    }
}
