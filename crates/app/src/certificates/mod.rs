//! Certificates of custom domains, as their owners see them.

use crate::app::App;
use crate::domains::CertificateView;
use dropleaf_core::Result;
use dropleaf_core::certificate::CertificateState;

impl App {
    /// The certificate of a name. This server obtains none yet.
    #[expect(clippy::unused_async, reason = "certificates will be read from the database")]
    pub async fn certificate_view(&self, _hostname: &str) -> Result<CertificateView> {
        Ok(CertificateView { state: CertificateState::External, expires_at: None, last_error: None })
    }
}
