//! The pages of a payment: each state says what it has to say, and hostile text stays text.

use super::{
    CardAuthentication, CardForm, CardProblem, PayPage, PayState, Purchase, TestCardRow, TypedCard,
    card_authentication, card_form, pay_page,
};
use crate::dashboard::pages_tests::{NOW, assert_markup};
use crate::tests::HOSTILE;
use dropleaf_core::unlock::Sku;

const READY: PayState<'_> = PayState::Ready { action: "/pay/abc", expires_at: NOW };
const PAID: PayState<'_> = PayState::Paid { paid_at: NOW, reference: "pay_7Kq2" };
const FAILED: PayState<'_> =
    PayState::Failed { reason: Some("Your card was declined."), action: Some("/pay/abc") };
const ENDED: PayState<'_> = PayState::Failed { reason: None, action: None };
const UNAVAILABLE: PayState<'_> = PayState::Unavailable { action: "/pay/abc" };
const STATES: [PayState<'_>; 7] =
    [READY, PayState::Processing, PAID, PayState::Expired, FAILED, ENDED, UNAVAILABLE];

const CARDS: [TestCardRow<'_>; 2] = [
    TestCardRow { number: "4242424242424242", purpose: "pays" },
    TestCardRow { number: "378282246310005", purpose: "pays later" },
];
const TYPED: TypedCard<'_> = TypedCard { number: "4242 4242 4242 4242", expiry: "12/34", cvc: "987" };

fn shown(purchase: Purchase<'_>, state: PayState<'_>, sandbox: bool) -> String {
    let url = "https://leaf.example/pay/abc";
    let html = pay_page(&PayPage { host: "leaf.example", url, purchase, state, sandbox, back: None }).0;
    assert_markup(&html);
    html
}

fn form<'a>(typed: TypedCard<'a>, problem: Option<CardProblem<'a>>) -> CardForm<'a> {
    CardForm {
        action: "/pay/sandbox/cs_1",
        product: "API key",
        amount_cents: 600,
        test_cards: &CARDS,
        typed,
        problem,
        cancel: Some("/pay/abc"),
        now: NOW,
    }
}

#[track_caller]
fn assert_says(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn every_state_says_what_happened_and_what_to_do() {
    let closing = "You can close this page and return to your agent.";
    for (state, parts) in [
        (READY, ["Pay $6.00 by card", "leaf.example"].as_slice()),
        (PayState::Processing, &["Your payment is being processed", "You can also close it"]),
        (PAID, &["<h1 id=\"title\">Paid</h1>", closing, "pay_7Kq2", "2026-11-15 01:41 UTC"]),
        (PayState::Expired, &["This payment link has expired", "Nothing was charged", "ask your agent"]),
        (FAILED, &["The payment failed", "Your card was declined.", "Nothing was charged", "Try again"]),
        (ENDED, &["The payment failed", "Nothing was charged", "ask your agent for a new link"]),
        (UNAVAILABLE, &["The card processor cannot be reached", "Nothing was charged", "Try again"]),
    ] {
        assert_says(&shown(Purchase::api_key(100, 600), state, false), parts);
    }
}

#[test]
fn the_owner_of_the_account_finds_the_way_back() {
    let purchase = Purchase::top_up(1000);
    for state in STATES {
        let page = PayPage {
            host: "leaf.example",
            url: "https://leaf.example/pay/abc",
            purchase,
            state,
            sandbox: false,
            back: Some("/dashboard/billing"),
        };
        let html = pay_page(&page).0;
        assert_markup(&html);
        assert_says(&html, &["href=\"/dashboard/billing\""]);
        assert!(state == READY || !html.contains("your agent "), "{html}");
        assert!(!shown(purchase, state, false).contains("/dashboard/billing"));
        let hostile = pay_page(&PayPage { back: Some("javascript:alert(1)"), ..page }).0;
        assert_markup(&hostile);
    }
}

#[test]
fn a_form_to_pay_is_there_only_while_it_can_be_paid() {
    for state in STATES {
        let html = shown(Purchase::top_up(1000), state, false);
        let can_pay = matches!(
            state,
            PayState::Ready { .. } | PayState::Unavailable { .. } | PayState::Failed { action: Some(_), .. }
        );
        assert_eq!(html.contains("<form method=\"post\" action=\"/pay/abc\">"), can_pay, "{state:?}");
        assert_eq!(html.contains("<svg class=\"qr\""), state == READY, "{state:?}");
    }
}

#[test]
fn the_banner_tells_test_from_real_payments() {
    let banner = "<strong>Test mode:</strong> no money is charged";
    for state in STATES {
        assert!(shown(Purchase::api_key(100, 600), state, true).contains(banner));
        assert!(!shown(Purchase::api_key(100, 600), state, false).contains("Test mode"));
    }
}

#[test]
fn credit_is_shown_apart_from_the_price() {
    for state in [READY, PAID] {
        let html = shown(Purchase::api_key(100, 600), state, false);
        assert_says(&html, &["<dd>$1.00</dd>", "Prepaid credit", "<dd>$5.00</dd>", "<dd>$6.00</dd>"]);
    }
    for (purchase, title, amount) in [
        (Purchase::api_key(100, 100), "API key", "$1.00"),
        (Purchase::unlock(Sku::HigherLimits, 2500, 2500), "Higher limits", "$25.00"),
    ] {
        let html = shown(purchase, READY, false);
        assert_says(&html, &[title, purchase.description, amount]);
        assert!(!html.contains("Prepaid credit") && !html.contains("Total"), "{html}");
    }
}

#[test]
fn a_link_too_long_for_a_code_is_shown_without_one() {
    let url = format!("https://leaf.example/pay/{}", "a".repeat(5000));
    let purchase = Purchase::top_up(1000);
    let page =
        PayPage { host: "leaf.example", url: &url, purchase, state: READY, sandbox: false, back: None };
    let html = pay_page(&page).0;
    assert_markup(&html);
    assert!(!html.contains("Pay on your phone") && html.contains("Pay $10.00 by card"));
}

#[test]
fn hostile_text_stays_text_in_every_state() {
    let purchase = Purchase {
        title: HOSTILE,
        description: HOSTILE,
        delivery: HOSTILE,
        price_cents: i64::MIN,
        amount_cents: i64::MAX,
    };
    for state in [
        PayState::Ready { action: HOSTILE, expires_at: i64::MAX },
        PayState::Ready { action: "javascript:alert(1)", expires_at: i64::MIN },
        PayState::Ready { action: "/pay/\"><script>", expires_at: 0 },
        PayState::Processing,
        PayState::Paid { paid_at: i64::MIN, reference: HOSTILE },
        PayState::Expired,
        PayState::Failed { reason: Some(HOSTILE), action: Some("//evil.example") },
        PayState::Unavailable { action: HOSTILE },
    ] {
        for sandbox in [true, false] {
            let html =
                pay_page(&PayPage { host: HOSTILE, url: HOSTILE, purchase, state, sandbox, back: None }).0;
            assert_markup(&html);
            assert!(!html.contains("evil.example"), "{html}");
        }
    }
}

#[test]
fn the_card_form_is_marked_as_a_test_and_lists_its_cards() {
    let html = card_form(&form(TypedCard::default(), None)).0;
    assert_markup(&html);
    assert_says(&html, &["<strong>Test mode.</strong> Use a test card; no money is charged.", "$6.00"]);
    assert_says(&html, &["autocomplete=\"cc-number\"", "autocomplete=\"cc-exp\"", "autocomplete=\"cc-csc\""]);
    assert_says(
        &html,
        &["4242 4242 4242 4242</span>", "3782 822463 10005</span>", "pays later", "data-cvc=\"1234\""],
    );
    assert_says(
        &html,
        &["action=\"/pay/sandbox/cs_1\"", "<a href=\"/pay/abc\">Cancel</a>", "data-expiry=\"12 / 28\""],
    );
    assert!(!html.contains("role=\"alert\"") && !html.contains("aria-invalid"), "nothing went wrong yet");
}

#[test]
fn a_mistake_is_shown_at_its_field_and_a_decline_above_all() {
    for (code, id) in
        [("incorrect_number", "number"), ("invalid_expiry_year", "expiry"), ("invalid_cvc", "cvc")]
    {
        let html = card_form(&form(TYPED, Some(CardProblem::new(code, "It is wrong.")))).0;
        assert_markup(&html);
        let field = html.split(&format!("<input id=\"{id}\"")).nth(1).unwrap().split('>').next().unwrap();
        assert!(field.contains("autofocus aria-invalid=\"true\" aria-describedby=\"problem\""), "{field}");
        assert_eq!(html.matches("It is wrong.").count(), 1);
        assert_eq!(html.matches("autofocus").count(), 1);
        assert_says(&html, &["value=\"4242 4242 4242 4242\"", "value=\"12/34\"", "value=\"987\""]);
    }
    let declined = CardProblem::new("generic_decline", "Your card was declined.");
    let html = card_form(&form(TYPED, Some(declined))).0;
    assert_says(&html, &["<p class=\"problem\" role=\"alert\">Your card was declined.</p>"]);
    assert!(!html.contains("aria-invalid"));
}

#[test]
fn a_real_card_is_not_part_of_the_page() {
    let real = TypedCard { number: "4111 1111 1111 1111", ..TYPED };
    let html = card_form(&form(real, Some(CardProblem::new("invalid_cvc", "Too short.")))).0;
    assert!(!html.contains("4111") && !html.contains("12/34") && !html.contains("987"), "{html}");
}

#[test]
fn the_bank_asks_for_approval_with_the_same_card() {
    let page = CardAuthentication {
        action: "/pay/sandbox/cs_1",
        product: "API key",
        amount_cents: 600,
        card: TypedCard { number: "4000 0025 0000 3155", ..TYPED },
        cancel: Some("/pay/abc"),
    };
    let html = card_authentication(&page).0;
    assert_markup(&html);
    assert_says(
        &html,
        &["Your bank asks:", "Approve this test payment?", "ending in 3155", "$6.00", "Test mode"],
    );
    assert_says(&html, &["name=\"number\" value=\"4000 0025 0000 3155\"", "name=\"cvc\" value=\"987\""]);
    assert_says(
        &html,
        &["name=\"authentication\" value=\"approved\"", "name=\"authentication\" value=\"failed\""],
    );
}

#[test]
fn hostile_text_stays_text_in_the_card_pages() {
    let typed = TypedCard { number: HOSTILE, expiry: HOSTILE, cvc: HOSTILE };
    let cards = [TestCardRow { number: HOSTILE, purpose: HOSTILE }];
    for code in ["generic_decline", "incorrect_number", "expired_card", "invalid_cvc"] {
        let hostile = CardForm {
            action: HOSTILE,
            product: HOSTILE,
            test_cards: &cards,
            cancel: Some("javascript:alert(1)"),
            now: i64::MAX,
            ..form(typed, Some(CardProblem::new(code, HOSTILE)))
        };
        assert_markup(&card_form(&hostile).0);
    }
    let page = CardAuthentication {
        action: "/\"><script>",
        product: HOSTILE,
        amount_cents: -1,
        card: typed,
        cancel: Some(HOSTILE),
    };
    assert_markup(&card_authentication(&page).0);
}
