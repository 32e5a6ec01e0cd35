//! The sandbox card processor: answers the API of the real one from objects in the database. It involves no cards and no money.
//! The rules are in `dropleaf_pay::stripe::sandbox`. Sending its events to a webhook is left to the caller.

use super::{CardProcessor, ProcessorReply};
use crate::pay::NoResponse;
use dropleaf_core::{Clock, Minter, Result};
use dropleaf_pay::stripe::ApiRequest;
use dropleaf_pay::stripe::sandbox::{
    Authentication, Call, CardDetails, CheckoutForm, Context, FormOutcome, FormSubmission, Handled,
    ObjectKey, Request, Step, StoredObject, WebhookEvent,
};
use dropleaf_store::sandbox_objects::{self, SandboxKey};
use dropleaf_store::{DbError, Stmt, Store};
use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// How often a request is repeated because another one changed the same objects meanwhile.
const ATTEMPTS: usize = 16;
/// Our own key. Any test key is accepted.
const AUTHORIZATION: &str = "Bearer sk_test_dropleaf";

/// How long an object that does not change is kept.
const KEPT_SECONDS: i64 = 30 * 86_400;
/// The most objects that are deleted at once.
const DELETED_AT_ONCE: i64 = 5000;

/// A card processor without cards.
#[derive(Debug)]
pub struct SandboxProcessor {
    store: Store,
    clock: Arc<dyn Clock>,
    minter: Arc<Minter>,
    form_url: String,
}

/// The answer to a request or a step, and the events that it caused.
#[derive(Clone, PartialEq, Eq)]
pub struct SandboxReply {
    pub status: u16,
    /// JSON text.
    pub body: String,
    /// Whether an earlier request with the same idempotency key got this answer.
    pub replayed: bool,
    /// To be signed and sent to the webhook, in this order.
    pub events: Vec<WebhookEvent>,
}

/// What one run of the sandbox decided.
struct Run<T> {
    result: T,
    writes: Vec<StoredObject>,
}

impl SandboxProcessor {
    /// `form_url` is the address of the payment form; the id of the checkout session is appended after a slash.
    pub const fn new(store: Store, clock: Arc<dyn Clock>, minter: Arc<Minter>, form_url: String) -> Self {
        Self { store, clock, minter, form_url }
    }

    /// Answers a request to the API.
    pub async fn call(&self, request: &Request<'_>) -> Result<SandboxReply> {
        let needs = Call::parse(request).needs();
        let reply =
            self.run(&needs, |found, context| Call::parse(request).run(found, context).into()).await?;
        Ok(reply)
    }

    /// A person submits the payment form of a checkout session.
    pub async fn submit(
        &self,
        session: &str,
        card: CardDetails<'_>,
        authentication: Option<Authentication>,
    ) -> Result<(FormOutcome, Vec<WebhookEvent>)> {
        let submission = FormSubmission { session, card, authentication };
        let submitted = self
            .run(&submission.needs(), |found, context| {
                let submitted = submission.run(found, context);
                Run { result: (submitted.outcome, submitted.events), writes: submitted.writes }
            })
            .await?;
        Ok(submitted)
    }

    /// What the payment form of a checkout session shows; `None` if there is no such session.
    pub async fn form(&self, session: &str) -> Result<Option<CheckoutForm>> {
        let Some(key) = CheckoutForm::key(session) else { return Ok(None) };
        let found = self.load(&[key]).await?;
        let context = self.context();
        Ok(found.first().and_then(|session| CheckoutForm::read(session, &context)))
    }

    /// Something happens to a payment, such as a dispute.
    pub async fn step(&self, step: Step<'_>) -> Result<SandboxReply> {
        let reply = self.run(&step.needs(), |found, context| step.run(found, context).into()).await?;
        Ok(reply)
    }

    /// Deletes old objects, for a sandbox that is not part of a server with a sweep.
    pub async fn delete_old(&self) -> Result<()> {
        self.store.commit(vec![delete_old_objects(self.clock.now())]).await?;
        Ok(())
    }

    /// Runs on the objects as they are and writes the result, until no other request interferes.
    async fn run<T>(
        &self,
        needs: &[ObjectKey],
        run: impl Fn(&[StoredObject], &Context<'_>) -> Run<T>,
    ) -> std::result::Result<T, DbError> {
        for _ in 0..ATTEMPTS {
            let found = self.load(needs).await?;
            let context = self.context();
            let Run { result, writes } = run(&found, &context);
            if writes.is_empty() {
                return Ok(result);
            }
            let write = |object: &StoredObject| {
                sandbox_objects::write(stored_key(&object.key), object.version, &object.json, context.now)
            };
            match self.store.commit(writes.iter().map(write).collect()).await {
                Ok(_) => return Ok(result),
                Err(DbError::Guard(sandbox_objects::CHANGED)) => {}
                Err(error) => return Err(error),
            }
        }
        Err(DbError::Busy)
    }

    async fn load(&self, keys: &[ObjectKey]) -> std::result::Result<Vec<StoredObject>, DbError> {
        let stored_keys: Vec<_> = keys.iter().map(stored_key).collect();
        let found = self.store.find_sandbox_objects(&stored_keys).await?;
        let object = |found: sandbox_objects::SandboxObject| {
            let key = keys.get(found.key_index)?.clone();
            Some(StoredObject { key, version: found.version, json: found.json })
        };
        Ok(found.into_iter().filter_map(object).collect())
    }

    fn context(&self) -> Context<'_> {
        Context { now: self.clock.now(), random: self.minter.bytes(), form_url: &self.form_url }
    }
}

impl CardProcessor for SandboxProcessor {
    /// Events are not sent: the caller of the embedded sandbox learns the outcome from the reply, or by asking again.
    fn send<'a>(
        &'a self,
        request: &'a ApiRequest,
    ) -> BoxFuture<'a, std::result::Result<ProcessorReply, NoResponse>> {
        Box::pin(async move {
            let (path, parameters) = request.path_and_parameters();
            let request = Request {
                method: request.method.as_str(),
                path,
                authorization: Some(AUTHORIZATION),
                idempotency_key: request.idempotency_key.as_deref(),
                parameters: parameters.as_bytes(),
            };
            let reply = self.call(&request).await.map_err(|error| NoResponse(error.to_string()))?;
            Ok(ProcessorReply {
                status: reply.status,
                replayed: reply.replayed,
                body: reply.body.into_bytes().into(),
            })
        })
    }
}

impl From<Handled> for Run<SandboxReply> {
    fn from(handled: Handled) -> Self {
        let Handled { status, body, replayed, writes, events } = handled;
        Self { result: SandboxReply { status, body, replayed, events }, writes }
    }
}

/// Deletes objects that have not changed for long.
pub(super) fn delete_old_objects(now: i64) -> Stmt {
    sandbox_objects::delete_old(now - KEPT_SECONDS, DELETED_AT_ONCE)
}

fn stored_key(key: &ObjectKey) -> SandboxKey<'_> {
    SandboxKey { kind: key.kind.as_str(), id: &key.id }
}

/// Keeps tokens out of logs.
impl fmt::Debug for SandboxReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxReply")
            .field("status", &self.status)
            .field("replayed", &self.replayed)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
