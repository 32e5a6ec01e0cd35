//! What the tests of payment operations share: an application on its own database, with a manual clock, a wallet and a
//! fake facilitator. The server's tests include some of these files.

pub(crate) mod card_till;
mod database;
#[expect(dead_code, reason = "the tests of the server use the rest")]
mod facilitator;
mod fake_processor;
pub(crate) mod mandate_signer;
mod pg_template;
mod purse;
mod sample_payment;
mod seed;
pub(crate) mod settings;
pub(crate) mod till;

pub(crate) use database::Database;
pub(crate) use facilitator::{Call, FakeFacilitator, Fault};
pub(crate) use fake_processor::{CardFault, FakeProcessor};
pub(crate) use purse::{Purse, VALID_SECONDS};
pub(crate) use sample_payment::payment;

/// Midnight, UTC.
pub(crate) const NOW: i64 = 1_700_000_000 - 1_700_000_000 % 86_400;
pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 86_400;
