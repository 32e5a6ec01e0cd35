//! Adds, changes, rotates and deletes endpoints. A secret is shown when it is made and never again.

use crate::app::App;
use crate::infra::sealing;
use crate::publish::idempotency::{FirstOrReplay, IdempotentRequest, IdempotentResult, StoredOutcome};
use bytes::Bytes;
use dropleaf_core::account::{self, Account};
use dropleaf_core::site_change::Field;
use dropleaf_core::webhook::{
    self, Endpoint, EndpointKind, EndpointState, EventFilter, LISTEN_SECONDS, ROTATION_SECONDS, Secret,
    WebhookUrl,
};
use dropleaf_core::{Code, Error, Minter, Result};
use dropleaf_store::webhook_endpoints::{EndpointChange, SealedSecrets};
use dropleaf_store::{
    DbError, Stmt, accounts, counters, idempotency, oauth_grants, webhook_deliveries,
    webhook_endpoints as rows,
};

/// An endpoint to add.
#[derive(Debug, Clone, Default)]
pub struct NewWebhook {
    /// None: a program fetches the events (`dropleaf webhooks listen`).
    pub url: Option<String>,
    /// The ID, slug or token of the only page whose events it gets.
    pub site: Option<String>,
    /// Names of event types; `None` for all.
    pub events: Option<Vec<String>>,
    pub description: Option<String>,
}

/// What changes; the rest stays.
#[derive(Debug, Clone, Default)]
pub struct WebhookChange {
    pub url: Option<String>,
    pub site: Field<String>,
    pub events: Option<Vec<String>>,
    pub description: Option<String>,
    pub enabled: Option<bool>,
}

/// An endpoint with its new secret.
#[derive(Debug, Clone)]
pub struct WebhookWithSecret {
    pub endpoint: Endpoint,
    pub secret: Secret,
}

impl App {
    pub async fn list_webhooks(&self, account: &Account, grant_id: Option<&str>) -> Result<Vec<Endpoint>> {
        let now = self.now();
        let mut all = self.store.list_webhooks(&account.id, grant_id).await?;
        all.retain(|endpoint| endpoint.expires_at.is_none_or(|at| at > now));
        Ok(all)
    }

    /// An endpoint of the account; for an OAuth client, one that it created.
    pub async fn get_webhook(&self, account: &Account, grant_id: Option<&str>, id: &str) -> Result<Endpoint> {
        let unknown = || Error::not_found("webhook");
        if !Minter::is_id("whk", id) {
            return Err(unknown());
        }
        self.store.find_webhook(&account.id, grant_id, id).await?.ok_or_else(unknown)
    }

    pub async fn create_webhook(
        &self,
        account: &Account,
        grant_id: Option<&str>,
        new: NewWebhook,
        once: Option<&IdempotentRequest>,
        render: impl FnOnce(&WebhookWithSecret) -> Vec<u8>,
    ) -> Result<IdempotentResult<WebhookWithSecret>> {
        let _guard = match self.begin_idempotent(once).await? {
            FirstOrReplay::Replay(outcome, body) => return Ok(IdempotentResult::Replayed { outcome, body }),
            FirstOrReplay::First(guard) => guard,
        };
        let now = self.now();
        let url = new.url.as_deref().map(|url| self.parse_webhook_url(url)).transpose()?;
        let kind = if url.is_some() { EndpointKind::Url } else { EndpointKind::Listen };
        let site_id = match &new.site {
            Some(name) => Some(self.get_site(account, name).await?.id),
            None => None,
        };
        let endpoint = Endpoint {
            id: self.minter.id("whk"),
            account_id: account.id.clone(),
            grant_id: grant_id.map(str::to_owned),
            site_id,
            kind,
            url,
            description: webhook::description(new.description.as_deref())?,
            events: match &new.events {
                Some(names) => EventFilter::from_names(names)?,
                None => EventFilter::All,
            },
            state: EndpointState::Enabled,
            waiting: 0,
            missed: 0,
            failing_since: None,
            last_success_at: None,
            previous_until: None,
            created_at: now,
            expires_at: (kind == EndpointKind::Listen).then_some(now + LISTEN_SECONDS),
        };
        let secret = Secret::new(&self.minter);
        let sealed = self.seal_webhook_secret(&endpoint.id, &secret)?;
        let mut stmts: Vec<Stmt> =
            grant_id.into_iter().map(|id| oauth_grants::require_live(id, now)).collect();
        stmts.push(counters::lock_account(&account.id, now));
        stmts.push(rows::insert(&endpoint, &sealed, self.settings.webhooks.endpoints));
        let made = WebhookWithSecret { endpoint, secret };
        if let Some(once) = once {
            stmts.push(self.store_response(once, StoredOutcome::Created, &render(&made))?);
        }
        match (self.commit_for_account(&account.id, stmts).await, once) {
            (Ok(_), _) => Ok(IdempotentResult::New(made)),
            (Err(DbError::Guard(idempotency::ANSWERED)), Some(once)) => self.replay_response(once).await,
            (Err(error), _) => Err(self.webhook_guard_error(error)),
        }
    }

    pub async fn change_webhook(
        &self,
        account: &Account,
        grant_id: Option<&str>,
        id: &str,
        change: WebhookChange,
    ) -> Result<Endpoint> {
        let before = self.get_webhook(account, grant_id, id).await?;
        let mut sent = EndpointChange { enabled: change.enabled, ..EndpointChange::default() };
        if let Some(url) = &change.url {
            if before.kind == EndpointKind::Listen {
                return Err(Error::field(
                    "url",
                    "cannot be set: a program fetches the events of this webhook",
                ));
            }
            sent.url = Some(self.parse_webhook_url(url)?);
        }
        sent.site_id = match &change.site {
            Field::Absent => Field::Absent,
            Field::Null => Field::Null,
            Field::Value(name) => Field::Value(self.get_site(account, name).await?.id),
        };
        sent.events = change.events.as_deref().map(EventFilter::from_names).transpose()?;
        if let Some(text) = &change.description {
            sent.description = Some(webhook::description(Some(text))?);
        }
        let stmts = vec![rows::update(&account.id, &before.id, &sent)];
        let outcome = self.commit_for_account(&account.id, stmts).await;
        outcome.map_err(|error| self.webhook_guard_error(error))?;
        self.get_webhook(account, grant_id, id).await
    }

    /// Replaces the secret. The old one signs too for a day, so that the receiver can be changed without losing events.
    pub async fn rotate_webhook(
        &self,
        account: &Account,
        grant_id: Option<&str>,
        id: &str,
    ) -> Result<WebhookWithSecret> {
        let endpoint = self.get_webhook(account, grant_id, id).await?;
        let secret = Secret::new(&self.minter);
        let sealed = self.seal_webhook_secret(&endpoint.id, &secret)?;
        let until = self.now() + ROTATION_SECONDS;
        let stmts = vec![rows::rotate(&account.id, &endpoint.id, &sealed, until)];
        let outcome = self.commit_for_account(&account.id, stmts).await;
        outcome.map_err(|error| self.webhook_guard_error(error))?;
        let endpoint = self.get_webhook(account, grant_id, id).await?;
        Ok(WebhookWithSecret { endpoint, secret })
    }

    /// Deletes an endpoint with its deliveries. A suspended account may do that too.
    pub async fn delete_webhook(&self, account: &Account, grant_id: Option<&str>, id: &str) -> Result<()> {
        let endpoint = self.get_webhook(account, grant_id, id).await?;
        let outcome = self.store.commit(rows::delete(&account.id, &endpoint.id).into()).await;
        outcome.map_err(|error| self.webhook_guard_error(error))?;
        Ok(())
    }

    fn parse_webhook_url(&self, url: &str) -> Result<WebhookUrl> {
        WebhookUrl::parse(url, &self.hosts, self.settings.webhooks.allow_loopback)
    }

    fn webhook_key(&self) -> [u8; 32] {
        self.keys.mac("webhook-secret", b"")
    }

    fn seal_webhook_secret(&self, id: &str, secret: &Secret) -> Result<Bytes> {
        sealing::seal(&self.minter, self.webhook_key(), id.as_bytes(), secret.bytes())
    }

    /// The secrets that sign now: the current one, and the previous one until its end. A previous one that cannot be opened
    /// is left out, so that a rotation helps at once if the key of the server was lost.
    pub(super) fn open_webhook_secrets(
        &self,
        endpoint: &Endpoint,
        sealed: &SealedSecrets,
    ) -> Result<Vec<Secret>> {
        let previous = sealed.previous.as_ref();
        let previous = previous.filter(|_| endpoint.previous_until.is_some_and(|until| until > self.now()));
        let open = |sealed: &Bytes| {
            let bytes = sealing::open(self.webhook_key(), endpoint.id.as_bytes(), sealed)?;
            Ok::<_, Error>(Secret::from_bytes(&bytes))
        };
        let current = open(&sealed.current)?;
        Ok(std::iter::once(current).chain(previous.and_then(|sealed| open(sealed).ok())).collect())
    }

    /// The error for a failed guard.
    pub(super) fn webhook_guard_error(&self, error: DbError) -> Error {
        let DbError::Guard(label) = error else { return error.into() };
        let most = self.settings.webhooks.endpoints;
        match label {
            accounts::SUSPENDED => account::suspended(),
            oauth_grants::DEAD => Error::plain(Code::InvalidCredential),
            rows::UNKNOWN => Error::not_found("webhook"),
            rows::FULL => Error::new(
                Code::TooMany,
                format!("An account can have at most {most} webhooks. Delete some first."),
            ),
            rows::BUSY => Error::new(
                Code::Conflict,
                "The webhook is disabled, or too many deliveries wait for it. Enable it, or wait until they are delivered.",
            ),
            webhook_deliveries::NOT_RETRIABLE => Error::new(
                Code::Conflict,
                "The delivery is being sent, or waits for an earlier one of the same page. Retry that one first.",
            ),
            other => {
                self.rate_refusal(other).unwrap_or_else(|| Error::internal(format!("guard {other} failed")))
            }
        }
    }
}
