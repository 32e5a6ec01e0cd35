//! A form that was refused: what is wrong, beside which field, and what had been typed.

use dropleaf_core::finding::Finding;
use std::borrow::Borrow;

/// Said once, beside the field; everything that was typed is still there.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Which form of the page.
    pub form: &'static str,
    /// Which of its fields; empty when it is about the whole.
    pub field: &'static str,
    pub message: String,
    /// What was found in the content, when that is why.
    pub reasons: Vec<Finding>,
    /// How to have somebody look at content that is honest in spite of them.
    pub appeal: Option<&'static str>,
    pub typed: Vec<(String, String)>,
}

impl Refused {
    /// What had been typed into a field of a form.
    pub fn typed(&self, form: &str, field: &str) -> Option<&str> {
        let found = self.typed.iter().find(|(name, _)| self.form == form && name == field);
        found.map(|(_, value)| value.as_str())
    }
}

/// Whether a form was refused, and where to say so.
#[derive(Debug, Clone, Default)]
pub struct Attempt(pub Option<Refused>);

impl Attempt {
    /// Whether it is this form that was refused.
    pub fn is(&self, form: &str) -> bool {
        self.0.as_ref().is_some_and(|refused| refused.form == form)
    }

    /// What is wrong with this field; or with the form as a whole, for a field without a name.
    pub fn problem(&self, form: &str, field: &str) -> Option<&str> {
        let refused = self.0.as_ref().filter(|refused| refused.form == form && refused.field == field);
        refused.map(|refused| refused.message.as_str())
    }

    /// What was found in the content of the form that was refused.
    pub fn reasons(&self) -> &[Finding] {
        self.0.as_ref().map(|refused| refused.reasons.as_slice()).unwrap_or_default()
    }

    pub fn appeal(&self) -> Option<&str> {
        self.0.as_ref()?.appeal
    }

    /// What a field shows: what was typed, else what there is.
    pub fn value<'a>(&'a self, form: &str, field: &str, current: &'a str) -> &'a str {
        self.0.as_ref().and_then(|refused| refused.typed(form, field)).unwrap_or(current)
    }

    /// Whether a choice is made: the one that was sent, else the one there is.
    pub fn chosen(&self, form: &str, field: &str, value: &str, current: &str) -> bool {
        self.value(form, field, current) == value
    }

    /// Whether a box is ticked: a form that was sent names the ticked ones only.
    pub fn ticked(&self, form: &str, field: &str, current: impl Borrow<bool>) -> bool {
        match &self.0 {
            Some(refused) if refused.form == form => refused.typed(form, field).is_some(),
            _ => *current.borrow(),
        }
    }
}
