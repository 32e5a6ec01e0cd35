//! Burn-after-read pages: how long the first viewer may view the page again, and the secret that identifies that viewer.
//! Spec §1.3; the reasons are in docs/security.md.

use crate::secret;

/// Long enough for a double click, a lost response or a reload.
pub const WINDOW_SECONDS: i64 = 60;
/// Archives take longer to view, because each file is loaded when it is needed.
pub const ARCHIVE_WINDOW_SECONDS: i64 = 600;

/// How long after the first view its viewer may return.
pub const fn window_seconds(files: usize) -> i64 {
    if files > 1 { ARCHIVE_WINDOW_SECONDS } else { WINDOW_SECONDS }
}

/// Whether the text has the form of a view secret: 16 bytes in base64url.
pub fn is_secret(text: &str) -> bool {
    crate::site::is_token(text)
}

/// What the first view records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burn {
    pub secret_hash: [u8; 32],
    /// When the content is to be erased, in epoch seconds.
    pub erase_at: i64,
}

impl Burn {
    /// The hash for a viewer who keeps no secret. No text is known to have this hash, so it admits no one again.
    pub const NOBODY: [u8; 32] = [0; 32];

    /// Whether a viewer may still return.
    pub fn is_open(&self, now: i64) -> bool {
        now < self.erase_at && self.secret_hash != Self::NOBODY
    }

    /// Whether the holder of this secret may view the page now. Compares digests, so timing reveals nothing about the secret.
    pub fn admits(&self, secret: &str, now: i64) -> bool {
        self.is_open(now) && is_secret(secret) && secret::hash(secret) == self.secret_hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewer_may_come_back_until_the_second_the_window_ends() {
        let mine = "AAAAAAAAAAAAAAAAAAAAAA";
        let burn = Burn { secret_hash: secret::hash(mine), erase_at: 100 + window_seconds(1) };
        assert!(burn.admits(mine, 100));
        assert!(burn.admits(mine, 159));
        assert!(!burn.admits(mine, 160));
        assert!(!burn.admits("BAAAAAAAAAAAAAAAAAAAAA", 100));
        assert!(!burn.admits("", 100));
        let nobodys = Burn { secret_hash: Burn::NOBODY, ..burn };
        assert!(burn.is_open(100) && !burn.is_open(160) && !nobodys.is_open(100));
    }

    #[test]
    fn archives_have_ten_minutes() {
        assert_eq!((window_seconds(1), window_seconds(2)), (60, 600));
    }
}
