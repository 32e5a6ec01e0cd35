//! The pages on which a person pays by card for what an agent requested, and the sandbox's card form. They work without
//! scripts. Whether something was paid is decided elsewhere.

mod card_authentication;
mod card_form;
mod page;
mod purchase;

pub use card_authentication::{CardAuthentication, card_authentication};
pub use card_form::{CardField, CardForm, CardProblem, TestCardRow, TypedCard, card_form};
pub use page::{PayPage, PayState, pay_page};
pub use purchase::Purchase;

use crate::Html;
use askama::Template;
use dropleaf_core::ledger::Unit;

/// An amount for people: `$6.00`. The banner says whether it is real money.
fn dollars(cents: i64) -> String {
    Unit::Usd2.written(cents)
}

fn render(page: &impl Template) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}

#[cfg(test)]
mod page_tests;
