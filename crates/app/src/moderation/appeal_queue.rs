//! Manages the appeal queue: checks its capacity, merges appeals about the same content, expires appeals that were never
//! decided, and collects the context an operator needs for a decision.

use crate::accounts::caller::Caller;
use crate::accounts::suspension::require_active_account;
use crate::app::App;
use crate::moderation::appeals::{AppealOutcome, queue_full};
use crate::moderation::audit::SYSTEM_ACTOR;
use dropleaf_core::appeal::{
    AllowedContent, Appeal, AppealStatement, Decision, JoinedSender, QueueSize, State,
};
use dropleaf_core::audit::AuditAction;
use dropleaf_core::{Code, Error, Result, network, secret};
use dropleaf_store::{appeal_queue, counters};

/// The purpose the key for appeal tokens is derived for.
const TOKEN: &str = "appeal";
/// Earlier appeals about the same content that are listed.
const EARLIER_MOST: i64 = 10;
const BATCH: i64 = 100;
const DAY: i64 = 86_400;

/// The sender of an appeal: an account, or a network identified by a keyed hash.
#[derive(Debug)]
pub(crate) struct AppealSender {
    pub(crate) account_id: Option<String>,
    pub(crate) client: String,
}

/// Context for the operator's decision, beside the appeal itself.
#[derive(Debug, Default)]
pub struct AppealContext {
    /// The taken-down page that the content resembles.
    pub similar_site_id: Option<String>,
    /// Statements of other senders of the same content.
    pub joined: Vec<JoinedSender>,
    /// Other appeals about the same content, newest first.
    pub earlier: Vec<Appeal>,
    /// Set if the content is allowed now.
    pub allowed: Option<AllowedContent>,
}

impl App {
    pub(crate) fn sender_of(&self, caller: &Caller) -> AppealSender {
        let network = caller.ip.map(network::client_network).unwrap_or_default();
        let account_id = caller.account.as_ref().map(|account| account.id.clone());
        AppealSender { account_id, client: self.hash_client(&network) }
    }

    /// Derived from the id and the sender: the same sender gets the same token again for the same content, and nobody
    /// else does.
    pub(crate) fn appeal_token(&self, id: &str, sender: &AppealSender) -> String {
        let who = sender.account_id.as_deref().unwrap_or(&sender.client);
        secret::letters(&self.keys.mac(TOKEN, format!("{id} {who}").as_bytes())[..18])
    }

    /// Refuses an appeal that exceeds the storage limits, before anything is stored.
    pub(crate) async fn check_appeal_capacity(&self, sender: &AppealSender, bytes: i64) -> Result<()> {
        let most = self.settings.appeals_bytes;
        let own = self.store.sum_appeals_of(sender.account_id.as_deref(), &sender.client).await?;
        if !QueueSize::limit_for_sender(most).fits(own, bytes) {
            let detail = "You have too many open appeals. Try again later.";
            return Err(Error::new(Code::RateLimited, detail).retry_after(3600));
        }
        let all = self.store.sum_open_appeals().await?;
        if QueueSize::limit_for_all(most, sender.account_id.is_some()).fits(all, bytes) {
            Ok(())
        } else {
            Err(queue_full())
        }
    }

    /// Counts an appeal before its content is stored, so that concurrent appeals cannot exceed the limit.
    pub(crate) async fn count_appeal(&self, caller: &Caller) -> Result<()> {
        if self.is_exempt(caller.ip) {
            return Ok(());
        }
        let rate = self.settings.rates.appeals_day;
        let take = counters::take(&self.client_key(&rate, caller.ip), &rate, self.now());
        self.store.commit(vec![take]).await.map(|_| ()).map_err(|error| self.guard_error(error, None))
    }

    /// Reverts [`App::count_appeal`] when the appeal was not added.
    pub(crate) async fn uncount_appeal(&self, caller: &Caller) {
        let rate = self.settings.rates.appeals_day;
        let back = counters::give_back(&self.client_key(&rate, caller.ip), &rate, self.now());
        if let Err(error) = self.store.commit(vec![back]).await {
            tracing::warn!(%error, "appeal rate counter not reverted");
        }
    }

    /// Adds a sender to an open appeal about the same content. They get a token of their own, and the operator sees their
    /// statement too.
    pub(crate) async fn join_appeal(
        &self,
        caller: &Caller,
        open: Appeal,
        statement: AppealStatement,
    ) -> Result<AppealOutcome> {
        let sender = self.sender_of(caller);
        let token = self.appeal_token(&open.id, &sender);
        let hash = secret::hash(&token);
        if self.store.find_statement(hash).await?.is_none() {
            self.count_appeal(caller).await?;
            let (account_id, created_at) = (sender.account_id, self.now());
            let joined = JoinedSender { account_id, statement: statement.clone(), created_at };
            let join = vec![appeal_queue::join(&open.id, hash, &joined)];
            self.store.commit(require_active_account(joined.account_id.as_deref(), join)).await?;
        }
        let is_statement_kept = statement == AppealStatement::default()
            || self.store.find_statement(hash).await? == Some(statement);
        Ok(AppealOutcome::Open { appeal: Box::new(open), token, is_duplicate: true, is_statement_kept })
    }

    pub async fn appeal_case(&self, appeal: &Appeal) -> Result<AppealContext> {
        Ok(AppealContext {
            similar_site_id: self.store.find_similar_site(&appeal.id).await?,
            joined: self.store.list_joined(&appeal.id).await?,
            earlier: self.store.list_earlier_appeals(appeal, EARLIER_MOST).await?,
            allowed: self.store.find_allowed(appeal.digest).await?,
        })
    }

    /// Upholds several refusals with the same answer and returns how many; appeals already decided are left unchanged.
    pub async fn uphold_appeals(&self, actor: &str, ids: &[&str], answer: &str) -> Result<usize> {
        let mut count = 0;
        for id in ids {
            match self.decide_appeal(actor, id, Decision::Uphold, answer).await {
                Ok(_) => count += 1,
                Err(error) if matches!(error.code, Code::Conflict | Code::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// Closes appeals from anonymous senders that have been open for too long.
    pub(crate) async fn expire_appeals(&self) -> Result<()> {
        let patience = self.settings.retention.open_appeal;
        let days = patience / DAY;
        for appeal in self.store.list_overdue_appeals(self.now() - patience, BATCH).await? {
            let answer = format!("The operator did not decide within {days} days. You can appeal again.");
            match self.close_appeal(SYSTEM_ACTOR, appeal, State::Lapsed, AuditAction::EndAppeal, answer).await
            {
                Ok(_) => {}
                Err(error) if error.code == Code::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
