//! The certificates that the server obtains.

use super::{at, stylesheet};
use crate::Html;
use crate::dashboard::{Section, Shell};
use askama::Template;
use dropleaf_core::certificate::{Certificate, CertificateState};

#[derive(Debug, Template)]
#[template(path = "operator_certificates.html")]
pub struct CertificatesPage<'a> {
    pub shell: Shell<'a>,
    /// Those that need attention first.
    pub certificates: Vec<&'a Certificate>,
    /// How many more there are.
    pub more: usize,
    /// Whether this server obtains certificates at all.
    pub is_managed: bool,
    pub now: i64,
    pub is_recent: bool,
}

impl<'a> CertificatesPage<'a> {
    /// At most so many of these: those whose orders fail first, then by name.
    pub fn choose(all: &'a [Certificate], most: usize) -> (Vec<&'a Certificate>, usize) {
        let mut chosen: Vec<&Certificate> = all.iter().filter(|it| it.unused_since.is_none()).collect();
        let more = chosen.len().saturating_sub(most);
        chosen.sort_by(|a, b| (a.failures == 0, &a.name).cmp(&(b.failures == 0, &b.name)));
        chosen.truncate(most);
        (chosen, more)
    }

    fn state(&self, certificate: &Certificate) -> &'static str {
        certificate.state(self.now).as_str()
    }

    fn has_expired(&self, certificate: &Certificate) -> bool {
        certificate.not_after.is_some_and(|end| end <= self.now)
    }

    fn tone(&self, certificate: &Certificate) -> &'static str {
        match certificate.state(self.now) {
            CertificateState::Issued if certificate.failures == 0 => "good",
            CertificateState::Issued | CertificateState::Failed => "bad",
            _ => "",
        }
    }

    /// When the next order is placed, unless it is due.
    fn next_order(&self, certificate: &Certificate) -> Option<i64> {
        Some(certificate.next_order_at()).filter(|next| *next > self.now)
    }
}

pub fn certificates(page: &CertificatesPage<'_>) -> Html {
    // Rendering writes into a String and cannot fail.
    Html(page.render().unwrap_or_default())
}
