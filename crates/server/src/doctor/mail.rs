//! The mail server: whether it accepts a connection and the login, or a test email.

use super::Doctor;
use crate::mail::{MailTransport, Smtp};
use dropleaf_app::{Email, MailError};
use dropleaf_core::health::{self, Finding, MailFacts};

impl Doctor {
    pub(super) async fn check_mail(&self) -> Finding {
        let mail = &self.resolved.mail;
        let facts = match (&mail.transport, &self.mail_to) {
            (MailTransport::Off, _) => MailFacts::Off {
                is_intended: mail.warning().is_none(),
                gated_pages: self.count_gated_pages().await,
            },
            (_, Some(to)) => MailFacts::Sent { to: to.clone(), result: self.send_test(to).await },
            (MailTransport::Outbox, None) => {
                MailFacts::Outbox { folder: self.resolved.data_dir.join("outbox").display().to_string() }
            }
            (MailTransport::Smtp(url), None) => {
                MailFacts::Connected(match Smtp::new(url, mail.from.clone()) {
                    Ok(smtp) => smtp.test().await,
                    Err(error) => Err(error.to_string()),
                })
            }
        };
        health::mail(&facts)
    }

    async fn send_test(&self, to: &str) -> Result<(), String> {
        let opened = self.resolved.mail.open(&self.resolved.data_dir).map_err(|error| error.to_string())?;
        let mailer = opened.ok_or("email is turned off")?;
        let url = self.resolved.hosts.base.url();
        let email = Email {
            id: self.minter.nonce(),
            written_at: self.clock.now(),
            to: to.to_owned(),
            subject: "Test email from dropleaf".to_owned(),
            text: format!(
                "This email shows that the server at {url} can send email.\n\nIt was requested with `dropleaf doctor`.\n"
            ),
            unsubscribe: None,
        };
        mailer.send(&email).await.map_err(|error| match error {
            MailError::Permanent(why) | MailError::Temporary(why) | MailError::Ambiguous(why) => why,
        })
    }
}
