//! Content that was taken down is not wanted again, also in another guise. What it is recognised by is held in memory as a
//! whole; that it is still all there is asked for at most twice a second, so that every process knows within one.

use super::{Reading, refusal};
use crate::app::App;
use dropleaf_content::likeness::{self, Sketch, Unwanted};
use dropleaf_core::audit::Act;
use dropleaf_core::finding::Finding;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result, takedown};
use dropleaf_store::site_versions::SiteVersion;
use dropleaf_store::unwanted::{self as rows, Mark};
use dropleaf_store::{DbError, Stmt};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const ASK_AFTER: Duration = Duration::from_millis(500);
/// More marks of one page say no more.
const MOST_MARKS: usize = 500;

/// What is in memory.
#[derive(Debug, Clone)]
struct Held {
    /// When it was last known to be all.
    at: Duration,
    generation: i64,
    /// None when nothing is unwanted: then no upload is compared with anything.
    index: Option<Arc<Unwanted>>,
}

#[derive(Debug, Default)]
pub(crate) struct UnwantedIndex(Mutex<Option<Held>>);

impl UnwantedIndex {
    fn held(&self) -> Option<Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was read later is not replaced by what was read before.
    fn keep(&self, new: Held) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_none_or(|old| old.generation <= new.generation || old.at < new.at) {
            *held = Some(new);
        }
    }

    fn doubt(&self) {
        if let Some(held) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            held.at = Duration::ZERO;
            held.generation = -1;
        }
    }
}

impl App {
    /// What uploads are compared with, if anything is.
    pub(crate) async fn unwanted(&self) -> Result<Option<Arc<Unwanted>>> {
        let now = self.clock.monotonic();
        let held = self.unwanted_index.held();
        if let Some(held) = &held
            && held.generation >= 0
            && now.saturating_sub(held.at) < ASK_AFTER
        {
            return Ok(held.index.clone());
        }
        // Before the marks: a change in between is found by the next who asks.
        let generation = self.store.find_unwanted_generation().await?;
        let index = match held {
            Some(held) if held.generation == generation => held.index,
            _ if generation == 0 => None,
            _ => self.load_unwanted().await?,
        };
        self.unwanted_index.keep(Held { at: now, generation, index: index.clone() });
        Ok(index)
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
                    // Those of a later program are not read, and not forgotten either.
                    Mark::Sketch(bytes) => sketches.extend(Sketch::from_bytes(&bytes)),
                }
            }
            Unwanted::new(entries)
        };
        let index = tokio::task::spawn_blocking(build).await.map_err(Error::internal)?;
        Ok((!index.is_empty()).then(|| Arc::new(index)))
    }

    /// Refuses what an operator has taken down before.
    #[expect(clippy::unused_self, reason = "as the other judges")]
    pub(super) fn refuse_unwanted(&self, reading: &Reading) -> Result<()> {
        let Some(found) = &reading.unwanted else { return Ok(()) };
        tracing::info!(unwanted = found.id, exact = found.exact, "content that was taken down came back");
        let why = if found.exact {
            "This content was taken down from this server before."
        } else {
            "This page is nearly the same as one that was taken down from this server before."
        };
        let reason = Finding {
            rule: "taken-down-before".to_owned(),
            file: found.file.clone().unwrap_or_else(|| "index.html".to_owned()),
            line: None,
            why: why.to_owned(),
            fix: "It is not published here again, unless whoever runs this server allows it after an appeal."
                .to_owned(),
        };
        Err(refusal(Code::ContentBlocked, vec![reason], reading))
    }

    /// Notes the content of a page that was taken down, all versions that are kept. Once: what an operator has forgotten
    /// since stays forgotten.
    pub(crate) async fn note_unwanted(
        &self,
        site: &Site,
        versions: &[SiteVersion],
        reason: &str,
    ) -> Result<()> {
        if self.store.find_unwanted(&site.id).await?.is_some() {
            return Ok(());
        }
        let mut marks = Vec::new();
        let mut seen = HashSet::new();
        for version in versions {
            if marks.len() >= MOST_MARKS || !seen.insert(&version.bundle_id) {
                continue;
            }
            for mark in self.marks_of(&version.bundle_id).await? {
                if !marks.contains(&mark) {
                    marks.push(mark);
                }
            }
        }
        marks.truncate(MOST_MARKS);
        let now = self.now();
        let noted = rows::Unwanted {
            id: self.minter.ordered_id("unw", now),
            site_id: site.id.clone(),
            reason: reason.to_owned(),
            created_at: now,
        };
        let outcome = self.store.commit(rows::insert(&noted, marks)).await;
        self.unwanted_index.doubt();
        match outcome {
            Ok(_) | Err(DbError::Guard(rows::KNOWN)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn marks_of(&self, bundle_id: &str) -> Result<Vec<Mark>> {
        let bundle = self.texts_of_stored(bundle_id).await?;
        let rules = self.settings.safety.rules.clone();
        let _turn = self.uploads.acquire().await.map_err(|_| Error::plain(Code::Overloaded))?;
        let read = move || {
            let likeness = likeness::of_bundle(&bundle, rules.rules())?;
            let exact = likeness.exact_hashes().into_iter().map(Mark::Exact);
            let sketches = likeness.sketches(&[]).into_iter().map(|sketch| Mark::Sketch(sketch.to_bytes()));
            Ok::<_, std::io::Error>(exact.chain(sketches).collect())
        };
        tokio::task::spawn_blocking(read).await.map_err(Error::internal)?.map_err(Error::internal)
    }

    /// The newest content that is not wanted again.
    pub async fn list_unwanted(&self, limit: i64) -> Result<Vec<rows::Unwanted>> {
        Ok(self.store.list_unwanted(limit).await?)
    }

    /// Lets the content of a page be published again. The page itself stays down.
    pub async fn forget_unwanted(&self, actor: &str, site_id: &str, reason: &str) -> Result<()> {
        let reason = takedown::reason_for(reason, "must say why the content may come back")?;
        let mut stmts: Vec<Stmt> = rows::forget(site_id).into();
        stmts.push(self.audited(actor, Act::ForgetUnwanted, site_id, Some(reason)));
        let outcome = self.store.commit(stmts).await;
        self.unwanted_index.doubt();
        match outcome {
            Ok(_) => {
                Self::log_act(actor, Act::ForgetUnwanted, site_id);
                Ok(())
            }
            Err(DbError::Guard(rows::UNKNOWN)) => Err(Error::not_found("unwanted content")),
            Err(error) => Err(error.into()),
        }
    }
}
