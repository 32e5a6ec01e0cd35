//! The card form of the sandbox, which stands for the payment page of a card processor. Everyone must see that it is a test,
//! and card data of real cards is never part of a page.

use super::{dollars, render};
use crate::assets::{CARD_JS, PAY_CSS};
use crate::dashboard::{Section, Shell};
use crate::{Html, safe_link};
use askama::Template;
use dropleaf_core::iso;
use std::fmt;

#[derive(Debug, Clone, Copy)]
pub struct CardForm<'a> {
    /// The path to which the form posts `number`, `expiry` and `cvc`.
    pub action: &'a str,
    pub product: &'a str,
    pub amount_cents: i64,
    /// The cards that the sandbox accepts.
    pub test_cards: &'a [TestCardRow<'a>],
    /// What was typed before, shown again only if it is a test card.
    pub typed: TypedCard<'a>,
    pub problem: Option<CardProblem<'a>>,
    /// Where the person goes without paying.
    pub cancel: Option<&'a str>,
    pub now: i64,
}

/// A card of the sandbox, and what it does: `pays`.
#[derive(Debug, Clone, Copy)]
pub struct TestCardRow<'a> {
    pub number: &'a str,
    pub purpose: &'a str,
}

/// What a person typed into the form.
#[derive(Clone, Copy, Default)]
pub struct TypedCard<'a> {
    pub number: &'a str,
    pub expiry: &'a str,
    pub cvc: &'a str,
}

/// Why the card was not accepted.
#[derive(Debug, Clone, Copy)]
pub struct CardProblem<'a> {
    /// The field to correct; `None` if the card was declined.
    pub field: Option<CardField>,
    pub message: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardField {
    Number,
    Expiry,
    Cvc,
}

#[derive(Template)]
#[template(path = "pay/card_form.html")]
struct CardFormTemplate<'a> {
    shell: Shell<'a>,
    pay_css: String,
    card_js: String,
    form: &'a CardForm<'a>,
    typed: TypedCard<'a>,
    amount: String,
    action: Option<&'a str>,
    cancel: Option<&'a str>,
    /// A date in the future, for the test cards.
    expiry: String,
}

impl<'a> CardProblem<'a> {
    /// From the card processor's error code and its message for people.
    pub fn new(code: &str, message: &'a str) -> Self {
        let field = match code {
            "incorrect_number" | "invalid_number" => Some(CardField::Number),
            "invalid_expiry_month" | "invalid_expiry_year" | "expired_card" => Some(CardField::Expiry),
            "invalid_cvc" | "incorrect_cvc" => Some(CardField::Cvc),
            _ => None,
        };
        Self { field, message }
    }
}

/// Keeps card data out of logs.
impl fmt::Debug for TypedCard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedCard(hidden)")
    }
}

impl TestCardRow<'_> {
    /// In groups, as printed on cards.
    fn grouped(&self) -> String {
        grouped(self.number)
    }

    /// American Express has a security code of four digits.
    fn cvc(&self) -> &'static str {
        if is_amex(self.number) { "1234" } else { "123" }
    }

    fn is(&self, typed: &str) -> bool {
        typed.chars().filter(|c| !matches!(c, ' ' | '-')).eq(self.number.chars())
    }
}

impl CardFormTemplate<'_> {
    /// The problem of this field.
    fn problem_of(&self, field: CardField) -> Option<&str> {
        self.form.problem.filter(|problem| problem.field == Some(field)).map(|problem| problem.message)
    }

    /// The field to type into first.
    fn first(&self) -> CardField {
        self.form.problem.and_then(|problem| problem.field).unwrap_or(CardField::Number)
    }
}

pub fn card_form(form: &CardForm<'_>) -> Html {
    let is_test_card = form.test_cards.iter().any(|card| card.is(form.typed.number));
    render(&CardFormTemplate {
        shell: Shell::standalone(""),
        pay_css: PAY_CSS.path(),
        card_js: CARD_JS.path(),
        form,
        typed: if is_test_card { form.typed } else { TypedCard::default() },
        amount: dollars(form.amount_cents),
        action: safe_link(form.action),
        cancel: form.cancel.and_then(safe_link),
        expiry: later(form.now),
    })
}

fn is_amex(number: &str) -> bool {
    number.starts_with("34") || number.starts_with("37")
}

fn grouped(number: &str) -> String {
    let starts: &[usize] = if is_amex(number) { &[4, 10] } else { &[4, 8, 12, 16] };
    let mut text = String::new();
    for (at, digit) in number.chars().enumerate() {
        if starts.contains(&at) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// December of the year after next, as `12 / 28`.
fn later(now: i64) -> String {
    let year: u32 = iso::format(now).get(..4).and_then(|year| year.parse().ok()).unwrap_or(2098);
    format!("12 / {:02}", (year + 2) % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_as_on_cards() {
        assert_eq!(grouped("4242424242424242"), "4242 4242 4242 4242");
        assert_eq!(grouped("378282246310005"), "3782 822463 10005");
        assert_eq!(grouped(""), "");
        let amex = TestCardRow { number: "378282246310005", purpose: "pays" };
        assert_eq!(amex.cvc(), "1234");
        assert!(amex.is("3782 822463-10005") && !amex.is("378282246310006") && !amex.is(""));
    }

    #[test]
    fn the_date_of_test_cards_is_in_the_future() {
        assert_eq!(later(1_794_706_860), "12 / 28");
        assert_eq!(later(0), "12 / 72");
    }

    #[test]
    fn a_code_leads_to_the_field_to_correct() {
        for (code, field) in [
            ("incorrect_number", Some(CardField::Number)),
            ("invalid_expiry_month", Some(CardField::Expiry)),
            ("invalid_expiry_year", Some(CardField::Expiry)),
            ("expired_card", Some(CardField::Expiry)),
            ("invalid_cvc", Some(CardField::Cvc)),
            ("incorrect_cvc", Some(CardField::Cvc)),
            ("generic_decline", None),
            ("", None),
        ] {
            assert_eq!(CardProblem::new(code, "x").field, field, "{code}");
        }
    }

    #[test]
    fn card_data_is_not_logged() {
        let typed = TypedCard { number: "4111111111111111", expiry: "12/34", cvc: "987" };
        assert_eq!(format!("{typed:?}"), "TypedCard(hidden)");
    }
}
