//! Mail by SMTP, one connection for a letter: there are few, and none should wait behind a stale connection.

use super::{Sender, compose};
use anyhow::{Context, Result};
use dropleaf_app::{Letter, MailError, Mailer};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use lettre::transport::smtp::{AsyncSmtpTransportBuilder, Error};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use std::time::Duration;

/// For each step of the conversation.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Sender,
}

fn builder(url: &str) -> Result<AsyncSmtpTransportBuilder> {
    let known = url.starts_with("smtp://") || url.starts_with("smtps://");
    // The library's own words may repeat the password.
    let parsed = AsyncSmtpTransport::<Tokio1Executor>::from_url(url).ok().filter(|_| known);
    parsed
        .context("`mail.smtp_url` must be smtp://host[:port], with ?tls=required for STARTTLS, or smtps://…")
}

/// Whether the setting can be used at all.
pub(super) fn check(url: &str) -> Result<()> {
    crate::tls::install_provider();
    builder(url).map(|_| ())
}

impl Smtp {
    pub fn new(url: &str, from: Sender) -> Result<Self> {
        Ok(Self { transport: builder(url)?.timeout(Some(PATIENCE)).build(), from })
    }
}

impl Mailer for Smtp {
    fn is_ready(&self) -> bool {
        true
    }

    fn send<'a>(&'a self, letter: &'a Letter) -> BoxFuture<'a, Result<(), MailError>> {
        async move {
            let (envelope, text) = compose::message(letter, &self.from)?;
            self.transport
                .send_raw(&envelope, &text)
                .await
                .map(|_| ())
                .map_err(|error| MailError(reason(&error)))
        }
        .boxed()
    }
}

/// What went wrong, without the server's own words: they may name the address.
fn reason(error: &Error) -> String {
    if let Some(status) = error.status() {
        return format!("the mail server refused it with {status}");
    }
    if error.is_timeout() {
        return "the mail server took too long".into();
    }
    if error.is_tls() {
        return "the mail server could not be reached securely".into();
    }
    "the mail server could not be reached".into()
}
