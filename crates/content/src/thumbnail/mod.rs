//! Draws a thumbnail of a page for its owner's list, from the outline of the stored document: headings, text,
//! lists, tables and images. Nothing of the page runs, and none of its markup gets into the drawing.

mod draw;
mod outline;

pub use draw::{blank, of_kind};

/// Draws an HTML document, or the beginning of a long one. With more than one file, the number is shown.
pub fn of_html(bytes: &[u8], files: usize) -> String {
    draw::of_outline(&outline::read(bytes), files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a drawing contains nothing but plain shapes.
    fn assert_sound(svg: &str) {
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{svg}");
        assert!(svg.ends_with("</svg>"), "{svg}");
        for tag in svg.split('<').skip(1) {
            let name = tag.trim_start_matches('/').split([' ', '>', '/']).next().unwrap_or_default();
            assert!(["svg", "style", "rect", "text", "path", "circle", "g"].contains(&name), "<{tag}");
        }
        assert!(!svg.contains("href") && !svg.contains("url(") && !svg.contains(" on"), "{svg}");
    }

    #[test]
    fn a_page_is_drawn_by_its_outline() {
        let page = "<!doctype html><title>T</title><h1>Orchard &amp; report</h1><p>One two three four.</p>\
                    <ul><li>a<li>b</ul><img src=x.png><table><tr><td>1<td>2<tr><td>3</table><pre>code</pre>";
        let svg = of_html(page.as_bytes(), 1);
        assert_sound(&svg);
        assert!(svg.contains(">Orchard &amp; report</text>"), "{svg}");
        assert_ne!(svg, of_html(b"<h1>Orchard &amp; report</h1>", 1));
        let archive = of_html(page.as_bytes(), 12);
        assert_sound(&archive);
        assert!(archive.contains(">12 files</text>") && !svg.contains("files"), "{archive}");
    }

    #[test]
    fn a_long_heading_ends_with_a_whole_word() {
        let svg = of_html(b"<h1>Quarterly report of the orchard and the cellar</h1>", 1);
        assert!(svg.contains(">Quarterly report of the…</text>"), "{svg}");
    }

    #[test]
    fn hostile_pages_become_harmless_drawings() {
        let deep = "<div>".repeat(100_000);
        let giant = format!("<h1 title=\"{}\">x</h1>", "y".repeat(6 << 20));
        for page in [
            "",
            "<h1>\"'><script>alert(1)</script></text><image href=x onerror=y></h1>",
            "<h1>&lt;script&gt;alert(1)&lt;/script&gt;]]>\u{0}\u{b}\u{fffe}</h1>",
            "<h1>\u{202e}backwards</h1><svg onload=alert(1)><style>*{x:url(//a)}</style></svg>",
            &deep,
            &giant,
        ] {
            assert_sound(&of_html(page.as_bytes(), 1));
        }
        assert_sound(&of_html(b"\xff\xfe<\0h\x001\0>\0", 1));
        assert_sound(&of_html(b"<h1>caf\xe9</h1>", 1));
    }

    #[test]
    fn what_is_no_document_has_a_drawing_of_its_own() {
        let kinds = ["pdf", "e2e", "file", "zip", "markdown", "html", "other"];
        let mut drawings: Vec<String> = kinds.iter().map(|kind| of_kind(kind)).chain([blank()]).collect();
        for svg in &drawings {
            assert_sound(svg);
        }
        drawings.dedup();
        assert!(drawings.len() >= 5);
    }
}
