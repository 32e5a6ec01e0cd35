//! Resolves many comments at once, all or none, and undoes that.

use crate::app::App;
use crate::viewing::feedback::check_id;
use dropleaf_core::account::Account;
use dropleaf_core::error::Fact;
use dropleaf_core::feedback::{self, MOST_OPEN};
use dropleaf_core::feedback_filter::{FeedbackFilter, StateFilter};
use dropleaf_core::feedback_list::MOST;
use dropleaf_core::feedback_thread::Author;
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{DbError, feedback as rows, feedback_states, sites};
use std::collections::BTreeSet;

/// Ids named in one statement.
const IDS_AT_ONCE: usize = 200;

/// Which comments to resolve.
#[derive(Debug)]
pub enum BulkSelection {
    /// These, up to 200.
    Ids(Vec<String>),
    /// All unresolved ones that a filter selects.
    Filter(FeedbackFilter),
}

/// What was resolved.
#[derive(Debug)]
pub struct ResolvedFeedback {
    /// Every comment of the selection, also those that were resolved before.
    pub ids: Vec<String>,
    pub resolved_at: i64,
}

impl App {
    /// Resolves the selected comments of a page. If one of the ids does not exist, nothing changes, and the error names it.
    pub async fn resolve_feedback_all(
        &self,
        account: &Account,
        name: &str,
        selection: BulkSelection,
        note: Option<String>,
        by: Author,
    ) -> Result<ResolvedFeedback> {
        let note = feedback::note(note)?;
        let site = self.get_site(account, name).await?;
        let ids = match selection {
            BulkSelection::Ids(ids) => different(ids)?,
            BulkSelection::Filter(filter) => self.open_ids(&site, filter).await?,
        };
        let now = self.now();
        let mut stmts = vec![sites::lock(&site.id)];
        if self.has_webhooks(account).await? {
            stmts.extend(ids.iter().flat_map(|id| self.resolving_stmts(&account.id, &site.id, id)));
        }
        for part in ids.chunks(IDS_AT_ONCE) {
            let part: Vec<&str> = part.iter().map(String::as_str).collect();
            stmts.push(feedback_states::resolve_all(&site.id, &part, note.as_deref(), by, now));
        }
        match self.commit_for_account(&account.id, stmts).await {
            Ok(_) => {
                self.notify_of_threads(&site.id).await;
                Ok(ResolvedFeedback { ids, resolved_at: now })
            }
            Err(DbError::Guard(rows::UNKNOWN)) => Err(self.unknown_ids(&site, &ids).await?),
            Err(error) => Err(self.guard_error(error, None)),
        }
    }

    /// Undoes a resolution of [`Self::resolve_feedback_all`]: comments that were resolved at this time are open again, as
    /// before. Returns how many.
    pub async fn undo_resolve_feedback(
        &self,
        account: &Account,
        name: &str,
        ids: Vec<String>,
        resolved_at: i64,
    ) -> Result<u64> {
        let ids = different(ids)?;
        let site = self.get_site(account, name).await?;
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut stmts =
            vec![sites::lock(&site.id), feedback_states::undo_resolve(&site.id, &ids, resolved_at)];
        if self.has_webhooks(account).await? {
            let found = self.store.list_feedback_by_id(&site.id, &ids).await?;
            let undone = found.iter().filter(|item| item.resolved_at == Some(resolved_at));
            stmts.extend(undone.flat_map(|item| self.undoing_stmts(&account.id, &site.id, &item.id)));
        }
        match self.commit_for_account(&account.id, stmts).await {
            Ok(outcomes) => {
                self.notify_of_threads(&site.id).await;
                Ok(outcomes.get(1).map_or(0, |outcome| outcome.affected))
            }
            Err(error) => Err(self.guard_error(error, None)),
        }
    }

    /// Why [`Self::undo_resolve_feedback`] of so many comments changed nothing.
    pub async fn explain_not_undone(&self, account: &Account, name: &str, count: usize) -> Result<Error> {
        let site = self.get_site(account, name).await?;
        let open = self.store.count_open_feedback_of(&site.id).await?;
        let would_be_open = open.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        Ok(if would_be_open > MOST_OPEN {
            Error::new(
                Code::TooMany,
                format!(
                    "Nothing was undone: a page can have at most {MOST_OPEN} open comments. Resolve some first."
                ),
            )
        } else {
            Error::field("ids", "has changed since, so nothing was undone")
        })
    }

    async fn open_ids(&self, site: &Site, filter: FeedbackFilter) -> Result<Vec<String>> {
        let state = match filter.state {
            StateFilter::All | StateFilter::Open => StateFilter::Open,
            StateFilter::Reopened => StateFilter::Reopened,
            StateFilter::Resolved => return Ok(Vec::new()),
        };
        let filter = FeedbackFilter { state, ..filter };
        let found = self.store.search_feedback(&site.id, &filter, None, MOST_OPEN).await?;
        Ok(found.into_iter().map(|item| item.id).collect())
    }

    async fn unknown_ids(&self, site: &Site, ids: &[String]) -> Result<Error> {
        let mut found = BTreeSet::new();
        for part in ids.chunks(IDS_AT_ONCE) {
            let part: Vec<&str> = part.iter().map(String::as_str).collect();
            let known = self.store.list_feedback_by_id(&site.id, &part).await?;
            found.extend(known.into_iter().map(|item| item.id));
        }
        let unknown: Vec<&str> = ids.iter().map(String::as_str).filter(|id| !found.contains(*id)).collect();
        let named = unknown.join(" ");
        let error = Error::new(
            Code::NotFound,
            format!("Nothing was resolved: this page has no comments with these IDs: {named}"),
        );
        Ok(error.with_fact("not_found", Fact::Text(named)))
    }
}

/// The ids without repetitions, if they are ids and not too many.
fn different(ids: Vec<String>) -> Result<Vec<String>> {
    let most = usize::try_from(MOST).unwrap_or(usize::MAX);
    if ids.is_empty() || ids.len() > most {
        return Err(Error::field("ids", format!("must be 1 to {MOST} IDs of comments")));
    }
    let wrong: Vec<&str> = ids.iter().map(String::as_str).filter(|id| check_id(id).is_err()).collect();
    if let Some(wrong) = wrong.first() {
        let shown: String = wrong.chars().filter(|c| !c.is_control()).take(40).collect();
        return Err(Error::field("ids", format!("must be IDs of comments (`fb_…`), not `{shown}`")));
    }
    Ok(ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::different;

    #[test]
    fn each_id_counts_once_and_only_ids_do() {
        let id = |number: usize| format!("fb_{number:020}");
        assert_eq!(different(vec![id(2), id(1), id(2)]).unwrap(), [id(1), id(2)]);
        assert!(different((0..200).map(id).collect()).is_ok());
        for bad in [vec![], (0..201).map(id).collect(), vec![id(1), "x".into()]] {
            assert!(different(bad).is_err());
        }
    }
}
