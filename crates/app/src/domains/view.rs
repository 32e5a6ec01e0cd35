//! A custom domain as its owner sees it: with the DNS records to enter and the state of its certificate.

use crate::app::App;
use crate::certificates::CertificateView;
use dropleaf_core::account::Account;
use dropleaf_core::certificate::CertificateState;
use dropleaf_core::custom_domain::{CustomDomain, DnsRecord, records, target_label};
use dropleaf_core::hostname::Hostname;
use dropleaf_core::{Error, Result};

#[derive(Debug, Clone)]
pub struct DomainView {
    pub domain: CustomDomain,
    /// What a CNAME record of the name must point to.
    pub cname_target: String,
    /// The records of which one is enough.
    pub records: Vec<DnsRecord>,
    pub certificate: CertificateView,
    /// The address of the site at this name.
    pub url: String,
}

impl App {
    /// The domains of an account, oldest first.
    pub async fn list_domains(&self, account: &Account) -> Result<Vec<DomainView>> {
        let mut views = Vec::new();
        for domain in self.store.list_domains(&account.id).await? {
            views.push(self.domain_view(domain).await?);
        }
        Ok(views)
    }

    pub async fn get_domain(&self, account: &Account, hostname: &str) -> Result<DomainView> {
        self.domain_view(self.get_own_domain(account, hostname).await?).await
    }

    /// The caller's own domain; a name of another account is not found.
    pub(super) async fn get_own_domain(&self, account: &Account, hostname: &str) -> Result<CustomDomain> {
        let unknown = || Error::not_found("domain");
        let name = Hostname::normalize_lookup(hostname).ok_or_else(unknown)?;
        self.store.find_domain(&account.id, &name).await?.ok_or_else(unknown)
    }

    pub(super) async fn domain_view(&self, domain: CustomDomain) -> Result<DomainView> {
        let name = domain.hostname.as_str();
        let mut certificate = self.certificate_view(name).await?;
        if !domain.is_verified() && certificate.state != CertificateState::External {
            // Nothing is ordered for it, and another account may have the name.
            certificate =
                CertificateView { state: CertificateState::None, expires_at: None, last_error: None };
        }
        let cname_target = self.cname_target(&domain.account_id, &domain.hostname);
        Ok(DomainView {
            records: records(&domain.hostname, &cname_target),
            url: self.hosts.domain_url(domain.hostname.as_str()),
            cname_target,
            certificate,
            domain,
        })
    }

    pub(super) fn cname_target(&self, account_id: &str, hostname: &Hostname) -> String {
        format!("{}.{}", target_label(&self.keys, account_id, hostname), self.hosts.site_host)
    }
}
