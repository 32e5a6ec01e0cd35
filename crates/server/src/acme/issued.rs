//! Reads a certificate that the authority issued, and refuses one that cannot be used.

use anyhow::{Context, Result, ensure};
use dropleaf_app::NewCertificate;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

/// The most certificates in a chain.
const CHAIN_MOST: usize = 10;

/// Checks that the chain is for this name and key.
pub(super) fn read(name: &str, chain_pem: &str, key_pem: &str) -> Result<NewCertificate> {
    let chain = chain(chain_pem.as_bytes())?;
    let leaf = chain.first().context("the authority sent no certificate")?.clone();
    let (_, parsed) = X509Certificate::from_der(&leaf).ok().context("the certificate cannot be read")?;
    ensure!(names(&parsed).any(|it| it.eq_ignore_ascii_case(name)), "the certificate is for another name");
    let validity = parsed.validity();
    let (not_before, not_after) = (validity.not_before.timestamp(), validity.not_after.timestamp());
    let serial = parsed.tbs_certificate.raw_serial_as_string().replace(':', "");
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).context("the key cannot be read")?;
    let provider = rustls::crypto::ring::default_provider();
    let certified =
        CertifiedKey::from_der(chain, key, &provider).context("the certificate cannot be used")?;
    certified.keys_match().context("the certificate is for another key")?;
    let mut pem = chain_pem.trim_end().as_bytes().to_vec();
    pem.push(b'\n');
    pem.extend_from_slice(key_pem.as_bytes());
    Ok(NewCertificate { serial, not_before, not_after, chain_and_key_pem: pem })
}

/// The certificates of a PEM text, leaf first.
pub(super) fn chain(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_slice_iter(pem).take(CHAIN_MOST).collect::<Result<Vec<_>, _>>();
    chain.context("the chain cannot be read")
}

fn names<'a>(certificate: &'a X509Certificate<'a>) -> impl Iterator<Item = &'a str> {
    let extension = certificate.subject_alternative_name().ok().flatten();
    extension.into_iter().flat_map(|it| &it.value.general_names).filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(*name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, SerialNumber};

    fn signed(names: &[&str], key: &KeyPair) -> String {
        let mut params =
            CertificateParams::new(names.iter().map(|&it| it.to_owned()).collect::<Vec<_>>()).unwrap();
        params.not_before = rcgen::date_time_ymd(2026, 1, 1);
        params.not_after = rcgen::date_time_ymd(2026, 1, 7);
        params.serial_number = Some(SerialNumber::from_slice(&[0x0a, 0xff]));
        params.self_signed(key).unwrap().pem()
    }

    #[test]
    fn serial_number_and_lifetime_come_from_the_certificate() {
        let key = KeyPair::generate().unwrap();
        let new = read("*.example.com", &signed(&["*.example.com"], &key), &key.serialize_pem()).unwrap();
        assert_eq!(new.serial, "0aff");
        assert_eq!(new.not_after - new.not_before, 6 * 86_400);
        let pem = String::from_utf8(new.chain_and_key_pem).unwrap();
        assert_eq!(
            (pem.matches("BEGIN CERTIFICATE").count(), pem.matches("BEGIN PRIVATE KEY").count()),
            (1, 1)
        );
        assert_eq!(chain(pem.as_bytes()).unwrap().len(), 1);
    }

    #[test]
    fn a_certificate_for_another_name_or_key_is_refused() {
        let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let pem = signed(&["a.example.com"], &key);
        let why = |name: &str, pem: &str, key: &KeyPair| {
            read(name, pem, &key.serialize_pem()).unwrap_err().to_string()
        };
        assert!(why("b.example.com", &pem, &key).contains("another name"));
        assert!(why("a.example.com", &pem, &other).contains("cannot be used"));
        assert!(why("a.example.com", "", &key).contains("no certificate"));
    }
}
