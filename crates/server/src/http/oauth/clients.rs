//! Finds the OAuth client behind an id: a registered one, or one with a client id metadata document, which is fetched
//! unless `http/client_documents.rs` has it.

use super::register::describe;
use crate::http::state::ApiState;
use crate::outbound::Asker;
use dropleaf_core::oauth::client::Client;
use dropleaf_core::oauth::document::{ClientMetadataDocument, is_address, life};
use dropleaf_core::oauth::redirect;
use dropleaf_core::{Minter, Result};
use serde_json::{Map, Value};
use std::net::IpAddr;

const UNKNOWN: &str =
    "This server does not know the app. Remove the connection in the app and set it up again.";

const OURS: &str = "Pages on this server cannot act as an app.";

/// What is known about an id without fetching anything.
#[derive(Debug)]
pub(super) enum Known {
    Client(Client),
    /// Its metadata document has to be fetched.
    Described,
    /// There is no such client; the text tells the person why.
    Nobody(String),
}

/// Finds a client by id, as far as this server knows it.
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

/// Fetches a client's metadata document; the inner error tells the person why it was refused.
pub(super) async fn fetch(
    state: &ApiState,
    id: &str,
    asker: Asker,
    ip: Option<IpAddr>,
) -> Result<Result<Client, String>> {
    // Anyone can make this server send requests, so this is rate limited.
    state.app.count_metadata_fetch(ip).await?;
    let document = match state.documents.fetcher.fetch(id, asker).await {
        Ok(document) => document,
        Err(why) => return Ok(Err(format!("The app's metadata document cannot be read: {why}."))),
    };
    let now = state.app.now();
    let checked = read(&document.bytes).and_then(|parsed| parsed.check(id, &state.resolved.hosts, now));
    Ok(match checked {
        Ok(client) => {
            state.documents.keep(&client, now + life(document.cache_control.as_deref()));
            Ok(client)
        }
        Err(why) => Err(format!("The app's metadata document is not valid: {why}")),
    })
}

/// Parses the document; a member of the wrong type is an error.
fn read(bytes: &[u8]) -> Result<ClientMetadataDocument, String> {
    let members: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|_| "It is not a JSON object.".to_owned())?;
    Ok(ClientMetadataDocument {
        client_id: members.get("client_id").and_then(Value::as_str).map(str::to_owned),
        has_secret: members.contains_key("client_secret") || members.contains_key("client_secret_expires_at"),
        description: describe(members).map_err(|error| error.detail)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_read_in_the_types_it_must_have() {
        let good = json!({"client_id": "https://app.example/c", "client_name": "App", "client_secret": null});
        let document = read(good.to_string().as_bytes()).unwrap();
        assert_eq!(document.client_id.as_deref(), Some("https://app.example/c"));
        assert_eq!(document.description.name.as_deref(), Some("App"));
        assert!(document.has_secret, "whatever its value");
        for secret in ["client_secret", "client_secret_expires_at"] {
            assert!(read(json!({secret: 0}).to_string().as_bytes()).unwrap().has_secret, "{secret}");
        }
        assert_eq!(read(br#"{"client_id": 5}"#).unwrap().client_id, None);
        for bad in
            ["<html>", "[]", "\"x\"", r#"{"client_name": 5}"#, r#"{"redirect_uris": "https://a.example"}"#]
        {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
