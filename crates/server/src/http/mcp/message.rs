//! Reads the parts of a message that are needed before the library parses it, and limits its length and number of
//! values. What is read here is small whatever was sent, because a parsed message can take many times its length in
//! memory.

use super::rpc;
use crate::http::extract::{JsonLimit, check_values};
use axum::response::Response;
use dropleaf_app::{PARAMS_BYTES, WATCHED_MOST};
use dropleaf_core::scope::{Scope, Scopes};
use dropleaf_core::{Code, Error, Result};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;
use std::fmt;

/// Maximum length of a message that carries no document.
pub(super) const SHORT_BYTES: u64 = 256 * 1024;
/// Tools whose arguments carry a document, or files of one.
const BRINGERS: [&str; 3] = ["publish_html", "update_site", "edit_site"];

/// The members read here. A duplicate member is refused, because the library might read the other one.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object with `jsonrpc`, `method` and, in a request, `id`")]
pub(super) struct Peek {
    #[serde(default, deserialize_with = "id")]
    pub id: Option<Value>,
    #[serde(default)]
    pub method: String,
    #[serde(default)]
    params: Option<Params>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object as `params`")]
struct Params {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    notifications: Option<Notifications>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object as `notifications`")]
struct Notifications {
    #[serde(default, rename = "resourceSubscriptions")]
    resources: Option<Addresses>,
}

/// The first addresses of a list.
#[derive(Debug, Default)]
struct Addresses(Vec<String>);

impl Peek {
    /// The name of the called tool, if the message calls one.
    pub(super) fn tool(&self) -> Option<&str> {
        let name = self.params.as_ref().and_then(|params| params.name.as_deref());
        (self.method == "tools/call").then_some(name.unwrap_or_default())
    }

    /// The resources that a subscription requests.
    pub(super) fn resources(&self) -> &[String] {
        let notifications = self.params.as_ref().and_then(|params| params.notifications.as_ref());
        notifications.and_then(|requested| requested.resources.as_ref()).map_or(&[], |addresses| &addresses.0)
    }

    /// Refuses a message that is too long for its kind, or has too many values for its length.
    pub(super) fn check(&self, bytes: &[u8]) -> Result<()> {
        let most = match self.tool() {
            Some(name) if BRINGERS.contains(&name) => u64::MAX,
            _ if self.method == "initialize" => PARAMS_BYTES as u64,
            _ => SHORT_BYTES,
        };
        if bytes.len() as u64 > most {
            return Err(too_long(most));
        }
        check_values(bytes)
    }
}

/// The maximum message length for these scopes: only callers that can publish need long messages.
pub(super) fn limit(scopes: Scopes, longest: JsonLimit) -> JsonLimit {
    if scopes.has(Scope::Write) { longest } else { JsonLimit { raw: SHORT_BYTES, decoded: SHORT_BYTES } }
}

pub(super) fn too_long(most: u64) -> Error {
    Error::new(Code::TooLarge, format!("The message exceeds the limit of {most} bytes."))
}

pub(super) fn peek(bytes: &[u8]) -> std::result::Result<Peek, Box<Response>> {
    let refused = |code, message: &str| Err(Box::new(rpc::no_message(None, code, message)));
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return refused(rpc::INVALID_REQUEST, "Batches are not supported. Send one message at a time.");
    }
    match serde_json::from_slice(bytes) {
        Ok(peek) => Ok(peek),
        Err(error) if error.is_data() => {
            refused(rpc::INVALID_REQUEST, &format!("The body is not a JSON-RPC message: {error}"))
        }
        Err(error) => refused(rpc::PARSE_ERROR, &format!("The body is not JSON: {error}")),
    }
}

/// An id is a string, a number or null.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Value>, D::Error> {
    struct Id;

    impl Visitor<'_> for Id {
        type Value = Option<Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or a number as the id")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Self::Value, E> {
            Ok(Some(text.into()))
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Self::Value, E> {
            Ok(Some(number.into()))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Self::Value, E> {
            Ok(Some(number.into()))
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Self::Value, E> {
            Ok(Some(number.into()))
        }

        fn visit_unit<E: de::Error>(self) -> std::result::Result<Self::Value, E> {
            Ok(None)
        }
    }

    deserializer.deserialize_any(Id)
}

impl<'de> Deserialize<'de> for Addresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Addresses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of addresses")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Addresses, A::Error> {
                let mut addresses = Vec::new();
                while addresses.len() < WATCHED_MOST {
                    match list.next_element::<String>()? {
                        Some(address) => addresses.push(address),
                        None => return Ok(Addresses(addresses)),
                    }
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Addresses(addresses))
            }
        }

        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(message: &Value) -> Option<Peek> {
        peek(message.to_string().as_bytes()).ok()
    }

    #[test]
    fn an_id_is_a_text_a_number_or_nothing() {
        for id in [json!("a"), json!(7), json!(-7), json!(1.5)] {
            assert_eq!(read(&json!({"id": id})).unwrap().id, Some(id));
        }
        assert_eq!(read(&json!({"id": null})).unwrap().id, None);
        assert_eq!(read(&json!({"method": "ping"})).unwrap().id, None);
        for id in [json!([]), json!({"a": 1}), json!(true), json!([[1, 2], 3])] {
            assert!(read(&json!({"id": id})).is_none(), "{id}");
        }
    }

    #[test]
    fn of_a_long_list_of_resources_the_first_are_read() {
        let subscription =
            |list: Value| json!({"params": {"notifications": {"resourceSubscriptions": list}}});
        let many: Vec<String> = (0..WATCHED_MOST + 100).map(|n| n.to_string()).collect();
        assert_eq!(read(&subscription(json!(many))).unwrap().resources(), &many[..WATCHED_MOST]);
        assert_eq!(read(&subscription(json!([]))).unwrap().resources().len(), 0);
        assert_eq!(read(&json!({"params": {}})).unwrap().resources().len(), 0);
        for wrong in [json!([1]), json!([["a"]]), json!("a"), json!({"a": "b"})] {
            assert!(read(&subscription(wrong.clone())).is_none(), "{wrong}");
        }
    }

    #[test]
    fn only_documents_may_be_long_and_they_are_in_one_piece() {
        let call = |name: &str, arguments: Value| {
            let message = json!({"method": "tools/call", "params": {"name": name, "arguments": arguments}});
            read(&message).unwrap().check(message.to_string().as_bytes()).is_ok()
        };
        let long = json!({"html": ",".repeat(300_000)});
        let writes = BRINGERS.map(|name| (name, true));
        for (name, may) in writes.into_iter().chain([("get_site", false), ("read_site", false), ("x", false)])
        {
            assert_eq!(call(name, long.clone()), may, "{name}");
        }
        assert!(!call("publish_html", json!({"html": vec![0; 200_000]})));
        assert!(call("publish_html", json!({"html": vec![0; 100_000]})), "short enough to be taken apart");
    }
}
