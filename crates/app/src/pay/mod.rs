//! Payments: what is for sale, the one path every paid request takes, and recovery from failures on the way. Nothing is
//! charged twice, and nothing is charged without delivery. ADR 13.

mod act;
mod asked;
mod catalogue;
mod draft;
mod drive;
mod facilitator;
mod fulfil;
mod giveaway;
mod goods;
mod locks;
mod market;
mod recover;
mod replay;
mod reserve;
mod resolve;
mod sandbox;
mod settings;
mod settle;
mod unlock;
mod unverified;

pub use act::{Order, PageToSell, PayRequest};
pub use facilitator::{Ask, Facilitator, Lost, Reply, Trace};
pub use goods::{Bought, Goods, PayError, PayRefused};
pub use market::Listing;
pub use resolve::Resolution;
pub use sandbox::Sandbox;
pub use settings::{EvmWay, Mode, PaymentSettings, Prices, SolanaWay};
pub use unlock::{CatalogueEntry, Unlocked};

pub(crate) use facilitator::facilitator;
pub(crate) use locks::Locks;
pub(crate) use market::Market;
