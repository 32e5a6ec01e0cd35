//! OAuth tokens: opaque, 257.9 random bits after a prefix that names the kind.

use crate::Minter;

pub const ACCESS_PREFIX: &str = "oat_";
pub const REFRESH_PREFIX: &str = "ort_";

/// The two kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OAuthTokenKind {
    Access,
    Refresh,
}

impl OAuthTokenKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Refresh => "refresh",
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Access => ACCESS_PREFIX,
            Self::Refresh => REFRESH_PREFIX,
        }
    }

    pub fn mint(self, minter: &Minter) -> String {
        format!("{}{}", self.prefix(), minter.token())
    }

    /// Whether the text has the form of such a token; other texts need no database lookup.
    pub fn fits(self, text: &str) -> bool {
        text.strip_prefix(self.prefix()).is_some_and(|rest| {
            rest.len() == 43 && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minted_tokens_fit_their_kind_and_no_other() {
        let minter = Minter::seeded(3);
        let (access, refresh) = (OAuthTokenKind::Access.mint(&minter), OAuthTokenKind::Refresh.mint(&minter));
        assert!(OAuthTokenKind::Access.fits(&access) && OAuthTokenKind::Refresh.fits(&refresh));
        assert!(!OAuthTokenKind::Access.fits(&refresh) && !OAuthTokenKind::Refresh.fits(&access));
        assert_eq!((access.len(), &access[..4]), (47, "oat_"));
        for bad in ["", "oat_", "oat_short", &format!("{access}x"), &access.replace("oat_", "OAT_")] {
            assert!(!OAuthTokenKind::Access.fits(bad), "{bad}");
        }
    }
}
