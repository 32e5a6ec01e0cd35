//! The target of a claim link. The token is in the fragment, which the browser does not send: a script puts it into the form,
//! and without scripts the person pastes it.

use super::{Attempt, Section, Shell};
use crate::Html;
use crate::assets::{CLAIM_JS, PAGES_CSS};
use askama::Template;

#[derive(Debug)]
pub struct Claim<'a> {
    pub shell: Shell<'a>,
    /// The page's id, already checked for its shape.
    pub id: &'a str,
    /// The sign-in link that returns here; `None` if the person is signed in.
    pub sign_in: Option<String>,
    pub attempt: Attempt,
}

#[derive(Template)]
#[template(path = "dashboard/claim.html")]
struct ClaimTemplate<'a> {
    shell: Shell<'a>,
    id: &'a str,
    sign_in: Option<&'a str>,
    attempt: &'a Attempt,
    pages_css: String,
    claim_js: String,
}

pub fn claim(claim: &Claim<'_>) -> Html {
    let view = ClaimTemplate {
        shell: claim.shell,
        id: claim.id,
        sign_in: claim.sign_in.as_deref(),
        attempt: &claim.attempt,
        pages_css: PAGES_CSS.path(),
        claim_js: CLAIM_JS.path(),
    };
    // Rendering writes into a String and cannot fail.
    Html(view.render().unwrap_or_default())
}
