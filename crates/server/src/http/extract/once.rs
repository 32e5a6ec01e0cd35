//! `Idempotency-Key`, bound to whoever sends it and to what the request asks for.

use crate::http::api::ApiState;
use dropleaf_app::{Caller, Once};
use dropleaf_core::network;
use http::HeaderMap;

/// The key, if one was sent. One that cannot be read counts as empty, which the act refuses.
pub(in crate::http) fn key(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("idempotency-key")?;
    Some(value.to_str().unwrap_or_default().trim().to_owned())
}

/// The request as one that may come again.
pub(in crate::http) fn once(
    state: &ApiState,
    key: Option<String>,
    caller: &Caller,
    request_hash: Option<[u8; 32]>,
) -> Option<Once> {
    let (key, request_hash) = key.zip(request_hash)?;
    let scope = match (&caller.account, &caller.grant_id, caller.ip) {
        // Answers may hold secrets: a program hears neither those of the person nor those of another program.
        (Some(account), Some(grant), _) => format!("{}:grant:{grant}", account.id),
        (Some(account), None, _) => account.id.clone(),
        (None, _, Some(ip)) => format!("ip:{}", state.app.hash_client(&network::client_network(ip))),
        (None, _, None) => "nobody".into(),
    };
    Some(Once { scope, key, request_hash })
}
