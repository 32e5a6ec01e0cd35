//! OAuth: registration of clients, consent, tokens, authentication and revocation.

mod bearer;
mod clients;
mod consent;
mod grants;
mod tokens;

pub(crate) use bearer::AccessTokenCache;
pub use bearer::Identity;
pub use clients::NewClient;
pub use consent::ConsentAnswer;
pub use tokens::{CodeExchange, GrantedClient, Tokens};
