//! Serves `/dashboard/billing`: the prepaid balance, adding money to it by card, and the unlocks. Without payments it is 404.

use crate::http::error;
use crate::http::extract::client_ip;
use crate::http::pay_link::pay_path;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, SignedForm, WebError, page, page_with_status, see_other};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use dropleaf_app::{CatalogueEntry, NewPaySession};
use dropleaf_core::account::Account;
use dropleaf_core::ledger::{self, Unit};
use dropleaf_core::pay_session::{Feature, MOST_MINOR, SMALLEST_MINOR};
use dropleaf_core::unlock::{Sku, Unlocks};
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::{
    BillingPage, BillingProblem, Bought, Section, TopUpLimits, UnlockOffer, UnlockState, billing as render,
};
use dropleaf_pages::{Html, Moment};
use http::request::Parts;

pub(in crate::http) const HERE: &str = "/dashboard/billing";
const TOP_UP: TopUpLimits =
    TopUpLimits { least_minor: SMALLEST_MINOR, most_minor: MOST_MINOR, presets: &[500, 1000, 2500, 5000] };

pub(super) fn routes() -> Router<ApiState> {
    Router::new().route(HERE, get(read)).route("/dashboard/billing/top-up", post(top_up))
}

async fn read(State(state): State<ApiState>, person: Person, query: Query) -> Result<Response, WebError> {
    let bought = query.find("done").and_then(Feature::parse);
    Ok(page(show(&state, &person, bought, None).await?))
}

/// Creates a link at which the person adds the chosen amount by card.
async fn top_up(State(state): State<ApiState>, parts: Parts, form: SignedForm) -> Result<Response, WebError> {
    state.app.require_payments()?;
    let typed = form.fields.text("amount");
    let Some(amount) = amount(typed) else {
        let message = format!(
            "Enter an amount between {} and {}, for example 20 or 12.50.",
            Unit::Usd2.written(TOP_UP.least_minor),
            Unit::Usd2.written(TOP_UP.most_minor)
        );
        let problem = BillingProblem::Amount { typed, message: &message };
        return refuse(&state, &form.person, Code::InvalidField, problem).await;
    };
    match pay_by_card(&state, &parts, &form.person, Feature::Topup, Some(amount)).await {
        Err(error) if error.code == Code::RailNotLive => {
            let problem = BillingProblem::Amount { typed, message: NO_CARDS };
            refuse(&state, &form.person, error.code, problem).await
        }
        result => Ok(result?),
    }
}

pub(super) const NO_CARDS: &str = "Card payments are not set up on this server. Nothing was charged.";

/// Creates a pay link for the person's account and leads to it.
pub(super) async fn pay_by_card(
    state: &ApiState,
    parts: &Parts,
    person: &Person,
    feature: Feature,
    amount_minor: Option<i64>,
) -> Result<Response, Error> {
    let ip = client_ip(parts, state);
    state.app.take_paid_attempt(ip).await?;
    let new = NewPaySession { feature, amount_minor, account: Some(&person.account), ip };
    let created = state.app.create_pay_session(new).await?;
    Ok(see_other(&pay_path(&created.slug)))
}

/// The amount in cents; `None` if it is not one that can be added.
fn amount(typed: &str) -> Option<i64> {
    let typed = typed.trim();
    let cents = ledger::cents(typed.strip_prefix('$').unwrap_or(typed)).ok()?;
    Feature::Topup.amount(Some(cents), 0).ok()
}

/// The page with the reason why nothing was bought.
pub(super) async fn refuse(
    state: &ApiState,
    person: &Person,
    code: Code,
    problem: BillingProblem<'_>,
) -> Result<Response, WebError> {
    let html = show(state, person, None, Some(problem)).await?;
    Ok(page_with_status(error::status(code), html, None))
}

async fn show(
    state: &ApiState,
    person: &Person,
    bought: Option<Feature>,
    problem: Option<BillingProblem<'_>>,
) -> Result<Html, Error> {
    let sandbox = state.app.require_payments()?.is_sandbox();
    let account = state.app.get_account(&person.account.id).await?;
    let bought = bought.and_then(|feature| bought_now(feature, &account.unlocks, state.app.now()));
    let html = render(
        person.shell(Section::Account, None),
        &BillingPage {
            balance_minor: state.app.spendable_balance(&account),
            real_minor: account.balance_minor,
            sandbox,
            accepts_cards: state.app.accepts_cards(),
            top_up: TOP_UP,
            unlocks: offers(state, &account),
            bought,
            problem,
        },
    );
    Ok(html)
}

/// What the message says: only what is true, because anyone can make a link with a message.
fn bought_now(feature: Feature, unlocks: &Unlocks, now: i64) -> Option<Bought> {
    match feature {
        Feature::Topup => Some(Bought::Money),
        Feature::Unlock(sku) if unlocks.is_active(sku, now) => {
            Some(Bought::Unlock(sku, unlock_state(unlocks, sku, now)))
        }
        Feature::Unlock(_) | Feature::Provision => None,
    }
}

/// The address of this page with the message about a purchase.
pub(in crate::http) fn bought_address(feature: Feature) -> String {
    format!("{HERE}?done={}#outcome", feature.as_str())
}

fn offers(state: &ApiState, account: &Account) -> Vec<UnlockOffer> {
    let now = state.app.now();
    let offer = |entry: CatalogueEntry| UnlockOffer {
        sku: entry.sku,
        price_minor: entry.amount_minor,
        state: unlock_state(&account.unlocks, entry.sku, now),
    };
    state.app.unlock_catalogue().into_iter().map(offer).collect()
}

/// An unlock and whether the account has it.
pub(super) fn offer(state: &ApiState, account: &Account, sku: Sku) -> Option<UnlockOffer> {
    offers(state, account).into_iter().find(|offer| offer.sku == sku)
}

fn unlock_state(unlocks: &Unlocks, sku: Sku, now: i64) -> UnlockState {
    match (unlocks.is_active(sku, now), unlocks.until(sku)) {
        (false, _) => UnlockState::Inactive,
        (true, Some(until)) => UnlockState::Until(Moment(until)),
        (true, None) => UnlockState::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_dollars_within_the_limits() {
        for (typed, cents) in [
            ("20", Some(2000)),
            (" $12.50 ", Some(1250)),
            ("0.5", Some(50)),
            ("1000", Some(100_000)),
            ("0.49", None),
            ("1000.01", None),
            ("-5", None),
            ("", None),
            ("ten", None),
            ("1,000", None),
            ("1.234", None),
            ("$$5", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(amount(typed), cents, "{typed}");
        }
    }

    #[test]
    fn a_link_cannot_claim_what_is_not_so() {
        let none = Unlocks::default();
        let permanent = Feature::Unlock(Sku::MakePermanent);
        assert_eq!(bought_now(permanent, &none, 5), None);
        assert_eq!(bought_now(Feature::Provision, &none, 5), None);
        let bought = bought_now(permanent, &none.with(Sku::MakePermanent, 5), 5);
        assert_eq!(bought, Some(Bought::Unlock(Sku::MakePermanent, UnlockState::Permanent)));
        let limits = none.with(Sku::HigherLimits, 5);
        let until = UnlockState::Until(Moment(5 + 30 * 86_400));
        let bought = bought_now(Feature::Unlock(Sku::HigherLimits), &limits, 5);
        assert_eq!(bought, Some(Bought::Unlock(Sku::HigherLimits, until)));
        assert_eq!(bought_now(Feature::Unlock(Sku::HigherLimits), &limits, i64::MAX), None);
    }
}
