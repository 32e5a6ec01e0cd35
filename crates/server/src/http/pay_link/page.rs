//! Serves `/pay/{slug}`: what is to be paid, the way to the card processor's form, and afterwards what became of it.

use crate::http::dashboard::{BILLING, bought_address};
use crate::http::state::ApiState;
use crate::http::web::{LinkForm, MaybePerson, WebError, page_with_status, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::pay_session::{Feature, PaySession, PaySessionState};
use dropleaf_core::{Code, Error};
use dropleaf_pages::pay::{self as pages, PayPage, PayState, Purchase};
use http::{HeaderValue, StatusCode, Uri, header};

/// How often the page asks again while a payment is being processed, in seconds.
const REFRESH: &str = "3";
/// The query of the address that the processor's form returns to.
const RETURNED: &str = "done=1";

pub(super) async fn read(
    State(state): State<ApiState>,
    Path(slug): Path<String>,
    uri: Uri,
    person: MaybePerson,
) -> Result<Response, WebError> {
    let (session, is_certain) = state.app.find_pay_page_with_certainty(&slug).await?;
    let has_returned = uri.query().is_some_and(|query| query == RETURNED);
    let is_owner = is_owner(&session, &person);
    let shown = Shown::State { has_returned, is_certain };
    render(&state, &session, &slug, shown, is_owner).await
}

/// Leads to the processor's payment form.
pub(super) async fn begin(
    State(state): State<ApiState>,
    Path(slug): Path<String>,
    person: MaybePerson,
    LinkForm { ip, .. }: LinkForm,
) -> Result<Response, WebError> {
    state.app.take_paid_attempt(ip).await?;
    let session = state.app.find_pay_page(&slug).await?;
    match state.app.open_checkout(&session, &pay_url(&state, &slug)).await {
        Ok(form) => Ok(see_other(&form)),
        // The page says what became of it.
        Err(error) if error.code == Code::Conflict => Ok(see_other(&pay_path(&slug))),
        Err(error) if matches!(error.code, Code::ProcessorUnavailable | Code::RailNotLive) => {
            tracing::warn!(%error, source = ?error.source, session = session.id, "payment form not opened");
            render(&state, &session, &slug, Shown::Unavailable, is_owner(&session, &person)).await
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Clone, Copy)]
enum Shown {
    /// `has_returned`: the person comes from the form. `is_certain`: the processor said what became of it.
    State {
        has_returned: bool,
        is_certain: bool,
    },
    Unavailable,
}

/// Whether the person is signed in to the account that the purchase is for.
fn is_owner(session: &PaySession, MaybePerson(person): &MaybePerson) -> bool {
    person.as_ref().is_some_and(|person| Some(&person.account.id) == session.account_id.as_ref())
}

/// The address of a pay page, which is short because it is shown as a QR code.
pub(in crate::http) fn pay_url(state: &ApiState, slug: &str) -> String {
    format!("{}{}", state.resolved.hosts.base.url(), pay_path(slug))
}

/// The same on the host of the dashboard.
pub(in crate::http) fn pay_path(slug: &str) -> String {
    format!("/pay/{slug}")
}

async fn render(
    state: &ApiState,
    session: &PaySession,
    slug: &str,
    shown: Shown,
    is_owner: bool,
) -> Result<Response, WebError> {
    let (action, url) = (pay_path(slug), pay_url(state, slug));
    let payment = state.app.find_received_payment(session).await?;
    let pay_state = match (shown, session.state_at(state.app.now()), &payment) {
        (_, PaySessionState::Completed, Some(payment)) => PayState::Paid {
            paid_at: payment.fulfilled_at.unwrap_or(payment.created_at),
            reference: &payment.id,
        },
        (Shown::Unavailable, ..) => PayState::Unavailable { action: &action },
        // Received and not fulfilled yet, or not reported yet.
        (_, _, Some(_))
        | (_, PaySessionState::Processing | PaySessionState::Completed, None)
        | (Shown::State { has_returned: true, is_certain: false }, PaySessionState::Pending, None) => {
            PayState::Processing
        }
        (_, PaySessionState::Pending, None) => {
            PayState::Ready { action: &action, expires_at: session.expires_at }
        }
        (_, PaySessionState::Expired, None) => PayState::Expired,
        (_, PaySessionState::Failed, None) => PayState::Failed { reason: None, action: None },
    };
    let has_paid =
        matches!((shown, pay_state), (Shown::State { has_returned: true, .. }, PayState::Paid { .. }));
    if is_owner && has_paid {
        return Ok(see_other(&bought_address(session.feature)));
    }
    let html = pages::pay_page(&PayPage {
        host: &state.resolved.hosts.base.host,
        url: &url,
        purchase: purchase(session),
        state: pay_state,
        sandbox: session.sandbox,
        back: is_owner.then_some(BILLING),
    });
    let status = match pay_state {
        PayState::Unavailable { .. } => StatusCode::BAD_GATEWAY,
        PayState::Expired => StatusCode::GONE,
        _ => StatusCode::OK,
    };
    // The form leads to the processor, whose address is only known once it was asked.
    let mut response = page_with_status(status, html, (!session.sandbox).then_some("https:"));
    if pay_state == PayState::Processing {
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static(REFRESH));
    }
    Ok(response)
}

const fn purchase(session: &PaySession) -> Purchase<'static> {
    let (price, amount) = (session.price_minor, session.amount_minor);
    match session.feature {
        Feature::Provision => Purchase::api_key(price, amount),
        Feature::Topup => Purchase::top_up(amount),
        Feature::Unlock(sku) => Purchase::unlock(sku, price, amount),
    }
}

/// The error for an address that no pay link leads to.
pub(super) fn unknown() -> Error {
    Error::new(Code::NotFound, "This payment link does not exist.")
}
