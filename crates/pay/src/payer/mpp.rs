//! Answers challenges of MPP as a client does.

use dropleaf_core::{iso, secret};
use serde_json::{Map, Value, json};

use super::EvmPayer;
use crate::json;
use crate::mpp::{Charge, challenge_hashes};
use crate::offer::Token;

/// The parameters of a challenge, from the value of `WWW-Authenticate`. `None` if it is not one challenge of the scheme
/// `Payment` with quoted values.
pub fn mpp_challenge(www_authenticate: &str) -> Option<Map<String, Value>> {
    let mut rest = www_authenticate.strip_prefix("Payment ")?;
    let mut parameters = Map::new();
    loop {
        let (name, after) = rest.split_once("=\"")?;
        let mut characters = after.chars();
        let mut value = String::new();
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => value.push(characters.next()?),
                other => value.push(other),
            }
        }
        parameters.insert(name.to_owned(), value.into());
        rest = characters.as_str();
        if rest.is_empty() {
            return Some(parameters);
        }
        rest = rest.strip_prefix(", ")?;
    }
}

/// The value of the header field that carries a credential.
pub fn mpp_header(credential: &Value) -> String {
    format!("Payment {}", secret::text(credential.to_string().as_bytes()))
}

impl EvmPayer {
    /// The credential that answers a challenge. The token's name and version are not in the challenge: clients know them.
    pub fn mpp_credential(&self, challenge: &Map<String, Value>, token: &Token) -> Option<Value> {
        self.mpp_credential_with(challenge, token, false)
    }

    /// The same with the nonce of newer clients, which hash id and realm as a JSON array.
    pub fn mpp_credential_with_array_nonce(
        &self,
        challenge: &Map<String, Value>,
        token: &Token,
    ) -> Option<Value> {
        self.mpp_credential_with(challenge, token, true)
    }

    fn mpp_credential_with(
        &self,
        challenge: &Map<String, Value>,
        token: &Token,
        hashes_array: bool,
    ) -> Option<Value> {
        let text = |name| json::text(challenge, name).ok();
        let offer = Charge::decode(text("request")?)?.offer_in(token.clone(), 0);
        let [joined, array] = challenge_hashes(text("id")?, text("realm")?);
        let nonce = if hashes_array { array } else { joined };
        let signed = self.payload(&offer, nonce, 0, iso::parse(text("expires")?)?)?;
        let mut payload = signed.get("authorization")?.clone();
        let members = payload.as_object_mut()?;
        members.insert("type".to_owned(), "authorization".into());
        members.insert("signature".to_owned(), signed.get("signature")?.clone());
        let source = format!("did:pkh:{}:{}", offer.network(), self.address);
        Some(json!({ "challenge": challenge, "payload": payload, "source": source }))
    }
}
