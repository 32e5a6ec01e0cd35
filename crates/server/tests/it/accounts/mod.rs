//! Tests accounts: signing in, sessions, passkeys, API keys and plans.

mod account_erasure;
mod account_transfer;
mod api_keys;
mod passkeys;
mod plans;
mod sessions;
pub(crate) mod sign_in;
mod sign_in_guarded;
