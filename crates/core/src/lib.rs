//! The words and rules of dropleaf, as pure functions and small types.
//! Knows nothing of HTTP, SQL or the runtime: everything here can be tested without starting anything.

pub mod access;
pub mod account;
pub mod api_key;
pub mod audit;
pub mod burn;
pub mod clock;
pub mod code;
pub mod device_login;
pub mod email;
pub mod error;
pub mod expiry;
pub mod feedback;
pub mod gate_pass;
pub mod host;
pub mod iso;
pub mod ledger;
pub mod minter;
pub mod network;
pub mod oauth;
pub mod options;
pub mod passkey;
pub mod path;
pub mod payment;
pub mod plain_text;
pub mod plan;
pub mod rate;
pub mod report;
pub mod return_to;
pub mod scope;
pub mod secret;
pub mod session;
pub mod share_token;
pub mod sign_up;
pub mod site;
pub mod site_change;
pub mod site_filter;
pub mod slug;
pub mod takedown;
pub mod unlock;
pub mod upload_ticket;
pub mod visitor;

pub use clock::{Clock, ManualClock, SystemClock};
pub use code::Code;
pub use error::{Error, Result};
pub use minter::Minter;
