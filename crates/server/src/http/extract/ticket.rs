//! Extractor for upload addresses: the ticket in the path is the permission.

use super::client_ip;
use crate::http::api_error::ApiError;
use crate::http::layer::Exchange;
use crate::http::state::ApiState;
use axum::extract::{FromRequestParts, RawPathParams};
use dropleaf_app::OpenedTicket;
use dropleaf_core::{Code, Error};
use http::request::Parts;
use std::net::IpAddr;

/// The holder of the ticket in the path. An `Authorization` header is ignored.
#[derive(Debug)]
pub(in crate::http) struct TicketHolder {
    pub ticketed: OpenedTicket,
    pub ip: Option<IpAddr>,
}

impl FromRequestParts<ApiState> for TicketHolder {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let bad = || Error::plain(Code::InvalidUploadAddress);
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| bad())?;
        let ticket = params.iter().find_map(|(name, value)| (name == "ticket").then_some(value));
        let ticketed = state.app.open_ticket(ticket.ok_or_else(bad)?).await?;
        let ip = client_ip(parts, state);
        // Counts as a request of the key or grant that created the ticket.
        let standing = state.app.take_request(&ticketed.who, ip).await?;
        if let (Some(standing), Some(exchange)) = (standing, parts.extensions.get::<Exchange>()) {
            exchange.note_standing(standing);
        }
        Ok(Self { ticketed, ip })
    }
}
