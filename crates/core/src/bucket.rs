//! The rule of a token bucket: some operations at once, then one after every interval.

/// At most `burst` operations at once, and one more after every `refill_seconds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    pub name: &'static str,
    pub burst: u32,
    pub refill_seconds: u32,
}

impl Bucket {
    /// One more operation fits while the bucket will be full at most this many seconds from now.
    pub fn room(&self) -> i64 {
        i64::from(self.refill_seconds) * (i64::from(self.burst) - 1)
    }

    /// How long the next operation has to wait if the bucket will be full at `full_at`.
    pub fn wait(&self, full_at: i64, now: i64) -> i64 {
        full_at.saturating_sub(now).saturating_sub(self.room()).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Bucket;

    #[test]
    fn a_bucket_has_room_for_its_burst() {
        let five = Bucket { name: "five", burst: 5, refill_seconds: 10 };
        assert_eq!(five.wait(140, 100), 0, "the fifth");
        assert_eq!(five.wait(150, 100), 10, "the sixth");
        assert_eq!(five.wait(0, 100), 0);
    }
}
