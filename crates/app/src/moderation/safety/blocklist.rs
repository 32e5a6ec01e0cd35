//! The blocklist of taken-down content, which is refused when uploaded again, also in slightly changed form. Its index is
//! held in memory; whether it is current is checked at most twice a second, so that every process is up to date within
//! one.

use super::{ContentScan, refusal};
use crate::app::App;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::finding::Finding;
use dropleaf_core::{Code, Error, Result, takedown};
use dropleaf_inspect::similarity::{Blocklist, Sketch};
use dropleaf_store::blocked_content::{self as rows, BlockedContent, Mark};
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
    index: Option<Arc<Blocklist>>,
}

#[derive(Debug, Default)]
pub(crate) struct BlocklistCache {
    held: Mutex<Option<LoadedIndex>>,
    /// Changes this process has made to the blocklist.
    changes: AtomicU64,
    /// Only one task builds at a time, because it loads all fingerprints into memory.
    building: tokio::sync::Mutex<()>,
}

impl BlocklistCache {
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
    pub(super) fn refuse_blocked(&self) -> Result<()> {
        let Some(found) = &self.blocked else { return Ok(()) };
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
    pub(crate) async fn blocklist(&self) -> Result<Option<Arc<Blocklist>>> {
        let index = &self.moderation.blocklist;
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
        let generation = self.store.find_blocklist_generation().await?;
        let new = match held {
            Some(held) if held.generation == generation => held.index,
            _ if generation == 0 => None,
            _ => self.load_blocklist().await?,
        };
        index.keep(LoadedIndex { at, generation, changes, index: new.clone() });
        Ok(new)
    }

    async fn load_blocklist(&self) -> Result<Option<Arc<Blocklist>>> {
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
            Blocklist::new(entries)
        };
        let index = tokio::task::spawn_blocking(build).await.map_err(Error::internal)?;
        Ok((!index.is_empty()).then(|| Arc::new(index)))
    }

    /// The newest blocklist entries.
    pub async fn list_blocked_content(&self, limit: i64) -> Result<Vec<BlockedContent>> {
        Ok(self.store.list_blocked_content(limit).await?)
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
        let Some(blocked) = self.store.find_blocked_content(site_id).await? else { return Ok(Vec::new()) };
        Ok(self.store.list_marked_pages_of(&blocked.id).await?)
    }

    /// Removes an entry from the blocklist, so that its content may be published again. The page itself stays down.
    /// `name` is the id of the entry, or an id, slug, token or URL of the page it was taken down with.
    pub async fn unblock_content(&self, actor: &str, name: &str, reason: &str) -> Result<BlockedContent> {
        let reason = takedown::reason_for(reason, "is required for unblocking the content")?;
        let blocked = self.find_blocked_by_name(name).await?;
        let stmts = rows::unblock(&blocked.site_id, self.now());
        self.commit_unblock(actor, &blocked, stmts, reason).await?;
        Ok(blocked)
    }

    /// Removes one page of an entry; its other pages stay refused.
    pub async fn unblock_page(
        &self,
        actor: &str,
        name: &str,
        path: &str,
        reason: &str,
    ) -> Result<BlockedContent> {
        let reason = takedown::reason_for(reason, "is required for unblocking the page")?;
        let blocked = self.find_blocked_by_name(name).await?;
        let stmts = rows::unblock_page(&blocked.id, path);
        self.commit_unblock(actor, &blocked, stmts, format!("{reason} ({path})")).await?;
        Ok(blocked)
    }

    async fn find_blocked_by_name(&self, name: &str) -> Result<BlockedContent> {
        let name = name.trim();
        if let Some(blocked) = self.store.find_blocked_content(name).await? {
            return Ok(blocked);
        }
        let unknown = || Error::not_found("blocked content");
        let page = takedown::parse_page_identifier(name, &self.hosts).ok_or_else(unknown)?;
        let site = self.find_site_by_reference(&page).await?.ok_or_else(unknown)?;
        self.store.find_blocked_content(&site.id).await?.ok_or_else(unknown)
    }

    async fn commit_unblock(
        &self,
        actor: &str,
        blocked: &BlockedContent,
        stmts: [Stmt; 3],
        reason: String,
    ) -> Result<()> {
        let mut stmts = Vec::from(stmts);
        stmts.push(self.audit_stmt(actor, AuditAction::UnblockContent, &blocked.site_id, Some(reason)));
        let outcome = self.store.commit(stmts).await;
        self.moderation.blocklist.invalidate();
        match outcome {
            Ok(_) => {
                Self::log_operation(actor, AuditAction::UnblockContent, &blocked.site_id);
                Ok(())
            }
            Err(DbError::Guard(rows::NOT_BLOCKED)) => Err(Error::not_found("blocked content")),
            Err(error) => Err(error.into()),
        }
    }
}
