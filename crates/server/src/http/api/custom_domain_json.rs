//! The JSON of a custom domain. Spec §2 `CustomDomain`.

use crate::http::state::ApiState;
use crate::http::string_enum::words;
use dropleaf_app::DomainView;
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::certificate::CertificateState;
use dropleaf_core::custom_domain::DomainStatus;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "hostname": "reports.customer.example", "unicode": "reports.customer.example", "site_id": "site_k3v5q7x2m4n6p8r1t9w0",
    "status": "pending", "primary": true, "url": "http://reports.customer.example:8080/",
    "cname_target": "d-k3v5q7x2m4n6p2r3t4w5.localhost",
    "records": [
        {"type": "CNAME", "name": "reports.customer.example", "value": "d-k3v5q7x2m4n6p2r3t4w5.localhost"},
        {"type": "TXT", "name": "_dropleaf.reports.customer.example", "value": "d-k3v5q7x2m4n6p2r3t4w5.localhost"}
    ],
    "certificate": {"state": "external", "expires_at": null, "last_error": null},
    "created_at": 1_794_706_860, "verified_at": null, "last_checked_at": null, "last_error": null,
    "next_check_at": 1_794_706_980
}))]
pub(in crate::http) struct CustomDomainJson {
    /// In lower-case ASCII (IDNA).
    hostname: String,
    /// The name as people read it.
    unicode: String,
    site_id: String,
    #[schema(schema_with = status)]
    status: &'static str,
    /// Whether the page's `url` shows this name while it is verified.
    primary: bool,
    /// The address of the page at this name. It works while `status` is `verified`.
    #[schema(format = "uri")]
    url: String,
    /// The value of the CNAME record; different for every account and name.
    cname_target: String,
    /// The DNS records of which one is enough; the recommended one first.
    records: Vec<DnsRecordJson>,
    certificate: DomainCertificateJson,
    created_at: i64,
    verified_at: Option<i64>,
    last_checked_at: Option<i64>,
    /// What the last check found, if it did not succeed.
    last_error: Option<String>,
    /// When it is checked automatically; null if only on request.
    next_check_at: Option<i64>,
    /// What was ignored; only in the response to a change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct DnsRecordJson {
    #[serde(rename = "type")]
    #[schema(schema_with = record_type)]
    kind: &'static str,
    name: String,
    value: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct DomainCertificateJson {
    #[schema(schema_with = certificate_state)]
    state: &'static str,
    expires_at: Option<i64>,
    last_error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct CustomDomainsJson {
    domains: Vec<CustomDomainJson>,
}

fn status() -> Object {
    let all = [DomainStatus::Pending, DomainStatus::Verified, DomainStatus::Failed];
    words(
        all.map(DomainStatus::as_str),
        Some(
            "`pending`: no record yet. `verified`: it works. `failed`: other records were found, or it lapsed.",
        ),
    )
}

fn record_type() -> Object {
    words(["CNAME", "TXT"], None)
}

fn certificate_state() -> Object {
    let all = [
        CertificateState::None,
        CertificateState::Pending,
        CertificateState::Issued,
        CertificateState::Failed,
        CertificateState::External,
    ];
    words(
        all.map(CertificateState::as_str),
        Some(
            "`none` until the name is verified. `external`: a proxy or the operator provides the certificate.",
        ),
    )
}

impl CustomDomainJson {
    pub(in crate::http) fn new(view: &DomainView) -> Self {
        let DomainView { domain, cname_target, records, certificate, url } = view;
        Self {
            hostname: domain.hostname.to_string(),
            unicode: domain.hostname.unicode(),
            site_id: domain.site_id.clone(),
            status: domain.status.as_str(),
            primary: domain.is_primary,
            url: url.clone(),
            cname_target: cname_target.clone(),
            records: records
                .iter()
                .map(|it| DnsRecordJson { kind: it.kind, name: it.name.clone(), value: it.value.clone() })
                .collect(),
            certificate: DomainCertificateJson {
                state: certificate.state.as_str(),
                expires_at: certificate.expires_at,
                last_error: certificate.last_error.clone(),
            },
            created_at: domain.created_at,
            verified_at: domain.verified_at.filter(|_| domain.is_verified()),
            last_checked_at: domain.last_checked_at,
            last_error: domain.last_error.clone(),
            next_check_at: domain.next_automatic_check(),
            warnings: Vec::new(),
        }
    }

    pub(in crate::http) fn warned(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }

    /// The response to a new domain.
    pub(super) fn written(view: &DomainView, warnings: Vec<String>) -> Vec<u8> {
        serde_json::to_vec(&Self::new(view).warned(warnings)).unwrap_or_default()
    }
}

impl CustomDomainsJson {
    pub(in crate::http) async fn of(state: &ApiState, account: &Account) -> Result<Self> {
        let views = state.app.list_domains(account).await?;
        Ok(Self { domains: views.iter().map(CustomDomainJson::new).collect() })
    }
}
