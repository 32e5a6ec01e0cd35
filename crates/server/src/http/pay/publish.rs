//! Serves `/publish`: sells one permanent page. The payment is the credential; with a key the balance of its account pays.
//! Spec §4 Payment, §7.

use super::balance::{Payer, bought_response, once};
use super::paid_page::PublishJson;
use super::purchase::{PaidCall, Sale, has_proof, has_x402_proof, is_foreign_question};
use super::receipt::paid_response;
use super::terms::TermsJson;
use crate::http::api::IdempotentResponse;
use crate::http::api_error::ApiError;
use crate::http::body_budget::Share;
use crate::http::extract::{Fields, Incoming, JsonLimit, client_ip, json_object, parse_pii_check};
use crate::http::media_type;
use crate::http::state::ApiState;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use dropleaf_app::{BalancePurchase, CreatedSite, Order, Upload, UploadBody};
use dropleaf_core::payment::Item;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::mpp::{BodyDigest, CredentialField};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use utoipa::ToSchema;

const NAME: &str = "index.html";
const NAME_BYTES: usize = 240;

/// A page to publish. It can also be sent as `text/html`.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"html": "<!doctype html><title>Hi</title><p>Hello"}))]
pub(super) struct PublishBody {
    /// Full HTML document, 10485760 bytes at most.
    html: String,
    /// Logical filename; `index.html` by default.
    #[schema(nullable = false)]
    filename: Option<String>,
    /// What to do about secrets and personal data in the page: `off`, `warn` or `block` (422).
    #[schema(nullable = false, pattern = "^(off|warn|block)$", example = "block")]
    pii_check: Option<String>,
}

/// Get the terms of publishing
///
/// Always 402, with the same header and body as `POST /publish` without a payment, as clients and catalogs of x402
/// expect of a probe.
#[utoipa::path(
    get, path = "/publish", tag = "Payments", operation_id = "getPublishTerms",
    responses((
        status = 402, description = "The terms", content((TermsJson = "application/json"), (TermsJson = "application/problem+json")),
        headers(
                ("PAYMENT-REQUIRED" = String, description = "The terms for x402 v2, base64 of JSON."),
                ("WWW-Authenticate" = String, description = "A challenge for MPP: `Payment id=…`."),
            ),
    )),
    security(()),
)]
pub(super) async fn terms(State(state): State<ApiState>, headers: HeaderMap) -> Result<Response, ApiError> {
    paid_call(&state, &headers).owed()
}

/// Publish a page and pay for it
///
/// The payment is the credential: no account, no key. Without one the response is 402 with the terms; a page that
/// cannot be published is refused before that, so nothing is signed for it. With a proof in `PAYMENT-SIGNATURE` (x402
/// v2), `X-PAYMENT` (v1) or `Authorization: Payment` (MPP) the page is permanent. The same proof with the same page gets the same response, and is
/// charged once.
///
/// With a key or an access token (`sites:write`) and no proof, the page is paid from the prepaid balance of the account,
/// to which it then belongs, without counting against its plan. If the balance does not suffice, the terms contain it. A
/// proof takes precedence over a key.
#[utoipa::path(
    post, path = "/publish", tag = "Payments", operation_id = "publishPaid",
    params(
        ("PAYMENT-SIGNATURE" = Option<String>, Header, description = "Proof of payment, x402 v2."),
        ("X-PAYMENT" = Option<String>, Header, description = "Proof of payment, x402 v1."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours; a second payment from the \
                                                                    same wallet, or from the same balance, with the same key buys nothing."),
    ),
    request_body(content((PublishBody = "application/json"), (String = "text/html"))),
    responses(
        (
            status = 201, description = "Published", body = PublishJson,
            headers(
                ("PAYMENT-RESPONSE" = String, description = "The receipt; `X-PAYMENT-RESPONSE` for x402 v1."),
                ("Payment-Receipt" = String, description = "The receipt of a payment by MPP."),
            ),
        ),
        (
            status = 402, description = "`payment_required`, `payment_refused`, `rail_not_live`: the terms, or `pay` and `rails` where \
                                         only cards are accepted; nothing was created", content((TermsJson = "application/json"), (TermsJson = "application/problem+json")),
            headers(
                ("PAYMENT-REQUIRED" = String, description = "The terms for x402 v2, base64 of JSON."),
                ("WWW-Authenticate" = String, description = "A challenge for MPP: `Payment id=…`."),
            ),
        ),
    ),
    security((), ("api_key" = [])),
)]
pub(super) async fn publish(
    State(state): State<ApiState>,
    payer: Payer,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let pays = has_proof(&parts.headers);
    // A request without a page asks for the terms.
    let asks_terms = !pays && !parts.headers.contains_key(header::CONTENT_TYPE);
    if is_foreign_question(&parts) || (asks_terms && body.is_end_stream()) {
        return paid_call_of(&state, &parts.headers, &payer).await?.owed();
    }
    let ip = client_ip(&parts, &state);
    // An account has the rate limit of its key instead.
    if payer.0.is_none() {
        state.app.take_paid_attempt(ip).await?;
    }
    let (page, share) = read(&state, &parts.headers, body).await?;
    let Some(page) = page else {
        if asks_terms {
            return paid_call_of(&state, &parts.headers, &payer).await?.owed();
        }
        return Err(Error::new(Code::EmptyFile, "The page is empty. Nothing was charged.").into());
    };
    let (request_hash, digest, warnings) = (page.hash(), page.digest, page.warnings);
    // The same request may have been answered before: then its page was accepted, and a refusal is deferred.
    let may_repeat = pays || payer.0.is_some();
    let checked = state.app.check_page(page.upload, page.pii_check, may_repeat).await?;
    if let Some(caller) = &payer.0 {
        let once = once(&state, &parts.headers, caller, request_hash);
        let sandbox = state.app.require_payments()?.is_sandbox();
        let render = |bought: &BalancePurchase<CreatedSite>| {
            PublishJson::drawn(&state.app, bought, &warnings, sandbox).to_bytes()
        };
        let done = state.app.publish_with_balance(caller, checked, once.as_ref(), render).await?;
        return match done {
            Some(done) => Ok(bought_response(IdempotentResponse::of(done, StatusCode::CREATED, render))),
            None => PaidCall { digest, ..paid_call_of(&state, &parts.headers, &payer).await? }.owed(),
        };
    }
    let call = PaidCall { ip, digest, ..paid_call_of(&state, &parts.headers, &payer).await? };
    match call.sell((Order::Publish(checked), request_hash), share).await? {
        Sale::Answer(answer) => Ok(answer),
        Sale::Sold { bought, receipt } => {
            let answer = PublishJson::new(&state.app, &bought, warnings)?;
            Ok(paid_response(StatusCode::CREATED, &answer, &bought, &receipt))
        }
    }
}

/// The sale of one page.
fn paid_call<'a>(state: &'a ApiState, headers: &'a HeaderMap) -> PaidCall<'a> {
    let (item, field) = (Item::Publish, CredentialField::Authorization);
    PaidCall { state, headers, ip: None, item, field, digest: None, more: serde_json::Map::new() }
}

/// The same, with the balance of the account that was to pay, which the terms show.
async fn paid_call_of<'a>(
    state: &'a ApiState,
    headers: &'a HeaderMap,
    payer: &Payer,
) -> Result<PaidCall<'a>> {
    Ok(PaidCall { more: payer.terms(state, Item::Publish).await?, ..paid_call(state, headers) })
}

/// The page that was sent.
struct ReceivedPage {
    upload: Upload,
    html: Bytes,
    name: String,
    pii_check: Option<PiiCheck>,
    /// The digest of the whole body, if a payment may be bound to it.
    digest: Option<BodyDigest>,
    warnings: Vec<String>,
}

impl ReceivedPage {
    fn new(html: Bytes, name: String, warnings: Vec<String>) -> Self {
        let upload = Upload {
            filename: Some(name.clone()),
            content_type: Some("text/html".to_owned()),
            body: UploadBody::Memory(html.clone()),
        };
        Self { upload, html, name, pii_check: None, digest: None, warnings }
    }

    /// Hash of the request, independent of its encoding.
    fn hash(&self) -> [u8; 32] {
        RequestHash::new("publish")
            .field("filename", &self.name)
            .field("html", blake3::hash(&self.html).as_bytes())
            .option("pii_check", self.pii_check.map(PiiCheck::as_str))
            .finish()
    }
}

/// Reads the page; None if there is none. The share covers its memory.
async fn read(state: &ApiState, headers: &HeaderMap, body: Body) -> Result<(Option<ReceivedPage>, Share)> {
    let limit = state.resolved.config.limits.publish_bytes;
    let over = || {
        Error::new(
            Code::TooLarge,
            format!("A paid page can be at most {limit} bytes. Make it smaller. Nothing was charged."),
        )
    };
    let json = media_type::is(headers, media_type::JSON);
    let incoming = Incoming { state, headers, body };
    let (bytes, share) = if json {
        incoming.json(JsonLimit::of_text(limit), over).await?
    } else {
        incoming.bytes(limit, over).await?
    };
    if bytes.is_empty() {
        return Ok((None, share));
    }
    // An x402 proof is not bound to the body.
    let digest = |bytes: &Bytes| (!has_x402_proof(headers)).then(|| BodyDigest::of(bytes));
    if media_type::is(headers, media_type::HTML) {
        let digest = digest(&bytes);
        let page = ReceivedPage::new(bytes, NAME.to_owned(), Vec::new());
        return Ok((Some(ReceivedPage { digest, ..page }), share));
    }
    if !json {
        return Err(Error::new(
            Code::InvalidRequest,
            "Send the page as JSON, {\"html\": \"…\"} with Content-Type: application/json, or as raw HTML with Content-Type: \
             text/html.",
        ));
    }
    let object = json_object(&bytes)?;
    let digest = digest(&bytes);
    drop(bytes);
    // An empty object counts as an empty body.
    if object.is_empty() {
        return Ok((None, share));
    }
    let mut fields = Fields::new(object);
    let PublishBody { html, filename, pii_check } = fields.take()?;
    let name = filename.map_or_else(|| Ok(NAME.to_owned()), |name| html_filename(&name))?;
    let pii_check = parse_pii_check(pii_check.as_deref())?;
    if html.len() as u64 > limit {
        return Err(over());
    }
    let warnings = fields.unknown()?;
    let sent = ReceivedPage::new(html.into(), name, warnings);
    Ok((Some(ReceivedPage { pii_check, digest, ..sent }), share))
}

/// Checks the name and appends `.html` unless it already has an HTML extension.
fn html_filename(name: &str) -> Result<String> {
    let name = name.trim();
    let bad = name.chars().any(|c| c.is_control() || c == '/' || c == '\\');
    if name.is_empty() || name.len() > NAME_BYTES || bad {
        return Err(Error::field("filename", "must be a file name of at most 240 bytes, without a path"));
    }
    if !dropleaf_content::can_name_a_page(name) {
        return Err(Error::field("filename", "must be the file name of an HTML page, such as report.html"));
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let html = matches!(ending.as_deref(), Some("html" | "htm"));
    Ok(if html { name.to_owned() } else { format!("{name}.html") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_name_and_says_html() {
        assert_eq!(html_filename("report.HTM").unwrap(), "report.HTM");
        assert_eq!(html_filename(" notes.md ").unwrap(), "notes.md.html");
        for bad in
            ["a.php", "a.svg", "a.exe", "a.pdf", "", "  ", "a/b.html", "..\\x", "a\0b", &"x".repeat(241)]
        {
            assert!(html_filename(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_page_is_the_same_request_however_it_is_wrapped() {
        let sent = |html: &'static str, name: &str| {
            ReceivedPage::new(html.into(), name.to_owned(), Vec::new()).hash()
        };
        assert_eq!(sent("a", NAME), sent("a", NAME));
        assert_ne!(sent("a", NAME), sent("b", NAME));
        assert_ne!(sent("a", NAME), sent("a", "b.html"));
        let checked = ReceivedPage {
            pii_check: Some(PiiCheck::Block),
            ..ReceivedPage::new("a".into(), NAME.to_owned(), Vec::new())
        };
        assert_ne!(checked.hash(), sent("a", NAME));
    }
}
