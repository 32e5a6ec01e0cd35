//! The page behind a pay link: what is bought and the button to pay, and afterwards what became of the payment.

use super::{Purchase, dollars, render};
use crate::assets::PAY_CSS;
use crate::dashboard::{Section, Shell};
use crate::notice::Glyph;
use crate::{Html, Moment, qr, safe_link};
use askama::Template;

#[derive(Debug, Clone, Copy)]
pub struct PayPage<'a> {
    /// The host of this server, where the purchase is valid.
    pub host: &'a str,
    /// The address of this very page, for the QR code that opens it on a phone.
    pub url: &'a str,
    pub purchase: Purchase<'a>,
    pub state: PayState<'a>,
    /// No money is charged, and only test cards are accepted.
    pub sandbox: bool,
    /// The path of the dashboard, if the person is signed in to the account that the purchase is for.
    pub back: Option<&'a str>,
}

/// How far the payment is. An `action` is the path to which a form posts in order to start paying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayState<'a> {
    Ready {
        action: &'a str,
        expires_at: i64,
    },
    /// The card was accepted, but the money has not arrived yet. The handler sets a `Refresh` header.
    Processing,
    Paid {
        paid_at: i64,
        reference: &'a str,
    },
    /// The link expired without a payment.
    Expired,
    /// Nothing was charged. Without an `action`, the link can no longer be paid.
    Failed {
        reason: Option<&'a str>,
        action: Option<&'a str>,
    },
    /// The card processor cannot be reached; nothing was charged.
    Unavailable {
        action: &'a str,
    },
}

#[derive(Template)]
#[template(path = "pay/ready.html")]
struct ReadyTemplate<'a> {
    shell: Shell<'a>,
    pay_css: String,
    page: &'a PayPage<'a>,
    bill: Bill,
    action: Option<&'a str>,
    back: Option<&'a str>,
    expires: Moment,
    /// Empty if the address does not fit into a code.
    qr: String,
}

#[derive(Template)]
#[template(path = "pay/outcome.html")]
struct OutcomeTemplate<'a> {
    shell: Shell<'a>,
    pay_css: String,
    page: &'a PayPage<'a>,
    bill: Bill,
    glyph: Glyph,
    heading: &'static str,
    reason: Option<&'a str>,
    message: &'static str,
    /// When it was paid, and the reference.
    receipt: Option<(Moment, &'a str)>,
    /// Where to try again.
    retry: Option<&'a str>,
    back: Option<&'a str>,
}

/// The amounts as text.
#[derive(Debug)]
struct Bill {
    amount: String,
    /// Price and prepaid credit, if something is left after the price.
    parts: Option<(String, String)>,
}

impl Bill {
    fn new(purchase: &Purchase<'_>) -> Self {
        let credit = purchase.credit_cents();
        Self {
            amount: dollars(purchase.amount_cents),
            parts: (credit > 0).then(|| (dollars(purchase.price_cents), dollars(credit))),
        }
    }
}

pub fn pay_page(page: &PayPage<'_>) -> Html {
    match page.state {
        PayState::Ready { action, expires_at } => render(&ReadyTemplate {
            shell: Shell::standalone(""),
            pay_css: PAY_CSS.path(),
            page,
            bill: Bill::new(&page.purchase),
            action: safe_link(action),
            back: page.back.and_then(safe_link),
            expires: Moment(expires_at),
            qr: qr::svg(page.url),
        }),
        state => render(&outcome(page, state)),
    }
}

fn outcome<'a>(page: &'a PayPage<'a>, state: PayState<'a>) -> OutcomeTemplate<'a> {
    let is_owner = page.back.is_some();
    let (glyph, heading, message) = match state {
        PayState::Paid { .. } if is_owner => (Glyph::Check, "Paid", "The payment is complete."),
        PayState::Paid { .. } => (Glyph::Check, "Paid", "You can close this page and return to your agent."),
        PayState::Ready { .. } | PayState::Processing if is_owner => (
            Glyph::Dots,
            "Your payment is being processed",
            "This page updates automatically. You can also leave it: the purchase is completed as soon as the money \
             arrives.",
        ),
        PayState::Ready { .. } | PayState::Processing => (
            Glyph::Dots,
            "Your payment is being processed",
            "This page updates automatically. You can also close it: your agent continues as soon as the payment is \
             complete.",
        ),
        PayState::Expired => (Glyph::Clock, "This payment link has expired", start_again(is_owner)),
        PayState::Failed { action: Some(_), .. } => (
            Glyph::Cross,
            "The payment failed",
            "Nothing was charged. You can try again, also with another card.",
        ),
        PayState::Failed { action: None, .. } => (Glyph::Cross, "The payment failed", start_again(is_owner)),
        PayState::Unavailable { .. } => (
            Glyph::Turn,
            "Card payments are unavailable",
            "The card processor cannot be reached. Nothing was charged. Try again in a moment.",
        ),
    };
    let (reason, retry) = match state {
        PayState::Failed { reason, action } => (reason, action),
        PayState::Unavailable { action } => (None, Some(action)),
        _ => (None, None),
    };
    let receipt = match state {
        PayState::Paid { paid_at, reference } => Some((Moment(paid_at), reference)),
        _ => None,
    };
    OutcomeTemplate {
        shell: Shell::standalone(""),
        pay_css: PAY_CSS.path(),
        page,
        bill: Bill::new(&page.purchase),
        glyph,
        heading,
        reason,
        message,
        receipt,
        retry: retry.and_then(safe_link),
        back: page.back.and_then(safe_link),
    }
}

/// What to do about a link that can no longer be paid.
const fn start_again(is_owner: bool) -> &'static str {
    if is_owner {
        "Nothing was charged. To pay, start again from your dashboard."
    } else {
        "Nothing was charged. To pay, ask your agent for a new link."
    }
}
