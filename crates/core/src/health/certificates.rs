//! Judges the certificates that clients get at the public addresses, and the orders for new ones.

use super::{Check, Finding, span};
use crate::certificate::Certificate;

/// Who is responsible for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateSource {
    Proxy,
    Files,
    Acme,
}

/// What a server presented.
#[derive(Debug, Clone)]
pub struct Presented {
    pub not_before: i64,
    pub not_after: i64,
    pub covers_name: bool,
    /// Why clients would not trust its issuer. Expiry and names are judged separately.
    pub untrusted: Option<String>,
}

/// A name and the certificate that clients get for it.
#[derive(Debug, Clone)]
pub struct NamedCertificate {
    /// A host name, or a wildcard that was tried with a random name.
    pub name: String,
    /// `Err`: why there was no handshake.
    pub presented: Result<Presented, String>,
}

/// Without names, the public addresses use plain HTTP.
pub fn certificates(
    names: &[NamedCertificate],
    source: CertificateSource,
    now: i64,
    is_running: bool,
) -> Finding {
    const CHECK: Check = Check::Certificate;
    let parts = names.iter().map(|it| judge(it, source, now, is_running)).collect();
    Finding::join(CHECK, parts).unwrap_or_else(|| {
        Finding::ok(CHECK, "The public addresses use plain HTTP, so there is no certificate.")
    })
}

fn judge(it: &NamedCertificate, source: CertificateSource, now: i64, is_running: bool) -> Finding {
    const CHECK: Check = Check::Certificate;
    let name = &it.name;
    let presented = match &it.presented {
        Ok(presented) => presented,
        Err(_) if !is_running && source != CertificateSource::Proxy => {
            return Finding::not_checked(
                CHECK,
                format!("No certificate was presented for {name}, because the server is not running."),
            );
        }
        Err(why) => {
            return Finding::problem(
                CHECK,
                format!("No certificate was presented for {name}: {why}."),
                obtain(name, source),
            );
        }
    };
    if presented.not_after <= now {
        let ago = span(now - presented.not_after);
        return Finding::problem(
            CHECK,
            format!("The certificate for {name} expired {ago} ago."),
            renew(name, source),
        );
    }
    if presented.not_before > now {
        return Finding::problem(
            CHECK,
            format!("The certificate for {name} is valid only in {}.", span(presented.not_before - now)),
            "Check the clock of this machine: `timedatectl`.",
        );
    }
    if !presented.covers_name {
        return Finding::problem(
            CHECK,
            format!("The certificate presented for {name} is for other names."),
            obtain(name, source),
        );
    }
    if let Some(why) = &presented.untrusted {
        return Finding::problem(
            CHECK,
            format!("Clients do not trust the certificate for {name}: {why}."),
            "Use a certificate of a public authority, with its intermediate certificates in the same file (fullchain.pem).",
        );
    }
    let (left, life) = (presented.not_after - now, presented.not_after - presented.not_before);
    if left < life / 6 {
        return Finding::warning(
            CHECK,
            format!("The certificate for {name} expires in {} and has not been renewed.", span(left)),
            renew(name, source),
        );
    }
    Finding::ok(CHECK, format!("The certificate for {name} is valid for {}.", span(left)))
}

fn renew(name: &str, source: CertificateSource) -> String {
    match source {
        CertificateSource::Proxy => {
            "Renew the certificate of the reverse proxy; its log says why that failed.".to_owned()
        }
        CertificateSource::Files => {
            "Replace the files of `tls.cert_file` and `tls.key_file`; the server loads them within seconds."
                .to_owned()
        }
        CertificateSource::Acme => {
            format!("Run `dropleaf certs list` to see why, then `dropleaf certs renew '{name}'`.")
        }
    }
}

fn obtain(name: &str, source: CertificateSource) -> String {
    match source {
        CertificateSource::Proxy => format!("Give the reverse proxy a certificate for {name}, and check that it listens on this address."),
        CertificateSource::Files => format!("Use a certificate that covers {name} in `tls.cert_file` and `tls.key_file`."),
        CertificateSource::Acme if name.starts_with("*.") => {
            "Set `tls.acme.dns_hook` or `tls.acme.rfc2136_server`, which wildcard certificates need, then run `dropleaf certs list`.".to_owned()
        }
        CertificateSource::Acme => format!("Run `dropleaf certs list` to see why there is no certificate for {name}."),
    }
}

/// The rows of the certificates that this server obtains.
#[derive(Debug, Clone)]
pub enum ManagedCertificates {
    NotManaged,
    /// The rows could not be read.
    Unknown,
    Rows(Vec<Certificate>),
}

/// An order is late if it was due for this long.
const ORDER_LATE: i64 = 3600;
/// Names in one sentence.
const NAMED: usize = 5;

pub fn acme(managed: &ManagedCertificates, now: i64) -> Finding {
    const CHECK: Check = Check::Acme;
    let rows = match managed {
        ManagedCertificates::NotManaged => {
            return Finding::ok(
                CHECK,
                "This server obtains no certificates itself (`tls.mode` is not acme).",
            );
        }
        ManagedCertificates::Unknown => {
            return Finding::not_checked(CHECK, "The database could not be read.");
        }
        ManagedCertificates::Rows(rows) => rows,
    };
    let used: Vec<&Certificate> = rows.iter().filter(|it| it.unused_since.is_none()).collect();
    let is_valid = |it: &Certificate| it.not_after.is_some_and(|end| end > now);
    let mut parts = Vec::new();
    for it in used.iter().filter(|it| it.failures > 0).take(NAMED) {
        let why = it.last_error.as_deref().unwrap_or("no reason recorded");
        let found = format!("The order for {} failed {} times: {why}.", it.name, it.failures);
        let fix = format!("Fix the cause, then run `dropleaf certs renew '{}'`.", it.name);
        parts.push(if is_valid(it) {
            Finding::warning(CHECK, found, fix)
        } else {
            Finding::problem(CHECK, found, fix)
        });
    }
    for it in used.iter().filter(|it| it.failures == 0 && it.next_order_at() + ORDER_LATE < now).take(NAMED) {
        parts.push(Finding::warning(
            CHECK,
            format!(
                "The order for {} has been due for {}, but was not placed.",
                it.name,
                span(now - it.next_order_at())
            ),
            "Start the server with `tls.mode = \"acme\"`; it places orders within a minute.",
        ));
    }
    Finding::join(CHECK, parts).unwrap_or_else(|| {
        let valid = used.iter().filter(|it| is_valid(it)).count();
        Finding::ok(
            CHECK,
            format!("{valid} of {} names have a certificate, and no order has failed.", used.len()),
        )
    })
}
