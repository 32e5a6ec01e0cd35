//! Verifies AP2 payment mandates: v0.2 chains of SD-JWTs, and v0.1 objects with a signed hash.
//! A mandate is evidence of consent, not money: the result names the instrument to charge, and charging it is left to the caller.
//!
//! Limits: only ES256 signatures by configured issuers; no X.509 chains, no user credentials as the root of a chain, and no
//! constraints that need a history of earlier payments.

mod canonical;
mod chain;
mod closed_mandate;
mod constraint;
mod digest;
mod disclosures;
mod issuer;
mod json_member;
mod jwk;
mod jwt;
mod mandate;
mod moment;
mod open_mandate;
mod price;
mod refusal;
mod segment;
mod signed_contents;
mod validity;

pub use issuer::{Issuer, Issuers};
pub use jwk::JwkFault;
pub use mandate::{
    Instrument, InstrumentKind, MANDATE_BYTES, Mandate, MandateRequest, MandateVersion, VerifiedMandate,
};
pub use refusal::MandateRefusal;

#[cfg(feature = "test-payer")]
pub(crate) use {canonical::canonical_json, digest::hash};
