//! The form to appeal against the refusal of a page.

use super::figures::size;
use super::{Attempt, Section, Shell};
use crate::assets::PAGES_CSS;
use crate::{Html, Size};
use askama::Template;
use dropleaf_core::appeal::{COMMENT_CHARACTERS, CONTACT_CHARACTERS};

#[derive(Debug)]
pub struct AppealView<'a> {
    pub shell: Shell<'a>,
    /// The person's default contact for the operator.
    pub email: &'a str,
    pub max_upload_bytes: u64,
    pub attempt: Attempt,
    /// The file that was sent is not refused at all.
    pub is_fine: bool,
}

#[derive(Template)]
#[template(path = "dashboard/appeal.html")]
struct AppealTemplate<'a> {
    shell: Shell<'a>,
    email: &'a str,
    largest: Size,
    attempt: &'a Attempt,
    is_fine: bool,
    comment_most: usize,
    contact_most: usize,
    pages_css: String,
}

pub fn appeal(appeal: &AppealView<'_>) -> Html {
    let view = AppealTemplate {
        shell: appeal.shell,
        email: appeal.email,
        largest: size(i64::try_from(appeal.max_upload_bytes).unwrap_or(i64::MAX)),
        attempt: &appeal.attempt,
        is_fine: appeal.is_fine,
        comment_most: COMMENT_CHARACTERS,
        contact_most: CONTACT_CHARACTERS,
        pages_css: PAGES_CSS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}
