//! Sends email over SMTP with one connection each: there are few, and none should wait behind a stale connection.

use super::{Sender, compose};
use anyhow::{Context, Result};
use dropleaf_app::{Email, MailError, Mailer};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use lettre::transport::smtp::{AsyncSmtpTransportBuilder, Error};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// Timeout for each step of the conversation.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Sender,
}

fn builder(url: &str) -> Result<AsyncSmtpTransportBuilder> {
    let known = url.starts_with("smtp://") || url.starts_with("smtps://");
    // The library's own error may repeat the password.
    let parsed = AsyncSmtpTransport::<Tokio1Executor>::from_url(url).ok().filter(|_| known);
    parsed
        .context("`mail.smtp_url` must be smtp://host[:port], with ?tls=required for STARTTLS, or smtps://…")
}

/// Checks that the setting is usable.
pub(super) fn check(url: &str) -> Result<()> {
    crate::tls::install_provider();
    builder(url).map(|_| ())
}

impl Smtp {
    pub fn new(url: &str, from: Sender) -> Result<Self> {
        Ok(Self { transport: builder(url)?.timeout(Some(PATIENCE)).build(), from })
    }

    /// Connects and logs in, without sending anything.
    pub(crate) async fn test(&self) -> Result<(), String> {
        match self.transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => Err("it closed the connection".to_owned()),
            Err(error) => match error.status() {
                Some(status) => Err(format!("it refused the login with status {status}")),
                None => Err(match failure(&error) {
                    MailError::Permanent(why) | MailError::Temporary(why) | MailError::Ambiguous(why) => why,
                }),
            },
        }
    }
}

impl Mailer for Smtp {
    fn is_ready(&self) -> bool {
        true
    }

    fn send<'a>(&'a self, letter: &'a Email) -> BoxFuture<'a, Result<(), MailError>> {
        async move {
            let (envelope, text) = compose::message(letter, &self.from)?;
            self.transport.send_raw(&envelope, &text).await.map(|_| ()).map_err(|error| failure(&error))
        }
        .boxed()
    }
}

/// What went wrong, without the server's own text, which may contain the address.
fn failure(error: &Error) -> MailError {
    if let Some(status) = error.status() {
        let why = format!("the mail server rejected it with status {status}");
        return if error.is_permanent() { MailError::Permanent(why) } else { MailError::Temporary(why) };
    }
    if error.is_timeout() {
        return MailError::Ambiguous("the mail server took too long".into());
    }
    if error.is_tls() {
        return MailError::Temporary("the mail server could not be reached securely".into());
    }
    let why = "the mail server could not be reached".into();
    if never_connected(error) { MailError::Temporary(why) } else { MailError::Ambiguous(why) }
}

/// Whether there was no connection at all, so the email has certainly not been accepted.
fn never_connected(error: &Error) -> bool {
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            let known =
                [ErrorKind::ConnectionRefused, ErrorKind::HostUnreachable, ErrorKind::NetworkUnreachable];
            return known.contains(&io.kind());
        }
        source = inner.source();
    }
    false
}
