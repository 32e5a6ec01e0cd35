//! Reloads the operator's lists while the server runs: on SIGHUP, and when the folder has changed. A mistake in them changes
//! nothing: the current rules stay in force.

use crate::config::Config;
use anyhow::Result;
use dropleaf_app::RuleBook;
use dropleaf_inspect::phishing::{Change, OwnLists};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The state of the folder from outside: what changes about each file when it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Outside(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Outside {
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
struct Known {
    last: Outside,
    /// Its state when the lists were last read, with or without success.
    read: Option<Outside>,
}

#[derive(Debug)]
pub struct Lists {
    config: Config,
    rules: RuleBook,
    known: Mutex<Known>,
}

/// The result of a check of the folder.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// Everything has already been read.
    Nothing,
    /// The files are being written.
    Unrest,
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
            tokio::time::sleep(LOOK_EVERY).await;
            let lists = Arc::clone(&self);
            match tokio::task::spawn_blocking(move || lists.look()).await {
                Ok(Found::Changes(changes)) if !changes.is_empty() => told(&changes),
                Ok(Found::Mistake(why)) => refused(&why),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "safety lists folder not checked"),
            }
        }
    }

    /// Reads the lists now and logs the result.
    pub async fn read_anew(self: &Arc<Self>) {
        if !self.has_any() {
            tracing::info!("no lists to reload: `safety.lists_dir` is not set");
            return;
        }
        let lists = Arc::clone(self);
        match tokio::task::spawn_blocking(move || lists.read()).await {
            Ok(Found::Changes(changes)) => told(&changes),
            Ok(Found::Mistake(why)) => refused(&why),
            Ok(Found::Unrest | Found::Nothing) => {
                tracing::warn!("safety lists are being written; they will be reloaded when they are stable");
            }
            Err(error) => tracing::warn!(%error, "safety lists not reloaded"),
        }
    }

    /// Reads the changes once the folder is the same in two consecutive checks: an edit of several files is complete by then.
    fn look(&self) -> Found {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Outside::of(Path::new(&self.config.safety.lists_dir));
        let is_still = known.last == now;
        known.last = now;
        if !is_still {
            return Found::Unrest;
        }
        if known.read.as_ref() == Some(&known.last) {
            return Found::Nothing;
        }
        self.read_known(&mut known)
    }

    fn read(&self) -> Found {
        self.read_known(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn read_known(&self, known: &mut Known) -> Found {
        let dir = Path::new(&self.config.safety.lists_dir);
        let before = Outside::of(dir);
        let read = self.config.own_lists();
        if Outside::of(dir) != before {
            known.read = None;
            return Found::Unrest;
        }
        known.read = Some(before);
        self.use_lists(read)
    }

    fn use_lists(&self, read: Result<Option<OwnLists>>) -> Found {
        match read {
            Ok(lists) => Found::Changes(lists.map(|lists| self.rules.replace(lists)).unwrap_or_default()),
            Err(error) => Found::Mistake(format!("{error:#}")),
        }
    }
}

fn told(changes: &[Change]) {
    if changes.is_empty() {
        tracing::info!("safety lists reloaded; no changes");
    }
    for change in changes {
        let (list, added, removed) = (change.file, change.added, change.removed);
        tracing::info!(list, added, removed, "safety list reloaded");
    }
}

fn refused(why: &str) {
    tracing::error!(why, "safety lists rejected; the current rules stay in force");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};
    use tempfile::TempDir;

    fn write(dir: &TempDir, file: &str, text: &str) {
        // As careful editors do: the file is there whole or not at all.
        let aside = dir.path().join(format!("{file}~"));
        std::fs::write(&aside, text).unwrap();
        std::fs::rename(aside, dir.path().join(file)).unwrap();
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
        assert_eq!(lists.look(), Found::Unrest, "it has never been looked at");
        assert_eq!((lists.look(), lists.look()), (Found::Changes(vec![]), Found::Nothing));
        write(&dir, "hosts.txt", "[blocked]\na.example\nb.example\n");
        assert_eq!(lists.look(), Found::Unrest);
        // The second file of the same edit.
        write(&dir, "brands.txt", "[ours]\nFernway: fernway @ fernway.example\n");
        assert_eq!(lists.look(), Found::Unrest);
        assert!(!refuses(&lists, "b.example"));
        let change = |file, added| Change { file, added, removed: 0 };
        assert_eq!(lists.look(), Found::Changes(vec![change("brands.txt", 1), change("hosts.txt", 1)]));
        assert!(refuses(&lists, "b.example"));
        assert_eq!(lists.look(), Found::Nothing);
    }

    #[test]
    fn a_mistake_is_told_once_and_changes_nothing() {
        let dir = TempDir::new().unwrap();
        write(&dir, "hosts.txt", "[blocked]\na.example\n");
        let lists = lists(&dir);
        write(&dir, "hosts.txt", "[blocked]\nb.example\n[bots]\n");
        let Found::Mistake(why) = lists.read() else { panic!("a mistake") };
        assert!(why.contains("hosts.txt, line 3: there is no kind of host named `bots`"), "{why}");
        assert_eq!((lists.look(), lists.look()), (Found::Unrest, Found::Nothing));
        assert!(refuses(&lists, "a.example") && !refuses(&lists, "b.example"));
        assert!(matches!(lists.read(), Found::Mistake(_)), "whoever asks is told again");
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert_eq!(lists.look(), Found::Unrest);
        assert!(matches!(lists.look(), Found::Mistake(_)));
        assert!(refuses(&lists, "a.example"));
        std::fs::create_dir(dir.path()).unwrap();
        write(&dir, "hosts.txt", "[blocked]\nb.example\n");
        assert_eq!(lists.read(), Found::Changes(vec![Change { file: "hosts.txt", added: 1, removed: 1 }]));
        assert!(refuses(&lists, "b.example") && !refuses(&lists, "a.example"));
    }
}
