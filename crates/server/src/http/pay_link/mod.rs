//! The pages behind pay links, for people who need no account: the pay page, and the card form of the sandbox. The address is
//! the secret. A session only adds the way back to the dashboard.

mod card_form;
mod page;

pub(super) use page::{pay_path, pay_url};

use crate::http::state::ApiState;
use axum::Router;
use axum::routing::get;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route("/pay/sandbox/{checkout}", get(card_form::read).post(card_form::submit))
        .route("/pay/{slug}", get(page::read).post(page::begin))
}
