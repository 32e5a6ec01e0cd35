//! Finds the pictures of a rendered page.

use dropleaf_core::html::character_references::{Context, decode};

use super::links;
use crate::references::srcset;

/// Calls `found` with every URL from which a page loads a picture. Works on HTML generated here.
pub(crate) fn for_each_picture(html: &str, mut found: impl FnMut(&str)) {
    for (_, url) in links::values(html, "img", "src") {
        found(&decode(url, Context::Attribute));
    }
    for name in ["img", "source"] {
        for (_, set) in links::values(html, name, "srcset") {
            srcset::urls(&decode(set, Context::Attribute)).for_each(&mut found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_in_every_form() {
        let html = "<p><img alt=\"x\" src=\"a&amp;b.png\" srcset=\"c.png 1x, /d.png 2x\">\
                    <picture><source media=\"print\" srcset=\"e.png\"><img src=\"f.png\"></picture>";
        let mut found = Vec::new();
        for_each_picture(html, |url| found.push(url.to_owned()));
        assert_eq!(found, ["a&b.png", "f.png", "c.png", "/d.png", "e.png"]);
    }
}
