//! Payments: what is for sale, the one path every paid request takes, and recovery from failures on the way. Nothing is
//! charged twice, and nothing is charged without delivery. ADR 13.

mod advance;
mod catalogue;
mod draft;
mod facilitator;
mod fulfil;
mod giveaway;
pub(crate) mod ledger;
mod listings;
mod named_locks;
mod operator_resolution;
pub(crate) mod overview;
mod purchase;
mod purchase_result;
mod recover;
mod replay;
mod request_identity;
mod reserve;
mod sandbox;
mod settings;
mod settle;
mod unlock;
mod unverified;

pub use facilitator::{Ask, Facilitator, Lost, Reply, Trace};
pub use listings::Listing;
pub use operator_resolution::Resolution;
pub use purchase::{Order, PageToSell, PayRequest};
pub use purchase_result::{Bought, Goods, PayError, PayRefused};
pub use sandbox::Sandbox;
pub use settings::{EvmWay, Mode, PaymentSettings, Prices, SolanaWay};
pub use unlock::{CatalogueEntry, Unlocked};

pub(crate) use facilitator::facilitator;
pub(crate) use listings::Market;
pub(crate) use named_locks::Locks;
