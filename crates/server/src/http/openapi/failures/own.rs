//! The errors that do not follow from an operation's description, by operation.

use super::STORED;
use dropleaf_core::Code;
use dropleaf_core::oauth::OAuthCode;

/// For operations that take a page: invalid content.
const PAGE: &[Code] = &[
    Code::EmptyFile,
    Code::UnsupportedType,
    Code::NotText,
    Code::InvalidPdf,
    Code::InvalidArchive,
    Code::MissingIndex,
    Code::ForbiddenName,
    Code::InvalidCiphertext,
    Code::TooManyFiles,
    Code::CheckUnavailable,
    Code::Overloaded,
];
/// For operations that make a page visible: content refused by the checks.
const JUDGED: &[Code] = &[
    Code::PhishingBlocked,
    Code::ContentBlocked,
    Code::SecretsFound,
    Code::TooManyScripts,
    Code::CheckUnavailable,
    Code::Overloaded,
];
const SLUG: &[Code] = &[Code::InvalidSlug, Code::SlugRequired, Code::SlugTaken];
const PLAN: &[Code] = &[Code::PlanPageLimit, Code::PlanLifetimeLimit, Code::PlanDailyLimit];

/// Errors of operations besides those that follow from their descriptions.
const OWN: &[(&[&str], &[&[Code]])] = &[
    (
        &["createSite"],
        &[
            &[Code::AuthRequired, Code::NoClientIp, Code::AnonymousStorageFull, Code::ExecutableRefused],
            SLUG,
            PLAN,
            PAGE,
            JUDGED,
        ],
    ),
    (
        &["replaceSite"],
        &[
            &[
                Code::Forbidden,
                Code::Conflict,
                Code::Expired,
                Code::AnonymousStorageFull,
                Code::ExecutableRefused,
            ],
            SLUG,
            PLAN,
            PAGE,
            JUDGED,
        ],
    ),
    (
        &["editContent"],
        &[
            &[
                Code::Conflict,
                Code::Expired,
                Code::EditNoMatch,
                Code::EditNotUnique,
                Code::EditOverlap,
                Code::NotEditable,
                Code::AnonymousStorageFull,
                Code::ExecutableRefused,
                Code::PlanDailyLimit,
            ],
            PAGE,
            JUDGED,
        ],
    ),
    (
        &["putFile"],
        &[
            &[
                Code::Conflict,
                Code::Expired,
                Code::NotEditable,
                Code::AnonymousStorageFull,
                Code::ExecutableRefused,
                Code::PlanDailyLimit,
            ],
            PAGE,
            JUDGED,
        ],
    ),
    (
        &["deleteFile"],
        &[
            &[
                Code::InvalidField,
                Code::Conflict,
                Code::Expired,
                Code::NotEditable,
                Code::MissingIndex,
                Code::AnonymousStorageFull,
                Code::ExecutableRefused,
                Code::PlanDailyLimit,
            ],
            JUDGED,
        ],
    ),
    (
        &["putUpload", "postUpload"],
        &[
            &[
                Code::InvalidUploadAddress,
                Code::ExecutableRefused,
                Code::AccountSuspended,
                Code::InsufficientScope,
                Code::RateLimited,
                Code::Conflict,
                Code::Expired,
            ],
            &[Code::IdempotencyInFlight, Code::IdempotencyMismatch],
            SLUG,
            PLAN,
            PAGE,
            JUDGED,
        ],
    ),
    (
        &["checkPage"],
        &[&[Code::InvalidCredential, Code::RateLimited], &[Code::InvalidSlug, Code::SlugRequired], PAGE],
    ),
    (&["createAppeal"], &[&[Code::NoClientIp, Code::SecretsFound], PAGE]),
    (&["changeSite"], &[&[Code::Conflict, Code::Overloaded], SLUG, PLAN, JUDGED]),
    (&["deleteSite"], &[&[Code::Conflict]]),
    (
        &["restoreSite"],
        &[&[Code::Conflict, Code::Expired, Code::NotRestorable, Code::ExecutableRefused], PLAN, JUDGED],
    ),
    (&["rollbackSite"], &[&[Code::Conflict, Code::Expired, Code::ExecutableRefused], JUDGED]),
    (
        &["claimSite"],
        &[&[Code::InvalidClaimToken, Code::AlreadyClaimed, Code::Conflict, Code::Expired], PLAN],
    ),
    (&["diffVersions"], &[&[Code::InvalidField, Code::Overloaded]]),
    (&["createApiKey"], &[&[Code::TooMany]]),
    (&["createWebhook"], &[&[Code::TooMany, Code::NotFound]]),
    (&["receiveWebhookEvents"], &[&[Code::Conflict]]),
    (&["testWebhook", "retryWebhookDelivery"], &[&[Code::Conflict, Code::RateLimited]]),
    (&["createDeviceToken"], &[&[Code::RateLimited, Code::TooMany]]),
    (&["createShareToken"], &[&[Code::Expired, Code::TooMany]]),
    (&["replyToFeedback", "reopenFeedback"], &[&[Code::TooMany]]),
    (
        &["addCustomDomain"],
        &[&[Code::NotFound, Code::PlanDomainLimit, Code::DomainExists, Code::TooMany, Code::Conflict]],
    ),
    (&["changeCustomDomain", "deleteCustomDomain"], &[&[Code::Conflict]]),
    (&["verifyCustomDomain"], &[&[Code::PlanDomainLimit, Code::DomainTaken, Code::Conflict]]),
    (&["createWalletChallenge"], &[&[Code::UnknownWallet, Code::RateLimited]]),
    (&["getPublishTerms"], &[&[Code::NotOnSale, Code::FacilitatorUnavailable]]),
    (
        &["publishPaid"],
        &[&[
            Code::EmptyFile,
            Code::NotText,
            Code::PhishingBlocked,
            Code::ContentBlocked,
            Code::SecretsFound,
            Code::CheckUnavailable,
        ]],
    ),
    (&["provisionKey"], &[&[Code::Forbidden, Code::ProcessorUnavailable]]),
    (
        &["createPaySession"],
        &[&[
            Code::AuthRequired,
            Code::RailNotLive,
            Code::Forbidden,
            Code::Conflict,
            Code::NotOnSale,
            Code::NoClientIp,
        ]],
    ),
    (
        &["receiveCardEvent"],
        &[&[Code::InvalidWebhook, Code::NotFound, Code::Conflict, Code::ProcessorUnavailable]],
    ),
    (&["postMcp"], &[&[Code::CrossSite, Code::NotFound, Code::TooMany]]),
    (
        &["openMcpStream", "endMcpSession"],
        &[&[Code::CrossSite, Code::NotFound, Code::MethodNotAllowed, Code::InvalidRequest]],
    ),
    (
        &["registerClient", "createToken", "revokeToken", "authorizeDevice", "createDeviceCode"],
        &[&[Code::RateLimited]],
    ),
    (&["authorize"], &[&[Code::CrossSite, Code::RateLimited], STORED]),
    (&["getReadiness"], &[STORED, &[Code::NotReady]]),
    (&["getServiceRecord"], &[STORED]),
    (&["allowCertificate"], &[&[Code::InvalidField, Code::NotFound]]),
    (
        &[
            "getContent",
            "listSites",
            "downloadSite",
            "listTransactions",
            "listFeedback",
            "listWebhookDeliveries",
            "unlockFeature",
            "listPaidResources",
        ],
        &[&[Code::InvalidField]],
    ),
];

/// The errors of OAuth endpoints, with the codes of the RFCs.
const OWN_OAUTH: &[(&[&str], &[OAuthCode])] = &[
    (&["registerClient"], &[OAuthCode::InvalidClientMetadata, OAuthCode::InvalidRedirectUri]),
    (
        &["createToken"],
        &[
            OAuthCode::InvalidRequest,
            OAuthCode::InvalidGrant,
            OAuthCode::UnauthorizedClient,
            OAuthCode::UnsupportedGrantType,
            OAuthCode::InvalidScope,
            OAuthCode::InvalidTarget,
            OAuthCode::AuthorizationPending,
            OAuthCode::SlowDown,
            OAuthCode::AccessDenied,
            OAuthCode::ExpiredToken,
            OAuthCode::InvalidClient,
        ],
    ),
    (&["revokeToken"], &[OAuthCode::InvalidRequest, OAuthCode::InvalidClient]),
    (
        &["authorizeDevice"],
        &[
            OAuthCode::InvalidRequest,
            OAuthCode::InvalidScope,
            OAuthCode::InvalidTarget,
            OAuthCode::UnauthorizedClient,
            OAuthCode::InvalidClient,
        ],
    ),
    (
        &["createDeviceToken"],
        &[
            OAuthCode::InvalidRequest,
            OAuthCode::AuthorizationPending,
            OAuthCode::SlowDown,
            OAuthCode::AccessDenied,
            OAuthCode::ExpiredToken,
            OAuthCode::InvalidGrant,
        ],
    ),
];

/// The error codes of an operation.
pub(super) fn codes(operation_id: &str) -> impl Iterator<Item = Code> {
    named(OWN, operation_id).into_iter().flatten().copied().flatten().copied()
}

/// The OAuth error codes of an operation.
pub(super) fn oauth_codes(operation_id: &str) -> impl Iterator<Item = OAuthCode> {
    named(OWN_OAUTH, operation_id).into_iter().flatten().copied()
}

fn named<T: Copy>(table: &[(&[&str], T)], operation_id: &str) -> Option<T> {
    table.iter().find(|(names, _)| names.contains(&operation_id)).map(|(_, codes)| *codes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::HashSet;

    #[test]
    fn every_operation_that_is_named_is_in_the_document_and_named_once() {
        let document: Value = serde_json::from_str(&super::super::super::text()).unwrap();
        let items = document["paths"].as_object().unwrap().values();
        let operations = items.flat_map(|item| item.as_object().unwrap().values());
        let known: HashSet<&str> = operations.filter_map(|it| it["operationId"].as_str()).collect();
        let api = OWN.iter().flat_map(|(names, _)| *names).collect::<Vec<_>>();
        let oauth = OWN_OAUTH.iter().flat_map(|(names, _)| *names).collect::<Vec<_>>();
        for names in [api, oauth] {
            let mut seen = HashSet::new();
            for name in names {
                assert!(known.contains(name), "no operation is called {name}");
                assert!(seen.insert(name), "{name} is named twice");
            }
        }
    }
}
