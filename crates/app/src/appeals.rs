//! Appeals: a publisher whose page was refused sends it to the operator, who allows it or upholds the refusal. The
//! content is kept for the operator's eyes until then, and erased once it is decided.

use crate::app::App;
use crate::caller::Caller;
use crate::limits::refused;
use crate::safety::reasons_of;
use crate::staging::{Demands, Upload};
use dropleaf_core::appeal::{self, Appeal, Decision, Plea, State};
use dropleaf_core::audit::Act;
use dropleaf_core::finding::Finding;
use dropleaf_core::{Code, Error, Minter, Result, network, secret};
use dropleaf_store::{DbError, appeals, counters};
use std::net::IpAddr;

/// What the key of an appeal's token is derived for.
const TOKEN: &str = "appeal";

/// What came of an appeal that was sent.
#[derive(Debug)]
pub enum Appealed {
    /// There is nothing to decide: the content would be published.
    Accepted { warnings: Vec<String> },
    Open {
        appeal: Appeal,
        /// Shows whoever holds it how the appeal stands.
        token: String,
        /// The same content was waiting already.
        already: bool,
    },
}

impl App {
    /// Whether this client may appeal now, before its upload is read.
    pub async fn check_appellant(&self, caller: &Caller) -> Result<()> {
        if caller.account.is_none() {
            self.take_attempt_of_anybody(caller.ip)?;
        }
        if self.is_exempt(caller.ip) {
            return Ok(());
        }
        let (rate, now) = (self.settings.rates.appeals_day, self.now());
        let used = self.store.count_used(&self.client_key(&rate, caller.ip), &rate, now).await?;
        if used >= rate.limit { Err(refused(&rate.standing(used, now))) } else { Ok(()) }
    }

    /// Keeps the content for the operator, if it would be refused. The same content waits once.
    pub async fn appeal(&self, caller: &Caller, upload: Upload, plea: Plea) -> Result<Appealed> {
        let (prepared, reading) = self.read_upload(upload, Demands::default()).await?;
        let reasons = match self.judge(&reading).await {
            Ok(warnings) => return Ok(Appealed::Accepted { warnings }),
            Err(refusal) => reasons(refusal)?,
        };
        let digest = reading.digest();
        if let Some(open) = self.store.find_open_appeal(digest).await? {
            return Ok(self.opened(open, true));
        }
        let staged = self.stage_prepared(prepared).await?;
        let now = self.now();
        let appeal = Appeal {
            id: self.minter.ordered_id("app", now),
            account_id: caller.account.as_ref().map(|account| account.id.clone()),
            digest,
            bundle_id: Some(staged.bundle_id),
            title: staged.title,
            reasons,
            plea,
            state: State::Open,
            answer: None,
            created_at: now,
            decided_at: None,
        };
        let token_hash = secret::hash(&self.appeal_token(&appeal.id));
        let mut stmts = vec![appeals::insert(&appeal, token_hash, &self.client_of(caller.ip))];
        if !self.is_exempt(caller.ip) {
            let rate = self.settings.rates.appeals_day;
            stmts.push(counters::take(&self.client_key(&rate, caller.ip), &rate, now));
        }
        stmts.extend(staged.stmts);
        match self.store.commit(stmts).await {
            Ok(_) => {
                tracing::info!(appeal = appeal.id, "a refusal was appealed against");
                Ok(self.opened(appeal, false))
            }
            // Somebody sent the same at the same moment, or nobody has decided for long.
            Err(DbError::Guard(appeals::NOT_ADDED)) => match self.store.find_open_appeal(digest).await? {
                Some(open) => Ok(self.opened(open, true)),
                None => {
                    let full =
                        "As many appeals as can be kept are waiting for the operator; try again later.";
                    Err(Error::new(Code::RateLimited, full).retry_after(3600))
                }
            },
            Err(error) => Err(self.guard_error(error, None)),
        }
    }

    fn opened(&self, appeal: Appeal, already: bool) -> Appealed {
        Appealed::Open { token: self.appeal_token(&appeal.id), appeal, already }
    }

    /// Made from the id, so that whoever sends the same content again is told it again.
    fn appeal_token(&self, id: &str) -> String {
        secret::text(&self.keys.mac(TOKEN, id.as_bytes())[..18])
    }

    fn client_of(&self, ip: Option<IpAddr>) -> String {
        self.hash_client(&ip.map(network::client_network).unwrap_or_default())
    }

    /// How an appeal stands, for whoever sent it.
    pub async fn appeal_by_token(&self, token: &str) -> Result<Appeal> {
        let found = self.store.find_appeal_by_token(secret::hash(token)).await?;
        found.ok_or_else(|| Error::not_found("appeal"))
    }

    pub async fn get_appeal(&self, id: &str) -> Result<Appeal> {
        let found = if Minter::is_id("app", id) { self.store.find_appeal(id).await? } else { None };
        found.ok_or_else(|| Error::not_found("appeal"))
    }

    /// Those that wait, the longest first.
    pub async fn list_open_appeals(&self, limit: i64) -> Result<Vec<Appeal>> {
        Ok(self.store.list_open_appeals(limit).await?)
    }

    /// The newest, decided or not.
    pub async fn list_appeals(&self, limit: i64) -> Result<Vec<Appeal>> {
        Ok(self.store.list_appeals(limit).await?)
    }

    /// Those that were decided last.
    pub async fn list_decided_appeals(&self, limit: i64) -> Result<Vec<Appeal>> {
        Ok(self.store.list_decided_appeals(limit).await?)
    }

    pub async fn count_open_appeals(&self) -> Result<i64> {
        Ok(self.store.count_open_appeals().await?)
    }

    /// Decides, with words for the publisher, which are the reason in the audit list too.
    pub async fn decide_appeal(
        &self,
        actor: &str,
        id: &str,
        decision: Decision,
        answer: &str,
    ) -> Result<Appeal> {
        let answer = appeal::answer(answer)?;
        let before = self.get_appeal(id).await?;
        let now = self.now();
        let state = decision.state();
        let mut stmts = appeals::decide(&before, state, &answer, now);
        let act = match decision {
            Decision::Allow => {
                stmts.push(appeals::allow(&before, &answer, now));
                Act::AllowContent
            }
            Decision::Uphold => Act::UpholdRefusal,
        };
        stmts.push(self.audited(actor, act, &before.id, Some(answer.clone())));
        match self.store.commit(stmts).await {
            Ok(_) => {
                Self::log_act(actor, act, &before.id);
                let content: Vec<String> = before.bundle_id.iter().cloned().collect();
                self.erase_now(&before.id, &content).await;
                Ok(Appeal { state, answer: Some(answer), decided_at: Some(now), bundle_id: None, ..before })
            }
            Err(DbError::Guard(appeals::DECIDED)) => {
                let earlier = self.get_appeal(id).await?;
                let said = format!("This appeal was decided before: {}.", earlier.state.as_str());
                Err(Error::new(Code::Conflict, said))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Why content was refused, if it was by a judgement that an operator can overrule. Anything else goes back as it is.
fn reasons(refusal: Error) -> Result<Vec<Finding>> {
    if appeal::is_about(refusal.code) {
        return Ok(reasons_of(&refusal));
    }
    Err(refusal)
}
