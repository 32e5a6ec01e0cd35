//! The sandbox's 3-D Secure step: stands for the page on which a bank asks the cardholder to approve a payment.

use super::card_form::TypedCard;
use super::{dollars, render};
use crate::assets::PAY_CSS;
use crate::dashboard::{Section, Shell};
use crate::{Html, safe_link};
use askama::Template;

#[derive(Debug, Clone, Copy)]
pub struct CardAuthentication<'a> {
    /// The path to which the form posts the card again, with `authentication` as `approved` or `failed`.
    pub action: &'a str,
    pub product: &'a str,
    pub amount_cents: i64,
    /// The card, which the page contains in hidden fields: only a test card gets as far as this.
    pub card: TypedCard<'a>,
    /// Where the person goes without paying.
    pub cancel: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "pay/card_authentication.html")]
struct CardAuthenticationTemplate<'a> {
    shell: Shell<'a>,
    pay_css: String,
    page: &'a CardAuthentication<'a>,
    amount: String,
    last4: String,
    action: Option<&'a str>,
    cancel: Option<&'a str>,
}

pub fn card_authentication(page: &CardAuthentication<'_>) -> Html {
    let digits: Vec<char> = page.card.number.chars().filter(char::is_ascii_digit).collect();
    render(&CardAuthenticationTemplate {
        shell: Shell::standalone(""),
        pay_css: PAY_CSS.path(),
        page,
        amount: dollars(page.amount_cents),
        last4: digits.iter().skip(digits.len().saturating_sub(4)).collect(),
        action: safe_link(page.action),
        cancel: page.cancel.and_then(safe_link),
    })
}
