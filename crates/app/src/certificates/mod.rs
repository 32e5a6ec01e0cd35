//! Certificates that the server obtains: which names need one, what is stored about each, and the work that is due. The
//! protocol with the certificate authority is in the server (`acme/`); here is what it reads and records.

mod accounts;
mod address_check;
mod challenges;
mod expiry_warning;
mod orders;
mod reading;
mod renewal;
mod required_names;

pub use address_check::AddressCheck;
pub use challenges::NONE_OPEN_FOR;
pub use orders::{NewCertificate, OrderFailure};
pub use reading::{CertificateView, EarliestExpiry, IssuedCertificate};

use tokio::sync::{Notify, watch};

/// The notification to other nodes that a certificate was issued or removed.
pub(crate) const CERTIFICATES_CHANGED: &str = "c:";

/// The state of certificates on this node.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    /// Wakes the task that places orders.
    work: Notify,
    /// Wakes the task that keeps certificates in memory.
    changed: Notify,
    /// Counts the times that due orders were looked for on this node.
    passes: watch::Sender<u64>,
    open_challenges: challenges::OpenChallenges,
}
