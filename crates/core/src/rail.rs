//! A payment rail: the way that a payment arrives, or that a purchase is paid for. Leaves the protocols themselves to the payment crate.

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
    /// An account pays from its prepaid balance. No money arrives, so this has no row among the payments, only in the ledger.
    Balance,
}

impl Rail {
    pub const ALL: [Self; 6] = [Self::X402, Self::Mpp, Self::Acp, Self::Ap2, Self::Card, Self::Balance];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X402 => "x402",
            Self::Mpp => "mpp",
            Self::Acp => "acp",
            Self::Ap2 => "ap2",
            Self::Card => "card",
            Self::Balance => "balance",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rail| rail.as_str() == text)
    }

    /// Whether the money moves on a chain, settled by the facilitator; else in cents, by card or from a balance.
    pub const fn is_on_chain(self) -> bool {
        matches!(self, Self::X402 | Self::Mpp)
    }

    /// Whether the card processor charges it.
    pub const fn is_by_card(self) -> bool {
        matches!(self, Self::Acp | Self::Ap2 | Self::Card)
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
