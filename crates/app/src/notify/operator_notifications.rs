//! Sends emails about reports and appeals: to operators, that new ones are waiting, at most once an hour; to the sender
//! of an appeal, the decision, once. Neither quotes untrusted input: contact addresses are unverified and reported
//! content is hostile.

use crate::app::App;
use crate::moderation::appeal_queue::AppealSender;
use crate::notify::mail::{Email, MailError};
use dropleaf_core::appeal::{Appeal, State};
use dropleaf_core::rate::Rate;
use dropleaf_core::{Result, email, iso};
use dropleaf_store::desk_mail::{self as rows, Desk, DueLetter};
use dropleaf_store::{DbError, Stmt, leases};

/// The lease held from one email to operators until the next may be sent, by the node that sent it.
const LEASE: &str = "desk_mail";
const OPERATOR_EMAIL_INTERVAL: i64 = 3600;
/// Retry delay when the mail server could not be reached.
const OPERATOR_EMAIL_RETRY: i64 = 900;
const OPERATORS_MOST: i64 = 50;

/// Limit of decision emails per address, so that untrusted senders who name it cannot flood a mailbox.
const PER_ADDRESS: Rate = Rate { name: "decision_address_day", limit: 10, window_seconds: 86_400 };
const BATCH: i64 = 50;
/// Retry delays for an email that was certainly not sent.
const RETRY_DELAYS: [i64; 4] = [300, 1800, 7200, 43_200];
/// Decisions older than this are not sent, for example after a backup was restored.
const MAX_DECISION_AGE: i64 = 3 * 86_400;

/// Who is notified when reports or appeals wait for an operator.
#[derive(Debug, Clone, Default)]
pub struct NotificationRecipients {
    /// Every operator account.
    pub operators: bool,
    pub addresses: Vec<String>,
}

impl App {
    /// Emails the operators if there are reports or appeals they have not been notified of. Returns whether an email was
    /// sent.
    pub async fn notify_operators(&self) -> Result<bool> {
        if self.notify.mailer.is_none() || self.store.count_news().await?.is_empty() {
            return Ok(false);
        }
        let receivers = self.operator_recipients().await?;
        if receivers.is_empty() {
            return Ok(false);
        }
        let (now, holder) = (self.now(), self.minter.nonce());
        let hold = |until| vec![leases::take(LEASE, &holder, until, self.now())];
        match self.store.commit(hold(now + OPERATOR_EMAIL_INTERVAL)).await {
            Ok(_) => {}
            Err(DbError::Guard(leases::HELD)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        self.store.commit(rows::take_up()).await?;
        let (new, all) = (self.store.count_taken_up().await?, self.store.count_desk().await?);
        if new.is_empty() {
            // They were handled in the meantime.
            self.store.commit(vec![leases::release(LEASE, &holder)]).await?;
            return Ok(false);
        }
        let (mut has_left, mut try_soon) = (false, false);
        for to in receivers {
            match self.send_email(&self.operator_email(to, new, all)).await {
                Ok(()) => has_left = true,
                Err(MailError::Permanent(_)) => {}
                Err(MailError::Temporary(_) | MailError::Ambiguous(_)) => try_soon = true,
            }
        }
        if has_left {
            self.store.commit(rows::told()).await?;
        } else if try_soon {
            self.store.commit(hold(self.now() + OPERATOR_EMAIL_RETRY)).await?;
        }
        Ok(has_left)
    }

    async fn operator_recipients(&self) -> Result<Vec<String>> {
        let set = &self.settings.notified;
        let mut all = set.addresses.clone();
        if set.operators {
            all.extend(self.store.list_operator_addresses(OPERATORS_MOST).await?);
        }
        all.sort();
        all.dedup();
        Ok(all)
    }

    fn operator_email(&self, to: String, new: Desk, all: Desk) -> Email {
        let (base, host) = (self.hosts.base.url(), &self.hosts.base.host);
        let lines = [
            (new.reports > 0).then(|| format!("{}: {base}/operator/reports\n", reports(new))),
            (new.appeals > 0).then(|| format!("{}: {base}/operator/appeals\n", appeals(new))),
        ];
        let lines: String = lines.into_iter().flatten().collect();
        let since = all.since.map(|at| format!(", the oldest from {}", iso::format(at))).unwrap_or_default();
        let text = format!(
            "New on {host}:\n\n{lines}\n\
             Open in total: {}{since}.\n\n\
             You get at most one of these emails per hour, and only when there is something new. To change who gets them, edit \
             `safety.notify`.\n\n\
             -- \nSent by dropleaf at {host}\n",
            summarize(all)
        );
        let subject = format!("{host}: new {}", summarize(new));
        Email { id: self.minter.nonce(), written_at: self.now(), to, subject, text }
    }

    /// For the transaction that decides an appeal: queues an email to its sender, if there is an address and mail is
    /// configured.
    pub(crate) fn queue_decision_email(&self, appeal: &Appeal) -> Option<Stmt> {
        let has_address =
            appeal.account_id.is_some() || sole_address(appeal.plea.contact.as_deref()).is_some();
        (self.notify.mailer.is_some() && has_address).then(|| rows::put_letter(&appeal.id, self.now()))
    }

    /// Sends queued decisions while `go_on` returns true. Returns how many were sent.
    pub async fn send_appeal_decisions(&self, go_on: impl Fn() -> bool) -> Result<usize> {
        if self.notify.mailer.is_none() {
            return Ok(0);
        }
        let mut count = 0;
        for due in self.store.list_due_letters(self.now(), BATCH).await? {
            if !go_on() {
                break;
            }
            count += usize::from(self.send_decision(due).await?);
        }
        Ok(count)
    }

    async fn send_decision(&self, due: DueLetter) -> Result<bool> {
        let now = self.now();
        let to = self.decision_recipient(&due).await?;
        let Some(to) = to.filter(|_| due.letter_at > now - MAX_DECISION_AGE) else {
            self.drop_decision_email(&due).await?;
            return Ok(false);
        };
        // Taken from the queue before sending: a crash may lose an email, but none is sent twice.
        let stmts = vec![rows::take_letter(&due), self.count_email_to(&PER_ADDRESS, &to, now)];
        match self.store.commit(stmts).await {
            Ok(_) => {}
            Err(DbError::Guard(rows::TAKEN)) => return Ok(false),
            Err(DbError::Guard(name)) if name == PER_ADDRESS.name => {
                tracing::info!(
                    appeal = due.appeal_id,
                    "a decision is not sent: too many to this address today"
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
                    self.store.commit(vec![rows::put_letter(&due.appeal_id, now + pause)]).await?;
                }
                Ok(false)
            }
            Err(MailError::Permanent(_) | MailError::Ambiguous(_)) => Ok(false),
        }
    }

    async fn drop_decision_email(&self, due: &DueLetter) -> Result<()> {
        match self.store.commit(vec![rows::take_letter(due)]).await {
            Ok(_) | Err(DbError::Guard(rows::TAKEN)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The recipient of a decision: the contact given with the appeal, else the account's email address.
    async fn decision_recipient(&self, due: &DueLetter) -> Result<Option<String>> {
        if due.contact.is_some() {
            return Ok(sole_address(due.contact.as_deref()));
        }
        let Some(id) = &due.account_id else { return Ok(None) };
        Ok(self.store.find_account(id).await?.and_then(|account| account.email))
    }

    fn decision_email(&self, due: &DueLetter, to: String) -> Email {
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
            State::Upheld => ("Your appeal was rejected", "The page remains refused."),
            State::Lapsed | State::Open => {
                ("Your appeal was not decided", "The appeal was closed without a decision.")
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
        Email { id: self.minter.nonce(), written_at: self.now(), to, subject, text }
    }
}

/// The email address in a contact, if the contact is an address and nothing else.
fn sole_address(contact: Option<&str>) -> Option<String> {
    email::address(contact?).ok()
}

fn quoted(words: &str) -> String {
    words.lines().fold(String::new(), |text, line| format!("{text}> {line}\n"))
}

fn reports(desk: Desk) -> String {
    let pages = if desk.pages == 1 { "one page".to_owned() } else { format!("{} pages", desk.pages) };
    let reports = if desk.reports == 1 { "1 report".to_owned() } else { format!("{} reports", desk.reports) };
    format!("{reports} about {pages}")
}

fn appeals(desk: Desk) -> String {
    if desk.appeals == 1 { "1 appeal".to_owned() } else { format!("{} appeals", desk.appeals) }
}

fn summarize(desk: Desk) -> String {
    match (desk.reports, desk.appeals) {
        (0, _) => appeals(desk),
        (_, 0) => reports(desk),
        _ => format!("{} and {}", reports(desk), appeals(desk)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_said_as_people_say_them() {
        let desk = |reports, pages, appeals| summarize(Desk { reports, pages, appeals, since: None });
        assert_eq!(desk(1, 1, 0), "1 report about one page");
        assert_eq!(desk(3, 2, 1), "3 reports about 2 pages and 1 appeal");
        assert_eq!(desk(0, 0, 2), "2 appeals");
    }

    #[test]
    fn only_an_address_by_itself_is_written_to() {
        assert_eq!(sole_address(Some(" Sam@Example.org ")).as_deref(), Some("sam@example.org"));
        for other in ["Sam <sam@example.org>", "+49 30 1234", "sam@a.example, eve@b.example", "@sam"] {
            assert_eq!(sole_address(Some(other)), None, "{other}");
        }
        assert_eq!(quoted("No.\n-- \nReally"), "> No.\n> -- \n> Really\n");
    }
}
