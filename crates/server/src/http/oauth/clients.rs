//! The program behind an id: one that registered, or one that describes itself at an address (a client id metadata
//! document). Such a description is kept for a while; that there was none is not.

use super::register::describe;
use crate::http::api::ApiState;
use crate::outbound::{Asker, Fetcher};
use dropleaf_core::host::Hosts;
use dropleaf_core::oauth::client::{AuthMethod, Client};
use dropleaf_core::oauth::document::{is_address, life};
use dropleaf_core::oauth::redirect;
use dropleaf_core::{Minter, Result};
use serde_json::Value;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Descriptions that are kept; above this, all are forgotten.
const KEPT: usize = 1000;
const UNKNOWN: &str =
    "This server does not know the app. Remove the connection in the app and set it up again.";

const OURS: &str = "Pages on this server cannot speak for an app.";

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

/// What is known about an id before anybody else is asked.
#[derive(Debug)]
pub(super) enum Known {
    Client(Client),
    /// It describes itself at an address that has to be asked.
    Described,
    /// There is none, and a person is told why.
    Nobody(String),
}

/// The program behind an id, as far as this server knows it.
pub(super) async fn find(state: &ApiState, id: &str) -> Result<Known> {
    if Minter::is_id("client", id) {
        let found = state.app.find_client(id).await?;
        return Ok(found.map_or_else(|| Known::Nobody(UNKNOWN.to_owned()), Known::Client));
    }
    let settings = &state.resolved.config.oauth;
    if !settings.client_documents || !is_address(id, settings.allow_loopback_documents) {
        return Ok(Known::Nobody(UNKNOWN.to_owned()));
    }
    if redirect::is_ours(id, &state.resolved.hosts) {
        return Ok(Known::Nobody(OURS.to_owned()));
    }
    Ok(state.documents.find(id, state.app.now()).map_or(Known::Described, Known::Client))
}

/// Asks a program that describes itself; or what a person is told about why it cannot be believed.
pub(super) async fn fetch(
    state: &ApiState,
    id: &str,
    asker: Asker,
    ip: Option<IpAddr>,
) -> Result<Result<Client, String>> {
    // Anybody can make this server ask around, so not too often.
    state.app.take_document(ip)?;
    let document = match state.documents.fetcher.fetch(id, asker).await {
        Ok(document) => document,
        Err(why) => return Ok(Err(format!("The app's description cannot be read: {why}."))),
    };
    let now = state.app.now();
    Ok(match read(&document.bytes, id, &state.resolved.hosts, now) {
        Ok(client) => {
            state.documents.keep(&client, now + life(document.cache_control.as_deref()));
            Ok(client)
        }
        Err(why) => Err(format!("The app describes itself in a way that is not accepted: {why}")),
    })
}

/// What the document says, if it is about this id and keeps no secret with us.
fn read(bytes: &[u8], id: &str, hosts: &Hosts, now: i64) -> Result<Client, String> {
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
    description.check(id.to_owned(), hosts, now).map_err(|error| error.detail)
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
        let base = dropleaf_core::host::Origin::parse("https://drop.example").unwrap();
        let hosts = Hosts::new(base.clone(), base, "drop.example".into(), true);
        let read = |bytes: &[u8]| super::read(bytes, ID, &hosts, 7);
        let client = read(good.to_string().as_bytes()).unwrap();
        assert_eq!((client.name.as_str(), client.auth_method), ("App", AuthMethod::None));
        for (name, value) in [
            ("client_id", json!("https://app.example/other.json")),
            ("client_id", json!(null)),
            ("client_name", json!("")),
            ("client_name", json!(null)),
            ("redirect_uris", json!([])),
            ("redirect_uris", json!(["http://app.example/cb"])),
            ("redirect_uris", json!(["https://app.example/cb", "https://page.drop.example/cb"])),
            ("client_secret", json!("x")),
            ("client_secret_expires_at", json!(0)),
            ("token_endpoint_auth_method", json!("client_secret_basic")),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(read(bad.to_string().as_bytes()).is_err(), "{name}");
        }
        assert!(read(b"<html>").is_err());
    }
}
