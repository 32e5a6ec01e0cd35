//! Bounds the memory of the request bodies that this node holds at one time, over all callers.

use dropleaf_core::{Code, Error, Result};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies up to this size are not counted.
const FREE_BYTES: usize = 64 * 1024;
const BUDGET_BYTES: usize = 256 << 20;

/// The memory left for bodies.
#[derive(Debug, Clone)]
pub(in crate::http) struct Budget(Arc<Semaphore>);

/// A body's part of the budget, released on drop.
#[derive(Debug, Default)]
pub(in crate::http) struct Share(Option<OwnedSemaphorePermit>);

impl Budget {
    /// Two bodies of the maximum length always fit.
    pub(in crate::http) fn new(longest: u64) -> Self {
        let two = usize::try_from(longest.saturating_mul(2)).unwrap_or(usize::MAX);
        Self(Arc::new(Semaphore::new(BUDGET_BYTES.max(two).min(Semaphore::MAX_PERMITS))))
    }

    /// Grows the share to cover a body of which `bytes` bytes have arrived.
    pub(super) fn cover(&self, share: &mut Share, bytes: usize) -> Result<()> {
        let held = share.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.saturating_sub(held);
        if more == 0 || bytes <= FREE_BYTES {
            return Ok(());
        }
        let busy = || Error::plain(Code::Overloaded).retry_after(1);
        let more = u32::try_from(more).map_err(|_| busy())?;
        let permit = Arc::clone(&self.0).try_acquire_many_owned(more).map_err(|_| busy())?;
        match &mut share.0 {
            Some(held) => held.merge(permit),
            None => share.0 = Some(permit),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_bodies_share_what_there_is_and_give_it_back() {
        let budget = Budget::new(0);
        let (mut one, mut two, mut small) = (Share::default(), Share::default(), Share::default());
        for bytes in [FREE_BYTES, BUDGET_BYTES / 2, BUDGET_BYTES - 10] {
            budget.cover(&mut one, bytes).unwrap();
        }
        assert_eq!(budget.0.available_permits(), 10);
        assert_eq!(budget.cover(&mut two, FREE_BYTES + 1).unwrap_err().code, Code::Overloaded);
        budget.cover(&mut small, FREE_BYTES).unwrap();
        drop(one);
        budget.cover(&mut two, FREE_BYTES + 1).unwrap();
        drop((two, small));
        assert_eq!(budget.0.available_permits(), BUDGET_BYTES);
        assert_eq!(Budget::new(1 << 30).0.available_permits(), 2 << 30, "room for what the operator allows");
    }
}
