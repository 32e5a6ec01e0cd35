//! Reloads the operator's lists while the server runs: on SIGHUP, and when the folder has changed. A mistake in them changes
//! nothing: the current rules stay in force.

use crate::config::Config;
use anyhow::Result;
use dropleaf_app::RuleBook;
use dropleaf_inspect::phishing::{Change, OwnLists};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The state of the folder from outside: what changes about each file when it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct FolderState(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl FolderState {
    fn of(dir: &Path) -> Self {
        let entries = dir.read_dir().into_iter().flatten().flatten();
        // Follows links: the folder may be one that is replaced as a whole.
        let seen = entries.filter_map(|entry| {
            let (path, about) = (entry.path(), entry.path().metadata().ok()?);
            Some((path, about.len(), about.modified().ok()))
        });
        let mut seen: Vec<_> = seen.collect();
        seen.sort();
        Self(seen)
    }
}

/// The last known states of the folder.
#[derive(Debug, Default)]
struct FolderHistory {
    last: FolderState,
    /// Its state when the lists were last read, with or without success.
    read: Option<FolderState>,
}

#[derive(Debug)]
pub struct Lists {
    config: Config,
    rules: RuleBook,
    known: Mutex<FolderHistory>,
}

/// The result of a check of the folder.
#[derive(Debug, PartialEq, Eq)]
enum FolderCheck {
    /// Everything has already been read.
    Nothing,
    /// The files are being written.
    BeingWritten,
    Changes(Vec<Change>),
    Mistake(String),
}

impl Lists {
    pub fn new(config: &Config, rules: RuleBook) -> Arc<Self> {
        Arc::new(Self { config: config.clone(), rules, known: Mutex::default() })
    }

    fn has_any(&self) -> bool {
        !self.config.safety.lists_dir.is_empty()
    }

    /// Checks the folder periodically.
    pub async fn watch(self: Arc<Self>) {
        while self.has_any() {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let lists = Arc::clone(&self);
            match tokio::task::spawn_blocking(move || lists.check()).await {
                Ok(FolderCheck::Changes(changes)) if !changes.is_empty() => log_changes(&changes),
                Ok(FolderCheck::Mistake(why)) => log_rejected(&why),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "safety lists folder not checked"),
            }
        }
    }

    /// Reads the lists now and logs the result.
    pub async fn reload(self: &Arc<Self>) {
        if !self.has_any() {
            tracing::info!("no lists to reload: `safety.lists_dir` is not set");
            return;
        }
        let lists = Arc::clone(self);
        match tokio::task::spawn_blocking(move || lists.read()).await {
            Ok(FolderCheck::Changes(changes)) => log_changes(&changes),
            Ok(FolderCheck::Mistake(why)) => log_rejected(&why),
            Ok(FolderCheck::BeingWritten | FolderCheck::Nothing) => {
                tracing::warn!("safety lists are being written; they will be reloaded when they are stable");
            }
            Err(error) => tracing::warn!(%error, "safety lists not reloaded"),
        }
    }

    /// Reads the changes once the folder is the same in two consecutive checks: an edit of several files is complete by then.
    fn check(&self) -> FolderCheck {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = FolderState::of(Path::new(&self.config.safety.lists_dir));
        let is_still = known.last == now;
        known.last = now;
        if !is_still {
            return FolderCheck::BeingWritten;
        }
        if known.read.as_ref() == Some(&known.last) {
            return FolderCheck::Nothing;
        }
        self.read_known(&mut known)
    }

    fn read(&self) -> FolderCheck {
        self.read_known(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn read_known(&self, known: &mut FolderHistory) -> FolderCheck {
        let dir = Path::new(&self.config.safety.lists_dir);
        let before = FolderState::of(dir);
        let read = self.config.own_lists();
        if FolderState::of(dir) != before {
            known.read = None;
            return FolderCheck::BeingWritten;
        }
        known.read = Some(before);
        self.use_lists(read)
    }

    fn use_lists(&self, read: Result<Option<OwnLists>>) -> FolderCheck {
        match read {
            Ok(lists) => {
                FolderCheck::Changes(lists.map(|lists| self.rules.replace(lists)).unwrap_or_default())
            }
            Err(error) => FolderCheck::Mistake(format!("{error:#}")),
        }
    }
}

fn log_changes(changes: &[Change]) {
    if changes.is_empty() {
        tracing::info!("safety lists reloaded; no changes");
    }
    for change in changes {
        let (list, added, removed) = (change.file, change.added, change.removed);
        tracing::info!(list, added, removed, "safety list reloaded");
    }
}

fn log_rejected(why: &str) {
    tracing::error!(why, "safety lists rejected; the current rules stay in force");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};
    use tempfile::TempDir;

    fn write(dir: &TempDir, file: &str, text: &str) {
        // As careful editors do: the file is there whole or not at all.
        let temporary = dir.path().join(format!("{file}~"));
        std::fs::write(&temporary, text).unwrap();
        std::fs::rename(temporary, dir.path().join(file)).unwrap();
    }

    fn lists(dir: &TempDir) -> Arc<Lists> {
        let flags = vec![("safety.lists_dir".to_owned(), dir.path().display().to_string())];
        let config = Layers::load(&Sources { flags, ..Sources::default() }).unwrap().config().unwrap();
        let rules = config.safety().unwrap().rules;
        Lists::new(&config, rules)
    }

    fn refuses(lists: &Lists, host: &str) -> bool {
        let text = format!("<a href=\"https://{host}/\">there</a>");
        let file = dropleaf_inspect::phishing::File { path: "index.html", text: &text };
        dropleaf_inspect::phishing::check(&[file], &lists.rules.rules()).refused
    }

    #[test]
    fn changes_are_taken_over_when_the_folder_is_still() {
        let dir = TempDir::new().unwrap();
        write(&dir, "hosts.txt", "[blocked]\na.example\n");
        let lists = lists(&dir);
        assert_eq!(lists.check(), FolderCheck::BeingWritten, "it has never been looked at");
        assert_eq!((lists.check(), lists.check()), (FolderCheck::Changes(vec![]), FolderCheck::Nothing));
        write(&dir, "hosts.txt", "[blocked]\na.example\nb.example\n");
        assert_eq!(lists.check(), FolderCheck::BeingWritten);
        // The second file of the same edit.
        write(&dir, "brands.txt", "[ours]\nFernway: fernway @ fernway.example\n");
        assert_eq!(lists.check(), FolderCheck::BeingWritten);
        assert!(!refuses(&lists, "b.example"));
        let change = |file, added| Change { file, added, removed: 0 };
        assert_eq!(
            lists.check(),
            FolderCheck::Changes(vec![change("brands.txt", 1), change("hosts.txt", 1)])
        );
        assert!(refuses(&lists, "b.example"));
        assert_eq!(lists.check(), FolderCheck::Nothing);
    }

    #[test]
    fn a_mistake_is_told_once_and_changes_nothing() {
        let dir = TempDir::new().unwrap();
        write(&dir, "hosts.txt", "[blocked]\na.example\n");
        let lists = lists(&dir);
        write(&dir, "hosts.txt", "[blocked]\nb.example\n[bots]\n");
        let FolderCheck::Mistake(why) = lists.read() else { panic!("a mistake") };
        assert!(why.contains("hosts.txt, line 3: there is no kind of host named `bots`"), "{why}");
        assert_eq!((lists.check(), lists.check()), (FolderCheck::BeingWritten, FolderCheck::Nothing));
        assert!(refuses(&lists, "a.example") && !refuses(&lists, "b.example"));
        assert!(matches!(lists.read(), FolderCheck::Mistake(_)), "each reload reports it again");
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert_eq!(lists.check(), FolderCheck::BeingWritten);
        assert!(matches!(lists.check(), FolderCheck::Mistake(_)));
        assert!(refuses(&lists, "a.example"));
        std::fs::create_dir(dir.path()).unwrap();
        write(&dir, "hosts.txt", "[blocked]\nb.example\n");
        assert_eq!(
            lists.read(),
            FolderCheck::Changes(vec![Change { file: "hosts.txt", added: 1, removed: 1 }])
        );
        assert!(refuses(&lists, "b.example") && !refuses(&lists, "a.example"));
    }
}
