//! The text for each error code: what happened, then what the viewer can do about it. Says no more than the code itself:
//! nothing about who made the page or what was on it.

/// Other texts for people in the dashboard, where those for viewers would be wrong.
pub fn owner_error_text(code: &str) -> Option<(&'static str, &'static str)> {
    Some(match code {
        "not_found" => (
            "Page not found",
            "It may have been permanently deleted or belong to another account. Check the address or look for it in the list of \
             your pages.",
        ),
        "method_not_allowed" => (
            "There is no page at this address",
            "This address only accepts form submissions. Go back to the form or start from the list of your pages.",
        ),
        "expired" => ("This page has expired", "It can no longer be changed."),
        "deleted" => (
            "This page was deleted",
            "It can no longer be changed. Check your list of pages to see whether you can restore it.",
        ),
        "taken_down" => (
            "This page was taken down",
            "The operator of this server removed it for abuse. It cannot be restored.",
        ),
        "account_suspended" => (
            "Your account is suspended",
            "Your pages are offline, and you cannot change anything. If you think this is a mistake, contact the operator of \
             this server.",
        ),
        "invalid_code" => ("Wrong code", "It may be mistyped, already used or expired. Request a new one."),
        "mail_not_configured" => {
            ("Email is not set up", "This server cannot send email. The operator can set it up.")
        }
        "cross_site" => (
            "Request blocked",
            "Another site tried to submit this form, or the form was open for too long. Nothing was changed. If you submitted \
             it yourself, reload the page and try again.",
        ),
        "internal" => ("Something went wrong", "This is a problem with the server. Try again in a moment."),
        "storage_unavailable" => (
            "Your pages are temporarily unavailable",
            "The server cannot reach its storage right now. Nothing is lost. Try again in a moment.",
        ),
        _ => return None,
    })
}

/// The heading and the message for a viewer; `None` if viewers never get this code.
pub fn error_text(code: &str) -> Option<(&'static str, &'static str)> {
    Some(match code {
        "not_found" => (
            "Page not found",
            "The link may be incomplete or mistyped. Check it or ask the person who sent it for a new one.",
        ),
        "expired" => (
            "This page has expired",
            "It was shared for a limited time. If you still need it, ask the person who sent you the link for a new one.",
        ),
        "deleted" => (
            "This page was deleted",
            "The owner deleted it. If you still need it, ask the person who sent you the link.",
        ),
        "burnt" => (
            "This page could be viewed only once",
            "It was deleted after its first view. If you have not seen it, tell the person who sent you the link. They can send \
             you a new one.",
        ),
        "taken_down" => (
            "This page was taken down",
            "It was removed for abuse and cannot be restored. If you entered a password or card details on it, change the \
             password or block the card now.",
        ),
        "account_suspended" => (
            "This page is suspended",
            "The operator of this server suspended the account that owns this page. If the suspension is lifted, the page will \
             be available again at this address.",
        ),
        "password_required" => (
            "This page requires a password",
            "Ask the person who sent you the link for the password. Programs can send it with `Authorization: Basic` and any \
             user name, or in the form field `password` to `_dropleaf/gate` under the page.",
        ),
        "wrong_password" => (
            "Wrong password",
            "Check uppercase letters and spaces, then try again, or ask the person who sent you the link.",
        ),
        "email_required" => (
            "This page requires an email address",
            "Only people with an email address at a certain domain can open it. Programs can send the form field `email` to \
             `_dropleaf/code` under the page, then `email` and the emailed `code`.",
        ),
        "invalid_code" => (
            "Wrong code",
            "It may be mistyped, already used or older than ten minutes. Check it or request a new one.",
        ),
        "mail_not_configured" => (
            "This page cannot verify email addresses",
            "It requires an emailed code, but this server cannot send email. Tell the person who sent you the link or the \
             operator of this server.",
        ),
        "proof_needed" => (
            "Confirm it's you",
            "This step grants lasting access to your account. Sign in again, then repeat it.",
        ),
        "cross_site" => (
            "Request blocked",
            "Another site tried to submit this form. Nothing was changed. Open the link that you were given and start from \
             there.",
        ),
        "headers_too_large" => (
            "Your browser sent too much data",
            "The cookies, the address or another header of this request are too long.",
        ),
        "misdirected_host" => (
            "Unknown host name",
            "This server is not set up for the host name in your address bar. Check the link or ask the person who sent it for \
             a new one.",
        ),
        "rate_limited" => {
            ("Too many requests", "Your network sent too many requests. Wait a moment, then try again.")
        }
        "internal" => (
            "Something went wrong",
            "This is a problem with the server, not with your link. Try again in a moment.",
        ),
        "storage_unavailable" => (
            "The page is temporarily unavailable",
            "The server cannot reach its storage right now. Your link still works. Try again in a moment.",
        ),
        "overloaded" => (
            "The server is busy",
            "Too many people are using it right now. Your link still works. Try again in a moment.",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::error_text;

    #[test]
    fn a_code_no_viewer_meets_has_no_words() {
        assert_eq!(error_text("slug_taken"), None);
        assert_eq!(error_text(""), None);
    }
}
