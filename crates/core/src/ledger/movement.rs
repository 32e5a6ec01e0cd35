//! The kinds of movements of an account's balance, as its owner sees them.

use super::Cause;
use crate::payment::Item;

/// Why a balance changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovementKind {
    /// A payment by card that was credited in full.
    Topup,
    /// The part of a payment by card that exceeded the price.
    Credit,
    /// Something was bought from the balance.
    Purchase,
    /// The operator added credit, or took it back.
    Grant,
    /// A card payment was refunded, and the credit it had bought was taken back.
    Refund,
    /// The cardholder disputed a payment, and the credit it had bought was taken back.
    Dispute,
    /// A dispute was won, and the credit came back.
    Reinstatement,
}

names!(MovementKind: Topup = "topup", Credit = "credit", Purchase = "purchase", Grant = "grant", Refund = "refund",
    Dispute = "dispute", Reinstatement = "reinstatement");

impl MovementKind {
    /// The kind of a posting that moved a balance. `item`: what was bought or refunded with it.
    pub const fn of(cause: Cause, item: Option<Item>) -> Self {
        match (cause, item) {
            (Cause::Income, None | Some(Item::Topup)) => Self::Topup,
            (Cause::Income, Some(_)) => Self::Credit,
            (Cause::Spend, _) => Self::Purchase,
            (Cause::Grant, _) => Self::Grant,
            (Cause::Refund, _) => Self::Refund,
            (Cause::Dispute, _) => Self::Dispute,
            (Cause::Reinstatement, _) => Self::Reinstatement,
        }
    }

    /// For people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Topup => "Top-up",
            Self::Credit => "Credit",
            Self::Purchase => "Purchase",
            Self::Grant => "Credit from the operator",
            Self::Refund => "Refund",
            Self::Dispute => "Disputed payment",
            Self::Reinstatement => "Dispute won",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_payment_is_a_topup_unless_it_bought_something_too() {
        assert_eq!(MovementKind::of(Cause::Income, None), MovementKind::Topup);
        assert_eq!(MovementKind::of(Cause::Income, Some(Item::Provision)), MovementKind::Credit);
        assert_eq!(MovementKind::of(Cause::Spend, Some(Item::Publish)), MovementKind::Purchase);
    }

    #[test]
    fn names_read_back() {
        assert!(MovementKind::ALL.iter().all(|kind| MovementKind::parse(kind.as_str()) == Some(*kind)));
    }
}
