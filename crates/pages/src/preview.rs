//! The page around an owner's preview of a burn-after-reading page: labels it as a preview and frames it.

use super::assets::{Style, style};
use super::{Rendered, safe_link};
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("preview.css");

#[derive(Debug, Clone, Copy)]
pub struct Preview<'a> {
    pub title: &'a str,
    /// The URL in the frame.
    pub frame: &'a str,
    /// Whether the frame is sandboxed.
    pub is_sandboxed: bool,
    /// The server does not know the key; the frame asks for it.
    pub is_encrypted: bool,
    /// The page in its owner's dashboard.
    pub dashboard: &'a str,
}

#[derive(Template)]
#[template(path = "preview.html")]
struct PreviewTemplate<'a> {
    style: &'static str,
    title: &'a str,
    frame: &'a str,
    is_sandboxed: bool,
    is_encrypted: bool,
    dashboard: Option<&'a str>,
}

pub fn preview(preview: &Preview<'_>) -> Rendered {
    let page = PreviewTemplate {
        style: STYLE.text,
        title: preview.title,
        frame: safe_link(preview.frame).unwrap_or("about:blank"),
        is_sandboxed: preview.is_sandboxed,
        is_encrypted: preview.is_encrypted,
        dashboard: safe_link(preview.dashboard),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::HOSTILE;
    use super::*;

    #[test]
    fn it_is_marked_and_its_frame_is_locked() {
        let page = preview(&Preview {
            title: HOSTILE,
            frame: "/p/x/_dropleaf/preview/y/",
            is_sandboxed: true,
            is_encrypted: false,
            dashboard: "http://localhost:8080/dashboard/pages/site_1",
        });
        assert!(!page.html.contains("<script"), "{}", page.html);
        assert!(page.html.contains("<strong>Preview</strong>"), "{}", page.html);
        assert!(page.html.contains(" sandbox=\"allow-scripts") && !page.html.contains("allow-same-origin"));
        assert!(page.html.contains("src=\"/p/x/_dropleaf/preview/y/\""));
    }
}
