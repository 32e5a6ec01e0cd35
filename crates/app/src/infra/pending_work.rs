//! Work that is held in memory until it is written or done.

use crate::publish::idempotency::InFlight;
use crate::viewing::burn::ErasureQueue;
use crate::viewing::view_counts::ViewCounts;

#[derive(Debug, Default)]
pub(crate) struct PendingWork {
    pub(crate) view_counts: ViewCounts,
    pub(crate) erasures: ErasureQueue,
    pub(crate) idempotent_requests: InFlight,
}
