//! Lists the errors that an operation can return. Most follow from its description: credential, parameters, body,
//! payment. The rest is listed per operation in `own`. Tests compare every response they get with these lists.

mod own;

use super::DOCUMENTS;
use super::security::{API_KEY, CLAIM, WALLET, is_open, takes};
use crate::http::{error, mcp};
use dropleaf_core::Code;
use dropleaf_core::oauth::OAuthCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// For every operation.
const ANY: &[Code] = &[Code::Internal];
/// Answered on every host.
const ON_EVERY_HOST: [&str; 2] = ["/healthz", "/readyz"];
/// For operations that read or write stored data, within a time limit.
const STORED: &[Code] = &[Code::StorageUnavailable, Code::Overloaded];
const PROTECTED: &[Code] = &[Code::InvalidCredential, Code::RateLimited];
const SIGNED_BY_WALLET: &[Code] = &[Code::BadSignature, Code::ChallengeUsed, Code::ChallengeExpired];
const BODY: &[Code] =
    &[Code::InvalidRequest, Code::InvalidField, Code::TooLarge, Code::RequestTimeout, Code::Overloaded];
const FORM: &[Code] = &[Code::NotMultipart, Code::MissingFile];
const REPEATABLE: &[Code] = &[Code::InvalidField, Code::IdempotencyInFlight, Code::IdempotencyMismatch];
/// For operations that settle a payment. Their terms (402) are described with the operation.
const PAID: &[Code] = &[
    Code::InvalidPayment,
    Code::PaymentUsed,
    Code::PaymentInFlight,
    Code::NotOnSale,
    Code::NoClientIp,
    Code::Conflict,
    Code::RateLimited,
    Code::FacilitatorUnavailable,
    Code::SettlementUnknown,
    Code::PaidNotSaved,
];

/// The errors that follow from the description.
fn derived(method: &str, path: &str, operation: &Value) -> Vec<Code> {
    let mut codes = ANY.to_vec();
    codes.extend((!ON_EVERY_HOST.contains(&path)).then_some(Code::MisdirectedHost));
    if operation["tags"][0] == DOCUMENTS {
        return codes;
    }
    codes.extend(STORED);
    let (keyed, open) = (takes(operation, API_KEY), is_open(operation));
    let changes = method != "get";
    codes.extend(changes.then_some(Code::TimedOut));
    if keyed {
        codes.extend(PROTECTED);
        codes.extend((!open).then_some(Code::AuthRequired));
        // Every credential may read, and end its own session.
        let scoped = changes && operation["operationId"] != "endMcpSession";
        codes.extend(scoped.then_some(Code::InsufficientScope));
        // A suspended account may still delete a page, a domain or a webhook; a tool call is refused inside its message.
        let deletes = ["deleteSite", "deleteCustomDomain", "deleteWebhook"]
            .iter()
            .any(|id| operation["operationId"] == *id);
        let refused = !deletes && operation["tags"][0] != mcp::TAG;
        codes.extend((changes && refused).then_some(Code::AccountSuspended));
    }
    codes.extend(takes(operation, CLAIM).then_some(Code::InvalidClaimToken));
    if takes(operation, WALLET) {
        codes.extend(SIGNED_BY_WALLET);
    }
    if path.contains('{') {
        // A name that is not UTF-8, or contains NUL, is refused.
        codes.extend([Code::InvalidRequest, Code::NotFound]);
    }
    let parameters = operation["parameters"].as_array();
    let has =
        |member: &str, value: &str| parameters.is_some_and(|all| all.iter().any(|one| one[member] == value));
    if has("name", "Idempotency-Key") {
        codes.extend(REPEATABLE);
    }
    if has("name", "PAYMENT-SIGNATURE") {
        codes.extend(PAID);
    }
    let body = &operation["requestBody"]["content"];
    if body.is_object() {
        codes.extend(BODY);
    }
    if body.get("multipart/form-data").is_some() {
        codes.extend(FORM);
    }
    codes.extend(changes.then_some(Code::StorageFull));
    // From a web page of another origin, without a credential.
    codes.extend(changes.then_some(Code::CrossSite));
    codes
}

/// Adds the errors of an operation to its responses.
pub(super) fn add(method: &str, path: &str, operation: &mut Value) {
    let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
    let all = derived(method, path, operation).into_iter().chain(own::codes(&id));
    let mut by_status: BTreeMap<u16, Vec<Failure>> = BTreeMap::new();
    for failure in all.map(Failure::Api).chain(own::oauth_codes(&id).map(Failure::OAuth)) {
        let known = by_status.entry(failure.status()).or_default();
        if !known.iter().any(|other| other.name() == failure.name()) {
            known.push(failure);
        }
    }
    // A page for people returns pages to people, and JSON to scripts.
    let for_people = operation["responses"]["200"]["content"].get("text/html").is_some() && id == "authorize";
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    for (status, failures) in by_status {
        let response =
            responses.entry(status.to_string()).or_insert_with(|| described(&failures, for_people));
        response["x-error-codes"] = failures.iter().map(Failure::name).collect();
    }
}

/// The response of one error status, with an example of its first code.
fn described(failures: &[Failure], for_people: bool) -> Value {
    let names = failures.iter().map(|failure| format!("`{}`", failure.name())).collect::<Vec<_>>().join(", ");
    let example = failures.first().map(Failure::example);
    let mut content = json!({"application/json": {
        "schema": {"$ref": "#/components/schemas/Error"},
        "example": example,
    }});
    if for_people {
        content["text/html"] = json!({"schema": {"type": "string"}});
    }
    json!({"description": names, "content": content})
}

/// An error: one of our codes or, at an OAuth endpoint, one of the RFCs.
enum Failure {
    Api(Code),
    OAuth(OAuthCode),
}

impl Failure {
    fn status(&self) -> u16 {
        match self {
            Self::Api(code) => error::status(*code).as_u16(),
            Self::OAuth(OAuthCode::InvalidClient) => 401,
            Self::OAuth(_) => 400,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Api(code) => code.as_str(),
            Self::OAuth(code) => code.as_str(),
        }
    }

    fn example(&self) -> Value {
        match self {
            Self::Api(code) => json!({"error": code.as_str(), "error_description": code.meaning()}),
            Self::OAuth(code) => json!({"error": code.as_str()}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Codes that no operation of the document returns: they belong to published pages, to pages for people, or to the
    /// connection.
    const ELSEWHERE: &[Code] = &[
        Code::Deleted,
        Code::Burnt,
        Code::TakenDown,
        Code::PasswordRequired,
        Code::WrongPassword,
        Code::EmailRequired,
        Code::InvalidCode,
        Code::ProofNeeded,
        Code::InvalidPasskey,
        Code::MailNotConfigured,
        Code::ServiceWorkerRefused,
        Code::RangeNotSatisfiable,
        Code::HeadersTooLarge,
        // The payment terms, which are described with their operations.
        Code::PaymentRequired,
        Code::PaymentRefused,
    ];

    #[test]
    fn every_code_is_declared_somewhere_or_belongs_elsewhere() {
        let document: Value = serde_json::from_str(&super::super::text()).unwrap();
        let operations =
            document["paths"].as_object().unwrap().values().flat_map(|it| it.as_object().unwrap());
        let responses = operations.flat_map(|(_, it)| it["responses"].as_object().unwrap().values());
        let declared: HashSet<&str> = responses
            .filter_map(|response| response["x-error-codes"].as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for code in Code::ALL {
            let elsewhere = ELSEWHERE.contains(code);
            assert_eq!(declared.contains(code.as_str()), !elsewhere, "{}", code.as_str());
        }
    }
}
