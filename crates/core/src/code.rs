//! Every stable error code a client can receive, with its meaning.
//! The HTTP layer maps codes to statuses in one table.

macro_rules! codes {
    ($($variant:ident = $text:literal : $meaning:literal;)*) => {
        /// A stable, machine-readable error code. Clients match on [`Code::as_str`], which never changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $meaning] $variant,)* }

        impl Code {
            /// Every code, in the order of the errors page.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The string sent as `error`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// What the code means and what to do, in one sentence for the errors page.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    AuthRequired = "auth required": "The request carries no credential; send `Authorization: Bearer stk_live_…`.";
    InvalidCredential = "invalid_credential": "The credential is malformed, unknown or revoked; make a new key.";
    InvalidClaimToken = "invalid_claim_token": "The claim token does not belong to this page, or the page is claimed already.";
    InvalidUploadAddress = "invalid_upload_address": "The upload address is not one of ours, too old, or ended with the key or access it was made with; make a new one.";
    Forbidden = "forbidden": "The credential is good but does not allow this act.";
    InsufficientScope = "insufficient_scope": "The access token does not allow this act; ask for the scope in `WWW-Authenticate`.";
    NotFound = "not_found": "Nothing with that name exists for this caller.";
    MethodNotAllowed = "method_not_allowed": "The address exists, but not with this method; `Allow` lists the ones it takes.";
    MisdirectedHost = "misdirected_host": "The server does not answer for this host name; the message names the setting to change.";
    InvalidRequest = "invalid_request": "The request could not be understood; the description says where.";
    NotMultipart = "not_multipart": "The body must be `multipart/form-data` with a `file` part.";
    MissingFile = "missing_file": "The form has no `file` part.";
    NoClientIp = "no_client_ip": "An anonymous upload must come from a client whose address is known; the proxy did not pass it on.";
    InvalidField = "invalid_field": "A field has the wrong type or a value outside its range; the description names it.";
    EmptyFile = "empty_file": "The file has no content.";
    UnsupportedType = "unsupported_type": "Not a kind of file that is hosted: .html, .htm, .md, .zip, .pdf, .svg, .txt, .csv, .tsv, .json, .ipynb, .png, .jpg, .gif, .webp and .avif are; or the content is not what the name says.";
    NotText = "not_text": "The file is named as text but holds binary data.";
    InvalidPdf = "invalid_pdf": "The file is named .pdf but is no PDF document.";
    InvalidArchive = "invalid_archive": "The zip archive is damaged or uses a feature that is refused; the description names the entry.";
    MissingIndex = "missing_index": "The archive has no `index.html` or `README.md` at its root, and not exactly one HTML file.";
    ForbiddenName = "forbidden_name": "An entry of the archive has a name that is refused; the description names it and says why.";
    InvalidCiphertext = "invalid_ciphertext": "`e2e=true` was sent, but the payload is no AES-GCM ciphertext.";
    ExecutableRefused = "executable_refused": "The upload holds a program, an installer or another file that runs on a viewer's computer; the description names it. They are taken from accounts whose plan allows them.";
    TooLarge = "too_large": "The upload, or what it unpacks to, is over the limit in the description.";
    TooManyFiles = "too_many_files": "The archive holds more files than the limit in the description.";
    TooManyScripts = "too_many_scripts": "A strict policy names each inline script, and there are more than 64; move some into files, or leave `csp_strict` out.";
    PhishingBlocked = "phishing_blocked": "The page looks as if it would harvest secrets; `reasons` says what was found, where, and what would help. Nothing was stored or charged.";
    ContentBlocked = "content_blocked": "The operator has removed this content from the server before, or an outside check refuses it; `reasons` says more. Nothing was stored or charged.";
    SecretsFound = "secrets_found": "The page holds what looks like secrets or personal data, and `pii_check` is `block`; `reasons` names the kinds and lines.";
    CheckUnavailable = "check_unavailable": "A check that every page must pass cannot be reached; nothing was stored or charged. Try again later.";
    AccountSuspended = "account_suspended": "The account is suspended by the operator of the server; its pages are not shown, and nothing can be published or changed.";
    InvalidSlug = "invalid_slug": "The slug must be 3 to 63 of a–z, 0–9 and inner hyphens, and not a reserved name.";
    SlugRequired = "slug_required": "A public page needs a slug; send one.";
    SlugTaken = "slug_taken": "Another page uses this slug, or it is held for its last owner.";
    TooMany = "too_many": "There are as many of these as there may be on one page or in one account; remove some first.";
    Conflict = "conflict": "The page changed since `expected_updated_at`; read it again and retry.";
    AlreadyClaimed = "already_claimed": "Another account has claimed this page.";
    NotRestorable = "not_restorable": "The page cannot be brought back: its time for that is over, or it was erased.";
    Expired = "expired": "The page has reached its expiry.";
    Deleted = "deleted": "The page was deleted by its owner.";
    Burnt = "burnt": "The page was set to be deleted after its first view, and has been viewed.";
    TakenDown = "taken_down": "The page was removed for abuse.";
    PasswordRequired = "password_required": "The page asks for a password; send it as a form field `password` or with `Authorization: Basic`.";
    WrongPassword = "wrong_password": "The password is not the page's.";
    EmailRequired = "email_required": "The page is open to addresses of one domain; ask for a code by e-mail and send it.";
    InvalidCode = "invalid_code": "The code is wrong, used, or too old; ask for a new one.";
    ProofNeeded = "proof_needed": "This hands out lasting access, and the sign-in is too old for it; sign in again first.";
    InvalidPasskey = "invalid_passkey": "The passkey is not known here, or the answer came too late; try again or sign in by e-mail.";
    CrossSite = "cross_site": "The request came from a web page of another origin, and only the page itself may send it; writes without a credential are taken from origins in the setting `anonymous.origins`.";
    MailNotConfigured = "mail_not_configured": "The server has no way to send mail, so the page cannot check addresses; tell its operator.";
    ServiceWorkerRefused = "service_worker_refused": "Pages here may not install service workers.";
    RangeNotSatisfiable = "range_not_satisfiable": "The requested byte range lies outside the file.";
    PlanPageLimit = "plan_page_limit": "The plan's number of active pages is used up; delete one or lift the limit with the named unlock.";
    PlanLifetimeLimit = "plan_lifetime_limit": "The plan does not allow a page to live that long; ask for less or lift the limit with the named unlock.";
    PlanDailyLimit = "plan_daily_limit": "The plan's publishes for today are used up; `Retry-After` says when it starts again.";
    PaymentRequired = "payment_required": "This has to be paid for; the terms are in `PAYMENT-REQUIRED` (x402 v2) and in `accepts` (x402 v1).";
    PaymentRefused = "payment_refused": "The payment was not accepted; `reason` says why, and the terms are in the answer.";
    InvalidPayment = "invalid_payment": "The payment header cannot be read, or there is more than one; send exactly one proof.";
    RailNotLive = "rail_not_live": "Payments by this protocol are not taken here; nothing was charged. Pay with x402: `PAYMENT-SIGNATURE` or `X-PAYMENT`; `GET /provision` lists what is live.";
    PaymentUsed = "payment_used": "This payment has bought something else, or its answer is no longer shown (`reason`); nothing was charged again. Change the page with its claim token or the wallet's signature; to buy something else, sign a new payment.";
    NotOnSale = "not_on_sale": "This cannot be bought here; the message says why, and what can be done instead. Nothing was charged.";
    PaymentInFlight = "payment_in_flight": "This payment is being settled by an earlier request; send the same request again in a moment.";
    FacilitatorUnavailable = "facilitator_unavailable": "The payment facilitator cannot be reached or failed; nothing was made and nothing was charged. Try again later.";
    SettlementUnknown = "settlement_unknown": "Whether the money moved is not known yet. Send the same request with the same payment header again; do not sign a new payment.";
    PaidNotSaved = "paid_not_saved": "The payment is settled, but what it buys could not be saved yet. Send the same request with the same payment header again; keep the transaction for support.";
    BadSignature = "bad_signature": "The signature is not that of the wallet the challenge was made for; sign `message` exactly, with `personal_sign`.";
    UnknownWallet = "unknown_wallet": "No page was paid for by this wallet, or not in a way it can prove; use the claim token.";
    ChallengeUsed = "challenge_used": "The challenge was used before; ask for a new one.";
    ChallengeExpired = "challenge_expired": "The challenge is older than 5 minutes; ask for a new one.";
    RateLimited = "rate_limited": "Too many requests; `Retry-After` says how long to wait.";
    IdempotencyMismatch = "idempotency_mismatch": "This Idempotency-Key was used before with a different request.";
    IdempotencyInFlight = "idempotency_in_flight": "The first request with this Idempotency-Key is still being worked on.";
    RequestTimeout = "request_timeout": "The request did not arrive in time.";
    HeadersTooLarge = "headers_too_large": "The request's headers or address are too long.";
    StorageFull = "storage_full": "The server has no room left; nothing was stored. Reading still works.";
    AnonymousStorageFull = "anonymous_storage_full": "Anonymous pages have used all their storage, on this server or of this network; nothing was stored. Try again later or publish with an account.";
    StorageUnavailable = "storage_unavailable": "The server cannot reach its storage; whether a change was made is not certain. Look, and try again shortly.";
    Overloaded = "overloaded": "The server is busy; nothing was changed. Try again shortly.";
    TimedOut = "timed_out": "The request timed out; the change may still be applied. Check first, or send it again with the same Idempotency-Key.";
    Internal = "internal": "Something went wrong on the server; the request id finds it in the log.";
}

#[cfg(test)]
mod tests {
    use super::Code;
    use std::collections::HashSet;

    #[test]
    fn codes_are_unique_and_stable_in_shape() {
        let seen: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(seen.len(), Code::ALL.len());
        for code in Code::ALL {
            let snake = code.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(snake || *code == Code::AuthRequired, "{}", code.as_str());
        }
    }
}
