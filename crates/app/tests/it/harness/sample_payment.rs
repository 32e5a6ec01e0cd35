//! A payment as it is stored, for tests that need rows without buying.

use super::NOW;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;

pub(crate) fn payment(id: &str, state: PaymentState) -> Payment {
    Payment {
        id: id.to_owned(),
        key: format!("eip155:8453:0xtoken:0xpayer:{id}"),
        item: Item::Publish,
        rail: Rail::X402,
        generation: 2,
        network: "eip155:8453".into(),
        asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913".into(),
        payer: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".into(),
        pay_to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".into(),
        amount: 500_000,
        credit_minor: 0,
        refunded_minor: 0,
        disputed_minor: 0,
        payer_is_eoa: true,
        sandbox: false,
        request_hash: [1; 32],
        client: String::new(),
        once_hashes: Vec::new(),
        state,
        ask: None,
        fee_payer: None,
        draft: None,
        bundle_id: None,
        site_id: None,
        account_id: None,
        transaction: None,
        reason: None,
        attempts: 1,
        held_until: NOW + 3600,
        valid_until: NOW,
        created_at: NOW - 90,
        updated_at: NOW,
        fulfilled_at: (state == PaymentState::Fulfilled).then_some(NOW),
        delivered_at: None,
    }
}
