//! The page for publishing a file: by drag and drop with a script, as a plain form without one.

use super::figures::{size, span};
use super::{Attempt, Section, Shell};
use crate::assets::{PAGES_CSS, UPLOAD_JS};
use crate::{Html, Size};
use askama::Template;
use dropleaf_core::plan::Plan;

#[derive(Debug)]
pub struct UploadView<'a> {
    pub shell: Shell<'a>,
    pub plan: &'a Plan,
    pub max_upload_bytes: u64,
    pub attempt: Attempt,
}

#[derive(Template)]
#[template(path = "dashboard/upload.html")]
struct UploadTemplate<'a> {
    shell: Shell<'a>,
    plan: &'a Plan,
    longest: Option<String>,
    largest: Size,
    attempt: &'a Attempt,
    pages_css: String,
    upload_js: String,
}

pub fn upload(upload: &UploadView<'_>) -> Html {
    let view = UploadTemplate {
        shell: upload.shell,
        plan: upload.plan,
        longest: upload.plan.longest_life_seconds.map(span),
        largest: size(i64::try_from(upload.max_upload_bytes).unwrap_or(i64::MAX)),
        attempt: &upload.attempt,
        pages_css: PAGES_CSS.path(),
        upload_js: UPLOAD_JS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}
