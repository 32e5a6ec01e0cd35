//! Evaluates the references of all files of an upload: how the files address each other, and one warning for each cause of
//! broken references.

use super::address_warnings::{AddressRequirement, AddressWarnings};
use super::examples::ReferenceExamples;
use super::resolve::{self, ReferenceTarget, ReferenceUse};
use super::script_scan::{HistoryCalls, LiteralUse};
use super::worker_paths::WorkerPaths;
use crate::paths::{INDEX, Paths};
use crate::refusal::shown_name;

#[derive(Debug)]
pub(crate) struct ReferenceReport<'f> {
    files: &'f Paths<'f>,
    /// The upload is one document without its accompanying files.
    is_document: bool,
    /// References that are loaded but not in the upload.
    missing: ReferenceExamples,
    /// The folder (base path) that the site was built for, and references into it.
    base: Option<(String, ReferenceExamples)>,
    /// Links that start with `/` and name no file.
    routes: ReferenceExamples,
    /// Links from a single-file page to the root of its host.
    root_links: ReferenceExamples,
    /// The first file that refers to another by a path that starts with `/`, and that path.
    root_example: Option<(String, String)>,
    worker_paths: WorkerPaths,
    /// A page other than the first one links to `/`.
    links_home: bool,
    history: HistoryCalls,
    /// The first page loads a script of the bundle.
    has_app_script: bool,
    has_sandboxed_frames: bool,
}

impl<'f> ReferenceReport<'f> {
    pub(crate) fn new(files: &'f Paths<'f>) -> Self {
        Self {
            files,
            is_document: false,
            missing: ReferenceExamples::default(),
            base: None,
            routes: ReferenceExamples::default(),
            root_links: ReferenceExamples::default(),
            root_example: None,
            worker_paths: WorkerPaths::default(),
            links_home: false,
            history: HistoryCalls::default(),
            has_app_script: false,
            has_sandboxed_frames: false,
        }
    }

    /// The report for a Markdown document that was uploaded on its own.
    pub(crate) fn of_document(files: &'f Paths<'f>) -> Self {
        Self { is_document: true, ..Self::new(files) }
    }

    /// Adds a reference in the file `from`.
    pub(crate) fn add(&mut self, from: &str, url: &str, used: ReferenceUse) {
        // The page is served at any path, so its references have to start with a slash.
        if is_not_found_page(from) {
            return;
        }
        let files = self.files;
        let name = files.published_as(from);
        match resolve::resolve_reference(from, url, files) {
            ReferenceTarget::Missing(path) if used == ReferenceUse::Load => self.missing.add(name, &path),
            ReferenceTarget::External | ReferenceTarget::Found | ReferenceTarget::Missing(_) => {}
            ReferenceTarget::RootFound if files.is_single() => self.root_links.add(name, url.trim()),
            ReferenceTarget::RootFound => self.root_found(from, url),
            ReferenceTarget::RootMissing(path) if self.is_below_base(&path, used) => {
                if let Some((_, examples)) = &mut self.base {
                    examples.add(name, &path);
                }
            }
            ReferenceTarget::RootMissing(path) if used == ReferenceUse::Load => self.missing.add(name, &path),
            ReferenceTarget::RootMissing(path) => self.routes.add(name, &path),
            ReferenceTarget::Home if files.is_single() => self.root_links.add(name, "/"),
            ReferenceTarget::Home => self.links_home |= from != INDEX,
        }
    }

    /// Whether a path that names no file leads into the base path that the site was built for. The first reference that would
    /// find a file without its first folder determines the base path.
    fn is_below_base(&mut self, path: &str, used: ReferenceUse) -> bool {
        let Some((folder, rest)) = path.strip_prefix('/').and_then(|path| path.split_once('/')) else {
            return false;
        };
        if let Some((base, _)) = &self.base {
            return base == folder;
        }
        let is_base = used == ReferenceUse::Load && !rest.is_empty() && self.files.answers(rest);
        if is_base {
            self.base = Some((folder.to_owned(), ReferenceExamples::default()));
        }
        is_base
    }

    /// Adds a string literal of a script. What `fetch` loads is relative to the page, which is known only for an inline
    /// script.
    pub(crate) fn add_literal(&mut self, from: &str, is_inline: bool, kind: LiteralUse, text: &str) {
        let is_checked = text.starts_with('/') || is_inline || kind == LiteralUse::Import;
        // `import "react"` names a package.
        let is_package = kind == LiteralUse::Import && !text.starts_with(['.', '/']);
        match kind {
            LiteralUse::RootPath if resolve::names_a_file(text, self.files) => self.root_found(from, text),
            LiteralUse::RootPathOutsideWorker if resolve::names_a_file(text, self.files) => {
                // An inline script does not run in a worker.
                if is_inline || !self.worker_paths.add(from, text) {
                    self.root_found(from, text);
                }
            }
            LiteralUse::Import | LiteralUse::Fetch if is_checked && !is_package => {
                self.add(from, text, ReferenceUse::Load);
            }
            LiteralUse::RootPath
            | LiteralUse::RootPathOutsideWorker
            | LiteralUse::Import
            | LiteralUse::Fetch => {}
        }
        if kind == LiteralUse::Import && !is_package {
            self.worker_paths.script_loaded(from, text, self.files);
        }
        let is_own = || {
            matches!(
                resolve::resolve_reference(from, text, self.files),
                ReferenceTarget::Found | ReferenceTarget::RootFound
            )
        };
        self.has_app_script |= from == INDEX && kind == LiteralUse::Import && !is_package && is_own();
    }

    /// Adds a script that a page loads.
    pub(crate) fn add_script(&mut self, from: &str, url: &str) {
        self.add(from, url, ReferenceUse::Load);
        self.worker_paths.script_loaded(from, url, self.files);
        let own = matches!(
            resolve::resolve_reference(from, url, self.files),
            ReferenceTarget::Found | ReferenceTarget::RootFound
        );
        self.has_app_script |= own && from == INDEX;
    }

    /// Adds a frame with an opaque origin that shows this URL.
    pub(crate) fn add_sandboxed_frame(&mut self, from: &str, url: &str) {
        let target = resolve::resolve_reference(from, url, self.files);
        self.has_sandboxed_frames |=
            matches!(target, ReferenceTarget::Found | ReferenceTarget::RootFound | ReferenceTarget::Home);
    }

    pub(crate) fn add_history(&mut self, history: HistoryCalls) {
        self.history.pushes |= history.pushes;
        self.history.replaces |= history.replaces;
    }

    fn root_found(&mut self, from: &str, url: &str) {
        if !is_not_found_page(from) {
            self.root_example.get_or_insert_with(|| (from.to_owned(), url.trim().to_owned()));
        }
    }

    /// A file that refers to another by a path that starts with `/`, and that path.
    fn root_example(&self) -> Option<&(String, String)> {
        self.root_example.as_ref().or_else(|| self.worker_paths.used())
    }

    pub(crate) fn has_root_paths(&self) -> bool {
        self.root_example().is_some() || self.links_home
    }

    pub(crate) fn history(&self) -> HistoryCalls {
        self.history
    }

    pub(crate) fn has_app_script(&self) -> bool {
        self.has_app_script
    }

    pub(crate) fn has_sandboxed_frames(&self) -> bool {
        self.has_sandboxed_frames
    }

    /// One line for each cause.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let bring_files = if !self.files.is_single() {
            "Add the missing files to the archive or correct the paths."
        } else if self.is_document {
            "Publish a .zip with the document and its files."
        } else {
            "Publish the folder as a .zip with index.html at its root, so that its files are included."
        };
        let missing = self.missing.sentence("Missing from the upload", bring_files);
        let base = self.base.as_ref().and_then(|(folder, examples)| {
            let what = format!("Built for the folder /{}/", shown_name(folder.as_bytes()));
            let cure = "Build it for / (base in Vite, Astro and VitePress, basePath in Next.js, paths.base in SvelteKit).";
            examples.sentence(&what, cure)
        });
        missing.into_iter().chain(base).collect()
    }

    /// The warnings that apply only at some addresses.
    pub(crate) fn address_warnings(&self) -> AddressWarnings {
        let root_links =
            self.root_links.listed().map(|links| format!("Links that point outside the page: {links}."));
        let cure = if self.files.is_single() {
            "Publish the pages together as a .zip or correct the links."
        } else {
            "Add the pages to the archive or correct the links."
        };
        AddressWarnings::new([
            (AddressRequirement::OwnHost, self.root_path_warning()),
            (AddressRequirement::Root, root_links),
            (AddressRequirement::Routes, self.routes.sentence("Broken links", cure)),
        ])
    }

    /// The warning for servers where pages share a host.
    fn root_path_warning(&self) -> Option<String> {
        let (from, url) = match self.root_example() {
            Some((from, url)) => (from.as_str(), url.as_str()),
            None if self.links_home => ("a page", "/"),
            None => return None,
        };
        let cure = if self.files.has_folder("_app/immutable/") {
            "In SvelteKit, keep kit.paths.relative enabled and build again."
        } else if self.files.has_folder("_next/")
            || self.files.has_folder("_astro/")
            || self.files.has("hashmap.json")
        {
            "Build it with relative paths or publish it on a server that serves pages at a domain name."
        } else if self.files.has_folder("assets/") {
            "In Vite, set base: './' and build again."
        } else {
            "Use relative paths."
        };
        Some(format!(
            "{} refers to {}. On this server, pages share one host, so paths that start with / point outside the page. {cure}",
            shown_name(from.as_bytes()),
            shown_name(url.as_bytes())
        ))
    }
}

fn is_not_found_page(path: &str) -> bool {
    matches!(path, "404.html" | "404/index.html")
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
