//! Emails to owners about comments on their pages and about pages that expire soon, as each account chose. What is to be
//! sent is written to the database with the change it tells of.

mod queue;
mod sending;
mod settings;
mod text;

pub use settings::Subscriber;
