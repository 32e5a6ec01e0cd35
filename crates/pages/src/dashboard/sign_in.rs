//! The sign-in pages: enter an email address, enter a code, confirm a link. Each is one card on an empty page.

use super::{Section, Shell};
use crate::Html;
use crate::assets::PASSKEY_JS;
use askama::Template;

/// Asks for an email address.
#[derive(Debug, Clone, Copy, Default)]
pub struct Login<'a> {
    pub email: &'a str,
    /// Where to go after signing in.
    pub next: &'a str,
    /// The person is signed in, and has to confirm their identity again.
    pub again: bool,
    /// Whether a new address gets an account.
    pub is_open: bool,
    /// The host name for which a passkey can be used, if any.
    pub passkeys: Option<&'a str>,
    pub problem: Option<&'a str>,
}

/// Asks for the code that was sent.
#[derive(Debug, Clone, Copy)]
pub struct EnterCode<'a> {
    pub email: &'a str,
    pub next: &'a str,
    /// Whether every address gets an email; otherwise the page must not reveal whether this one does.
    pub is_sent: bool,
    /// Whether the code can still be tried.
    pub is_open: bool,
    pub problem: Option<&'a str>,
}

/// Asks whether to sign in with a link.
#[derive(Debug, Clone, Copy)]
pub struct ConfirmLink<'a> {
    /// `None` if the link has expired.
    pub email: Option<&'a str>,
    pub token: &'a str,
    /// The other account that is signed in on this browser now, if any.
    pub instead_of: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginTemplate<'a> {
    shell: Shell<'a>,
    page: &'a Login<'a>,
    script: String,
}

#[derive(Template)]
#[template(path = "login_code.html")]
struct EnterCodeTemplate<'a> {
    shell: Shell<'a>,
    page: &'a EnterCode<'a>,
    /// The link to request another code.
    new_code_url: String,
}

#[derive(Template)]
#[template(path = "login_link.html")]
struct ConfirmLinkTemplate<'a> {
    shell: Shell<'a>,
    page: &'a ConfirmLink<'a>,
}

pub fn login(page: &Login<'_>, form_token: &str) -> Html {
    render(&LoginTemplate { shell: Shell::standalone(form_token), page, script: PASSKEY_JS.path() })
}

pub fn enter_code(page: &EnterCode<'_>, form_token: &str) -> Html {
    let next: String = form_urlencoded::byte_serialize(page.next.as_bytes()).collect();
    render(&EnterCodeTemplate {
        shell: Shell::standalone(form_token),
        page,
        new_code_url: format!("/login?again=1&next={next}"),
    })
}

pub fn confirm_link(page: &ConfirmLink<'_>, form_token: &str) -> Html {
    render(&ConfirmLinkTemplate { shell: Shell::standalone(form_token), page })
}

fn render(page: &impl Template) -> Html {
    // Writing into memory does not fail.
    Html(page.render().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\"'><script>alert(1)</script>";

    #[test]
    fn what_people_typed_is_shown_as_text() {
        let problem = Some(HOSTILE);
        let pages = [
            login(
                &Login {
                    email: HOSTILE,
                    next: HOSTILE,
                    problem,
                    passkeys: Some(HOSTILE),
                    ..Login::default()
                },
                HOSTILE,
            ),
            enter_code(
                &EnterCode { email: HOSTILE, next: HOSTILE, is_sent: true, is_open: true, problem },
                HOSTILE,
            ),
            confirm_link(
                &ConfirmLink { email: Some(HOSTILE), token: HOSTILE, instead_of: Some(HOSTILE) },
                HOSTILE,
            ),
        ];
        for Html(text) in pages {
            assert!(!text.contains("<script>"), "{text}");
            assert!(!text.contains(" style=") && text.contains("<h1"), "{text}");
        }
    }
}
