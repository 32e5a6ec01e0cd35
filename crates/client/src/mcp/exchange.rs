//! Sends one message until it is answered: chooses the headers, retries where that is safe, and recreates a session that the
//! server no longer knows.

use super::backoff::{LASTING_PAUSE, Wait};
use super::failure::ExchangeFailure;
use super::link::{Link, is_error};
use super::message::Message;
use super::session::Opened;
use super::wire::McpHeaders;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::Instant;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// The JSON-RPC id of the bridge's own requests; their responses are not forwarded.
const OWN_ID: &str = "dropleaf-bridge";

impl Link {
    async fn headers(&self, message: &Message) -> (McpHeaders, u64) {
        let session = self.session.read().await;
        if message.version.is_none() {
            return (session.headers(), session.generation());
        }
        let headers = McpHeaders {
            version: message.version.clone(),
            session: None,
            method: Some(message.method().to_owned()),
            name: message.name_header(),
        };
        (headers, session.generation())
    }

    /// Sends a request until it is answered or retrying is pointless.
    pub(super) async fn ask(
        &self,
        line: &Bytes,
        message: &Message,
        id: &Value,
    ) -> Result<Vec<u8>, ExchangeFailure> {
        let lasting = message.method() == "subscriptions/listen";
        let mut wait = Wait::up_to(self.patience);
        let mut has_renewed = false;
        // The notification to suppress when a stream is reopened, because the server sends it again.
        let mut hush = None;
        loop {
            let (headers, generation) = self.headers(message).await;
            let begun = Instant::now();
            let failure = match self.once(line, &headers, id, hush).await {
                // A server that shuts down ends its subscriptions; the client did not ask for that, so reconnect.
                Ok((answer, _)) if lasting && !is_error(&answer) => ExchangeFailure::Interrupted,
                Ok((answer, _)) => return Ok(answer),
                Err(ExchangeFailure::SessionLost) if !has_renewed => {
                    self.renew(generation).await?;
                    has_renewed = true;
                    continue;
                }
                Err(failure) => failure,
            };
            if lasting
                && failure == ExchangeFailure::Interrupted
                && (hush.is_none() || begun.elapsed() > LASTING_PAUSE)
            {
                hush = Some(ACKNOWLEDGED);
                wait = Wait::lasting();
            }
            let again = failure.did_nothing() || (failure.may_pass() && message.may_be_repeated());
            if !again || !wait.pause().await {
                return Err(failure);
            }
        }
    }

    /// Sends a message that has no response (a notification or an answer).
    pub(super) async fn notify(&self, line: &Bytes, message: &Message) -> Result<(), ExchangeFailure> {
        let mut wait = Wait::up_to(self.patience);
        let mut has_renewed = false;
        loop {
            let (headers, generation) = self.headers(message).await;
            match self.deliver(&headers, line).await {
                Ok(()) => return Ok(()),
                Err(ExchangeFailure::SessionLost) if !has_renewed => {
                    self.renew(generation).await?;
                    has_renewed = true;
                }
                Err(failure) if failure.did_nothing() && wait.pause().await => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Sends an `initialize`, with retries while the error is temporary.
    pub(super) async fn open(&self, line: &Bytes, id: &Value) -> Result<Opened, ExchangeFailure> {
        let mut wait = Wait::up_to(self.patience);
        loop {
            match self.once(line, &McpHeaders::default(), id, None).await {
                Ok((answer, session)) => return Ok(Opened::read(answer, session)),
                Err(failure) if failure.may_pass() && wait.pause().await => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Recreates the session, unless another task has done so since generation `lost`.
    pub(super) async fn renew(&self, lost: u64) -> Result<(), ExchangeFailure> {
        let mut session = self.session.write().await;
        if session.generation() != lost {
            return Ok(());
        }
        let mut opening = session.opening.clone().ok_or(ExchangeFailure::SessionLost)?;
        let id = json!(OWN_ID);
        opening["id"] = id.clone();
        let opened = self.open(&line(&opening), &id).await?;
        if let Some(error) = opened.error {
            return Err(ExchangeFailure::JsonRpc(error));
        }
        session.take(&opened);
        let headers = session.headers();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.deliver(&headers, &line(&ready)).await?;
        for uri in &session.watched {
            let again =
                json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": {"uri": uri}});
            // A page that no longer exists must not prevent the other subscriptions.
            if let Err(failure) = self.once(&line(&again), &headers, &id, None).await {
                self.note(&format!("no longer subscribed to {uri}: {}", failure.sentence(&self.wire.server)));
            }
        }
        self.renewed.send_replace(session.generation());
        self.note("the server no longer knew the session; a new one was started");
        Ok(())
    }
}

fn line(json: &Value) -> Bytes {
    json.to_string().into_bytes().into()
}
