//! The page that decrypts an encrypted page: our script with the ciphertext in one response. The key stays in the fragment of
//! the URL, so the server never learns it.

use super::assets::{Style, style};
use super::viewer_script::ViewerScript;
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("notice.css", "viewer.css");
/// Placeholder for the ciphertext, which is not rendered but streamed in its place.
const PAYLOAD_PLACEHOLDER: &str = "@payload@";

#[derive(Debug, Clone, Copy)]
pub struct Viewer<'a> {
    /// The link to report the page.
    pub report: &'a str,
    /// The page has no account: the viewer says so.
    pub anonymous: bool,
    pub script: &'a ViewerScript,
    /// The address of the script for live updates, and the version that is shown.
    pub live: Option<(&'a str, i64)>,
    /// The stylesheet of Markdown pages, which the viewer applies to decrypted Markdown.
    pub markdown_style: &'a str,
}

/// The page before and after its payload.
#[derive(Debug, Clone)]
pub struct ViewerPage {
    pub before: String,
    pub after: String,
}

#[derive(Template)]
#[template(path = "viewer.html")]
struct ViewerTemplate<'a> {
    style: &'static str,
    markdown_style: &'a str,
    script: &'a str,
    payload: &'static str,
    report: &'a str,
    anonymous: bool,
    live: Option<(&'a str, i64)>,
}

pub fn viewer(viewer: &Viewer<'_>) -> ViewerPage {
    let page = ViewerTemplate {
        style: STYLE.text,
        markdown_style: viewer.markdown_style,
        script: &viewer.script.text,
        payload: PAYLOAD_PLACEHOLDER,
        report: viewer.report,
        anonymous: viewer.anonymous,
        live: viewer.live,
    };
    // Rendering writes into a String and cannot fail.
    let html = page.render().unwrap_or_default();
    let (before, after) = html.split_once(PAYLOAD_PLACEHOLDER).unwrap_or((&html, ""));
    ViewerPage { before: before.to_owned(), after: after.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::HOSTILE;
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    fn script() -> ViewerScript {
        ViewerScript::new("document.title = 'x';\n")
    }

    fn sample<'a>(script: &'a ViewerScript, report: &'a str, anonymous: bool) -> Viewer<'a> {
        Viewer { report, anonymous, script, live: None, markdown_style: "p { margin: 0 }" }
    }

    #[test]
    fn the_payload_lies_in_a_script_that_does_not_run() {
        let around = viewer(&sample(&script(), "/p/x/_dropleaf/report", true));
        assert!(around.before.ends_with("<script type=\"text/plain\" id=\"payload\">"), "{}", around.before);
        assert!(around.after.starts_with("</script>"));
        let html = [around.before.as_str(), &around.after].concat();
        assert!(html.contains("data-report=\"/p/x/_dropleaf/report\"") && html.contains(" data-anonymous>"));
        let (markup, _) = around.after.split_once("<script>").expect("the script");
        assert!(html.starts_with("<!doctype html>"));
        assert!(!around.before.contains("src=") && !markup.contains("src="), "everything is in one answer");
    }

    #[test]
    fn the_source_is_that_of_the_one_script_that_runs() {
        let script = script();
        let around = viewer(&sample(&script, HOSTILE, false));
        let html = [around.before.as_str(), &around.after].concat();
        assert_eq!(html.matches("<script").count(), 2, "hostile text stays text");
        let (_, rest) = html.split_once("<script>").expect("the script");
        let (text, _) = rest.split_once("</script>").expect("its end");
        assert_eq!(script.source, format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text))));
    }
}
