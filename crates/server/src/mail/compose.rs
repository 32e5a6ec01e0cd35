//! A letter in the form that mail travels in (RFC 5322).

use dropleaf_app::{Letter, MailError};
use lettre::Message;
use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, SinglePart};
use std::time::{Duration, UNIX_EPOCH};

/// Tells mail programs not to answer by themselves (RFC 3834).
#[derive(Debug, Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".into())
    }
}

pub(super) fn message(letter: &Letter, from: &Mailbox) -> Result<Message, MailError> {
    let to = letter.to.parse().map_err(|_| MailError("the address cannot be written to".into()))?;
    let sent = UNIX_EPOCH + Duration::from_secs(u64::try_from(letter.written_at).unwrap_or_default());
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(letter.subject.clone())
        .date(sent)
        .message_id(Some(format!("<{}@{}>", letter.id, from.email.domain())))
        .header(AutoSubmitted)
        .singlepart(SinglePart::builder().header(ContentType::TEXT_PLAIN).body(letter.text.clone()))
        .map_err(|error| MailError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_plain_text_with_everything_mail_servers_ask_for() {
        let letter = Letter {
            id: "0123".into(),
            written_at: 1_800_000_000,
            to: "ann@example.org".into(),
            subject: "1234 5678 is your code".into(),
            text: "Your code is 1234 5678\n".into(),
        };
        let from: Mailbox = "dropleaf <mail@drop.example>".parse().unwrap();
        let text = String::from_utf8(message(&letter, &from).unwrap().formatted()).unwrap();
        for line in [
            "From: dropleaf <mail@drop.example>",
            "To: ann@example.org",
            "Subject: 1234 5678 is your code",
            "Date: Fri, 15 Jan 2027 08:00:00 +0000",
            "Message-ID: <0123@drop.example>",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Your code is 1234 5678",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let odd = Letter { to: ".a@example.org\r\nBcc: b@example.org".into(), ..letter };
        assert!(message(&odd, &from).is_err());
    }
}
