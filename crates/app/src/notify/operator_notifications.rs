//! Emails the operators that new reports, signals or appeals are waiting, at most once an hour. Quotes no untrusted input: reported
//! content is hostile.

use crate::app::App;
use crate::notify::mail::{Email, MailError};
use dropleaf_core::{Result, iso};
use dropleaf_store::operator_notifications::{self as rows, OperatorQueue};
use dropleaf_store::{DbError, leases};

/// The lease held from one email to operators until the next may be sent, by the node that sent it.
const LEASE: &str = "desk_mail";
const OPERATOR_EMAIL_INTERVAL: i64 = 3600;
/// Retry delay when the mail server could not be reached.
const OPERATOR_EMAIL_RETRY: i64 = 900;
const OPERATORS_MOST: i64 = 50;

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
        if self.notify.mailer.is_none() || self.store.count_unnotified().await?.is_empty() {
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
        self.store.commit(rows::assign_to_notification()).await?;
        let (new, all) =
            (self.store.count_in_notification().await?, self.store.count_operator_queue().await?);
        if new.is_empty() {
            // They were handled in the meantime.
            self.store.commit(vec![leases::release(LEASE, &holder)]).await?;
            return Ok(false);
        }
        // If this node was stopped meanwhile, another one may have sent the email.
        let renewal = leases::renew(LEASE, &holder, now + OPERATOR_EMAIL_INTERVAL, self.now());
        match self.store.commit(vec![renewal]).await {
            Ok(_) => {}
            Err(DbError::Guard(leases::HELD)) => return Ok(false),
            Err(error) => return Err(error.into()),
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
            self.store.commit(rows::mark_notified()).await?;
        } else if try_soon {
            self.store.commit(hold(self.now() + OPERATOR_EMAIL_RETRY)).await?;
        }
        Ok(has_left)
    }

    pub(crate) async fn operator_recipients(&self) -> Result<Vec<String>> {
        let set = &self.settings.notified;
        let mut all = set.addresses.clone();
        if set.operators {
            all.extend(self.store.list_operator_addresses(OPERATORS_MOST).await?);
        }
        all.sort();
        all.dedup();
        Ok(all)
    }

    fn operator_email(&self, to: String, new: OperatorQueue, all: OperatorQueue) -> Email {
        let (base, host) = (self.hosts.base.url(), &self.hosts.base.host);
        let lines = [
            (new.reports > 0).then(|| format!("{}: {base}/operator/reports\n", reports(new))),
            (new.signals > 0).then(|| format!("{}: {base}/operator/reports\n", signals(new))),
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
        let subject = format!("New on {host}: {}", summarize(new));
        Email { id: self.minter.nonce(), written_at: self.now(), to, subject, text, unsubscribe: None }
    }
}

fn reports(queue: OperatorQueue) -> String {
    let pages = if queue.pages == 1 { "1 page".to_owned() } else { format!("{} pages", queue.pages) };
    let reports =
        if queue.reports == 1 { "1 report".to_owned() } else { format!("{} reports", queue.reports) };
    format!("{reports} about {pages}")
}

fn appeals(queue: OperatorQueue) -> String {
    if queue.appeals == 1 { "1 appeal".to_owned() } else { format!("{} appeals", queue.appeals) }
}

fn signals(queue: OperatorQueue) -> String {
    let pages = if queue.signals == 1 { "1 page".to_owned() } else { format!("{} pages", queue.signals) };
    format!("{pages} noticed by the server")
}

fn summarize(queue: OperatorQueue) -> String {
    let parts = [
        (queue.reports > 0).then(|| reports(queue)),
        (queue.signals > 0).then(|| signals(queue)),
        (queue.appeals > 0).then(|| appeals(queue)),
    ];
    match parts.into_iter().flatten().collect::<Vec<_>>().as_slice() {
        [] => appeals(queue),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_said_as_people_say_them() {
        let queue = |reports, pages, appeals| {
            summarize(OperatorQueue { reports, pages, appeals, ..OperatorQueue::default() })
        };
        assert_eq!(queue(1, 1, 0), "1 report about 1 page");
        assert_eq!(queue(3, 2, 1), "3 reports about 2 pages and 1 appeal");
        assert_eq!(queue(0, 0, 2), "2 appeals");
        let all = OperatorQueue { reports: 1, pages: 1, signals: 2, appeals: 1, since: None };
        assert_eq!(summarize(all), "1 report about 1 page, 2 pages noticed by the server and 1 appeal");
        assert_eq!(
            summarize(OperatorQueue { signals: 1, ..OperatorQueue::default() }),
            "1 page noticed by the server"
        );
    }
}
