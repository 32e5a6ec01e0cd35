//! Limits the memory that responses hold until their clients have received them: one budget for the server, and a share of it
//! for each client network. Without it, clients that request large files and read none of them would exhaust memory.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The fraction (1/8) of the whole budget that one network may hold.
const NETWORK_PART: usize = 8;
/// What may be loaded from storage at the same time. Loading is brief and does not wait for any client.
const LOADING_KIB: usize = 16 * 1024;
/// The part of it that one network may load, so that its requests do not delay everyone else's.
const NETWORK_LOADING_KIB: usize = 4 * 1024;
/// Finished responses of one network that may wait for room, in total.
const WAITING_KIB: usize = 4 * 1024;
/// What every network may hold even if others have used up the whole budget.
const FREE_KIB: usize = 1024;

/// The budget of the server.
#[derive(Debug)]
pub(crate) struct SendBudget {
    all: Arc<Semaphore>,
    all_kib: usize,
    loading: Arc<Semaphore>,
}

/// The share of one network. Clones are the same share.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    network: Arc<Semaphore>,
    network_kib: usize,
    all: Arc<Semaphore>,
    loading: Arc<Semaphore>,
    network_loading: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// Held memory, released on drop.
#[derive(Debug)]
pub(crate) struct Permit {
    network: OwnedSemaphorePermit,
    all: Option<OwnedSemaphorePermit>,
}

/// A file is being loaded while this guard lives.
#[derive(Debug)]
pub(crate) struct Loading {
    _permits: (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>),
}

impl Permit {
    /// Releases all but this many bytes.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let kib = usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX);
        for permit in std::iter::once(&mut self.network).chain(self.all.as_mut()) {
            drop(permit.split(permit.num_permits().saturating_sub(kib)));
        }
    }
}

impl SendBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        let kib = usize::try_from(bytes / 1024).unwrap_or(usize::MAX);
        let all_kib = kib.clamp(NETWORK_PART * FREE_KIB, u32::MAX as usize / 2);
        Self {
            all: Arc::new(Semaphore::new(all_kib)),
            all_kib,
            loading: Arc::new(Semaphore::new(LOADING_KIB)),
        }
    }

    /// A new share for a network: an eighth of the whole, `times` as much.
    pub(crate) fn share(&self, times: usize) -> Share {
        self.part(self.all_kib / NETWORK_PART * times, times)
    }

    /// A share for trusted proxies, which serve many networks: limited only by the whole budget.
    pub(crate) fn whole(&self) -> Share {
        self.part(self.all_kib, NETWORK_PART)
    }

    fn part(&self, network_kib: usize, times: usize) -> Share {
        let semaphore = |kib: usize| Arc::new(Semaphore::new(kib));
        Share {
            network: semaphore(network_kib),
            network_kib,
            all: Arc::clone(&self.all),
            loading: Arc::clone(&self.loading),
            network_loading: semaphore((NETWORK_LOADING_KIB * times).min(LOADING_KIB)),
            waiting: semaphore(WAITING_KIB * times),
        }
    }
}

impl Share {
    /// Holds this many bytes now, or not at all. Half of the share is kept for those who wait in `hold`.
    pub(crate) fn try_hold(&self, bytes: u64) -> Option<Permit> {
        let kib = self.kib(bytes);
        if self.network.available_permits() < kib as usize + self.network_kib / 2 {
            return None;
        }
        let network = Arc::clone(&self.network).try_acquire_many_owned(kib).ok()?;
        let all =
            if self.is_free() { None } else { Some(Arc::clone(&self.all).try_acquire_many_owned(kib).ok()?) };
        Some(Permit { network, all })
    }

    /// Holds this many bytes as soon as they are free, first come, first served.
    pub(crate) async fn hold(&self, bytes: u64) -> Permit {
        let kib = self.kib(bytes);
        // The semaphores are never closed, so neither wait can fail.
        loop {
            let Ok(network) = Arc::clone(&self.network).acquire_many_owned(kib).await else { continue };
            if self.is_free() {
                return Permit { network, all: None };
            }
            let Ok(all) = Arc::clone(&self.all).acquire_many_owned(kib).await else { continue };
            return Permit { network, all: Some(all) };
        }
    }

    /// Waits until this many bytes may be loaded from storage.
    pub(crate) async fn load(&self, bytes: u64) -> Loading {
        let kib = u32::try_from(bytes.div_ceil(1024).min(NETWORK_LOADING_KIB as u64)).unwrap_or(u32::MAX);
        // Never closed, so this always succeeds.
        let of_network = Arc::clone(&self.network_loading).acquire_many_owned(kib).await.ok();
        let of_all = Arc::clone(&self.loading).acquire_many_owned(kib).await.ok();
        Loading { _permits: (of_network, of_all) }
    }

    /// A place for a finished response of this size that waits for room; `None` if too many of this network wait.
    pub(crate) fn queue(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024).min(WAITING_KIB as u64)).unwrap_or(u32::MAX);
        Arc::clone(&self.waiting).try_acquire_many_owned(kib).ok()
    }

    /// Whether the network holds so little, including what it was just given, that the server's budget does not apply.
    fn is_free(&self) -> bool {
        self.network.available_permits() + FREE_KIB >= self.network_kib
    }

    /// More than the whole share counts as the whole share, so that something large waits until it is alone.
    fn kib(&self, bytes: u64) -> u32 {
        let kib = usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX).min(self.network_kib);
        u32::try_from(kib).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const MIB: u64 = 1 << 20;

    #[tokio::test]
    async fn one_network_cannot_hold_more_than_its_share() {
        let budget = SendBudget::new(64 * MIB);
        let (greedy, modest) = (budget.share(1), budget.share(1));
        let mut held: Vec<_> = (0..100).map_while(|_| greedy.try_hold(MIB)).collect();
        assert_eq!(held.len(), 4, "half of an eighth of the whole");
        while let Some(permit) = greedy.hold(MIB).now_or_never() {
            held.push(permit);
        }
        assert_eq!(held.len(), 8, "an eighth of the whole");
        assert!(modest.try_hold(4 * MIB).is_some());
        let mut waiting = std::pin::pin!(greedy.hold(MIB));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(held);
        waiting.await;
    }

    #[tokio::test]
    async fn networks_that_hold_little_are_served_when_the_whole_budget_is_used_up() {
        let budget = SendBudget::new(16 * MIB);
        let held = budget.whole().hold(16 * MIB).await;
        let late = budget.share(1);
        assert!(late.try_hold(MIB).is_some(), "the first MiB is free");
        let proxy = budget.whole();
        let _first = proxy.try_hold(MIB).expect("the first MiB is free");
        assert!(proxy.try_hold(2 * MIB).is_none());
        drop(held);
        assert!(proxy.try_hold(2 * MIB).is_some());
    }

    #[tokio::test]
    async fn loading_for_one_network_leaves_room_for_others() {
        let budget = SendBudget::new(64 * MIB);
        let (greedy, modest) = (budget.share(1), budget.share(1));
        let _first = greedy.load(4 * MIB).await;
        let mut queue: Vec<_> = (0..100).map(|_| Box::pin(greedy.load(4 * MIB))).collect();
        for waiting in &mut queue {
            assert!(futures_util::poll!(waiting).is_pending());
        }
        assert!(modest.load(4 * MIB).now_or_never().is_some());
    }

    #[tokio::test]
    async fn what_is_larger_than_a_share_waits_until_it_is_alone() {
        let budget = SendBudget::new(8 * MIB);
        let share = budget.share(1);
        let first = share.hold(MIB / 2).await;
        let mut large = std::pin::pin!(share.hold(25 * MIB));
        assert!(futures_util::poll!(&mut large).is_pending());
        drop(first);
        let mut permit = large.await;
        permit.shrink_to(MIB / 4);
        assert!(share.try_hold(MIB / 4).is_some());
    }
}
