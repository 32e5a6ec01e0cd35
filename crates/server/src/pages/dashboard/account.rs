//! `/dashboard/account`: who one is here, what the plan allows, and what is signed in.

use super::{Section, Shell};
use crate::pages::Html;
use crate::pages::assets::PASSKEY_JS;
use askama::Template;

/// What the page shows.
#[derive(Debug)]
pub struct AccountPage<'a> {
    pub email: Option<&'a str>,
    pub plan: &'a str,
    pub since: String,
    pub usage: Vec<Usage>,
    pub sessions: Vec<SessionRow>,
    /// None where passkeys cannot work.
    pub passkeys: Option<Passkeys>,
}

/// One limit of the plan, and how much of it is used.
#[derive(Debug)]
pub struct Usage {
    pub name: &'static str,
    pub said: String,
    /// Used and allowed, when there is a cap.
    pub of: Option<(i64, i64)>,
}

#[derive(Debug)]
pub struct SessionRow {
    pub id: String,
    pub device: String,
    /// How it began, in words.
    pub method: &'static str,
    pub created_at: String,
    pub last_seen_at: String,
    pub is_this: bool,
}

#[derive(Debug)]
pub struct Passkeys {
    /// The name at which they work.
    pub host: String,
    pub list: Vec<PasskeyRow>,
    /// Whether one may be added now, or the person must prove first who they are.
    pub may_add: bool,
}

#[derive(Debug)]
pub struct PasskeyRow {
    pub id: String,
    pub name: String,
    pub created_at: String,
    pub last_used_at: Option<String>,
}

#[derive(Template)]
#[template(path = "account.html")]
struct View<'a> {
    shell: Shell<'a>,
    page: &'a AccountPage<'a>,
    script: String,
}

pub fn account(shell: Shell<'_>, page: &AccountPage<'_>) -> Html {
    // Writing into memory does not fail.
    Html(View { shell, page, script: PASSKEY_JS.path() }.render().unwrap_or_default())
}

impl AccountPage<'_> {
    fn has_others(&self) -> bool {
        self.sessions.len() > 1
    }
}
