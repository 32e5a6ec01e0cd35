//! How the files of a bundle refer to each other, as far as the server needs it to answer their requests.

use super::report::ReferenceReport;
use crate::paths::{INDEX, Paths};

/// What a bundle expects of the address where it is served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Addressing {
    /// The files refer to each other by paths that start with `/`.
    pub root_paths: bool,
    /// Scripts read and change the path in the address bar, so the page must be served at the root of its host.
    pub client_routes: bool,
    /// A navigation to a path that names no file is answered with `index.html`.
    pub spa: bool,
    /// A sandboxed frame shows a file of the bundle. Its origin is opaque, so the browser sends no cookie with what it loads.
    pub sandboxed_frames: bool,
}

impl Addressing {
    /// Overrides the detected value with the publisher's setting. A router reads the path in the address bar, so such a page
    /// is served at the root of its host.
    pub fn choose_spa(&mut self, spa: bool) {
        self.spa = spa;
        self.client_routes |= spa;
    }

    /// `is_fallback` tells whether a page beside `index.html` is a copy of it, which hosts without a fallback setting need.
    pub(crate) fn detect(
        report: &ReferenceReport<'_>,
        files: &Paths<'_>,
        is_fallback: impl Fn(&str) -> bool,
    ) -> Self {
        let history = report.history();
        let root_paths = report.has_root_paths();
        let one_page = files.has(INDEX)
            && files.pages().all(|page| match page {
                INDEX | "200.html" => true,
                "404.html" => is_fallback(page),
                _ => false,
            });
        // Routers push history entries; slides and reports only replace theirs.
        let spa = one_page && report.has_app_script() && history.pushes;
        let client_routes = (root_paths || spa) && (history.pushes || history.replaces);
        Self { root_paths, client_routes, spa, sandboxed_frames: report.has_sandboxed_frames() }
    }
}
