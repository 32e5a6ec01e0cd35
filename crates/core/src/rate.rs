//! Rate limits: a number of operations per window, and the caller's remaining quota.

/// One limit: at most `limit` operations in each window of `window_seconds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub name: &'static str,
    pub limit: i64,
    pub window_seconds: i64,
}

/// A caller's remaining quota, for the `RateLimit` headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitStatus {
    pub rate: Rate,
    pub remaining: i64,
    pub resets_in: i64,
}

impl Rate {
    /// The start of the window that contains this moment.
    pub const fn window_at(&self, now: i64) -> i64 {
        now - now.rem_euclid(self.window_seconds)
    }

    pub const fn ends_at(&self, now: i64) -> i64 {
        self.window_at(now) + self.window_seconds
    }

    pub fn status(&self, used: i64, now: i64) -> RateLimitStatus {
        RateLimitStatus {
            rate: *self,
            remaining: (self.limit - used).max(0),
            resets_in: self.ends_at(now) - now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn windows_are_aligned_and_never_negative() {
        let hour = Rate { name: "hour", limit: 10, window_seconds: 3600 };
        assert_eq!(hour.window_at(7199), 3600);
        assert_eq!(hour.ends_at(7199), 7200);
        let status = hour.status(12, 7199);
        assert_eq!((status.remaining, status.resets_in), (0, 1));
    }
}
