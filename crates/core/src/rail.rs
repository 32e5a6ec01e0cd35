//! A payment rail: the protocol that a payment arrives by. Leaves the protocols themselves to the payment crate.

/// The protocol of a payment. A server that does not offer one of them may still meet it in the database, where a newer version
/// wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rail {
    /// A signed transfer in a header of x402 v1 or v2.
    X402,
    /// The same transfer in an `Authorization: Payment` credential.
    Mpp,
    /// A shared payment token, charged by the card processor.
    Acp,
    /// A mandate that names a shared payment token.
    Ap2,
    /// A person pays by card at a pay link.
    Card,
}

impl Rail {
    pub const ALL: [Self; 5] = [Self::X402, Self::Mpp, Self::Acp, Self::Ap2, Self::Card];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X402 => "x402",
            Self::Mpp => "mpp",
            Self::Acp => "acp",
            Self::Ap2 => "ap2",
            Self::Card => "card",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rail| rail.as_str() == text)
    }

    /// Whether the money moves on a chain, settled by the facilitator; else by card, through the processor.
    pub const fn is_on_chain(self) -> bool {
        matches!(self, Self::X402 | Self::Mpp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        assert!(Rail::ALL.into_iter().all(|rail| Rail::parse(rail.as_str()) == Some(rail)));
        assert_eq!(Rail::parse("X402"), None);
    }
}
