//! Builds requests to a facilitator and interprets its responses; sending and retrying are left to the caller.
//! Only an explicit yes counts as success; for a settlement, only an explicit no counts as a refusal.

mod reason;
mod request;
mod settle;
mod supported;
mod verify;

use crate::address::{Address, SolanaAddress};
use crate::amount::Amount;
use crate::checked::Checked;
use crate::json::{self, Object};
use crate::network::Network;
use crate::offer::{Asset, Offer};

pub use reason::{Reason, ReasonKind};
pub use request::build_request;
pub use settle::{SettleAnswer, read_settle};
pub use supported::{Supported, SupportedKind};
pub use verify::{VerifyAnswer, read_verify};

/// What the HTTP status of a response says; the body decides the rest. The protocol uses statuses loosely: facilitators refuse
/// a payment with any status below 500.
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

/// What a response must match. The fields can be stored, so that a settlement can be resumed after a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub network: Network,
    pub payer: Address,
    pub amount: Amount,
    /// Some facilitators name the fee payer as the payer of a Solana transaction.
    pub fee_payer: Option<SolanaAddress>,
}

impl Expected {
    pub fn of(checked: &Checked) -> Self {
        Self::new(&checked.offer, checked.payer)
    }

    pub fn new(offer: &Offer, payer: Address) -> Self {
        let fee_payer = match &offer.asset {
            Asset::Evm { .. } => None,
            Asset::Solana { mint, .. } => Some(mint.fee_payer),
        };
        Self { network: offer.network(), payer, amount: offer.amount, fee_payer }
    }

    /// Whether a response names this payer, or none.
    fn fits_payer(&self, answer: &Object) -> bool {
        match answer.get("payer") {
            None | Some(serde_json::Value::Null) => true,
            Some(value) => value.as_str().is_some_and(|text| {
                let named = Address::parse(text);
                text.is_empty()
                    || named == Some(self.payer)
                    || (named.is_some() && named == self.fee_payer.map(Address::Solana))
            }),
        }
    }

    /// Whether a response names this network, by its v1 or v2 name.
    fn fits_network(&self, answer: &Object) -> bool {
        let name = json::text(answer, "network").unwrap_or("");
        Network::parse(name).or_else(|| Network::parse_v1(name)) == Some(self.network)
    }
}

/// Parses a body that is one JSON object.
fn object(body: &[u8]) -> Option<Object> {
    json::object(str::from_utf8(body).ok()?).ok()
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
