//! The operator's content safety settings, and how far a publisher may override them.

use crate::feedback::string_enum;
use crate::{Error, Result};

string_enum!(PiiCheck: Off = "off", Warn = "warn", Block = "block");

#[expect(clippy::derivable_impls, reason = "the list of words makes the type")]
impl Default for PiiCheck {
    fn default() -> Self {
        Self::Warn
    }
}

impl PiiCheck {
    /// Parses the field that a publisher sends.
    pub fn read(text: &str) -> Result<Self> {
        Self::parse(text.trim()).ok_or_else(|| Error::field("pii_check", "must be off, warn or block"))
    }

    /// The setting for one upload. The operator can enforce `block`; otherwise the publisher's choice applies.
    #[must_use]
    pub fn or(self, asked: Option<Self>) -> Self {
        if self == Self::Block { self } else { asked.unwrap_or(self) }
    }
}

string_enum!(OnFailure: Accept = "accept", Refuse = "refuse");

#[cfg(test)]
mod tests {
    use super::PiiCheck::{Block, Off, Warn};

    #[test]
    fn a_publisher_may_choose_unless_the_operator_insists() {
        assert_eq!(Warn.or(None), Warn);
        assert_eq!(Warn.or(Some(Off)), Off);
        assert_eq!(Off.or(Some(Block)), Block);
        assert_eq!(Block.or(Some(Off)), Block);
    }
}
