//! Finds out what the pages of an upload ask their viewers for: a password, a payment card or a recovery phrase. Gives no
//! verdict: many harmless pages ask for a password.

use crate::phishing::detectors;
use crate::phishing::rules::rule::Rule;
use crate::phishing::upload::Upload;
use crate::phishing::verdict::SCORED_KINDS;
use crate::phishing::{File, Rules};
use dropleaf_core::attention::RequestedSecret;

/// The first secret that a page or script of the upload asks for.
pub fn find_requested_secret(files: &[File<'_>], rules: &Rules) -> Option<RequestedSecret> {
    let upload = Upload::new(files);
    let mut found = None;
    upload.for_each_file(rules, &SCORED_KINDS, |file, _, facts| {
        if found.is_none() {
            let there = |path: &str| upload.has(file.path, path);
            let hits = detectors::evaluate(facts, &there, rules).hits;
            found = hits.iter().find_map(|hit| secret_of(hit.rule));
        }
    });
    found
}

const fn secret_of(rule: Rule) -> Option<RequestedSecret> {
    match rule {
        Rule::PasswordField | Rule::MailPassword => Some(RequestedSecret::Password),
        Rule::CardFields => Some(RequestedSecret::Card),
        Rule::RecoveryPhrase => Some(RequestedSecret::RecoveryPhrase),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(path: &str, text: &str) -> Option<RequestedSecret> {
        find_requested_secret(&[File { path, text }], &Rules::builtin())
    }

    #[test]
    fn fields_tell_what_is_asked_for() {
        let page = |fields: &str| requested("index.html", &format!("<h1>Shop</h1><form>{fields}</form>"));
        assert_eq!(page("<input type=password name=p>"), Some(RequestedSecret::Password));
        let card = "<label>Card number <input name=card></label><label>CVV <input name=cvv></label>";
        assert_eq!(page(card), Some(RequestedSecret::Card));
        let phrase = "<label>Recovery phrase <textarea name=phrase></textarea></label>";
        assert_eq!(page(phrase), Some(RequestedSecret::RecoveryPhrase));
    }

    #[test]
    fn ordinary_pages_ask_for_nothing() {
        for text in
            ["<h1>Report</h1>", "<input type=search name=q>", "<label>Email <input type=email></label>"]
        {
            assert_eq!(requested("index.html", text), None, "{text}");
        }
        assert_eq!(requested("notes.txt", "<input type=password>"), None);
    }
}
