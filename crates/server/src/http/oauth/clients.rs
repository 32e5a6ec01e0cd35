//! The program behind an id: one that registered, or one that describes itself at an address (a client id metadata
//! document). Such a description is kept for a while; that there was none is not.

use super::register::describe;
use crate::http::api::ApiState;
use crate::outbound::Fetcher;
use dropleaf_core::oauth::client::{AuthMethod, Client};
use dropleaf_core::oauth::document::{is_address, life};
use dropleaf_core::{Minter, Result};
use serde_json::Value;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Descriptions that are kept; above this, all are forgotten.
const KEPT: usize = 1000;
const UNKNOWN: &str =
    "This server does not know the app. Remove the connection in the app and set it up again.";

/// Programs that described themselves, with the second until which they are believed.
#[derive(Debug)]
pub(in crate::http) struct Documents {
    fetcher: Fetcher,
    known: Mutex<HashMap<String, (i64, Client)>>,
}

impl Documents {
    pub(in crate::http) fn new(allow_loopback: bool) -> Self {
        Self { fetcher: Fetcher::new(allow_loopback), known: Mutex::default() }
    }

    fn find(&self, id: &str, now: i64) -> Option<Client> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(id).filter(|(until, _)| *until > now).map(|(_, client)| client.clone())
    }

    fn keep(&self, client: &Client, until: i64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(client.id.clone(), (until, client.clone()));
    }
}

/// The program, or what a person is told about why there is none.
pub(super) async fn find(state: &ApiState, id: &str, ip: Option<IpAddr>) -> Result<Result<Client, String>> {
    if Minter::is_id("client", id) {
        return Ok(state.app.find_client(id).await?.ok_or_else(|| UNKNOWN.to_owned()));
    }
    let settings = &state.resolved.config.oauth;
    if !settings.client_documents || !is_address(id, settings.allow_loopback_documents) {
        return Ok(Err(UNKNOWN.to_owned()));
    }
    let now = state.app.now();
    if let Some(client) = state.documents.find(id, now) {
        return Ok(Ok(client));
    }
    // Anybody can make this server ask around, so not too often.
    state.app.take_document(ip)?;
    let document = match state.documents.fetcher.fetch(id).await {
        Ok(document) => document,
        Err(why) => return Ok(Err(format!("The app's description cannot be read: {why}."))),
    };
    Ok(match read(&document.bytes, id, now) {
        Ok(client) => {
            state.documents.keep(&client, now + life(document.cache_control.as_deref()));
            Ok(client)
        }
        Err(why) => Err(format!("The app describes itself in a way that is not accepted: {why}")),
    })
}

/// What the document says, if it is about this id and keeps no secret with us.
fn read(bytes: &[u8], id: &str, now: i64) -> Result<Client, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|_| "It is no JSON.".to_owned())?;
    if value["client_id"] != id {
        return Err("Its client_id is not its own address.".to_owned());
    }
    if value.get("client_secret").is_some() || value.get("client_secret_expires_at").is_some() {
        return Err("It holds a secret.".to_owned());
    }
    let mut description = describe(bytes).map_err(|error| error.detail)?;
    if description.name.as_deref().is_none_or(|name| name.trim().is_empty()) {
        return Err("It has no client_name.".to_owned());
    }
    let method = description.auth_method.get_or_insert_with(|| AuthMethod::None.as_str().to_owned());
    if method != AuthMethod::None.as_str() {
        return Err("Its token_endpoint_auth_method is not none.".to_owned());
    }
    description.check(id.to_owned(), now).map_err(|error| error.detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "https://app.example/client.json";

    #[test]
    fn a_document_speaks_for_its_own_address_alone_and_keeps_no_secret() {
        let good =
            json!({"client_id": ID, "client_name": "App", "redirect_uris": ["https://app.example/cb"]});
        let client = read(good.to_string().as_bytes(), ID, 7).unwrap();
        assert_eq!((client.name.as_str(), client.auth_method), ("App", AuthMethod::None));
        for (name, value) in [
            ("client_id", json!("https://app.example/other.json")),
            ("client_id", json!(null)),
            ("client_name", json!("")),
            ("client_name", json!(null)),
            ("redirect_uris", json!([])),
            ("redirect_uris", json!(["http://app.example/cb"])),
            ("client_secret", json!("x")),
            ("client_secret_expires_at", json!(0)),
            ("token_endpoint_auth_method", json!("client_secret_basic")),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(read(bad.to_string().as_bytes(), ID, 7).is_err(), "{name}");
        }
        assert!(read(b"<html>", ID, 7).is_err());
    }
}
