//! Accounts and their credentials: sign-in, sessions, API keys, passkeys, device logins, OAuth, suspension and erasure.

pub(crate) mod account;
pub(crate) mod api_keys;
pub(crate) mod caller;
pub(crate) mod device_logins;
pub(crate) mod email_codes;
pub(crate) mod erasure;
pub(crate) mod first_operator;
pub(crate) mod mcp_answers;
pub(crate) mod mcp_sessions;
pub(crate) mod oauth;
pub(crate) mod passkeys;
pub(crate) mod sessions;
pub(crate) mod sign_in;
pub(crate) mod suspension;
pub(crate) mod wallet_challenges;
