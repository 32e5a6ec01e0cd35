//! The list of API keys, and the one page that shows a new key.

use super::{Section, Shell};
use crate::Html;
use crate::moment::Moment;
use askama::Template;

/// A key in the list.
#[derive(Debug)]
pub struct KeyRow<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub prefix: &'a str,
    pub created: Moment,
    pub last_used: Option<Moment>,
}

/// A key that was just created.
#[derive(Debug, Clone, Copy)]
pub struct CreatedKey<'a> {
    pub name: &'a str,
    pub secret: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "keys.html")]
pub struct Keys<'a> {
    pub shell: Shell<'a>,
    pub base_url: &'a str,
    pub keys: Vec<KeyRow<'a>>,
    pub created_key: Option<CreatedKey<'a>>,
    /// Whether the person confirmed their identity recently; otherwise no key can be created.
    pub is_recent: bool,
    /// The name that was typed, and what is wrong with it.
    pub name: &'a str,
    pub problem: Option<&'a str>,
}

pub fn keys(page: &Keys<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
