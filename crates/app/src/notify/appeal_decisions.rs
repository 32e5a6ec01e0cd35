//! Emails the decision on an appeal to its sender, once. Quotes no untrusted input: contact addresses are unverified.

use crate::app::App;
use crate::moderation::appeal_queue::AppealSender;
use crate::notify::mail::{Email, MailError};
use dropleaf_core::appeal::{Appeal, State};
use dropleaf_core::rate::Rate;
use dropleaf_core::{Result, email, iso};
use dropleaf_store::appeal_decisions::{self as rows, DueDecisionEmail};
use dropleaf_store::{DbError, Stmt};

/// Limit of decision emails per address, so that untrusted senders who name it cannot flood a mailbox.
const PER_ADDRESS: Rate = Rate { name: "decision_address_day", limit: 10, window_seconds: 86_400 };
const BATCH: i64 = 50;
/// Retry delays for an email that was certainly not sent.
const RETRY_DELAYS: [i64; 4] = [300, 1800, 7200, 43_200];
/// Decisions older than this are not sent, for example after a backup was restored.
const MAX_DECISION_AGE: i64 = 3 * 86_400;

impl App {
    /// For the transaction that decides an appeal: queues an email to its sender, if there is an address and mail is
    /// configured.
    pub(crate) fn queue_decision_email(&self, appeal: &Appeal) -> Option<Stmt> {
        let has_address =
            appeal.account_id.is_some() || sole_address(appeal.statement.contact.as_deref()).is_some();
        (self.notify.mailer.is_some() && has_address)
            .then(|| rows::schedule_decision_email(&appeal.id, self.now()))
    }

    /// Sends queued decisions while `go_on` returns true. Returns how many were sent.
    pub async fn send_appeal_decisions(&self, go_on: impl Fn() -> bool) -> Result<usize> {
        if self.notify.mailer.is_none() {
            return Ok(0);
        }
        let mut count = 0;
        for due in self.store.list_due_decision_emails(self.now(), BATCH).await? {
            if !go_on() {
                break;
            }
            count += usize::from(self.send_decision(due).await?);
        }
        Ok(count)
    }

    async fn send_decision(&self, due: DueDecisionEmail) -> Result<bool> {
        let now = self.now();
        let to = self.decision_recipient(&due).await?;
        let Some(to) = to.filter(|_| due.due_at > now - MAX_DECISION_AGE) else {
            self.drop_decision_email(&due).await?;
            return Ok(false);
        };
        // Taken from the queue before sending: a crash may lose an email, but none is sent twice.
        let stmts = vec![rows::take_decision_email(&due), self.count_email_to(&PER_ADDRESS, &to, now)];
        match self.store.commit(stmts).await {
            Ok(_) => {}
            Err(DbError::Guard(rows::TAKEN)) => return Ok(false),
            Err(DbError::Guard(name)) if name == PER_ADDRESS.name => {
                tracing::info!(
                    appeal = due.appeal_id,
                    "decision email not sent: daily limit of the address reached"
                );
                self.drop_decision_email(&due).await?;
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        match self.send_email(&self.decision_email(&due, to)).await {
            Ok(()) => Ok(true),
            Err(MailError::Temporary(_)) => {
                let pause = usize::try_from(due.tries).ok().and_then(|tries| RETRY_DELAYS.get(tries));
                if let Some(pause) = pause {
                    self.store
                        .commit(vec![rows::schedule_decision_email(&due.appeal_id, now + pause)])
                        .await?;
                }
                Ok(false)
            }
            Err(MailError::Permanent(_) | MailError::Ambiguous(_)) => Ok(false),
        }
    }

    async fn drop_decision_email(&self, due: &DueDecisionEmail) -> Result<()> {
        match self.store.commit(vec![rows::take_decision_email(due)]).await {
            Ok(_) | Err(DbError::Guard(rows::TAKEN)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The recipient of a decision: the contact given with the appeal, else the account's email address.
    async fn decision_recipient(&self, due: &DueDecisionEmail) -> Result<Option<String>> {
        if due.contact.is_some() {
            return Ok(sole_address(due.contact.as_deref()));
        }
        let Some(id) = &due.account_id else { return Ok(None) };
        Ok(self.store.find_account(id).await?.and_then(|account| account.email))
    }

    fn decision_email(&self, due: &DueDecisionEmail, to: String) -> Email {
        let host = &self.hosts.base.host;
        let sender = AppealSender { account_id: due.account_id.clone(), client: due.client.clone() };
        let token = self.appeal_token(&due.appeal_id, &sender);
        let status_url = format!("{}/appeals/{token}", self.hosts.base.url());
        let day = iso::format(due.created_at);
        let day = day.get(..10).unwrap_or_default();
        let (subject, decided) = match due.state {
            State::Allowed => (
                "Your appeal was accepted",
                "You can publish the page now: send exactly the same file again.",
            ),
            State::Upheld => ("Your appeal was rejected", "The page still cannot be published."),
            State::Lapsed | State::Open => {
                ("Your appeal expired", "The appeal was closed without a decision.")
            }
        };
        let words = match due.state {
            State::Allowed | State::Upheld => {
                format!("Message from the operator:\n\n{}", quoted(&due.answer))
            }
            State::Lapsed | State::Open => format!("{}\n", due.answer),
        };
        let text = format!(
            "On {day}, someone appealed the refusal of a page on {host} and gave this email address.\n\n\
             {decided} {words}\n\
             View the appeal: {status_url}\n\n\
             If this was not you, you can ignore this email. We will not send another one about it.\n\n\
             -- \nSent by dropleaf at {host}\n"
        );
        let subject = subject.to_owned();
        Email { id: self.minter.nonce(), written_at: self.now(), to, subject, text, unsubscribe: None }
    }
}

/// The email address in a contact, if the contact is an address and nothing else.
fn sole_address(contact: Option<&str>) -> Option<String> {
    email::address(contact?).ok()
}

fn quoted(words: &str) -> String {
    words.lines().fold(String::new(), |text, line| format!("{text}> {line}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_by_itself_is_written_to() {
        assert_eq!(sole_address(Some(" Sam@Example.org ")).as_deref(), Some("sam@example.org"));
        for other in ["Sam <sam@example.org>", "+49 30 1234", "sam@a.example, eve@b.example", "@sam"] {
            assert_eq!(sole_address(Some(other)), None, "{other}");
        }
        assert_eq!(quoted("No.\n-- \nReally"), "> No.\n> -- \n> Really\n");
    }
}
