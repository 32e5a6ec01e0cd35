//! Advice for each error code that a tool can return. No wildcard arm, so that a new code needs a decision.

use dropleaf_core::Code;

/// None if the error description already says what to do, or if no tool returns the code.
#[expect(clippy::too_many_lines, reason = "a table: a line or two for each code")]
pub(super) const fn next_step(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NotFound => {
            "Call list_sites to see the pages there are; list_versions, list_feedback or list_share_links for what \
             belongs to one."
        }
        Code::AuthRequired | Code::InvalidCredential => {
            "Ask the person to connect this client again, with a key or by signing in."
        }
        Code::InsufficientScope | Code::Forbidden => {
            "Ask the person to allow this client more; with what it may do now this is refused every time."
        }
        Code::InvalidClaimToken => {
            "Check the claim token and the page it came with; a page that is claimed needs none."
        }
        Code::AlreadyClaimed => "The page is somebody else's now; publish it anew with publish_html.",
        Code::InvalidUploadAddress => "Call create_upload again and use the new address.",
        Code::InvalidRequest | Code::InvalidField => "Correct the named argument and call the tool again.",
        Code::EmptyFile => "Send a whole document.",
        Code::UnsupportedType | Code::NotText | Code::InvalidPdf => {
            "Send HTML as `html` or Markdown as `markdown`; other kinds of files go through create_upload."
        }
        Code::InvalidArchive | Code::MissingIndex | Code::ForbiddenName | Code::TooManyFiles => {
            "Make the archive anew, with index.html at its root, and send it with create_upload."
        }
        Code::InvalidCiphertext => "Leave `e2e` out unless the file was encrypted before.",
        Code::TooLarge => {
            "Make it smaller: fewer and smaller images inside it, or several pages. get_me tells the limit; get_content \
             takes `max_bytes` and `offset`."
        }
        Code::ExecutableRefused => {
            "Leave the file out, or publish from an account whose plan takes such files."
        }
        Code::TooManyScripts => "Leave `csp_strict` out, or put the scripts into fewer elements.",
        Code::PhishingBlocked => {
            "Do what `reasons` advise and publish again. If the page is honest, tell the person: they can ask whoever runs \
             this service to look at it, by sending the same file to `appeal_url`."
        }
        Code::ContentBlocked => {
            "Do not publish this again; tell the person why it was refused. If the page is honest, they can ask whoever \
             runs this service to look at it, by sending the same file to `appeal_url`."
        }
        Code::SecretsFound => {
            "Take out what `reasons` name. If it is meant to be there, ask the person, and send `pii_check` \"off\"."
        }
        Code::AccountSuspended => {
            "Tell the person: whoever runs this service has suspended the account, and only they can lift that."
        }
        Code::InvalidSlug => "Choose another slug: 3 to 63 of a-z, 0-9 and inner hyphens.",
        Code::SlugRequired => "Send a `slug` with visibility \"public\", or leave the page unlisted.",
        Code::SlugTaken => "Choose another slug.",
        Code::TooMany => {
            "Make room first: revoke_share_link for links that are not needed, resolve_feedback for comments."
        }
        Code::Conflict => {
            "Call get_content to see what is there now, put your change into that, and send `expected_updated_at` with \
             the `updated_at` as get_content gave it."
        }
        Code::Expired => {
            "If it is your page, call set_expiry with a later moment to bring it back, then try again."
        }
        Code::NotRestorable | Code::Deleted | Code::Burnt => {
            "It is gone for good; publish it anew with publish_html."
        }
        Code::TakenDown => "Whoever runs this service removed it; do not publish it again.",
        Code::PlanPageLimit => {
            "Call list_sites and ask the person which page may go; delete_site makes room for a new one. An \
             unlock, if the message names one, lifts the limit for money: the person decides."
        }
        Code::PlanLifetimeLimit => {
            "Ask for a shorter life, or leave `expires_in_hours` out; get_me tells the limit. An unlock, if the message \
             names one, lifts it for money: the person decides."
        }
        Code::PlanDailyLimit | Code::RateLimited | Code::Overloaded | Code::CheckUnavailable => {
            "Nothing was changed. The same call works later."
        }
        Code::IdempotencyMismatch => {
            "Use a new `idempotency_key` (or a new upload address) for a call that asks for something else."
        }
        Code::IdempotencyInFlight => {
            "The first call is still under way; make the same call again in a moment."
        }
        Code::StorageFull => {
            "Tell the person: whoever runs this service has to make room. Reading still works."
        }
        Code::AnonymousStorageFull => {
            "Publish with an API key; only pages without an account are held to this."
        }
        // A write whose connection to the storage was lost may have been applied.
        Code::Internal | Code::StorageUnavailable | Code::TimedOut => {
            "The fault is on the server. Look with get_site or list_sites whether it was done before you try again."
        }
        // Their descriptions say what to do, or no tool returns them: they belong to forms, viewers and people.
        Code::PaymentRequired
        | Code::PaymentRefused
        | Code::InvalidPayment
        | Code::RailNotLive
        | Code::PaymentUsed
        | Code::NotOnSale
        | Code::PaymentInFlight
        | Code::FacilitatorUnavailable
        | Code::SettlementUnknown
        | Code::PaidNotSaved
        | Code::BadSignature
        | Code::UnknownWallet
        | Code::ChallengeUsed
        | Code::ChallengeExpired
        | Code::MethodNotAllowed
        | Code::MisdirectedHost
        | Code::NotMultipart
        | Code::MissingFile
        | Code::NoClientIp
        | Code::PasswordRequired
        | Code::WrongPassword
        | Code::EmailRequired
        | Code::InvalidCode
        | Code::ProofNeeded
        | Code::InvalidPasskey
        | Code::CrossSite
        | Code::MailNotConfigured
        | Code::ServiceWorkerRefused
        | Code::RangeNotSatisfiable
        | Code::RequestTimeout
        | Code::HeadersTooLarge => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_promised_about_what_may_have_been_stored() {
        for code in [Code::Internal, Code::StorageUnavailable, Code::TimedOut] {
            let said = next_step(code).unwrap();
            assert!(said.contains("whether it was done") && !said.contains("Nothing was"), "{said}");
            assert!(!code.meaning().contains("nothing was"), "{}", code.meaning());
        }
    }
}
