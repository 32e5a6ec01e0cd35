//! The text for each error code: what happened, then what the viewer can do about it. Says no more than the code itself:
//! nothing about who made the page or what was on it.

/// Other texts for people in the dashboard, where those for viewers would be wrong.
pub fn owner_words(code: &str) -> Option<(&'static str, &'static str)> {
    Some(match code {
        "not_found" => (
            "There is nothing here",
            "What you are looking for may be gone for good, or it belongs to another account. Check the address, or \
             look for it in the list of your pages.",
        ),
        "method_not_allowed" => (
            "There is no page at this address",
            "It only takes what a form sends. Go back to the page with the form, or start from the list of your pages.",
        ),
        "expired" => ("This page has expired", "Its time is over, and it can no longer be changed."),
        "deleted" => (
            "This page is deleted",
            "It can no longer be changed. Your list says whether it can be brought back.",
        ),
        "taken_down" => (
            "This page was taken down",
            "Whoever runs this service removed it for abuse. It will not come back.",
        ),
        "account_suspended" => (
            "Your account is suspended",
            "Whoever runs this service has stopped it: your pages are not shown, and nothing can be changed. Write to them \
             if you think that is a mistake.",
        ),
        "invalid_code" => {
            ("That code is not right", "It may be mistyped, used already, or too old. Ask for a new one.")
        }
        "mail_not_configured" => (
            "No e-mail goes out from here",
            "This server has no way to send one. Whoever runs it can set it up.",
        ),
        "cross_site" => (
            "That came from somewhere else",
            "Another site tried to send this form for you, or its page was open for too long. Nothing was done. If it was \
             you, load the page again and send it once more.",
        ),
        "internal" => ("Something went wrong here", "The fault is on this server. Try again in a moment."),
        "storage_unavailable" => (
            "Your pages are out of reach",
            "This server cannot get to its storage just now. Nothing is lost: try again in a moment.",
        ),
        _ => return None,
    })
}

/// The heading and the message for a viewer; `None` if viewers never get this code.
pub fn words(code: &str) -> Option<(&'static str, &'static str)> {
    Some(match code {
        "not_found" => (
            "There is no page here",
            "The link may be incomplete or mistyped. Check that you have all of it, or ask the person who sent it \
             for a new one.",
        ),
        "expired" => (
            "This page has expired",
            "It was shared for a limited time, and that time is over. If you still need it, ask the person who \
             sent you the link for a new one.",
        ),
        "deleted" => (
            "This page was deleted",
            "Its owner has removed it. If you still need it, ask the person who sent you the link.",
        ),
        "burnt" => (
            "This page could be read once",
            "It was set to disappear after its first view, and it has been viewed. If that was not you, tell the \
             person who sent you the link; they can send you a new one.",
        ),
        "taken_down" => (
            "This page was taken down",
            "It was removed for abuse and will not come back. If you typed a password or other personal details \
             into it, change them now.",
        ),
        "account_suspended" => (
            "This page is on hold",
            "Whoever runs this service has suspended the account it belongs to. If that is lifted, the page comes back at \
             this address.",
        ),
        "password_required" => (
            "This page asks for a password",
            "The person who sent you the link can tell you what it is. A program sends it with `Authorization: \
             Basic` and any user name, or as the form field `password` to `_dropleaf/gate` below the page.",
        ),
        "wrong_password" => (
            "That is not the password",
            "Check capital letters and spaces, then try again, or ask the person who sent you the link.",
        ),
        "email_required" => (
            "This page asks for an e-mail address",
            "It is open to addresses of one domain. A program sends the form field `email` to `_dropleaf/code` below \
             the page, then `email` and the `code` that came by e-mail.",
        ),
        "invalid_code" => (
            "That code does not open the page",
            "It may be mistyped, used already, or older than ten minutes. Check it, or ask for a new one.",
        ),
        "mail_not_configured" => (
            "This page cannot check addresses now",
            "It opens with a code by e-mail, and this server has no way to send one. Tell the person who sent you the \
             link, or whoever runs the server.",
        ),
        "proof_needed" => (
            "Show that it is you",
            "What you were about to do gives lasting access to your account. Sign in again, then do it once more.",
        ),
        "cross_site" => (
            "That came from somewhere else",
            "Another site tried to send this form for you, and nothing was done. Open the link you were given and \
             start from there.",
        ),
        "headers_too_large" => (
            "Your browser sent too much",
            "The cookies that came with this request, its address or another header are too long.",
        ),
        "misdirected_host" => (
            "Nothing is served at this name",
            "The server you reached does not answer for the host name in your address bar. Check the link, or \
             ask the person who sent it for a new one.",
        ),
        "rate_limited" => (
            "That was a little too fast",
            "Too many requests came from your network. Wait a moment, then try again.",
        ),
        "internal" => (
            "Something went wrong here",
            "The fault is on this server, not in your link. Try again in a moment.",
        ),
        "storage_unavailable" => (
            "The page is out of reach",
            "This server cannot get to its storage just now. The link is still good: try again in a moment.",
        ),
        "overloaded" => (
            "The server is busy",
            "Too many people are asking at once. The link is still good: try again in a moment.",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_code_no_viewer_meets_has_no_words() {
        assert_eq!(words("slug_taken"), None);
        assert_eq!(words(""), None);
    }
}
