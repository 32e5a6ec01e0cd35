//! OAuth: registration of clients, consent, tokens, authentication and revocation.

mod bearer;
mod clients;
mod consent;
mod grants;
mod tokens;

pub use bearer::Identity;
pub(crate) use bearer::TokenRing;
pub use clients::NewClient;
pub use consent::Answered;
pub use tokens::{CodeTrade, GrantedClient, Tokens};
