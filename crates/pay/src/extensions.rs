//! The x402 extensions we support: a payment identifier for retries, a description for catalogs (bazaar), and a marker that no
//! money moves (sandbox).

use serde_json::{Value, json};

use crate::json::Object;
use crate::refusal::Refusal;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
const IDENTIFIER: &str = "payment-identifier";
const BAZAAR: &str = "bazaar";
const SANDBOX: &str = "sandbox";

/// Whether v2 clients may or must give their payment an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identifier {
    #[default]
    NotOffered,
    Optional,
    Required,
}

/// The description of an endpoint for catalogs: how to call it and what it returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Bazaar {
    /// `POST`, or `GET`, which has no body.
    pub method: &'static str,
    pub body: Option<Example>,
    pub query: Option<Example>,
    /// An example response.
    pub output: Value,
}

/// An object and a JSON Schema that it satisfies.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    pub value: Value,
    pub schema: Value,
}

pub(crate) fn identifier_json(identifier: Identifier) -> Option<(&'static str, Value)> {
    let required = match identifier {
        Identifier::NotOffered => return None,
        Identifier::Optional => false,
        Identifier::Required => true,
    };
    let id = json!({ "type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[a-zA-Z0-9_-]+$" });
    let schema = json!({
        "$schema": DRAFT, "type": "object",
        "properties": { "required": { "type": "boolean" }, "id": id }, "required": ["required"],
    });
    Some((IDENTIFIER, json!({ "info": { "required": required }, "schema": schema })))
}

pub(crate) fn sandbox_json() -> (&'static str, Value) {
    let text = "Payments are settled in a sandbox. No real money is transferred.";
    (SANDBOX, json!({ "info": { "sandbox": true, "description": text }, "schema": { "type": "object" } }))
}

/// The client's payment identifier, from the extensions it sent back.
pub(crate) fn identifier(
    extensions: Option<&Object>,
    offered: Identifier,
) -> Result<Option<String>, Refusal> {
    let extension = extensions.and_then(|all| all.get(IDENTIFIER));
    let id = extension.and_then(|it| it.get("info")).and_then(|info| info.get("id"));
    match id {
        None if offered == Identifier::Required => Err(Refusal::PaymentIdentifierMissing),
        None => Ok(None),
        Some(Value::String(id)) if is_identifier(id) => Ok(Some(id.clone())),
        Some(_) => Err(Refusal::PaymentIdentifierInvalid),
    }
}

/// Whether the client wants the endpoint listed in catalogs: it sends the description back.
pub(crate) fn echoes_bazaar(extensions: Option<&Object>) -> bool {
    extensions.is_some_and(|all| all.contains_key(BAZAAR))
}

fn is_identifier(id: &str) -> bool {
    (16..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

impl Bazaar {
    /// The v2 extension.
    pub(crate) fn v2_json(&self) -> (&'static str, Value) {
        let mut info = Object::new();
        let mut properties = Object::new();
        let mut required = vec!["type", "method"];
        info.insert("type".into(), "http".into());
        properties.insert("type".into(), json!({ "type": "string", "const": "http" }));
        info.insert("method".into(), self.method.into());
        properties.insert("method".into(), json!({ "type": "string", "enum": [self.method] }));
        if let Some(query) = &self.query {
            info.insert("queryParams".into(), query.value.clone());
            properties.insert("queryParams".into(), query.schema.clone());
        }
        // A method with a body must describe it, even if it is empty.
        if self.method != "GET" {
            let none = Example { value: json!({}), schema: json!({ "type": "object" }) };
            let body = self.body.as_ref().unwrap_or(&none);
            required.extend(["bodyType", "body"]);
            info.insert("bodyType".into(), "json".into());
            properties.insert(
                "bodyType".into(),
                json!({ "type": "string", "enum": ["json", "form-data", "text"] }),
            );
            info.insert("body".into(), body.value.clone());
            properties.insert("body".into(), body.schema.clone());
        }
        let input = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let output = json!({
            "type": "object", "required": ["type"],
            "properties": { "type": { "type": "string" }, "example": { "type": "object" } },
        });
        let schema = json!({
            "$schema": DRAFT, "type": "object",
            "properties": { "input": input, "output": output }, "required": ["input"],
        });
        let info = json!({ "input": info, "output": { "type": "json", "example": self.output } });
        (BAZAAR, json!({ "info": info, "schema": schema }))
    }

    /// The `outputSchema` of an offer in v1.
    pub(crate) fn v1_json(&self) -> Value {
        let mut input = Object::new();
        input.insert("type".into(), "http".into());
        input.insert("method".into(), self.method.into());
        input.insert("discoverable".into(), true.into());
        let fields =
            |example: &Example| example.schema.get("properties").cloned().unwrap_or_else(|| json!({}));
        if let Some(query) = &self.query {
            input.insert("queryParams".into(), fields(query));
        }
        if let Some(body) = &self.body {
            input.insert("bodyType".into(), "json".into());
            input.insert("bodyFields".into(), fields(body));
        }
        json!({ "input": input, "output": { "type": "json", "example": self.output } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_and_bounded() {
        let sent = |id: Value| json!({ "payment-identifier": { "info": { "required": false, "id": id } } });
        let read = |sent: &Value, offered| identifier(sent.as_object(), offered);
        let good = "pay_0123456789-abcdef";
        assert_eq!(read(&sent(json!(good)), Identifier::Optional), Ok(Some(good.to_owned())));
        for bad in
            [json!("short"), json!("x".repeat(129)), json!("with a blank, sixteen"), json!(7), json!(null)]
        {
            assert_eq!(read(&sent(bad), Identifier::Optional), Err(Refusal::PaymentIdentifierInvalid));
        }
        assert_eq!(read(&json!({}), Identifier::Optional), Ok(None));
        assert_eq!(read(&json!({}), Identifier::Required), Err(Refusal::PaymentIdentifierMissing));
        assert_eq!(identifier(None, Identifier::Required), Err(Refusal::PaymentIdentifierMissing));
    }
}
