//! The text of an email to an owner: counts, the titles of the owner's own pages, and links to the dashboard. It has nothing
//! that a viewer wrote: emails are forwarded, and mail programs make links of what looks like an address.

use crate::app::App;
use crate::notify::mail::Email;
use dropleaf_core::notification::NotifyMode;
use dropleaf_core::{iso, plain_text};
use dropleaf_store::email_notices::DueAccount;
use std::fmt::Write;

const TITLE_CHARACTERS: usize = 80;
/// Pages that are listed; the rest is counted.
const LISTED: usize = 50;

/// What is new about one page.
#[derive(Debug, Default)]
pub(super) struct SiteNews {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) comments: usize,
    pub(super) replies: usize,
    pub(super) reopened: usize,
    pub(super) expires_at: Option<i64>,
}

impl SiteNews {
    pub(super) fn is_empty(&self) -> bool {
        !self.has_feedback() && self.expires_at.is_none()
    }

    fn has_feedback(&self) -> bool {
        self.comments + self.replies + self.reopened > 0
    }
}

impl App {
    pub(super) fn owner_email(&self, account: &DueAccount, news: &[SiteNews]) -> Email {
        let (base, host) = (self.hosts.base.url(), &self.hosts.base.host);
        let unsubscribe = self.unsubscribe_url(&account.id, &account.email);
        let how_often = match account.mode {
            NotifyMode::Daily => "You get this email once a day, if there is something new.",
            NotifyMode::Off | NotifyMode::Instant => {
                "You get at most one of these emails every 10 minutes for each page."
            }
        };
        let text = format!(
            "{}{how_often}\nChange which emails you get: {base}/dashboard/account#account-notifications\n\
             Unsubscribe: {unsubscribe}\n\n-- \nSent by dropleaf at {host}\n",
            listed(news, &base)
        );
        Email {
            id: self.minter.nonce(),
            written_at: self.now(),
            to: account.email.clone(),
            subject: format!("{} ({host})", summary(news)),
            text,
            unsubscribe: Some(unsubscribe),
        }
    }
}

fn listed(news: &[SiteNews], base: &str) -> String {
    let mut text = String::new();
    let commented: Vec<&SiteNews> = news.iter().filter(|site| site.has_feedback()).collect();
    if !commented.is_empty() {
        text.push_str("New comments on your pages:\n\n");
        for site in commented.iter().take(LISTED) {
            let SiteNews { id, title, .. } = site;
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "{}\n  {}: {base}/dashboard/pages/{id}/feedback\n\n",
                line(title),
                counts(site.comments, site.replies, site.reopened)
            );
        }
        push_rest(&mut text, commented.len());
    }
    let mut expiring: Vec<(&SiteNews, i64)> =
        news.iter().filter_map(|site| Some((site, site.expires_at?))).collect();
    expiring.sort_by_key(|(_, at)| *at);
    if !expiring.is_empty() {
        text.push_str("Pages that expire soon:\n\n");
        for (SiteNews { id, title, .. }, at) in expiring.iter().take(LISTED) {
            let at = iso::format(*at).replace('T', " ");
            let at = at.get(..16).unwrap_or_default();
            let _ = write!(text, "{}\n  expires {at} UTC: {base}/dashboard/pages/{id}\n\n", line(title));
        }
        push_rest(&mut text, expiring.len());
    }
    text
}

fn push_rest(text: &mut String, all: usize) {
    if let Some(rest) = all.checked_sub(LISTED).filter(|rest| *rest > 0) {
        let _ = write!(text, "and {}\n\n", number(rest, "more page"));
    }
}

/// The subject: what the email is about, without a word of others.
fn summary(news: &[SiteNews]) -> String {
    let sum = |count: fn(&SiteNews) -> usize| news.iter().map(count).sum::<usize>();
    let (comments, replies, reopened) = (sum(|it| it.comments), sum(|it| it.replies), sum(|it| it.reopened));
    let expiring = news.iter().filter(|site| site.expires_at.is_some()).count();
    let expiring = match expiring {
        0 => None,
        1 => Some("1 page expires soon".to_owned()),
        several => Some(format!("{several} pages expire soon")),
    };
    let pages = news.iter().filter(|site| site.has_feedback()).count();
    let feedback =
        (pages > 0).then(|| format!("{} on {}", counts(comments, replies, reopened), number(pages, "page")));
    feedback.into_iter().chain(expiring).collect::<Vec<_>>().join("; ")
}

fn counts(comments: usize, replies: usize, reopened: usize) -> String {
    let parts = [
        (comments > 0).then(|| number(comments, "new comment")),
        (replies == 1).then(|| "1 new reply".to_owned()),
        (replies > 1).then(|| format!("{replies} new replies")),
        (reopened > 0).then(|| format!("{} reopened", number(reopened, "comment"))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn number(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A title as one short line.
fn line(title: &str) -> String {
    let visible = |c: &char| !c.is_control() && !plain_text::is_misleading(*c);
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = title.chars().filter(visible).take(TITLE_CHARACTERS).collect();
    if short.is_empty() { "Untitled page".to_owned() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(comments: usize, replies: usize, reopened: usize, expires_at: Option<i64>) -> SiteNews {
        SiteNews { id: "site_1".into(), title: "Draft".into(), comments, replies, reopened, expires_at }
    }

    #[test]
    fn subjects_say_what_and_how_much() {
        for (all, said) in [
            (vec![news(1, 0, 0, None)], "1 new comment on 1 page"),
            (
                vec![news(2, 1, 0, None), news(0, 1, 1, None)],
                "2 new comments, 2 new replies, 1 comment reopened on 2 pages",
            ),
            (vec![news(0, 0, 0, Some(1))], "1 page expires soon"),
            (
                vec![news(0, 1, 0, Some(1)), news(0, 0, 0, Some(2))],
                "1 new reply on 1 page; 2 pages expire soon",
            ),
        ] {
            assert_eq!(summary(&all), said);
        }
    }

    #[test]
    fn pages_are_listed_with_links_and_the_rest_is_counted() {
        let one = listed(&[news(1, 0, 0, Some(1_800_000_000))], "https://drop.example");
        assert!(
            one.contains("Draft\n  1 new comment: https://drop.example/dashboard/pages/site_1/feedback\n"),
            "{one}"
        );
        assert!(
            one.contains("expires 2027-01-15 08:00 UTC: https://drop.example/dashboard/pages/site_1\n"),
            "{one}"
        );
        let many: Vec<SiteNews> = (0..53).map(|_| news(1, 0, 0, None)).collect();
        assert!(listed(&many, "").ends_with("and 3 more pages\n\n"));
    }

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(line(" A\n\tB\u{202e}\u{7} "), "A B");
        assert_eq!(line("\u{200b}"), "Untitled page");
        assert_eq!(line(&"ä".repeat(200)).chars().count(), 80);
    }
}
