//! Tests payments, balances and wallet signatures.

mod operator_payments;
mod pay_agents_host;
mod pay_bad_evm;
mod pay_bad_proofs;
mod pay_bad_solana;
mod pay_discovery;
mod pay_endpoint_faults;
mod pay_giveaway;
mod pay_kill;
mod pay_off;
mod pay_phishing;
mod pay_provision;
mod pay_publish;
mod pay_terms;
mod pay_unlock;
mod sandbox;
mod unlocks;
pub(crate) mod wallet;
mod wallet_pages;
