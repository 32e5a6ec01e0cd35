//! A payment with an unknown outcome, for tests of chain queries.

use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;

pub(super) const TOKEN: &str = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
pub(super) const PAYER: &str = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266";
pub(super) const PAY_TO: &str = "70997970c51812dc3a010c7d01b50e0d17dc79c8";
pub(super) const NOW: i64 = 1_800_000_000;

pub(super) fn payment() -> Payment {
    Payment {
        id: "pay_1".into(),
        key: format!("eip155:8453|{TOKEN}|0x{PAYER}|0x{}", "11".repeat(32)),
        item: Item::Publish,
        rail: Rail::X402,
        generation: 2,
        network: "eip155:8453".into(),
        asset: TOKEN.into(),
        payer: format!("0x{PAYER}"),
        pay_to: format!("0x{PAY_TO}"),
        amount: 500_000,
        credit_minor: 0,
        refunded_minor: 0,
        disputed_minor: 0,
        payer_is_eoa: true,
        sandbox: false,
        request_hash: [0; 32],
        client: String::new(),
        once_hashes: Vec::new(),
        state: PaymentState::Unknown,
        ask: None,
        fee_payer: None,
        draft: None,
        bundle_id: None,
        site_id: None,
        account_id: None,
        transaction: None,
        reason: None,
        attempts: 2,
        held_until: 0,
        valid_until: NOW + 180,
        created_at: NOW,
        updated_at: NOW,
        fulfilled_at: None,
        delivered_at: None,
    }
}
