//! The billing page and the question before a purchase: no dead buttons, and hostile text stays text.

use super::pages_tests::{NOW, assert_markup, shell};
use super::{
    BillingPage, BillingProblem, Bought, Shell, TopUpLimits, UnlockOffer, UnlockPage, UnlockState, billing,
    unlock,
};
use crate::Moment;
use crate::tests::HOSTILE;
use dropleaf_core::unlock::Sku;

const TOP_UP: TopUpLimits = TopUpLimits { least_minor: 50, most_minor: 100_000, presets: &[500, 1000] };
const CARD: &str = ">Pay by card</button>";
const BALANCE: &str = ">Pay from balance</a>";

fn offer(sku: Sku, state: UnlockState) -> UnlockOffer {
    UnlockOffer { sku, price_minor: 200, state }
}

fn page(balance_minor: i64, offers: &[UnlockOffer]) -> BillingPage<'static> {
    BillingPage {
        balance_minor,
        real_minor: 0,
        sandbox: false,
        accepts_cards: true,
        top_up: TOP_UP,
        unlocks: offers.to_vec(),
        bought: None,
        problem: None,
    }
}

fn shown(page: &BillingPage<'_>) -> String {
    let html = billing(shell(), page).0;
    assert_markup(&html);
    html
}

#[test]
fn a_button_is_there_only_if_it_works() {
    let until = UnlockState::Until(Moment(NOW));
    for (balance, state, cards, buttons) in [
        (500, UnlockState::Inactive, true, (true, true)),
        (199, UnlockState::Inactive, true, (false, true)),
        (-5, UnlockState::Inactive, true, (false, true)),
        (500, UnlockState::Inactive, false, (true, false)),
        (0, UnlockState::Inactive, false, (false, false)),
        (500, UnlockState::Permanent, true, (false, false)),
        (500, until, true, (true, true)),
    ] {
        let sold = offer(Sku::HigherLimits, state);
        let page = BillingPage { accepts_cards: cards, ..page(balance, &[sold]) };
        let html = shown(&page);
        assert_eq!((html.contains(BALANCE), html.contains(CARD)), buttons, "{balance} {state:?}");
        assert_eq!(html.contains("name=\"amount\""), cards);
        assert_eq!(html.contains("Active until"), state == until);
        let suspended = billing(Shell { is_suspended: true, ..shell() }, &page).0;
        assert!(!suspended.contains("/dashboard/billing/"), "{suspended}");
    }
}

#[test]
fn what_was_bought_is_said() {
    let until = UnlockState::Until(Moment(NOW));
    for (bought, said) in [
        (Bought::Money, "tabindex=\"-1\">Your balance is now $5.00."),
        (
            Bought::Unlock(Sku::MakePermanent, UnlockState::Permanent),
            "Your pages are permanent. Your balance is",
        ),
        (Bought::Unlock(Sku::HigherLimits, until), "Higher limits: active until <time datetime="),
    ] {
        let html = shown(&BillingPage { bought: Some(bought), ..page(500, &[]) });
        assert!(html.contains(said) && html.contains("Your balance is now $5.00."), "{html}");
        assert_eq!(html.matches("id=\"outcome\"").count(), 1);
    }
}

#[test]
fn a_problem_stands_where_it_arose_and_hostile_text_stays_text() {
    let offers = Sku::ALL.map(|sku| offer(sku, UnlockState::Inactive));
    let amount = BillingProblem::Amount { typed: HOSTILE, message: HOSTILE };
    let at_unlock = BillingProblem::Unlock { sku: Sku::HigherLimits, message: HOSTILE };
    for (problem, section) in [(amount, "balance"), (at_unlock, "higher_limits")] {
        let html = shown(&BillingPage { problem: Some(problem), ..page(0, &offers) });
        let (before, _) = html.split_once("id=\"outcome\"").unwrap();
        let at = before.rsplit_once("<section ").unwrap().1;
        assert!(at.contains(&format!("id=\"{section}\"")), "{at}");
        assert_eq!(html.contains("aria-invalid"), section == "balance");
    }
}

#[test]
fn sandbox_money_is_marked() {
    let real = shown(&page(500, &[]));
    assert!(!real.contains("Sandbox") && !real.contains("Test mode"), "{real}");
    let sandbox = shown(&BillingPage { sandbox: true, real_minor: 300, ..page(500, &[]) });
    for part in ["Sandbox balance", "Test mode:", "$3.00 of real money"] {
        assert!(sandbox.contains(part), "{part}: {sandbox}");
    }
}

#[test]
fn the_question_says_what_will_be_left() {
    for (state, problem) in [(UnlockState::Inactive, None), (UnlockState::Until(Moment(NOW)), Some(HOSTILE))]
    {
        let offer = offer(Sku::HigherLimits, state);
        let page = UnlockPage { offer, balance_minor: 500, sandbox: true, form_id: HOSTILE, problem };
        let html = unlock(shell(), &page).0;
        assert_markup(&html);
        for part in
            ["<dd>$5.00</dd>", "<dd>-$2.00</dd>", "<dd>$3.00</dd>", "Pay $2.00 from balance", "Test mode"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.contains("It is active until"), state != UnlockState::Inactive);
    }
}
