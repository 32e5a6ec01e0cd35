//! A payment: what it is for, how far it has come, and everything that is kept of it. Knows nothing of how it is proved.

use crate::unlock::Sku;

/// What is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    Publish,
    Provision,
    Unlock(Sku),
}

impl Item {
    pub const ALL: [Self; 5] = [
        Self::Publish,
        Self::Provision,
        Self::Unlock(Sku::MakePermanent),
        Self::Unlock(Sku::CustomDomain),
        Self::Unlock(Sku::HigherLimits),
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Provision => "provision",
            Self::Unlock(sku) => sku.as_str(),
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|item| item.as_str() == text)
    }
}

/// How far a payment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaymentState {
    /// Reserved, with all it buys staged; nobody was asked to settle it yet.
    Verified,
    /// The facilitator is being asked, or was when the server stopped: the money may have moved.
    Settling,
    /// The money moved; what it buys could not be made yet.
    Settled,
    /// The money moved and what it buys is there.
    Fulfilled,
    /// The money did not move.
    Refused,
    /// Whether the money moved is not known.
    Unknown,
    /// The money moved, nothing could be made of it, and an operator sent it back.
    Refunded,
}

impl PaymentState {
    pub const ALL: [Self; 7] = [
        Self::Verified,
        Self::Settling,
        Self::Settled,
        Self::Fulfilled,
        Self::Refused,
        Self::Unknown,
        Self::Refunded,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Settling => "settling",
            Self::Settled => "settled",
            Self::Fulfilled => "fulfilled",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Refunded => "refunded",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// What it means to an operator, and what they can do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Verified => {
                "Verified and reserved, but not settled yet. It continues automatically or expires."
            }
            Self::Settling => {
                "The facilitator is settling the payment, or was when the server stopped. It continues automatically within a \
                 minute."
            }
            Self::Settled => {
                "The money was received, but the purchase could not be fulfilled yet. The server retries automatically; the log \
                 says why it failed. If it can never be fulfilled, return the money and mark the payment as refunded."
            }
            Self::Fulfilled => "Paid and fulfilled. There is nothing to do.",
            Self::Refunded => "The money was returned and nothing was created. There is nothing to do.",
            Self::Refused => {
                "As far as we know, no money was transferred and nothing was created. If the receiving wallet shows the payment \
                 anyway, enter its transaction hash."
            }
            Self::Unknown => {
                "The outcome of the payment is unknown. The server keeps checking the blockchain and the facilitator \
                 automatically. If that does not help, look in the receiving wallet for a transfer of this amount from this \
                 payer and record what you find."
            }
        }
    }

    /// Whether something remains to be done.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Verified | Self::Settling | Self::Settled | Self::Unknown)
    }
}

/// A row of the list of payments. Names of networks, tokens and wallets are kept as they are written on their chains.
#[derive(Clone, PartialEq, Eq)]
pub struct Payment {
    pub id: String,
    /// What no second payment has, however it is wrapped.
    pub key: String,
    pub item: Item,
    /// `x402`, so far.
    pub protocol: String,
    /// Of the protocol: 1 or 2.
    pub generation: i64,
    pub network: String,
    pub asset: String,
    pub payer: String,
    pub pay_to: String,
    /// In the token's smallest unit.
    pub amount: i64,
    pub payer_is_eoa: bool,
    pub sandbox: bool,
    pub request_hash: [u8; 32],
    pub client: String,
    /// Names that only its sender knows.
    pub once_hashes: Vec<[u8; 32]>,
    pub state: PaymentState,
    pub ask: Option<String>,
    pub fee_payer: Option<String>,
    pub draft: Option<Vec<u8>>,
    pub bundle_id: Option<String>,
    pub site_id: Option<String>,
    pub account_id: Option<String>,
    pub transaction: Option<String>,
    /// Why it was refused, or why its outcome is not known.
    pub reason: Option<String>,
    /// How often the facilitator was asked to settle it.
    pub attempts: i64,
    pub held_until: i64,
    /// From then on it can no longer be settled.
    pub valid_until: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub fulfilled_at: Option<i64>,
    /// When its answer was first given to somebody.
    pub delivered_at: Option<i64>,
}

impl Payment {
    /// What its state means to an operator, and what they can do about it.
    pub fn advice(&self) -> &'static str {
        if self.has_lost_content() {
            return "The money was received, but the content is missing. The purchase is fulfilled when the payer sends the same \
                    request with the same payment again. If that never happens, return the money and mark the payment as \
                    refunded.";
        }
        self.state.advice()
    }

    /// Whether the money is there and what it buys is not: it was refused first, so its content was let go, or the content
    /// could not be stored. It is made when its payer sends the same request again.
    pub fn has_lost_content(&self) -> bool {
        self.state == PaymentState::Settled && self.draft.is_none() && !matches!(self.item, Item::Unlock(_))
    }
}

/// What is asked of a facilitator is somebody's money, and a draft holds secrets: neither goes to a log.
impl std::fmt::Debug for Payment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payment")
            .field("id", &self.id)
            .field("item", &self.item)
            .field("state", &self.state)
            .field("amount", &self.amount)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        assert!(Item::ALL.into_iter().all(|item| Item::parse(item.as_str()) == Some(item)));
        assert!(
            PaymentState::ALL.into_iter().all(|state| PaymentState::parse(state.as_str()) == Some(state))
        );
        assert_eq!(Item::parse("topup"), None);
    }
}
