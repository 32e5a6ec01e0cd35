//! The program behind an id: one that registered, or one that describes itself at an address.

use crate::http::api::ApiState;
use dropleaf_core::oauth::client::Client;
use dropleaf_core::{Minter, Result};
use std::net::IpAddr;

const UNKNOWN: &str =
    "This server does not know the app. Remove the connection in the app and set it up again.";

/// The program, or what a person is told about why there is none.
pub(super) async fn find(state: &ApiState, id: &str, _ip: Option<IpAddr>) -> Result<Result<Client, String>> {
    if Minter::is_id("client", id) {
        return Ok(state.app.find_client(id).await?.ok_or_else(|| UNKNOWN.to_owned()));
    }
    Ok(Err(UNKNOWN.to_owned()))
}
