//! The blocklist of taken-down content, which is refused when uploaded again, also in slightly changed form. Its index is
//! held in memory; whether it is current is checked at most twice a second, so that every process is up to date within
//! one.

use super::{ContentScan, refusal};
use crate::app::App;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::finding::Finding;
use dropleaf_core::{Code, Error, Result, takedown};
use dropleaf_inspect::similarity::{Sketch, Unwanted};
use dropleaf_store::unwanted::{self as rows, Mark};
use dropleaf_store::{DbError, Stmt};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The index in memory.
#[derive(Debug, Clone)]
struct LoadedIndex {
    /// When it was last known to be complete (monotonic time).
    at: Duration,
    generation: i64,
    /// The change counter of this process at that time.
    changes: u64,
    /// None if the blocklist is empty: then uploads are not compared with anything.
    index: Option<Arc<Unwanted>>,
}

#[derive(Debug, Default)]
pub(crate) struct UnwantedIndex {
    held: Mutex<Option<LoadedIndex>>,
    /// Changes this process has made to the blocklist.
    changes: AtomicU64,
    /// Only one task builds at a time, because it loads all fingerprints into memory.
    building: tokio::sync::Mutex<()>,
}

impl UnwantedIndex {
    fn held(&self) -> Option<LoadedIndex> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, new: LoadedIndex) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(new);
    }

    /// Marks the index as outdated; the next caller reloads it.
    pub(super) fn invalidate(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }
}

impl ContentScan {
    /// Refuses content that an operator has taken down before.
    pub(super) fn refuse_unwanted(&self) -> Result<()> {
        let Some(found) = &self.unwanted else { return Ok(()) };
        tracing::info!(unwanted = found.id, exact = found.exact, "taken-down content uploaded again");
        let why = if found.exact {
            "This content was previously taken down from this server."
        } else {
            "This page is nearly identical to one that was previously taken down from this server."
        };
        let reason = Finding {
            rule: "taken-down-before".to_owned(),
            file: found.file.clone().unwrap_or_else(|| "index.html".to_owned()),
            line: None,
            why: why.to_owned(),
            fix: "It cannot be published here again unless the operator of this server allows it after an appeal."
                .to_owned(),
        };
        Err(refusal(Code::ContentBlocked, vec![reason], self))
    }
}

impl App {
    /// The index that uploads are compared with, if there is one. While one request loads entries added elsewhere, the
    /// others use the previous index; entries added by this process apply to all of them.
    pub(crate) async fn unwanted(&self) -> Result<Option<Arc<Unwanted>>> {
        let index = &self.moderation.unwanted_index;
        let fresh = |held: &LoadedIndex| {
            held.changes == index.changes.load(Ordering::SeqCst)
                && self.clock.monotonic().saturating_sub(held.at) < CHECK_INTERVAL
        };
        let known = |held: &LoadedIndex| held.changes == index.changes.load(Ordering::SeqCst);
        let held = index.held();
        if let Some(held) = held.as_ref().filter(|held| fresh(held)) {
            return Ok(held.index.clone());
        }
        let _lock = match (index.building.try_lock(), held) {
            (Ok(lock), _) => lock,
            (Err(_), Some(held)) if known(&held) => return Ok(held.index),
            (Err(_), _) => index.building.lock().await,
        };
        let held = index.held();
        if let Some(held) = held.as_ref().filter(|held| fresh(held)) {
            return Ok(held.index.clone());
        }
        let (at, changes) = (self.clock.monotonic(), index.changes.load(Ordering::SeqCst));
        // Read before the fingerprints: a change in between is noticed by the next caller.
        let generation = self.store.find_unwanted_generation().await?;
        let new = match held {
            Some(held) if held.generation == generation => held.index,
            _ if generation == 0 => None,
            _ => self.load_unwanted().await?,
        };
        index.keep(LoadedIndex { at, generation, changes, index: new.clone() });
        Ok(new)
    }

    async fn load_unwanted(&self) -> Result<Option<Arc<Unwanted>>> {
        let marks = self.store.list_marks().await?;
        let build = move || {
            let mut entries: Vec<(String, Vec<[u8; 32]>, Vec<Sketch>)> = Vec::new();
            for (id, mark) in marks {
                if entries.last().is_none_or(|(last, ..)| *last != id) {
                    entries.push((id, Vec::new(), Vec::new()));
                }
                let Some((_, exact, sketches)) = entries.last_mut() else { continue };
                match mark {
                    Mark::Exact(hash) => exact.push(hash),
                    // Fingerprints of a later version of the program are ignored, but not deleted.
                    Mark::Sketch(bytes) => sketches.extend(Sketch::from_bytes(&bytes)),
                }
            }
            Unwanted::new(entries)
        };
        let index = tokio::task::spawn_blocking(build).await.map_err(Error::internal)?;
        Ok((!index.is_empty()).then(|| Arc::new(index)))
    }

    /// The newest blocklist entries.
    pub async fn list_unwanted(&self, limit: i64) -> Result<Vec<rows::Unwanted>> {
        Ok(self.store.list_unwanted(limit).await?)
    }

    /// The fingerprinted pages by the id of their blocklist entry.
    pub async fn list_marked_pages(&self) -> Result<HashMap<String, Vec<String>>> {
        let mut pages: HashMap<String, Vec<String>> = HashMap::new();
        for (id, path) in self.store.list_marked_pages().await? {
            pages.entry(id).or_default().push(path);
        }
        Ok(pages)
    }

    /// The fingerprinted pages of one taken-down site.
    pub async fn find_marked_pages(&self, site_id: &str) -> Result<Vec<String>> {
        let Some(noted) = self.store.find_unwanted(site_id).await? else { return Ok(Vec::new()) };
        Ok(self.store.list_marked_pages_of(&noted.id).await?)
    }

    /// Removes an entry from the blocklist, so that its content may be published again. The page itself stays down.
    /// `name` is the id of the entry, or an id, slug, token or URL of the page it was taken down with.
    pub async fn forget_unwanted(&self, actor: &str, name: &str, reason: &str) -> Result<rows::Unwanted> {
        let reason = takedown::reason_for(reason, "must give a reason for unblocking the content")?;
        let noted = self.unwanted_named(name).await?;
        let stmts = rows::forget(&noted.site_id, self.now());
        self.forget(actor, &noted, stmts, reason).await?;
        Ok(noted)
    }

    /// Removes one page of an entry; its other pages stay refused.
    pub async fn forget_unwanted_page(
        &self,
        actor: &str,
        name: &str,
        path: &str,
        reason: &str,
    ) -> Result<rows::Unwanted> {
        let reason = takedown::reason_for(reason, "must give a reason for unblocking the page")?;
        let noted = self.unwanted_named(name).await?;
        let stmts = rows::forget_page(&noted.id, path);
        self.forget(actor, &noted, stmts, format!("{reason} ({path})")).await?;
        Ok(noted)
    }

    async fn unwanted_named(&self, name: &str) -> Result<rows::Unwanted> {
        let name = name.trim();
        if let Some(noted) = self.store.find_unwanted(name).await? {
            return Ok(noted);
        }
        let unknown = || Error::not_found("unwanted content");
        let page = takedown::parse_page_identifier(name, &self.hosts).ok_or_else(unknown)?;
        let site = self.find_site_by_reference(&page).await?.ok_or_else(unknown)?;
        self.store.find_unwanted(&site.id).await?.ok_or_else(unknown)
    }

    async fn forget(
        &self,
        actor: &str,
        noted: &rows::Unwanted,
        stmts: [Stmt; 3],
        reason: String,
    ) -> Result<()> {
        let mut stmts = Vec::from(stmts);
        stmts.push(self.audit_stmt(actor, AuditAction::ForgetUnwanted, &noted.site_id, Some(reason)));
        let outcome = self.store.commit(stmts).await;
        self.moderation.unwanted_index.invalidate();
        match outcome {
            Ok(_) => {
                Self::log_operation(actor, AuditAction::ForgetUnwanted, &noted.site_id);
                Ok(())
            }
            Err(DbError::Guard(rows::UNKNOWN)) => Err(Error::not_found("unwanted content")),
            Err(error) => Err(error.into()),
        }
    }
}
