//! Judges whether email can be sent.

use super::{Check, Finding};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailFacts {
    /// No mail server; whether the operator turned mail off, and how many pages need it.
    Off { is_intended: bool, gated_pages: i64 },
    /// Emails are files on this machine.
    Outbox { folder: String },
    /// `Err`: why the mail server cannot be used.
    Connected(Result<(), String>),
    /// A test email; `Err`: why it was not accepted.
    Sent { to: String, result: Result<(), String> },
}

pub fn mail(facts: &MailFacts) -> Finding {
    const CHECK: Check = Check::Mail;
    const SET: &str = "Set `mail.smtp_url = \"smtps://user:password@mail.example.com\"` and `mail.from`";
    match facts {
        MailFacts::Off { is_intended: false, .. } => Finding::warning(
            CHECK,
            "No mail server is set, so nobody can sign in by email and email gates do not work.",
            format!("{SET}, or set `mail.mode = \"off\"` if this is intended."),
        ),
        MailFacts::Off { gated_pages: 1.., .. } => Finding::warning(
            CHECK,
            "Email is turned off, but there are pages with an email gate. Nobody can open them.",
            format!("{SET} and `mail.mode = \"smtp\"`."),
        ),
        MailFacts::Off { .. } => Finding::ok(CHECK, "Email is turned off (`mail.mode`)."),
        MailFacts::Outbox { folder } => Finding::ok(
            CHECK,
            format!("Emails are written to {folder}, because this server is for one machine."),
        ),
        MailFacts::Connected(Ok(())) => Finding::ok(
            CHECK,
            "The mail server accepts the connection and the login. `dropleaf doctor --mail ADDRESS` sends a test email.",
        ),
        MailFacts::Connected(Err(why)) => Finding::problem(
            CHECK,
            format!("The mail server cannot be used: {why}."),
            "Check host, port, user and password in `mail.smtp_url`, and that the provider allows outgoing connections to that port.",
        ),
        MailFacts::Sent { to, result: Ok(()) } => Finding::ok(
            CHECK,
            format!(
                "The mail server accepted a test email to {to}. If it does not arrive, check the spam folder, SPF and DKIM."
            ),
        ),
        MailFacts::Sent { to, result: Err(why) } => Finding::problem(
            CHECK,
            format!("A test email to {to} was not accepted: {why}."),
            "Check that the mail server accepts `mail.from` as a sender, and user and password in `mail.smtp_url`.",
        ),
    }
}
