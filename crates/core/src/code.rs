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
    AuthRequired = "auth required": "The request has no credential. Send `Authorization: Bearer stk_live_…`.";
    InvalidCredential = "invalid_credential": "The credential is malformed, unknown or revoked. Create a new key.";
    InvalidClaimToken = "invalid_claim_token": "The claim token does not belong to this page, or the page has already been claimed.";
    InvalidUploadAddress = "invalid_upload_address": "The upload address is invalid or expired, or the key or token that created it was revoked. Create a new one.";
    Forbidden = "forbidden": "The credential is valid but does not allow this operation.";
    InsufficientScope = "insufficient_scope": "The access token does not allow this operation. Request the scope in `WWW-Authenticate`.";
    NotFound = "not_found": "The resource does not exist, or the caller has no access to it.";
    MethodNotAllowed = "method_not_allowed": "The address does not support this method. `Allow` lists the supported methods.";
    MisdirectedHost = "misdirected_host": "This server is not configured for this host name. The description names the setting to change.";
    InvalidRequest = "invalid_request": "The request is malformed. The description says where.";
    NotMultipart = "not_multipart": "The body must be `multipart/form-data` with a `file` part.";
    MissingFile = "missing_file": "The form has no `file` part.";
    NoClientIp = "no_client_ip": "Anonymous uploads require a known client IP address, but the proxy did not forward it.";
    InvalidField = "invalid_field": "A field has the wrong type or is out of range. The description names it.";
    EmptyFile = "empty_file": "The file is empty.";
    UnsupportedType = "unsupported_type": "This file type is not supported, or the content does not match the file name. Supported types: .html, .htm, .md, .zip, .pdf, .svg, .txt, .csv, .tsv, .json, .ipynb, .png, .jpg, .gif, .webp and .avif.";
    NotText = "not_text": "The file name indicates text, but the file contains binary data.";
    InvalidPdf = "invalid_pdf": "The file is named .pdf but is not a PDF document.";
    InvalidArchive = "invalid_archive": "The zip archive is damaged or uses an unsupported feature. The description names the entry.";
    MissingIndex = "missing_index": "The archive has no `index.html` or `README.md` at its root and does not contain exactly one HTML file.";
    ForbiddenName = "forbidden_name": "An entry in the archive has a forbidden name. The description names the entry and the reason.";
    InvalidCiphertext = "invalid_ciphertext": "`e2e=true` was sent, but the payload is not AES-GCM ciphertext.";
    ExecutableRefused = "executable_refused": "The upload contains a program, an installer or another file that can run on a viewer's computer. The description names it. Only some plans allow such files.";
    TooLarge = "too_large": "The upload or its unpacked content exceeds the limit in the description.";
    TooManyFiles = "too_many_files": "The archive contains more files than the limit in the description.";
    TooManyScripts = "too_many_scripts": "The strict policy allows at most 64 inline scripts. Move some into files or omit `csp_strict`.";
    PhishingBlocked = "phishing_blocked": "The page looks like phishing. `reasons` lists what was found, where, and how to fix it. Nothing was stored or charged.";
    ContentBlocked = "content_blocked": "The operator took this content down before, or an external check refused it. `reasons` has the details. Nothing was stored or charged.";
    SecretsFound = "secrets_found": "The page appears to contain secrets or personal data, and `pii_check` is `block`. `reasons` lists the kinds and lines.";
    CheckUnavailable = "check_unavailable": "A required check is unavailable. Nothing was stored or charged. Try again later.";
    AccountSuspended = "account_suspended": "The operator of the server suspended the account. Its pages are offline, and nothing can be published or changed.";
    InvalidSlug = "invalid_slug": "The slug must have 3 to 63 characters: a–z, 0–9 and hyphens, but no hyphen at the start or end. It must not be a reserved name.";
    SlugRequired = "slug_required": "A public page needs a slug. Send one.";
    SlugTaken = "slug_taken": "Another page uses this slug, or it is reserved for its last owner.";
    DomainExists = "domain_exists": "The account already has this custom domain. Change or verify that one.";
    DomainTaken = "domain_taken": "Another account has verified this custom domain, and its DNS record still exists. Remove that record, then verify again.";
    TooMany = "too_many": "The page or account has the maximum number of these items. Remove some first.";
    Conflict = "conflict": "The page has changed since `expected_updated_at`. Read it again and retry.";
    EditNoMatch = "edit_no_match": "The text to find does not occur in the file. `edit` is the position of the edit in the list, `nearest_line` a similar line. Nothing was changed.";
    EditNotUnique = "edit_not_unique": "The text to find occurs more than once. `lines` lists where. Include more of the surrounding text, or set `all`. Nothing was changed.";
    EditOverlap = "edit_overlap": "Two edits match the same text. Combine them into one. Nothing was changed.";
    NotEditable = "not_editable": "This page or file cannot be edited in place: it is encrypted, deleted after its first view, not UTF-8 text, or generated from another file. Upload it again instead.";
    AlreadyClaimed = "already_claimed": "Another account has claimed this page.";
    NotRestorable = "not_restorable": "The page cannot be restored: the restore period is over, or its content was erased.";
    Expired = "expired": "The page has expired.";
    Deleted = "deleted": "The page was deleted by its owner.";
    Burnt = "burnt": "The page was set to be deleted after its first view, and has been viewed.";
    TakenDown = "taken_down": "The page was removed for abuse.";
    PasswordRequired = "password_required": "The page requires a password. Send it in the form field `password` or with `Authorization: Basic`.";
    WrongPassword = "wrong_password": "The password is wrong.";
    EmailRequired = "email_required": "The page requires an email address at a certain domain. Request a code by email and send it.";
    InvalidCode = "invalid_code": "The code is wrong, already used or expired. Request a new one.";
    ProofNeeded = "proof_needed": "This operation grants lasting access and requires a recent sign-in. Sign in again first.";
    InvalidPasskey = "invalid_passkey": "The passkey is unknown, or the response came too late. Try again or sign in by email.";
    CrossSite = "cross_site": "The request came from a web page of another origin, which is not allowed. Writes without a credential are accepted only from the origins in the setting `anonymous.origins`.";
    MailNotConfigured = "mail_not_configured": "The server cannot send email, so the page cannot verify addresses. Contact the operator.";
    ServiceWorkerRefused = "service_worker_refused": "Pages cannot install service workers.";
    RangeNotSatisfiable = "range_not_satisfiable": "The requested byte range is outside the file.";
    PlanPageLimit = "plan_page_limit": "The plan's limit of active pages has been reached. Delete a page or buy the named unlock.";
    PlanLifetimeLimit = "plan_lifetime_limit": "The plan does not allow such a long lifetime. Choose a shorter one or buy the named unlock.";
    PlanDomainLimit = "plan_domain_limit": "The plan does not include custom domains. Choose another plan or buy the named unlock.";
    PlanDailyLimit = "plan_daily_limit": "The plan's daily publish limit has been reached. `Retry-After` says when it resets.";
    PaymentRequired = "payment_required": "Payment is required. The terms are in `PAYMENT-REQUIRED` (x402 v2), `accepts` (x402 v1) and `WWW-Authenticate` (MPP).";
    PaymentRefused = "payment_refused": "The payment was not accepted. `reason` says why, and the response contains the terms.";
    InvalidPayment = "invalid_payment": "The payment header is invalid, or there is more than one. Send exactly one payment header.";
    RailNotLive = "rail_not_live": "This server does not accept payments with this protocol. Nothing was charged. `GET /provision` lists the available protocols.";
    PaymentUsed = "payment_used": "This payment was already used for something else, or its response is no longer available (see `reason`). Nothing was charged again. To change the page, use its claim token or the wallet's signature. To buy something else, sign a new payment.";
    NotOnSale = "not_on_sale": "This cannot be bought here. The description says why and what to do instead. Nothing was charged.";
    PaymentInFlight = "payment_in_flight": "An earlier request is still settling this payment. Send the same request again in a moment.";
    FacilitatorUnavailable = "facilitator_unavailable": "The payment facilitator is unreachable or failed. Nothing was created or charged. Try again later.";
    ProcessorUnavailable = "processor_unavailable": "The card processor is unreachable or failed. Nothing was created. Try again later.";
    InvalidWebhook = "invalid_webhook": "The webhook is not signed by the card processor, or is not an event.";
    SettlementUnknown = "settlement_unknown": "The outcome of the payment is not known yet. Send the same request with the same payment header again. Do not sign a new payment.";
    PaidNotSaved = "paid_not_saved": "The payment is settled, but the purchase could not be saved yet. Send the same request with the same payment header again. Keep the transaction hash for support.";
    BadSignature = "bad_signature": "The signature does not match the wallet that requested the challenge. Sign `message` exactly as sent, with `personal_sign`.";
    UnknownWallet = "unknown_wallet": "No live page can be changed with this wallet's signature. Use the claim token.";
    ChallengeUsed = "challenge_used": "The challenge has already been used. Request a new one.";
    ChallengeExpired = "challenge_expired": "The challenge is older than 5 minutes. Request a new one.";
    RateLimited = "rate_limited": "Too many requests. `Retry-After` says how long to wait.";
    IdempotencyMismatch = "idempotency_mismatch": "This Idempotency-Key was used before with a different request.";
    IdempotencyInFlight = "idempotency_in_flight": "The first request with this Idempotency-Key is still in progress.";
    RequestTimeout = "request_timeout": "The request did not arrive in time.";
    HeadersTooLarge = "headers_too_large": "The headers or the address of the request are too long.";
    StorageFull = "storage_full": "The server has no storage space left. Nothing was stored. Reading still works.";
    AnonymousStorageFull = "anonymous_storage_full": "The storage for anonymous pages on this server or from this network is full. Nothing was stored. Try again later or publish with an account.";
    StorageUnavailable = "storage_unavailable": "The server cannot reach its storage. The change may or may not have been made. Check, then try again shortly.";
    Overloaded = "overloaded": "The server is busy. Nothing was changed. Try again shortly.";
    NotReady = "not_ready": "The server is starting or stopping. Nothing was changed. Send the request to another node, or try again shortly.";
    TimedOut = "timed_out": "The request timed out. The change may still be applied. Check first, or send it again with the same Idempotency-Key.";
    Internal = "internal": "An internal error occurred. The operator can find it in the log by the request ID.";
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
