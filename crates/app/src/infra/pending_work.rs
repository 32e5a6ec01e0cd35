//! Work that is held in memory until it is written or done.

use crate::publish::idempotency::InFlight;
use crate::viewing::burn::Embers;
use crate::viewing::view_counts::Views;

#[derive(Debug, Default)]
pub(crate) struct PendingWork {
    pub(crate) view_counts: Views,
    pub(crate) erasures: Embers,
    pub(crate) idempotent_requests: InFlight,
}
