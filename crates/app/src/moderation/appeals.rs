//! Appeals: a publisher whose page was refused sends it to the operator, who allows it or upholds the refusal. The
//! content is stored for the operator until the decision, and erased then.

use crate::accounts::caller::Caller;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use crate::infra::throttle::rate_limited;
use crate::moderation::safety::ContentScan;
use crate::publish::staging::{PrepareOptions, Prepared, overloaded, to_i64};
use crate::publish::upload::Upload;
use dropleaf_core::appeal::{self, Appeal, AppealStatement, Decision, QueueSize, State};
use dropleaf_core::audit::AuditAction;
use dropleaf_core::finding::Finding;
use dropleaf_core::{Code, Error, Minter, Result, secret};
use dropleaf_store::{DbError, allowed_content, appeals, counters};

/// Held while an appeal is added, so that appeals sent at once do not exceed the size of the queue.
const APPEALS_LOCK: &str = "appeal_queue";

/// The outcome of sending an appeal.
#[derive(Debug)]
pub enum AppealOutcome {
    /// Nothing to appeal: the content would be accepted.
    Accepted { warnings: Vec<String> },
    Open {
        appeal: Box<Appeal>,
        /// Lets its holder read the status of the appeal.
        token: String,
        /// An appeal about the same content was open already.
        is_duplicate: bool,
        /// The operator will see the statement sent with it.
        is_statement_kept: bool,
    },
}

impl App {
    /// Checks whether this client may appeal now, before its upload is read.
    pub async fn check_appeal_rate(&self, caller: &Caller) -> Result<()> {
        if caller.account.is_none() {
            self.take_attempt_even_without_ip(caller.ip).await?;
        }
        if self.is_exempt(caller.ip) {
            return Ok(());
        }
        let (rate, now) = (self.settings.rates.appeals_day, self.now());
        let used = self.store.count_used(&self.client_key(&rate, caller.ip), &rate, now).await?;
        if used >= rate.limit { Err(rate_limited(&rate.status(used, now))) } else { Ok(()) }
    }

    /// Stores the content for the operator if it would be refused. Identical content is queued once, whichever caller sends it.
    pub async fn submit_appeal(
        &self,
        caller: &Caller,
        upload: Upload,
        statement: AppealStatement,
    ) -> Result<AppealOutcome> {
        let (prepared, scan) = self.scan_for_dry_run(upload, PrepareOptions::default()).await?;
        let reasons = match self.check_content(&scan).await {
            Ok(warnings) => return Ok(AppealOutcome::Accepted { warnings }),
            Err(refusal) => reasons(refusal)?,
        };
        if let Some(open) = self.store.find_open_appeal(scan.digest()).await? {
            return self.join_appeal(caller, open, statement).await;
        }
        // One at a time, so that the capacity check is exact.
        let _permit = self.moderation.appeal_queue.acquire().await.ok_or_else(overloaded)?;
        self.check_appeal_capacity(&self.sender_of(caller), to_i64(prepared.bundle.size_bytes)).await?;
        self.count_appeal(caller).await?;
        let added = self.add_appeal(caller, prepared, &scan, reasons, statement).await;
        if !matches!(added, Ok(AppealOutcome::Open { is_duplicate: false, .. })) && !self.is_exempt(caller.ip)
        {
            self.uncount_appeal(caller).await;
        }
        added
    }

    async fn add_appeal(
        &self,
        caller: &Caller,
        prepared: Prepared,
        scan: &ContentScan,
        reasons: Vec<Finding>,
        statement: AppealStatement,
    ) -> Result<AppealOutcome> {
        let sender = self.sender_of(caller);
        let similar_site_id = match scan.blocked_content_id() {
            Some(id) => self.store.find_site_of_blocked_content(id).await?,
            None => None,
        };
        let staged = self.stage_prepared(prepared).await?;
        let now = self.now();
        let appeal = Appeal {
            id: self.minter.ordered_id("app", now),
            account_id: sender.account_id.clone(),
            digest: scan.digest(),
            bundle_id: Some(staged.bundle_id),
            title: staged.title,
            reasons,
            statement,
            state: State::Open,
            answer: None,
            created_at: now,
            decided_at: None,
        };
        let token = self.appeal_token(&appeal.id, &sender);
        let new = appeals::NewAppeal {
            appeal: &appeal,
            token_hash: secret::hash(&token),
            client: &sender.client,
            size_bytes: staged.byte_size,
            similar_site_id: similar_site_id.as_deref(),
        };
        let limit = QueueSize::limit_for_all(self.settings.appeals_bytes, sender.account_id.is_some());
        let mut stmts = vec![counters::lock(APPEALS_LOCK, now), appeals::insert(&new, limit)];
        stmts.extend(staged.stmts);
        match self.store.commit(require_active_account(sender.account_id.as_deref(), stmts)).await {
            Ok(_) => {
                tracing::info!(appeal = appeal.id, "appeal received");
                Ok(AppealOutcome::Open {
                    appeal: Box::new(appeal),
                    token,
                    is_duplicate: false,
                    is_statement_kept: true,
                })
            }
            // The same content was sent concurrently, or another node filled the queue.
            Err(DbError::Guard(appeals::NOT_ADDED)) => {
                match self.store.find_open_appeal(appeal.digest).await? {
                    Some(open) => self.join_appeal(caller, open, appeal.statement).await,
                    None => Err(queue_full()),
                }
            }
            Err(error) => Err(self.guard_error(error, None)),
        }
    }

    /// The appeal of the holder of this token.
    pub async fn appeal_by_token(&self, token: &str) -> Result<Appeal> {
        let found = self.store.find_appeal_by_token(secret::hash(token)).await?;
        found.ok_or_else(|| Error::not_found("appeal"))
    }

    pub async fn get_appeal(&self, id: &str) -> Result<Appeal> {
        let found = if Minter::is_id("app", id) { self.store.find_appeal(id).await? } else { None };
        found.ok_or_else(|| Error::not_found("appeal"))
    }

    /// Open appeals, oldest first.
    pub async fn list_open_appeals(&self, limit: i64) -> Result<Vec<Appeal>> {
        Ok(self.store.list_open_appeals(limit).await?)
    }

    /// The newest appeals, open or decided.
    pub async fn list_appeals(&self, limit: i64) -> Result<Vec<Appeal>> {
        Ok(self.store.list_appeals(limit).await?)
    }

    /// The most recently decided appeals.
    pub async fn list_decided_appeals(&self, limit: i64) -> Result<Vec<Appeal>> {
        Ok(self.store.list_decided_appeals(limit).await?)
    }

    pub async fn count_open_appeals(&self) -> Result<i64> {
        Ok(self.store.count_open_appeals().await?)
    }

    /// Decides an appeal. The answer is sent to the publisher and recorded as the reason in the audit log.
    pub async fn decide_appeal(
        &self,
        actor: &str,
        id: &str,
        decision: Decision,
        answer: &str,
    ) -> Result<Appeal> {
        let answer = appeal::answer(answer)?;
        let before = self.get_appeal(id).await?;
        if decision == Decision::Allow {
            self.check_allowable(&before).await?;
        }
        let act = match decision {
            Decision::Allow => AuditAction::AllowContent,
            Decision::Uphold => AuditAction::UpholdRefusal,
        };
        self.close_appeal(actor, before, decision.state(), act, answer).await
    }

    /// Closes an open appeal and erases its content.
    pub(crate) async fn close_appeal(
        &self,
        actor: &str,
        before: Appeal,
        state: State,
        act: AuditAction,
        answer: String,
    ) -> Result<Appeal> {
        let now = self.now();
        let mut stmts = appeals::decide(&before, state, &answer, now);
        if state == State::Allowed {
            stmts.push(allowed_content::insert(&before, &answer, now));
        }
        stmts.push(self.audit_stmt(actor, act, &before.id, Some(answer.clone())));
        stmts.extend(self.queue_decision_email(&before));
        match self.store.commit(stmts).await {
            Ok(_) => {
                Self::log_operation(actor, act, &before.id);
                let content: Vec<String> = before.bundle_id.iter().cloned().collect();
                self.erase_content(&before.id, &content).await;
                Ok(Appeal { state, answer: Some(answer), decided_at: Some(now), bundle_id: None, ..before })
            }
            Err(DbError::Guard(appeals::DECIDED)) => {
                let earlier = self.get_appeal(&before.id).await?;
                let detail = format!("This appeal has already been decided: {}.", earlier.state.as_str());
                Err(Error::new(Code::Conflict, detail))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The reasons of a refusal that an operator can overrule; any other error is returned unchanged.
fn reasons(refusal: Error) -> Result<Vec<Finding>> {
    if appeal::can_be_appealed(refusal.code) {
        return Ok(refusal.reasons().to_vec());
    }
    Err(refusal)
}

/// The error if the server has too many open appeals.
pub(super) fn queue_full() -> Error {
    let detail = "There are too many open appeals on this server. Try again later.";
    Error::new(Code::RateLimited, detail).retry_after(3600)
}
