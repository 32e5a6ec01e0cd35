//! A refused form: what is wrong, with which field, and what had been typed.

use dropleaf_core::finding::Finding;
use std::borrow::Borrow;

/// Shown once, next to the field; everything that was typed is kept.
#[derive(Debug, Clone)]
pub struct RefusedForm {
    /// The form of the page that was sent.
    pub form: &'static str,
    /// The field that is wrong; empty if it is the whole form.
    pub field: &'static str,
    pub message: String,
    /// The findings in the content, if they are the reason.
    pub reasons: Vec<Finding>,
    /// Where to appeal if the findings are wrong.
    pub appeal: Option<&'static str>,
    pub typed: Vec<(String, String)>,
}

impl RefusedForm {
    /// What had been typed into a field of a form.
    pub fn typed(&self, form: &str, field: &str) -> Option<&str> {
        let found = self.typed.iter().find(|(name, _)| self.form == form && name == field);
        found.map(|(_, value)| value.as_str())
    }
}

/// The refused form, if there is one.
#[derive(Debug, Clone, Default)]
pub struct Attempt(pub Option<RefusedForm>);

impl Attempt {
    /// Whether this form was refused.
    pub fn is(&self, form: &str) -> bool {
        self.0.as_ref().is_some_and(|refused| refused.form == form)
    }

    /// What is wrong with this field, or with the whole form if `field` is empty.
    pub fn problem(&self, form: &str, field: &str) -> Option<&str> {
        let refused = self.0.as_ref().filter(|refused| refused.form == form && refused.field == field);
        refused.map(|refused| refused.message.as_str())
    }

    /// The findings in the content of the refused form.
    pub fn reasons(&self) -> &[Finding] {
        self.0.as_ref().map(|refused| refused.reasons.as_slice()).unwrap_or_default()
    }

    pub fn appeal(&self) -> Option<&str> {
        self.0.as_ref()?.appeal
    }

    /// The value of a field: what was typed, else the current value.
    pub fn value<'a>(&'a self, form: &str, field: &str, current: &'a str) -> &'a str {
        self.0.as_ref().and_then(|refused| refused.typed(form, field)).unwrap_or(current)
    }

    /// Whether an option is selected: the one that was sent, else the current one.
    pub fn is_selected(&self, form: &str, field: &str, value: &str, current: &str) -> bool {
        self.value(form, field, current) == value
    }

    /// Whether a box is checked: a sent form contains only the checked ones.
    pub fn is_checked(&self, form: &str, field: &str, current: impl Borrow<bool>) -> bool {
        match &self.0 {
            Some(refused) if refused.form == form => refused.typed(form, field).is_some(),
            _ => *current.borrow(),
        }
    }
}
