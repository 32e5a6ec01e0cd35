//! Sends email over SMTP with one connection each: there are few, and none should wait behind a stale connection.

use super::{Sender, compose};
use anyhow::{Context, Result};
use dropleaf_app::{Email, MailError, Mailer};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use lettre::transport::smtp::{AsyncSmtpTransportBuilder, Error};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use std::time::Duration;

/// Timeout for each step of the conversation.
const PATIENCE: Duration = Duration::from_secs(10);
/// A login is required or has failed (RFC 4954): there was no email yet, and the operator has to correct the settings.
const LOGIN_FAILED: [&str; 4] = ["530", "534", "535", "538"];

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
        if LOGIN_FAILED.contains(&status.to_string().as_str()) {
            return MailError::Temporary("the mail server refused the login".into());
        }
        let why = format!("the mail server rejected it with status {status}");
        return if error.is_permanent() { MailError::Permanent(why) } else { MailError::Temporary(why) };
    }
    if error.is_tls() {
        return MailError::Temporary("the mail server could not be reached securely".into());
    }
    let why = "the mail server could not be reached".into();
    if never_connected(error) {
        return MailError::Temporary(why);
    }
    if error.is_timeout() {
        return MailError::Ambiguous("the mail server took too long".into());
    }
    MailError::Ambiguous(why)
}

/// Whether there was no connection, so the email has certainly not been accepted: its name was not found, nothing answered, or
/// the server refused. The library tells this apart only in its text; a connection that breaks later is a "network error".
fn never_connected(error: &Error) -> bool {
    error.to_string().starts_with("Connection error")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{TcpListener, TcpSocket, TcpStream};

    async fn refused(url: &str) -> MailError {
        crate::tls::install_provider();
        let from: Sender = "dropleaf <dropleaf@example.org>".parse().unwrap();
        let email = Email {
            id: "letter_1".into(),
            written_at: 1_700_000_000,
            to: "ann@example.org".into(),
            subject: "News".into(),
            text: "There is a comment.\n".into(),
            unsubscribe: None,
        };
        Smtp::new(url, from).unwrap().send(&email).await.unwrap_err()
    }

    /// Answers each line by its first word; what it does not know ends the connection.
    async fn talk(stream: TcpStream, answers: &[(&str, &str)]) {
        let (reader, mut writer) = stream.into_split();
        writer.write_all(b"220 test\r\n").await.unwrap();
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Some((_, answer)) = answers.iter().find(|(verb, _)| line.starts_with(verb)) else { return };
            writer.write_all(answer.as_bytes()).await.unwrap();
        }
    }

    #[tokio::test]
    async fn what_was_certainly_not_taken_is_tried_again() {
        // Bound but not listening, so that no one else gets the port.
        let reserved = TcpSocket::new_v4().unwrap();
        reserved.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = reserved.local_addr().unwrap();
        let error = refused(&format!("smtp://{address}")).await;
        assert!(matches!(error, MailError::Temporary(_)), "nothing listens: {error:?}");

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let login = [
                ("EHLO", "250-test\r\n250 AUTH PLAIN\r\n"),
                ("AUTH", "535 wrong\r\n"),
                ("QUIT", "221 bye\r\n"),
            ];
            talk(listener.accept().await.unwrap().0, &login).await;
        };
        let url = format!("smtp://user:old@{address}");
        let (error, ()) = tokio::join!(refused(&url), server);
        assert!(matches!(error, MailError::Temporary(_)), "the login failed: {error:?}");

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let cut = [
                ("EHLO", "250 test\r\n"),
                ("MAIL", "250 fine\r\n"),
                ("RCPT", "250 fine\r\n"),
                ("DATA", "354 go on\r\n"),
            ];
            talk(listener.accept().await.unwrap().0, &cut).await;
        };
        let url = format!("smtp://{address}");
        let (error, ()) = tokio::join!(refused(&url), server);
        assert!(matches!(error, MailError::Ambiguous(_)), "cut while it was sent: {error:?}");
    }
}
