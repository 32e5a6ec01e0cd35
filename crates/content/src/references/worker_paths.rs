//! Paths that start with `/` and that a script uses only when it does not run in a worker. They count if a page loads the
//! script or another script imports it; scripts that are inserted at run time are not seen.

use std::collections::HashSet;

use super::resolve;
use crate::paths::Paths;

/// At most this many paths are kept.
const MOST_PATHS: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct WorkerPaths {
    /// Scripts and the paths they use outside a worker.
    outside_worker: Vec<(String, String)>,
    /// Scripts of the bundle that run in a page.
    in_page: HashSet<String>,
}

impl WorkerPaths {
    /// Returns false if there is no room for the path.
    pub(crate) fn add(&mut self, script: &str, path: &str) -> bool {
        let has_room = self.outside_worker.len() < MOST_PATHS;
        if has_room {
            self.outside_worker.push((script.to_owned(), path.to_owned()));
        }
        has_room
    }

    /// Records a script that a page loads or another script imports. Only files of the bundle are kept, which bounds their
    /// number.
    pub(crate) fn script_loaded(&mut self, from: &str, url: &str, files: &Paths<'_>) {
        if let Some((path, _)) = resolve::local_path(from, url)
            && files.has(&path)
        {
            self.in_page.insert(path);
        }
    }

    /// A script that runs in a page and uses such a path, with that path.
    pub(crate) fn used(&self) -> Option<&(String, String)> {
        self.outside_worker.iter().find(|(script, _)| self.in_page.contains(script))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_when_its_script_runs_in_a_page() {
        let files = Paths::new(["index.html", "search/worker.js"]);
        let mut paths = WorkerPaths::default();
        assert!(paths.add("search/worker.js", "/search/"));
        paths.script_loaded("index.html", "search/main.js", &files);
        assert_eq!(paths.used(), None);
        paths.script_loaded("search/main.js", "./worker.js?v=1", &files);
        assert_eq!(paths.used(), Some(&("search/worker.js".to_owned(), "/search/".to_owned())));
        assert!((0..200).any(|_| !paths.add("a.js", "/a/")), "they are bounded");
    }
}
