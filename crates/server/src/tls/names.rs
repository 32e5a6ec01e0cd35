//! The names that a certificate is valid for, and the names under which the server's own certificates are kept.

use anyhow::{Context, Result, anyhow};
use dropleaf_core::host::Hosts;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// The DNS names of a certificate, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CertificateNames(Vec<String>);

impl CertificateNames {
    /// Of the first certificate in a PEM file. None without a file.
    pub(crate) fn of_file(path: &str) -> Result<Self> {
        if path.is_empty() {
            return Ok(Self::default());
        }
        let pem = std::fs::read(path).with_context(|| format!("cannot read {path}"))?;
        Self::of_pem(&pem).with_context(|| format!("in {path}"))
    }

    pub(super) fn of_pem(chain: &[u8]) -> Result<Self> {
        let leaf = CertificateDer::from_pem_slice(chain).context("there is no certificate")?;
        Self::of_der(&leaf)
    }

    pub(crate) fn of_der(leaf: &[u8]) -> Result<Self> {
        let (_, leaf) =
            X509Certificate::from_der(leaf).map_err(|error| anyhow!("bad certificate: {error}"))?;
        let names = leaf.subject_alternative_name().context("bad subject alternative names")?;
        let names = names.iter().flat_map(|names| &names.value.general_names);
        Ok(Self(
            names
                .filter_map(|name| match name {
                    GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
                    _ => None,
                })
                .collect(),
        ))
    }

    /// Whether the certificate is valid for a name in lower case. A wildcard stands for one label; a name may be a wildcard
    /// itself.
    pub(crate) fn cover(&self, name: &str) -> bool {
        let parent = name.split_once('.').map(|(_, parent)| parent);
        self.0.iter().any(|own| own == name || own.strip_prefix("*.").is_some_and(|own| parent == Some(own)))
    }

    pub(super) fn all(&self) -> &[String] {
        &self.0
    }
}

/// When the first certificate of a PEM text expires.
pub(super) fn expiry_of_pem(chain: &[u8]) -> Result<i64> {
    let leaf = CertificateDer::from_pem_slice(chain).context("there is no certificate")?;
    let (_, leaf) = X509Certificate::from_der(&leaf).map_err(|error| anyhow!("bad certificate: {error}"))?;
    Ok(leaf.validity().not_after.timestamp())
}

/// Whether a name, in lower case, is one of the server's own, on any of its ports.
pub(super) fn is_own(hosts: &Hosts, name: &str) -> bool {
    let ports =
        [Some(hosts.base.port), Some(hosts.site.port), hosts.agents.as_ref().map(|agents| agents.port)];
    ports.into_iter().flatten().any(|port| hosts.is_ours(name, port))
}

/// Whether one of the settings has this host.
pub(super) fn is_own_host(hosts: &Hosts, name: &str) -> bool {
    let agents = hosts.agents.as_ref().map(|agents| &agents.host);
    [&hosts.base.host, &hosts.site.host].into_iter().chain(agents).any(|host| host == name)
}

/// The wildcard that covers the host of a page.
pub(super) fn page_wildcard(hosts: &Hosts, name: &str) -> Option<String> {
    let (label, parent) = name.split_once('.')?;
    (hosts.isolated && !label.is_empty() && parent == hosts.site_host).then(|| format!("*.{parent}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::host::Origin;

    #[test]
    fn wildcard_covers_one_label() {
        let names = CertificateNames(vec!["pages.example.net".into(), "*.pages.example.net".into()]);
        for name in ["pages.example.net", "a.pages.example.net", "*.pages.example.net"] {
            assert!(names.cover(name), "{name}");
        }
        for name in ["example.net", "a.b.pages.example.net", "pages.example.net.evil.example", "", "."] {
            assert!(!names.cover(name), "{name}");
        }
    }

    #[test]
    fn only_hosts_of_pages_share_the_wildcard() {
        let base = Origin::parse("https://api.example.com").unwrap();
        let site = Origin::parse("https://pages.example.net:8443").unwrap();
        let hosts = Hosts::new(base, site, "pages.example.net".into(), true);
        assert_eq!(page_wildcard(&hosts, "s-abc.pages.example.net").unwrap(), "*.pages.example.net");
        for name in ["pages.example.net", "a.b.pages.example.net", ".pages.example.net", "a.api.example.com"]
        {
            assert_eq!(page_wildcard(&hosts, name), None, "{name}");
        }
        assert!(is_own(&hosts, "s-abc.pages.example.net") && is_own(&hosts, "api.example.com"));
        assert!(!is_own(&hosts, "evilpages.example.net") && !is_own(&hosts, "example.com"));
    }
}
