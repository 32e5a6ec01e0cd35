//! The only table from error code to status, and the response of an error: JSON for API clients, an HTML page for
//! browsers, a line of text otherwise. Texts are in `error_body`.

use super::error_body::{page_body, viewer_words};
use super::quality::Weight;
use super::{OutBody, media_type};
use dropleaf_core::rate::RateLimitStatus;
use dropleaf_core::{Code, Error};
use dropleaf_pages::{self as pages, Notice};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

pub use super::error_body::{finding_json, json_body};
pub use super::strict_response::{bare, designed, designed_policy, scripted_policy};

/// The status of a code. No wildcard arm: a new code needs a decision. Spec §7.
pub const fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidRequest
        | Code::NotMultipart
        | Code::MissingFile
        | Code::NoClientIp
        | Code::InvalidField
        | Code::EmptyFile
        | Code::UnsupportedType
        | Code::NotText
        | Code::InvalidPdf
        | Code::InvalidArchive
        | Code::MissingIndex
        | Code::ForbiddenName
        | Code::InvalidCiphertext
        | Code::InvalidSlug
        | Code::InvalidPasskey
        | Code::InvalidPayment
        | Code::InvalidWebhook
        | Code::SlugRequired => StatusCode::BAD_REQUEST,
        Code::AuthRequired
        | Code::InvalidCredential
        | Code::PasswordRequired
        | Code::WrongPassword
        | Code::EmailRequired
        | Code::InvalidCode => StatusCode::UNAUTHORIZED,
        Code::PlanPageLimit
        | Code::PlanLifetimeLimit
        | Code::PlanDomainLimit
        | Code::PaymentRequired
        | Code::PaymentRefused
        | Code::RailNotLive => StatusCode::PAYMENT_REQUIRED,
        Code::InvalidClaimToken
        | Code::InvalidUploadAddress
        | Code::Forbidden
        | Code::ProofNeeded
        | Code::InsufficientScope
        | Code::CrossSite
        | Code::BadSignature
        | Code::AccountSuspended
        | Code::ServiceWorkerRefused => StatusCode::FORBIDDEN,
        Code::NotFound | Code::UnknownWallet => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::SlugTaken
        | Code::DomainExists
        | Code::DomainTaken
        | Code::TooMany
        | Code::Conflict
        | Code::AlreadyClaimed
        | Code::PaymentUsed
        | Code::NotOnSale
        | Code::PaymentInFlight
        | Code::ChallengeUsed
        | Code::IdempotencyInFlight => StatusCode::CONFLICT,
        Code::NotRestorable
        | Code::Expired
        | Code::Deleted
        | Code::Burnt
        | Code::TakenDown
        | Code::ChallengeExpired => StatusCode::GONE,
        Code::TooLarge | Code::TooManyFiles => StatusCode::PAYLOAD_TOO_LARGE,
        Code::RangeNotSatisfiable => StatusCode::RANGE_NOT_SATISFIABLE,
        Code::MisdirectedHost => StatusCode::MISDIRECTED_REQUEST,
        Code::IdempotencyMismatch
        | Code::EditNoMatch
        | Code::EditNotUnique
        | Code::EditOverlap
        | Code::NotEditable
        | Code::TooManyScripts
        | Code::ExecutableRefused
        | Code::PhishingBlocked
        | Code::ContentBlocked
        | Code::SecretsFound => StatusCode::UNPROCESSABLE_ENTITY,
        Code::RateLimited | Code::PlanDailyLimit => StatusCode::TOO_MANY_REQUESTS,
        Code::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Code::Internal | Code::PaidNotSaved => StatusCode::INTERNAL_SERVER_ERROR,
        Code::FacilitatorUnavailable | Code::ProcessorUnavailable | Code::SettlementUnknown => {
            StatusCode::BAD_GATEWAY
        }
        Code::StorageUnavailable
        | Code::Overloaded
        | Code::NotReady
        | Code::TimedOut
        | Code::MailNotConfigured
        | Code::CheckUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::StorageFull | Code::AnonymousStorageFull => StatusCode::INSUFFICIENT_STORAGE,
    }
}

/// The format of an error response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    Json,
    Page,
    Text,
}

impl Wants {
    /// JSON if accepted at least as much as HTML, a page if HTML is accepted, text otherwise.
    pub fn of(headers: &HeaderMap) -> Self {
        let (json, html) = (
            media_type::accept_weight(headers, media_type::JSON),
            media_type::accept_weight(headers, media_type::HTML),
        );
        if json > Weight::ZERO && json >= html {
            Self::Json
        } else if html > Weight::ZERO {
            Self::Page
        } else {
            Self::Text
        }
    }
}

/// The response for an error. The internal source is logged here, once, and never sent.
pub fn respond(error: &Error, wants: Wants) -> Response<OutBody> {
    respond_with(error, wants, None)
}

/// The same, with the address of the page's report form.
pub fn respond_with(error: &Error, wants: Wants, report: Option<&str>) -> Response<OutBody> {
    answer(error, wants, |status| page_body(error, status, report))
}

/// The same for a signed-in owner in the dashboard.
pub fn respond_to_owner(error: &Error) -> Response<OutBody> {
    answer(error, Wants::Page, |status| {
        let code = error.code.as_str();
        let (heading, message) = pages::owner_error_text(code)
            .or_else(|| pages::error_text(code))
            .unwrap_or(("Something went wrong", &error.detail));
        let status = status.as_u16();
        let home = Some("/dashboard");
        pages::notice(&Notice { status, code, heading, message, hint: None, home, report: None })
    })
}

fn answer(
    error: &Error,
    wants: Wants,
    page: impl FnOnce(StatusCode) -> pages::Rendered,
) -> Response<OutBody> {
    let status = status(error.code);
    let is_logged_elsewhere = error.code == Code::FacilitatorUnavailable && error.source.is_none();
    if is_logged_elsewhere || error.code == Code::NotReady {
        // The facilitator's failure where it is called, the stop of the server once; any client can cause this response as
        // often as it likes.
        tracing::debug!(code = error.code.as_str(), "request failed");
    } else if status.is_server_error() {
        let source = error.source.as_deref().map(ToString::to_string).unwrap_or_default();
        tracing::error!(code = error.code.as_str(), source, "request failed");
    }
    let mut response = match wants {
        Wants::Json => bare(status, "application/json", json_body(error)),
        Wants::Text => bare(
            status,
            "text/plain; charset=utf-8",
            format!("{} {}\n", status.as_u16(), viewer_words(error)),
        ),
        Wants::Page => designed(status, page(status)),
    };
    note(response.headers_mut(), error);
    response
}

/// Sets the headers of an error, whatever its format.
pub fn note(headers: &mut HeaderMap, error: &Error) {
    note_wait(headers, error);
    if status(error.code) == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge(error.code)));
    }
}

/// Sets `Retry-After` and the rate limit headers.
pub fn note_wait(headers: &mut HeaderMap, error: &Error) {
    if let Some(seconds) = error.retry_after {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if let Some(standing) = &error.rate_limit {
        rate_headers(headers, **standing);
    }
}

/// The challenge of a 401. Browsers open no dialog for the schemes of our gates, because they do not know them.
const fn challenge(code: Code) -> &'static str {
    match code {
        Code::PasswordRequired | Code::WrongPassword => "PagePassword",
        Code::EmailRequired | Code::InvalidCode => "PageEmail",
        _ => "Bearer realm=\"dropleaf\"",
    }
}

/// The caller's rate limit status, in the format of the IETF draft.
pub fn rate_headers(headers: &mut HeaderMap, standing: RateLimitStatus) {
    let RateLimitStatus { rate, remaining, resets_in } = standing;
    let values = [
        ("ratelimit", format!("\"{}\";r={remaining};t={resets_in}", rate.name)),
        ("ratelimit-policy", format!("\"{}\";q={};w={}", rate.name, rate.limit, rate.window_seconds)),
    ];
    for (name, text) in values {
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::error::Fact;

    #[test]
    fn every_code_has_an_error_status() {
        for code in Code::ALL {
            assert!(status(*code).is_client_error() || status(*code).is_server_error(), "{}", code.as_str());
        }
    }

    #[test]
    fn the_contracts_statuses_are_kept() {
        for (code, expected) in [
            (Code::NotMultipart, 400),
            (Code::NoClientIp, 400),
            (Code::AuthRequired, 401),
            (Code::InvalidClaimToken, 403),
            (Code::NotFound, 404),
            (Code::AlreadyClaimed, 409),
            (Code::Expired, 410),
            (Code::TooLarge, 413),
            (Code::RateLimited, 429),
            (Code::StorageFull, 507),
            (Code::AnonymousStorageFull, 507),
        ] {
            assert_eq!(status(code).as_u16(), expected);
        }
        assert_eq!(Code::AuthRequired.as_str(), "auth required");
    }

    #[test]
    fn the_inside_of_an_error_is_never_sent() {
        let error = Error::internal("password is hunter2").with_fact("n", Fact::Int(1));
        for wants in [Wants::Json, Wants::Text, Wants::Page] {
            let OutBody::Ready(Some(body)) = respond(&error, wants).into_body() else { panic!("a body") };
            assert!(!String::from_utf8_lossy(&body).contains("hunter2"));
        }
    }
}
