//! Programs that act for people: registered, let in, given tokens, recognised, and shown out.

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
