//! Selects the fingerprints by which taken-down content is recognized. Not all of it: it may contain honest pages beside
//! the reported one, and content that others publish legitimately.

use super::content_scan::for_inspection;
use super::stored_content::OnMissingBody;
use crate::app::App;
use dropleaf_content::{Bundle, BundleKind, BundleTexts};
use dropleaf_core::site::Site;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::{Error, Result};
use dropleaf_inspect::similarity::{self, Fingerprints};
use dropleaf_store::DbError;
use dropleaf_store::blocked_content::{self as rows, Mark, PageMark};
use std::collections::HashSet;

/// The most fingerprints per page; more add nothing.
const MOST_FINGERPRINTS: usize = 500;

/// Why a page is fingerprinted, in order of priority when there are too many.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum FingerprintReason {
    /// The content as a whole.
    Whole,
    Named,
    /// The phishing check has findings; holds the negated score.
    Found(f64),
    Entry,
    Asks,
}

/// A page that may be fingerprinted.
#[derive(Debug)]
struct FingerprintCandidate {
    why: FingerprintReason,
    marks: Vec<PageMark>,
}

/// What decides about the pages of a taken-down site.
#[derive(Debug, Clone)]
struct TakedownContext {
    /// Pages that the operator named in the takedown.
    named: Vec<String>,
    /// Bodies that are live under another account.
    of_others: HashSet<[u8; 32]>,
}

impl App {
    /// Adds the content of a taken-down page, with all stored versions, to the blocklist. Done once: an entry that an
    /// operator removed since stays removed.
    pub(crate) async fn block_content(
        &self,
        site: &Site,
        versions: &[SiteVersion],
        reason: &str,
    ) -> Result<()> {
        if self.store.was_blocked(&site.id).await? {
            return Ok(());
        }
        let now = self.now();
        let others = self.store.list_bodies_of_others(&site.id, site.account_id.as_deref(), now).await?;
        let about = TakedownContext {
            named: self.store.list_named_pages(&site.id).await?,
            of_others: others.into_iter().collect(),
        };
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for version in versions {
            if seen.insert(&version.bundle_id) {
                found.extend(self.candidates_of(&version.bundle_id, &about).await?);
                select_fingerprints(&mut found);
            }
        }
        let mut marks: Vec<PageMark> = found.into_iter().flat_map(|page| page.marks).collect();
        marks.truncate(MOST_FINGERPRINTS);
        let blocked = rows::BlockedContent {
            id: self.minter.ordered_id("unw", now),
            site_id: site.id.clone(),
            reason: reason.to_owned(),
            created_at: now,
        };
        let outcome = self.store.commit(rows::insert(&blocked, marks)).await;
        self.moderation.blocklist.invalidate();
        match outcome {
            Ok(_) | Err(DbError::Guard(rows::ALREADY_BLOCKED)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn candidates_of(
        &self,
        bundle_id: &str,
        about: &TakedownContext,
    ) -> Result<Vec<FingerprintCandidate>> {
        let (rules, about) = (self.settings.safety.rules.clone(), about.clone());
        let work = move |bundle: Bundle| {
            let texts = BundleTexts::of_pages(&bundle).map_err(Error::internal)?;
            let (fingerprints, blamed) =
                similarity::find_takedown_candidates(&for_inspection(&texts), &rules.rules());
            Ok(candidates(&bundle, &fingerprints, &blamed, &about))
        };
        self.with_stored(bundle_id, OnMissingBody::Empty, work).await
    }
}

/// The pages of a bundle that may be fingerprinted.
fn candidates(
    bundle: &Bundle,
    fingerprints: &Fingerprints,
    blamed: &[similarity::TakedownCandidate],
    about: &TakedownContext,
) -> Vec<FingerprintCandidate> {
    let is_entry = |path: &str| {
        path == bundle.entry || (bundle.kind == BundleKind::Markdown && path.starts_with("_dropleaf/"))
    };
    let mut found = Vec::new();
    let mut is_copy_of_others = false;
    for file in &bundle.files {
        let path = file.path.as_str();
        let blame = blamed.iter().find(|page| page.path == path);
        let why = if about.named.iter().any(|named| named == path) {
            FingerprintReason::Named
        } else if about.of_others.contains(&file.hash) {
            is_copy_of_others |= is_entry(path);
            continue;
        } else {
            match blame {
                Some(page) if page.points > 0.0 => FingerprintReason::Found(-page.points),
                _ if is_entry(path) => FingerprintReason::Entry,
                Some(_) => FingerprintReason::Asks,
                None => continue,
            }
        };
        let exact = fingerprints.page_hashes(path).into_iter().map(Mark::Exact);
        let sketch = fingerprints.page_sketch(path).map(|sketch| Mark::Sketch(sketch.to_bytes()));
        let marks: Vec<_> = exact.chain(sketch).map(|mark| (Some(path.to_owned()), mark)).collect();
        found.push(FingerprintCandidate { why, marks });
    }
    // The whole may be a copy of what another account shows.
    if !is_copy_of_others {
        let hash = fingerprints.whole_hash();
        found.push(FingerprintCandidate {
            why: FingerprintReason::Whole,
            marks: vec![(None, Mark::Exact(hash))],
        });
    }
    found
}

/// Sorts by priority, removes duplicates, and drops what exceeds the limit.
fn select_fingerprints(found: &mut Vec<FingerprintCandidate>) {
    found.sort_by(|a, b| a.why.partial_cmp(&b.why).unwrap_or(std::cmp::Ordering::Equal));
    let (mut seen, mut count) = (HashSet::new(), 0);
    found.retain_mut(|page| {
        if count >= MOST_FINGERPRINTS {
            return false;
        }
        page.marks.retain(|(_, mark)| seen.insert(mark.clone()));
        count += page.marks.len();
        !page.marks.is_empty()
    });
}
