//! A payment: what it buys, its state, and everything that is stored about it. Leaves proofs to the payment crate.

use crate::rail::Rail;
use crate::unlock::Sku;

/// What a payment buys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    Publish,
    Provision,
    Unlock(Sku),
    /// Credit for an account's balance.
    Topup,
}

impl Item {
    pub const ALL: [Self; 6] = [
        Self::Publish,
        Self::Provision,
        Self::Topup,
        Self::Unlock(Sku::MakePermanent),
        Self::Unlock(Sku::CustomDomain),
        Self::Unlock(Sku::HigherLimits),
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Provision => "provision",
            Self::Unlock(sku) => sku.as_str(),
            Self::Topup => "topup",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|item| item.as_str() == text)
    }

    /// For people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Publish => "Permanent page",
            Self::Provision => "New account",
            Self::Unlock(sku) => sku.title(),
            Self::Topup => "Top-up",
        }
    }
}

/// The state of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaymentState {
    /// Reserved, and what it buys is staged; the facilitator has not been asked to settle it yet.
    Verified,
    /// Settlement was requested, possibly before a server restart: the money may have moved.
    Settling,
    /// The money moved; what it buys could not be created yet.
    Settled,
    /// The money moved, and what it buys has been created.
    Fulfilled,
    /// The money did not move.
    Refused,
    /// It is unknown whether the money moved.
    Unknown,
    /// The money moved, nothing could be created, and an operator refunded it.
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

    /// What the state means for an operator, and what they can do about it.
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

    /// The same for a payment by card, where it differs.
    const fn card_advice(self) -> Option<&'static str> {
        match self {
            Self::Settling => Some(
                "The card processor is charging the payment, or was when the server stopped. It continues automatically within a \
                 minute.",
            ),
            Self::Settled => Some(
                "The money was received, but the purchase could not be fulfilled yet. The server retries automatically; the log \
                 says why it failed. If it can never be fulfilled, refund it in the dashboard of the card processor. It is then \
                 marked as refunded when the webhook arrives; without webhooks, mark it here.",
            ),
            Self::Refused => Some(
                "As far as we know, nothing was charged and nothing was created. If the dashboard of the card processor shows the \
                 payment anyway, enter its ID.",
            ),
            Self::Unknown => Some(
                "The outcome of the payment is unknown. Look for it in the dashboard of the card processor, by its ID or its \
                 amount and time, and record what you find. If you refund it there, mark it as not settled here.",
            ),
            Self::Verified | Self::Fulfilled | Self::Refunded => None,
        }
    }

    /// Whether the payment needs further work.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Verified | Self::Settling | Self::Settled | Self::Unknown)
    }

    /// Whether an operator can mark it as settled: its outcome is unknown, or it was refused although the money moved.
    pub const fn can_be_marked_settled(self) -> bool {
        matches!(self, Self::Unknown | Self::Refused)
    }
}

/// A stored payment. Networks, tokens and wallets are written as on their chains. A card payment has the network `stripe` and
/// the asset `usd`; its payer is the payment's own id, because the processor does not name the cardholder to us.
#[derive(Clone, PartialEq, Eq)]
pub struct Payment {
    pub id: String,
    /// Unique per payment, however the proof is encoded.
    pub key: String,
    pub item: Item,
    pub rail: Rail,
    /// The x402 version of the facilitator's requests: 1 or 2.
    pub generation: i64,
    pub network: String,
    pub asset: String,
    pub payer: String,
    pub pay_to: String,
    /// In the token's smallest unit, or in cents.
    pub amount: i64,
    /// The part of the amount that is credited to the account's balance, in cents; 0 for payments on a chain.
    pub credit_minor: i64,
    /// The sum of all refunds, and of the disputes that stand, in the unit of the amount. An amount may be in both.
    pub refunded_minor: i64,
    pub disputed_minor: i64,
    pub payer_is_eoa: bool,
    pub sandbox: bool,
    pub request_hash: [u8; 32],
    pub client: String,
    /// Hashes of the `Idempotency-Key` and the payment identifier, if they are long enough to identify the sender.
    pub once_hashes: Vec<[u8; 32]>,
    pub state: PaymentState,
    pub ask: Option<String>,
    pub fee_payer: Option<String>,
    pub draft: Option<Vec<u8>>,
    pub bundle_id: Option<String>,
    pub site_id: Option<String>,
    pub account_id: Option<String>,
    pub transaction: Option<String>,
    /// Why it was refused, or why its outcome is unknown.
    pub reason: Option<String>,
    /// How often the facilitator was asked to settle it.
    pub attempts: i64,
    pub held_until: i64,
    /// From then on it can no longer be settled.
    pub valid_until: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub fulfilled_at: Option<i64>,
    /// When its response was first delivered.
    pub delivered_at: Option<i64>,
}

impl Payment {
    /// Who paid, as far as it is known: the card processor does not name the cardholder.
    pub fn known_payer(&self) -> Option<&str> {
        (!self.rail.is_by_card()).then_some(self.payer.as_str())
    }

    /// What went back to the cardholder. Money that is both refunded and disputed goes back once.
    pub fn reversed_minor(&self) -> i64 {
        self.refunded_minor.saturating_add(self.disputed_minor).min(self.amount)
    }

    /// What the payment's state means for an operator, and what they can do about it.
    pub fn advice(&self) -> &'static str {
        if self.has_lost_content() {
            return "The money was received, but the content is missing. The purchase is fulfilled when the payer sends the same \
                    request with the same payment again. If that never happens, return the money and mark the payment as \
                    refunded.";
        }
        let for_cards = if self.rail.is_by_card() { self.state.card_advice() } else { None };
        for_cards.unwrap_or_else(|| self.state.advice())
    }

    /// Whether the money has arrived but the content is missing: the payment was first refused, so its content was dropped, or
    /// the content could not be stored. What it buys is created when the payer sends the same request again.
    pub fn has_lost_content(&self) -> bool {
        self.state == PaymentState::Settled
            && self.draft.is_none()
            && matches!(self.item, Item::Publish | Item::Provision)
    }

    /// Whether the chain or the facilitator can be asked about it.
    pub fn can_be_checked(&self) -> bool {
        self.state.is_open() && !self.has_lost_content()
    }
}

/// Omits the facilitator request, which could be used to take the payer's money, and the draft, which contains secrets.
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

/// Settled payments for one item on one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledCount {
    pub network: String,
    pub item: String,
    pub count: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settlements(pub Vec<SettledCount>);

impl Settlements {
    pub fn total(&self) -> i64 {
        self.0.iter().map(|one| one.count).sum()
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
        assert_eq!(Item::parse("top-up"), None);
    }

    #[test]
    fn operators_can_mark_unknown_and_refused_payments_as_settled() {
        let states = PaymentState::ALL.into_iter().filter(|state| state.can_be_marked_settled());
        assert_eq!(states.collect::<Vec<_>>(), [PaymentState::Refused, PaymentState::Unknown]);
    }

    #[test]
    fn advice_names_the_processor_for_cards_and_the_chain_for_wallets() {
        let payment = |rail, state| Payment { rail, state, ..crate::ledger::tests::payment(false) };
        for state in [PaymentState::Unknown, PaymentState::Refused] {
            for rail in Rail::ALL.into_iter().filter(|rail| rail.is_by_card()) {
                let advice = payment(rail, state).advice();
                assert!(advice.contains("card processor") && !advice.contains("wallet"), "{advice}");
            }
            assert!(payment(Rail::Mpp, state).advice().contains("wallet"));
        }
        assert_eq!(payment(Rail::Card, PaymentState::Unknown).known_payer(), None);
    }

    #[test]
    fn open_payments_can_be_checked_unless_their_content_is_lost() {
        let payment = |state, draft| Payment { state, draft, ..crate::ledger::tests::payment(false) };
        for state in PaymentState::ALL {
            assert_eq!(payment(state, Some(Vec::new())).can_be_checked(), state.is_open(), "{state:?}");
        }
        assert!(!payment(PaymentState::Settled, None).can_be_checked());
    }
}
