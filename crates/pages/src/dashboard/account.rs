//! `/dashboard/account`: the account, its balance, the limits of its plan, its emails, sessions and passkeys.

use super::figures::{size, span};
use super::{Section, Shell};
use crate::assets::PASSKEY_JS;
use crate::{Html, Moment};
use askama::Template;
use dropleaf_core::notification::NotifyMode;
use dropleaf_core::plan::Plan;

/// What the page shows.
#[derive(Debug)]
pub struct AccountPage<'a> {
    pub email: Option<&'a str>,
    pub since: Moment,
    pub plan: &'a Plan,
    pub used: PlanUsage,
    /// The prepaid balance, in dollars; `None` if it is not shown.
    pub balance: Option<String>,
    /// Whether something is sold here, so that there is a billing page.
    pub sells: bool,
    /// The movements of the balance, newest first.
    pub movements: Vec<MovementRow>,
    /// The address of older movements, if there are any.
    pub older_movements: Option<String>,
    pub unlocks: Vec<UnlockRow>,
    pub max_upload_bytes: u64,
    pub sessions: Vec<SessionRow>,
    /// Which emails the owner gets; `None` without an address or a mail server.
    pub notify: Option<NotifyMode>,
    /// `None` if passkeys cannot work at this address.
    pub passkeys: Option<Passkeys>,
}

/// How much of the plan is used.
#[derive(Debug, Clone, Copy)]
pub struct PlanUsage {
    pub active_pages: i64,
    pub publishes_today: i64,
}

/// One limit of the plan, as text.
#[derive(Debug)]
struct LimitRow {
    name: &'static str,
    text: String,
    /// Used and allowed, if there is a cap.
    of: Option<(i64, i64)>,
}

/// A movement of the prepaid balance.
#[derive(Debug)]
pub struct MovementRow {
    pub at: Moment,
    pub kind: &'static str,
    /// What was bought or refunded, or the operator's reason.
    pub detail: Option<String>,
    /// In dollars, with its sign.
    pub amount: String,
}

/// A limit that was lifted by a payment.
#[derive(Debug)]
pub struct UnlockRow {
    pub title: &'static str,
    /// `None` if permanent.
    pub until: Option<Moment>,
}

#[derive(Debug)]
pub struct SessionRow {
    pub id: String,
    pub device: String,
    /// How the person signed in, as text.
    pub method: &'static str,
    pub created: Moment,
    pub last_seen: Moment,
    pub is_this: bool,
}

#[derive(Debug)]
pub struct Passkeys {
    /// The host name for which they work.
    pub host: String,
    pub list: Vec<PasskeyRow>,
    /// Whether one may be added now; otherwise the person must confirm their identity first.
    pub may_add: bool,
}

#[derive(Debug)]
pub struct PasskeyRow {
    pub id: String,
    pub name: String,
    pub created: Moment,
    pub last_used: Option<Moment>,
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountTemplate<'a> {
    shell: Shell<'a>,
    page: &'a AccountPage<'a>,
    limits: Vec<LimitRow>,
    script: String,
}

pub fn account(shell: Shell<'_>, page: &AccountPage<'_>) -> Html {
    // Writing into memory does not fail.
    Html(
        AccountTemplate { shell, page, limits: page.limits(), script: PASSKEY_JS.path() }
            .render()
            .unwrap_or_default(),
    )
}

impl AccountPage<'_> {
    fn has_others(&self) -> bool {
        self.sessions.len() > 1
    }

    /// The choices of emails: the value, its name, what it means, and whether it is chosen.
    fn email_choices(&self) -> Vec<(&'static str, &'static str, &'static str, bool)> {
        let choice = |mode: &NotifyMode| {
            let (name, meaning) = match mode {
                NotifyMode::Off => ("Off", "No emails about your pages."),
                NotifyMode::Instant => ("Right away", "At most one email every 10 minutes for each page."),
                NotifyMode::Daily => ("Daily digest", "One email a day, at 07:00 UTC."),
            };
            (mode.as_str(), name, meaning, self.notify == Some(*mode))
        };
        [NotifyMode::Instant, NotifyMode::Daily, NotifyMode::Off].iter().map(choice).collect()
    }

    fn limits(&self) -> Vec<LimitRow> {
        let Self { plan, used, .. } = self;
        let no_limit = || "no limit".to_owned();
        let counted = |name, used: i64, cap: i64| LimitRow {
            name,
            text: format!("{used} of {cap}"),
            of: Some((used, cap)),
        };
        let plain = |name, text| LimitRow { name, text, of: None };
        let largest = size(i64::try_from(self.max_upload_bytes).unwrap_or(i64::MAX));
        vec![
            match plan.active_pages {
                Some(cap) => counted("Pages online", used.active_pages, cap),
                None => plain("Pages online", format!("{}, no limit", used.active_pages)),
            },
            match plan.publishes_a_day {
                Some(cap) => counted("Published today", used.publishes_today, cap),
                None => plain("Published today", no_limit()),
            },
            plain("Maximum page lifetime", plan.longest_life_seconds.map_or_else(no_limit, span)),
            plain("Largest upload", largest.to_string()),
        ]
    }
}
