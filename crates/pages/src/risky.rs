//! The page before a file that can run on the viewer's computer.

use super::assets::{Style, style};
use super::{Rendered, Size, safe_link};
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css", "reveal.css");

#[derive(Debug, Clone, Copy)]
pub struct RiskyFile<'a> {
    pub name: &'a str,
    pub size_bytes: u64,
    /// The link to report the page that offers it.
    pub report: &'a str,
}

#[derive(Template)]
#[template(path = "risky.html")]
struct RiskyFileTemplate<'a> {
    style: &'static str,
    name: String,
    size: Size,
    report: Option<&'a str>,
}

pub fn risky(file: &RiskyFile<'_>) -> Rendered {
    // Bidirectional control characters would make a name that ends in `pdf.exe` look like `exe.fdp`.
    let hides = |c: &char| {
        c.is_control() || matches!(u32::from(*c), 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f)
    };
    let page = RiskyFileTemplate {
        style: STYLE.text,
        name: file.name.chars().filter(|c| !hides(c)).collect(),
        size: Size(i64::try_from(file.size_bytes).unwrap_or(i64::MAX)),
        report: safe_link(file.report),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_sound;
    use super::*;

    #[test]
    fn the_page_names_the_file_and_asks_before_it_is_saved() {
        let name = "in\u{202e}fdp.<b>.exe";
        let page = risky(&RiskyFile { name, size_bytes: 2048, report: "/p/x/_dropleaf/report" });
        assert_sound(&page);
        for said in
            ["infdp.", "can run on your computer", "not verified", "Download anyway", "dropleaf-download"]
        {
            assert!(page.html.contains(said), "{said}: {}", page.html);
        }
        assert!(!page.html.contains("<b>") && !page.html.contains('\u{202e}'));
    }
}
