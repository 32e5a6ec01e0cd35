//! Advice for each error code that a tool can return. No wildcard arm, so that a new code needs a decision.

use dropleaf_core::Code;

/// None if the error description already says what to do, or if no tool returns the code.
#[expect(clippy::too_many_lines, reason = "a table: a line or two for each code")]
pub(super) const fn next_step(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NotFound => {
            "Call list_sites to see your pages, or list_versions, list_feedback or list_share_links for a single page."
        }
        Code::AuthRequired | Code::InvalidCredential => {
            "Ask the user to reconnect this client with a key or by signing in."
        }
        Code::InsufficientScope | Code::Forbidden => {
            "Ask the user to grant this client more access. With its current access this call is always refused."
        }
        Code::InvalidClaimToken => {
            "Check that the claim token belongs to this page. A claimed page needs no claim token."
        }
        Code::AlreadyClaimed => "The page belongs to another account. Publish it again with publish_html.",
        Code::InvalidUploadAddress => "Call create_upload again and use the new address.",
        Code::InvalidRequest | Code::InvalidField => "Correct the named argument and call the tool again.",
        Code::EmptyFile => "Send a complete document.",
        Code::UnsupportedType | Code::NotText | Code::InvalidPdf => {
            "Send HTML as `html` or Markdown as `markdown`; send other file types with create_upload."
        }
        Code::InvalidArchive | Code::MissingIndex | Code::ForbiddenName | Code::TooManyFiles => {
            "Create the archive again with index.html at its root and send it with create_upload."
        }
        Code::InvalidCiphertext => "Omit `e2e` unless the file is encrypted.",
        Code::TooLarge => {
            "Make it smaller: use fewer or smaller embedded images, or split it into several pages. get_me returns the limit; \
             get_content and read_site accept `max_bytes` and `offset`."
        }
        Code::ExecutableRefused => {
            "Remove the file, or publish from an account whose plan allows such files."
        }
        Code::TooManyScripts => "Omit `csp_strict` or combine the scripts into fewer elements.",
        Code::PhishingBlocked => {
            "Fix what `reasons` lists and publish again. If the refusal is a mistake, tell the user: they can request a review \
             by sending the same file to `appeal_url`."
        }
        Code::ContentBlocked => {
            "Do not publish this again. Tell the user why it was refused. If the refusal is a mistake, they can request a \
             review by sending the same file to `appeal_url`."
        }
        Code::SecretsFound => {
            "Remove what `reasons` lists. If it is intentional, ask the user, then send `pii_check` \"off\"."
        }
        Code::AccountSuspended => {
            "Tell the user that the operator of this server suspended the account. Only the operator can lift the suspension."
        }
        Code::InvalidSlug => {
            "Choose another slug: 3 to 63 characters of a-z, 0-9 and hyphens, with no hyphen at the start or end."
        }
        Code::SlugRequired => "Send a `slug` with visibility \"public\", or leave the page unlisted.",
        Code::SlugTaken => "Choose another slug.",
        Code::TooMany => {
            "Free up space first: use revoke_share_link for unused links or resolve_feedback for comments."
        }
        Code::Conflict => {
            "Read the page as it is now: read_site before edit_site, get_content before update_site. Apply your change to it, \
             and send the `updated_at` you read as `expected_updated_at`."
        }
        Code::EditNoMatch => {
            "Nothing was changed. Call read_site around `nearest_line`, copy the text exactly, and send all edits again."
        }
        Code::EditNotUnique => {
            "Nothing was changed. Include more of the surrounding text in `find`, or set `all`; then send all edits again."
        }
        Code::EditOverlap => "Nothing was changed. Combine the two edits into one and send all edits again.",
        Code::NotEditable => "Use update_site or create_upload to replace the whole content.",
        Code::Expired => {
            "If it is your page, call set_expiry with a later time to restore it, then try again."
        }
        Code::NotRestorable | Code::Deleted | Code::Burnt => {
            "It is permanently gone. Publish it again with publish_html."
        }
        Code::TakenDown => "The operator of this server removed it. Do not publish it again.",
        Code::PlanPageLimit => {
            "Call list_sites and ask the user which page to delete with delete_site. If the message names an unlock, the user \
             can buy it to raise the limit."
        }
        Code::PlanLifetimeLimit => {
            "Choose a shorter lifetime or omit `expires_in_hours`; get_me returns the limit. If the message names an unlock, \
             the user can buy it to raise the limit."
        }
        Code::PlanDomainLimit => {
            "Tell the user that the plan does not include custom domains. If the message names an unlock, the user can buy it."
        }
        Code::DomainExists => "Call list_custom_domains to see it, or verify_custom_domain to check it.",
        Code::DomainTaken => {
            "Tell the user that another account has proven this name. Its DNS record has to be removed first."
        }
        Code::PlanDailyLimit | Code::RateLimited | Code::Overloaded | Code::CheckUnavailable => {
            "Nothing was changed. Try the same call later."
        }
        Code::IdempotencyMismatch => {
            "Use a new `idempotency_key` (or a new upload address) for a different call."
        }
        Code::IdempotencyInFlight => "The first call is still in progress. Repeat the call in a moment.",
        Code::StorageFull => {
            "Tell the user that the operator of this server must free up storage. Reading still works."
        }
        Code::AnonymousStorageFull => "Publish with an API key. This limit applies only to anonymous pages.",
        // A write whose connection to the storage was lost may have been applied.
        Code::Internal | Code::StorageUnavailable | Code::TimedOut => {
            "This is a server error. Before you try again, check with get_site or list_sites whether the change was made."
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
        | Code::ProcessorUnavailable
        | Code::InvalidWebhook
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
        | Code::NotReady
        | Code::HeadersTooLarge => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_promised_about_what_may_have_been_stored() {
        for code in [Code::Internal, Code::StorageUnavailable, Code::TimedOut] {
            let advice = next_step(code).unwrap();
            assert!(
                advice.contains("whether the change was made") && !advice.contains("Nothing was"),
                "{advice}"
            );
            assert!(!code.meaning().contains("othing was"), "{}", code.meaning());
        }
    }
}
