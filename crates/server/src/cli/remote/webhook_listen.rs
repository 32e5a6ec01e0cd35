//! `dropleaf webhooks listen`: shows events as they happen, verifies their signatures, and can forward them to a program on
//! this machine. The events are fetched, so it works behind NAT and without a tunnel.

use super::ClientEnvironment;
use super::session::explained;
use super::target::ServerArgs;
use crate::cli::output::{print_line, visible};
use anyhow::{Context, Result, ensure};
use clap::Args;
use dropleaf_client::{Client, ClientError, FetchedEvent, NewWebhook};
use dropleaf_core::webhook::{Secret, verify};
use dropleaf_core::{Clock, SystemClock};
use std::time::Duration;

const WAIT_SECONDS: i64 = 20;
/// The shortest and the longest pause after an error that may pass. The server keeps the webhook for ten minutes.
const RETRY: Duration = Duration::from_secs(3);
const LONGEST_RETRY: Duration = Duration::from_mins(5);
const FORWARD_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Debug, Args)]
pub(super) struct Listen {
    /// Also send each event to this address, with its headers
    #[arg(long, value_name = "URL")]
    forward: Option<String>,
    /// An event type, such as feedback.created; repeat it for several (default: all)
    #[arg(long = "event", value_name = "TYPE")]
    events: Vec<String>,
    /// Stop after this many events
    #[arg(long, value_name = "COUNT")]
    count: Option<u64>,
    #[command(flatten)]
    server: ServerArgs,
}

impl Listen {
    pub(super) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let new = NewWebhook {
            listen: true,
            events: self.events.clone(),
            description: Some("dropleaf webhooks listen".to_owned()),
            ..NewWebhook::default()
        };
        let made = client.create_webhook(&new).await.map_err(|error| explained(error, client.server()))?;
        let text = made.value.secret.unwrap_or_default();
        let secret = Secret::parse(&text).context("the server sent no signing secret")?;
        eprintln!("Listening to {}. Signing secret: {}", visible(client.server()), visible(&text));
        eprintln!("Press Ctrl-C to stop.");
        let outcome = tokio::select! {
            outcome = self.listen(&client, &made.value.id, &secret) => outcome,
            outcome = tokio::signal::ctrl_c() => outcome.context("cannot wait for Ctrl-C"),
        };
        // Otherwise the server deletes it ten minutes later.
        let _ = client.delete_webhook(&made.value.id).await;
        outcome
    }

    async fn listen(&self, client: &Client, id: &str, secret: &Secret) -> Result<()> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(FORWARD_TIMEOUT)
            // A program that closes its idle connections would lose an event that is sent at that moment.
            .pool_max_idle_per_host(0)
            .build()?;
        let (mut received, mut count) = (None, 0);
        loop {
            let fetched = match client.receive_webhook_events(id, received, WAIT_SECONDS).await {
                Ok(fetched) => fetched,
                Err(error) => match pause_after(&error) {
                    Some(pause) => {
                        eprintln!("{}; trying again in {} s", visible(&error.to_string()), pause.as_secs());
                        tokio::time::sleep(pause).await;
                        continue;
                    }
                    None => return Err(explained(error, client.server())),
                },
            };
            for event in fetched.events {
                self.show(&http, &event, secret).await?;
                received = Some(event.seq);
                count += 1;
                if self.count.is_some_and(|most| count >= most) {
                    client.receive_webhook_events(id, received, 0).await?;
                    return Ok(());
                }
            }
        }
    }

    async fn show(&self, http: &reqwest::Client, event: &FetchedEvent, secret: &Secret) -> Result<()> {
        let FetchedEvent { webhook_id, webhook_timestamp, webhook_signature, payload, .. } = event;
        let now = SystemClock::default().now();
        let is_right = verify(secret, webhook_signature, webhook_id, *webhook_timestamp, payload, now);
        ensure!(
            is_right,
            "the signature of {} is wrong, or the clock of this computer is",
            visible(webhook_id)
        );
        eprintln!("{} (signature verified)", visible(webhook_id));
        print_line(&visible(payload))?;
        let Some(url) = &self.forward else { return Ok(()) };
        let request = http
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", webhook_id)
            .header("webhook-timestamp", webhook_timestamp.to_string())
            .header("webhook-signature", webhook_signature)
            .body(payload.clone());
        match request.send().await {
            Ok(response) => eprintln!("  forwarded: status {}", response.status().as_u16()),
            Err(error) => eprintln!("  not forwarded: {}", visible(&error.to_string())),
        }
        Ok(())
    }
}

/// How long to wait before the next request; `None` if the error will not pass.
fn pause_after(error: &ClientError) -> Option<Duration> {
    error.retry_after().map(|wait| wait.clamp(RETRY, LONGEST_RETRY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn refused(status: u16, retry_after: Option<u64>) -> ClientError {
        let (code, description, reasons) = ("x".to_owned(), "x".to_owned(), Vec::new());
        ClientError::Refused { status, code, description, retry_after, reasons, body: Value::Null }
    }

    #[test]
    fn errors_that_may_pass_are_waited_out_as_long_as_the_server_says() {
        let server = || "https://pages.example.org".to_owned();
        let away = ClientError::Unreachable { server: server(), why: "refused".into() };
        let proxy = |status| ClientError::UnexpectedResponse { server: server(), status };
        for error in [away, proxy(502), proxy(504), refused(503, None), refused(429, None)] {
            assert_eq!(pause_after(&error), Some(RETRY), "{error}");
        }
        assert_eq!(pause_after(&refused(429, Some(40))), Some(Duration::from_secs(40)));
        assert_eq!(pause_after(&refused(503, Some(9999))), Some(LONGEST_RETRY));
        for error in [proxy(200), refused(401, None), refused(404, Some(1))] {
            assert_eq!(pause_after(&error), None, "{error}");
        }
    }
}
