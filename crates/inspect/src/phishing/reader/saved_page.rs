//! Finds the comments that tools leave in pages they save from other sites.

/// The URL a comment says the page was saved from, empty if it names none; `None` if it is no such comment.
pub(crate) fn saved_from_url(remark: &str) -> Option<String> {
    let head: String = remark.chars().take(400).collect::<String>().to_ascii_lowercase();
    let known = [
        "saved from url",
        "mirrored from",
        "httrack",
        "page saved with singlefile",
        "singlefile",
        "webcopy",
        "saved by webpage",
        "added by httrack",
        "archived on",
        "file archived",
        "downloaded with",
    ];
    known.iter().any(|mark| head.contains(mark)).then(|| address_in(&head))
}

fn address_in(text: &str) -> String {
    let from = ["https://", "http://"].iter().filter_map(|scheme| text.find(scheme)).min();
    if let Some(from) = from {
        return text[from..]
            .split(|c: char| c.is_whitespace() || c == '"')
            .next()
            .unwrap_or_default()
            .to_owned();
    }
    // `Mirrored from www.site.org/path by HTTrack`
    let named =
        text.split_once("mirrored from ").map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default());
    named.filter(|host| host.contains('.')).map(|host| format!("https://{host}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_by_their_remarks() {
        assert_eq!(
            saved_from_url(" saved from url=(0026)https://www.site.test/login ").as_deref(),
            Some("https://www.site.test/login")
        );
        assert_eq!(
            saved_from_url(" Mirrored from www.site.test/a by HTTrack ").as_deref(),
            Some("https://www.site.test/a")
        );
        assert_eq!(
            saved_from_url(" Page saved with SingleFile \n url: https://a.test/ \n").as_deref(),
            Some("https://a.test/")
        );
        assert_eq!(saved_from_url(" saved from url=(0014)about:internet ").as_deref(), Some(""));
        assert_eq!(saved_from_url(" the header "), None);
    }
}
