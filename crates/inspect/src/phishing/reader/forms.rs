//! Reads forms and fields: what a person could fill in, how it is labelled, and where it would be sent.

use std::borrow::Cow;

use dropleaf_core::html::Tag;
use dropleaf_core::html::character_references::{Context, decode};

use super::Reader;
use crate::phishing::facts::{Field, Form, letters, zone};
use crate::phishing::fold::{exact, fold};
use crate::phishing::rules::hosts::Target;

/// Attributes that say what a field is for.
const HINTS: [&str; 8] =
    ["name", "id", "placeholder", "aria-label", "autocomplete", "title", "data-label", "formcontrolname"];
/// Those of them that a person sees or hears.
const SHOWN: [&str; 3] = ["placeholder", "aria-label", "title"];
const LONGEST_HINT: usize = 200;
const MOST_FIELDS: usize = 2000;
const MOST_FORMS: usize = 2000;

impl Reader<'_> {
    pub(crate) fn close_label(&mut self) {
        let Some((id, from)) = self.label.take() else { return };
        let text = &self.facts.text.bytes[from.min(self.facts.text.len())..];
        if text.len() <= LONGEST_HINT && self.facts.labels.len() < 2000 {
            self.facts.labels.push((id, String::from_utf8_lossy(text).trim().to_owned()));
        }
    }

    pub(crate) fn open_form(&mut self, tag: &Tag<'_>, at: usize) {
        let target = self.rules.hosts.target(tag.get("action").unwrap_or_default());
        self.facts.note_blocked_host(&target, at);
        self.read_script_url(tag.get("action").unwrap_or_default(), at);
        if matches!(target, Target::Local(_) | Target::ServerScript(_)) {
            self.asset(tag.get("action"), at);
        }
        if self.facts.forms.len() >= MOST_FORMS {
            return;
        }
        self.form = Some(self.facts.forms.len());
        self.facts.forms.push(Form { target, at });
    }

    /// A button may override the target of its form.
    pub(crate) fn form_target(&mut self, action: Option<&str>, at: usize) {
        if let Some(action) = action {
            let target = self.rules.hosts.target(action);
            self.facts.note_blocked_host(&target, at);
            self.read_script_url(action, at);
            self.facts.add_destination(target, at);
        }
    }

    pub(crate) fn field(&mut self, tag: &Tag<'_>, at: usize) {
        self.facts.has_field_in_quote |= self.quotes > 0;
        if self.facts.fields.len() >= MOST_FIELDS {
            return;
        }
        let kind = exact(tag.get("type").unwrap_or_default()).trim().to_owned();
        if matches!(kind.as_str(), "submit" | "image" | "button") {
            self.facts.buttons += 1;
            self.form_target(tag.get("formaction"), at);
            for name in ["value", "alt"] {
                if let Some(text) = tag.get(name) {
                    self.facts.add_separate_text(text, at, zone::BUTTON);
                }
            }
            self.asset(tag.get("src"), at);
            self.facts.pictures += usize::from(kind == "image");
            return;
        }
        // Taken before the placeholder becomes page text, so that it is not its own label.
        let before = self.text_before();
        for text in ["placeholder", "aria-label"].iter().filter_map(|name| tag.get(name)) {
            let from = self.facts.text.len();
            self.facts.add_separate_text(text, at, zone::BUTTON);
            self.facts.placeholder_letters += letters(&self.facts.text.bytes[from..]);
        }
        let mut hint = String::new();
        let get = |name: &str| tag.get(name).map(|value| decode(value, Context::Attribute));
        let is_short = |text: &&str| decode(text, Context::Attribute).len() <= LONGEST_HINT;
        for value in HINTS.iter().filter_map(|name| tag.get(name)).filter(is_short) {
            hint.push_str(&fold(value));
            hint.push('\n');
            hint.push_str(&fold(&words_of(&decode(value, Context::Attribute))));
            hint.push('\n');
        }
        let labelled =
            ["placeholder", "aria-label"].iter().any(|name| get(name).is_some_and(|it| has_words(&it)));
        if !labelled {
            hint.push_str(&before);
        }
        let mut shown = before;
        for text in SHOWN.iter().filter_map(|name| tag.get(name)).filter(is_short) {
            shown.push('\n');
            shown.push_str(&fold(text));
        }
        if self.origin.hidden && kind != "hidden" {
            self.facts.hidden_field.get_or_insert(at);
        }
        let id = get("id").unwrap_or_default();
        let name = get("name").unwrap_or_else(|| Cow::Borrowed(&id));
        self.facts.fields.push(Field {
            at,
            tag: ["textarea", "select"].into_iter().find(|name| tag.name.is(name)).unwrap_or("input"),
            kind,
            name: name.to_lowercase(),
            stem: stem_of(&name),
            id: id.into_owned(),
            hint,
            shown,
            text_at: self.facts.text.len(),
            form: self.form,
            one_letter: get("maxlength").is_some_and(|length| length.trim() == "1"),
            disabled: tag.get("disabled").is_some() || tag.get("readonly").is_some(),
            concealed: self.concealment.hides_now(),
        });
        self.last_field = self.facts.text.len();
    }

    /// The line before a field, which is its label if it is short.
    fn text_before(&self) -> String {
        let text = &self.facts.text.bytes[self.last_field.min(self.facts.text.len())..];
        let text = &text[text.len().saturating_sub(120)..];
        let text = String::from_utf8_lossy(text);
        let line = text.trim_end().rsplit('\n').next().unwrap_or_default().trim();
        if line.len() <= 48 { line.to_owned() } else { String::new() }
    }
}

/// Whether a placeholder says what to type. Rows of X, digits and dots do not.
fn has_words(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphabetic() && !matches!(c, 'x' | 'X')).nth(1).is_some()
}

/// `word` for `word12`.
fn stem_of(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ']');
    (stem.len() < name.len() && !stem.is_empty() && stem.len() < 40).then(|| stem.to_owned())
}

/// `cardNumber_2` as `card Number 2`.
fn words_of(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut small = false;
    for c in name.chars() {
        if c.is_uppercase() && small {
            words.push(' ');
        }
        small = c.is_lowercase();
        words.push(if matches!(c, '_' | '-' | '.' | '[' | ']') { ' ' } else { c });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words_of("cardNumber_2"), "card Number 2");
        assert_eq!(stem_of("word12").as_deref(), Some("word"));
        assert_eq!(stem_of("word"), None);
        assert_eq!(stem_of("12"), None);
        assert!(has_words("密码") && has_words("PIN") && !has_words("XXXX XXXX") && !has_words("•••• 00"));
    }
}
