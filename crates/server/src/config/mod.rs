//! Settings: the embedded defaults, overridden by a file, then the environment, then flags. The defaults file is also the
//! list of known keys, so an unknown key is an error with a suggestion.

mod acme;
mod ap2;
mod backup;
mod cache;
mod dns;
mod facilitator;
mod layers;
mod list;
mod model;
mod payments;
pub mod reference;
mod resolve;
mod safety;
mod stripe;
mod tls;
mod webhooks;

pub use acme::{AcmeSettings, DnsChallengeSettings, Rfc2136Settings, TsigAlgorithm};
pub use dns::DnsSettings;
pub use facilitator::{FacilitatorSettings, OutboundEndpoint};
pub use layers::{Layers, Sources};
pub use model::Config;
pub(crate) use payments::missing_chains;
pub use resolve::{Listen, Resolved};
pub use stripe::StripeSettings;

/// The commented defaults, as shipped.
pub const DEFAULTS: &str = include_str!("../../../../config/dropleaf.default.toml");
