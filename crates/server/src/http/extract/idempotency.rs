//! Reads `Idempotency-Key` and binds it to the caller and the request.

use crate::http::state::ApiState;
use dropleaf_app::{Caller, IdempotentRequest};
use dropleaf_core::network;
use http::HeaderMap;

/// The key, if one was sent. A value that is not visible ASCII becomes empty, which the operation refuses.
pub(in crate::http) fn key(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("idempotency-key")?;
    Some(value.to_str().unwrap_or_default().trim().to_owned())
}

/// The idempotency record of the request, if it has a key and a hash.
pub(in crate::http) fn idempotent_request(
    state: &ApiState,
    key: Option<String>,
    caller: &Caller,
    request_hash: Option<[u8; 32]>,
) -> Option<IdempotentRequest> {
    let (key, request_hash) = key.zip(request_hash)?;
    let scope = match (&caller.account, &caller.grant_id, caller.ip) {
        // Responses may hold secrets: a program must not replay those of the person or of another program.
        (Some(account), Some(grant), _) => format!("{}:grant:{grant}", account.id),
        (Some(account), None, _) => account.id.clone(),
        (None, _, Some(ip)) => format!("ip:{}", state.app.hash_client(&network::client_network(ip))),
        (None, _, None) => "nobody".into(),
    };
    Some(IdempotentRequest { scope, key, request_hash })
}
