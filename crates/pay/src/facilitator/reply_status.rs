//! What the status of a facilitator's HTTP response says about its body. The protocol uses statuses loosely: facilitators
//! refuse a payment with any status below 500.

/// Whether a response is an answer at all. The body decides the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStatus {
    /// A success; only then a yes in the body counts.
    Success,
    /// An answer other than a success; the body may say no.
    Rejected,
    /// The facilitator failed, or another server responded: the body decides nothing.
    Failed,
}

impl ReplyStatus {
    pub const fn from_http(status: u16) -> Self {
        match status {
            200 => Self::Success,
            201..300 | 400..500 => Self::Rejected,
            _ => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_200_is_a_success_and_redirects_and_server_errors_are_no_answers() {
        for (status, expected) in [
            (0, ReplyStatus::Failed),
            (199, ReplyStatus::Failed),
            (200, ReplyStatus::Success),
            (201, ReplyStatus::Rejected),
            (299, ReplyStatus::Rejected),
            (300, ReplyStatus::Failed),
            (399, ReplyStatus::Failed),
            (400, ReplyStatus::Rejected),
            (402, ReplyStatus::Rejected),
            (499, ReplyStatus::Rejected),
            (500, ReplyStatus::Failed),
            (u16::MAX, ReplyStatus::Failed),
        ] {
            assert_eq!(ReplyStatus::from_http(status), expected, "{status}");
        }
    }
}
