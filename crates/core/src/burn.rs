//! Pages that end with their first view: how long the one who saw it may look again, and the secret that proves it.
//! Spec §1.3; the reasons are in docs/security.md.

use crate::secret;

/// A double click, a lost answer, a reload.
pub const WINDOW_SECONDS: i64 = 60;
/// Several files take longer to look at: each is asked for when it is needed.
pub const ARCHIVE_WINDOW_SECONDS: i64 = 600;

/// How long after the first view its viewer may come back.
pub const fn window_seconds(files: usize) -> i64 {
    if files > 1 { ARCHIVE_WINDOW_SECONDS } else { WINDOW_SECONDS }
}

/// Whether the text has the shape of a view secret: 16 bytes of base64url.
pub fn is_secret(text: &str) -> bool {
    crate::site::is_token(text)
}

/// The trace that the first view leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burn {
    pub secret_hash: [u8; 32],
    /// From this moment on the bytes are to be erased.
    pub erase_at: i64,
}

impl Burn {
    /// The trace of a viewer who keeps no secret: no text is known to have this hash, so nobody is let in again.
    pub const NOBODY: [u8; 32] = [0; 32];

    /// Whether there is somebody who may come back now.
    pub fn is_open(&self, now: i64) -> bool {
        now < self.erase_at && self.secret_hash != Self::NOBODY
    }

    /// Whether the holder of this secret may look (again) now. Digests are compared, so that time tells nothing.
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
