//! References in a rendered page: to files beside it, and to the pictures it shows.

use dropleaf_core::html::character_references::{Context, decode};

use super::direction::tag_len;
use crate::references::attributes::srcset_urls;

/// The values of an attribute (`href`) in tags of one name (`a`), with their offsets. Works on HTML generated here.
pub(super) fn values<'h>(html: &'h str, name: &str, attribute: &str) -> Vec<(usize, &'h str)> {
    let (opening, attribute) = (format!("<{name} "), format!(" {attribute}=\""));
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(tag_at) = html[at..].find(&opening).map(|found| at + found) {
        let Some(len) = tag_len(&html[tag_at..]) else { break };
        let tag = &html[tag_at..tag_at + len];
        if let Some(value_at) = tag.find(&attribute).map(|found| found + attribute.len())
            && let Some(value_len) = tag[value_at..].find('"')
        {
            found.push((tag_at + value_at, &tag[value_at..value_at + value_len]));
        }
        at = tag_at + len;
    }
    found
}

/// The relative reference from a page to a path from the root, encoded for an attribute.
pub(super) fn relative(page: &str, target: &str) -> String {
    let up = "../".repeat(page.matches('/').count());
    let encoded: String = target
        .chars()
        .map(|c| match c {
            '%' => "%25".to_owned(),
            '?' => "%3F".to_owned(),
            '#' => "%23".to_owned(),
            ':' => "%3A".to_owned(),
            ' ' => "%20".to_owned(),
            '"' => "%22".to_owned(),
            '<' => "%3C".to_owned(),
            '>' => "%3E".to_owned(),
            '&' => "&amp;".to_owned(),
            c => c.to_string(),
        })
        .collect();
    up + &encoded
}

/// Calls `found` with every URL from which a page loads a picture. Works on HTML generated here.
pub(crate) fn for_each_picture(html: &str, mut found: impl FnMut(&str)) {
    for (_, url) in values(html, "img", "src") {
        found(&decode(url, Context::Attribute));
    }
    for name in ["img", "source"] {
        for (_, set) in values(html, name, "srcset") {
            srcset_urls(&decode(set, Context::Attribute)).for_each(&mut found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_up_from_the_folder_of_the_page() {
        assert_eq!(relative("docs/a.md", "x/b c#.html"), "../x/b%20c%23.html");
        assert_eq!(relative("a.md", "b.html"), "b.html");
    }

    #[test]
    fn values_are_found_where_they_stand() {
        let html = "<p><a class=\"x\" href=\"b.md\">c</a><img src=\"d.png\" alt=\"<\"><abbr href=\"no\">";
        assert_eq!(values(html, "a", "href"), [(22, "b.md")]);
        assert_eq!(values(html, "img", "src"), [(html.find("d.png").unwrap(), "d.png")]);
    }

    #[test]
    fn pictures_are_found_in_every_form() {
        let html = "<p><img alt=\"x\" src=\"a&amp;b.png\" srcset=\"c.png 1x, /d.png 2x\">\
                    <picture><source media=\"print\" srcset=\"e.png\"><img src=\"f.png\"></picture>";
        let mut found = Vec::new();
        for_each_picture(html, |url| found.push(url.to_owned()));
        assert_eq!(found, ["a&b.png", "f.png", "c.png", "/d.png", "e.png"]);
    }
}
