//! Notices changes of files and folders. Editors that replace a file, new folders, and a folder that is deleted and created
//! again (as build tools do) are noticed too.

use super::folder::OWN_IGNORE_FILE;
use super::path::{PathKind, PublishPath};
use anyhow::{Context, Result};
use dropleaf_content::is_excluded;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Changes are complete when nothing happened for this long.
const QUIET: Duration = Duration::from_millis(150);
/// A folder that never becomes quiet is published after this time all the same.
const LONGEST: Duration = Duration::from_secs(2);

/// A target and the paths whose changes concern it.
#[derive(Debug)]
struct WatchedPath {
    is_folder: bool,
    path: PathBuf,
    /// Where the path leads, if it is a link.
    linked: Option<PathBuf>,
}

/// What is watched, and what happened since it was last read.
#[derive(Debug, Default)]
struct Happened {
    paths: Vec<WatchedPath>,
    /// Targets that may have changed, by their number.
    changed: BTreeSet<usize>,
    /// Folders that were created, replaced or deleted.
    replaced: BTreeSet<usize>,
}

#[derive(Debug)]
pub(super) struct Changes {
    happened: Arc<Mutex<Happened>>,
    woken: Arc<Notify>,
    watcher: RecommendedWatcher,
}

impl Changes {
    /// Starts to watch; what happens from now on is not missed.
    pub(super) fn watch(targets: &[PublishPath]) -> Result<Self> {
        let paths: Vec<WatchedPath> = targets.iter().map(WatchedPath::of).collect();
        let around: BTreeSet<PathBuf> = paths.iter().flat_map(WatchedPath::folders_around).collect();
        let folders: Vec<PathBuf> =
            paths.iter().filter(|path| path.is_folder).map(|path| path.real().to_owned()).collect();
        let happened = Arc::new(Mutex::new(Happened { paths, ..Happened::default() }));
        let woken = Arc::new(Notify::new());
        let handler = {
            let (happened, woken) = (Arc::clone(&happened), Arc::clone(&woken));
            move |event: notify::Result<Event>| {
                if locked(&happened).add(event.ok().as_ref()) {
                    woken.notify_one();
                }
            }
        };
        // A link may lead to any folder of the machine, and what it leads to is not published.
        let config = notify::Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(handler, config).context("cannot watch for changes")?;
        let mut changes = Self { happened, woken, watcher };
        // The folders around come first: watching a folder without its contents must not replace watching it with them.
        for folder in around {
            changes.add(&folder, RecursiveMode::NonRecursive)?;
        }
        for folder in folders {
            changes.add(&folder, RecursiveMode::Recursive)?;
        }
        Ok(changes)
    }

    fn add(&mut self, path: &Path, mode: RecursiveMode) -> Result<()> {
        self.watcher.watch(path, mode).with_context(|| {
            format!(
                "cannot watch {} (on Linux, fs.inotify.max_user_watches limits the number of folders)",
                path.display()
            )
        })
    }

    /// Waits for a change, and then until there is none for a moment.
    pub(super) async fn settle(&self) {
        self.woken.notified().await;
        let latest = Instant::now() + LONGEST;
        loop {
            let until = latest.min(Instant::now() + QUIET);
            if timeout_at(until, self.woken.notified()).await.is_err() || Instant::now() >= latest {
                return;
            }
        }
    }

    /// The targets that may have changed. A folder that was replaced is watched again.
    pub(super) fn take(&mut self) -> BTreeSet<usize> {
        let (changed, again) = {
            let mut happened = locked(&self.happened);
            let replaced = std::mem::take(&mut happened.replaced);
            let again: Vec<(PathBuf, PathBuf)> =
                replaced.into_iter().map(|at| happened.paths[at].find_again()).collect();
            (std::mem::take(&mut happened.changed), again)
        };
        for (before, now) in again {
            let _ = self.watcher.unwatch(&before);
            // If it does not exist now, its creation is the next event.
            let _ = self.watcher.watch(&now, RecursiveMode::Recursive);
        }
        changed
    }
}

fn locked(happened: &Mutex<Happened>) -> MutexGuard<'_, Happened> {
    happened.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WatchedPath {
    fn of(target: &PublishPath) -> Self {
        let is_folder = target.kind == PathKind::Folder;
        let mut watched = Self { is_folder, path: target.absolute.clone(), linked: None };
        watched.find_again();
        watched
    }

    fn real(&self) -> &Path {
        self.linked.as_ref().unwrap_or(&self.path)
    }

    /// Finds out where the path leads now; returns where it led before and leads now.
    fn find_again(&mut self) -> (PathBuf, PathBuf) {
        let before = self.real().to_owned();
        self.linked = self.path.canonicalize().ok().filter(|real| *real != self.path);
        (before, self.real().to_owned())
    }

    /// Where it would be noticed that the path itself is replaced.
    fn folders_around(&self) -> impl Iterator<Item = PathBuf> {
        [Some(&self.path), self.linked.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(|path| Some(path.parent()?.to_owned()))
    }

    fn is_itself(&self, path: &Path) -> bool {
        path == self.path || self.linked.as_deref() == Some(path)
    }

    /// Whether a change there can change what is published.
    fn is_changed_by(&self, path: &Path) -> bool {
        if self.is_itself(path) {
            return true;
        }
        let Ok(inside) = path.strip_prefix(self.real()) else { return false };
        let is_ignore_file =
            path.file_name().is_some_and(|name| name == ".gitignore" || name == OWN_IGNORE_FILE);
        self.is_folder && (is_ignore_file || !is_excluded(&inside.to_string_lossy()))
    }
}

impl Happened {
    /// Adds an event; `None` if events were lost. Returns whether a target may have changed.
    fn add(&mut self, event: Option<&Event>) -> bool {
        let Self { paths, changed, replaced } = self;
        let Some(event) = event.filter(|event| !event.need_rescan()) else {
            changed.extend(0..paths.len());
            replaced.extend((0..paths.len()).filter(|at| paths[*at].is_folder));
            return true;
        };
        // Reading the files is an event too, and publishing reads them.
        let is_read =
            event.kind.is_access() && event.kind != EventKind::Access(AccessKind::Close(AccessMode::Write));
        let is_metadata = matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)));
        let mut is_new = false;
        for (at, watched) in paths.iter().enumerate().filter(|_| !is_read) {
            if event.paths.iter().any(|path| watched.is_changed_by(path)) {
                changed.insert(at);
                is_new = true;
            }
            let is_whole = event.paths.iter().any(|path| watched.is_itself(path));
            if watched.is_folder && is_whole && !is_metadata {
                replaced.insert(at);
            }
        }
        is_new
    }
}

#[cfg(test)]
mod tests;
