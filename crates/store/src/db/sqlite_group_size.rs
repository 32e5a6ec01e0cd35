//! Chooses how many batches share one commit. A sync costs the same for one as for many, so more is better; but callers that
//! share a sync cannot prepare their next write while it runs. So the group size keeps the writer working about three times
//! as long as it waits for the disk: slow disks get large groups; fast disks get small ones, and the callers left out prepare
//! the next group meanwhile.

use std::time::Duration;

const MIN_BATCHES: usize = 16;
const MAX_BATCHES: usize = 256;
/// The ratio of the writer's work to its wait for the disk.
const WORK_TO_SYNC_RATIO: u32 = 3;
/// The last commit counts for an eighth of the estimate for the next (moving average).
const WEIGHT: u32 = 8;

/// How long one commit took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommitTime {
    /// Running the statements.
    pub(super) work: Duration,
    /// Making them durable.
    pub(super) sync: Duration,
}

#[derive(Debug)]
pub(super) struct GroupSize {
    work_each: Duration,
    sync: Duration,
    last: usize,
}

impl Default for GroupSize {
    fn default() -> Self {
        Self { work_each: Duration::from_micros(80), sync: Duration::from_millis(4), last: 1 }
    }
}

impl GroupSize {
    pub(super) fn record(&mut self, jobs: usize, took: CommitTime) {
        let each = took.work / u32::try_from(jobs).unwrap_or(u32::MAX).max(1);
        self.work_each = moving_average(self.work_each, each);
        self.sync = moving_average(self.sync, took.sync);
        self.last = jobs;
    }

    /// The maximum number of batches in the next commit.
    pub(super) fn max_batches(&self) -> usize {
        let jobs = (self.sync * WORK_TO_SYNC_RATIO).as_nanos() / self.work_each.as_nanos().max(1);
        usize::try_from(jobs).unwrap_or(MAX_BATCHES).clamp(MIN_BATCHES, MAX_BATCHES)
    }

    /// Whether so few batches are waiting, compared with the last commit, that more are probably on their way: a short wait
    /// saves a sync, and the last pages of every B-tree are written once for more batches. A lone caller never waits.
    pub(super) const fn expects_more(&self, here: usize) -> bool {
        self.last >= 4 && here * 2 < self.last
    }
}

fn moving_average(known: Duration, seen: Duration) -> Duration {
    (known * (WEIGHT - 1) + seen) / WEIGHT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(work: u64, sync: u64) -> GroupSize {
        let mut size = GroupSize::default();
        for _ in 0..100 {
            size.record(
                10,
                CommitTime { work: Duration::from_micros(work * 10), sync: Duration::from_micros(sync) },
            );
        }
        size
    }

    #[test]
    fn a_slow_disk_gets_large_groups_and_a_quick_one_small_ones() {
        assert_eq!(settled(70, 20_000).max_batches(), MAX_BATCHES);
        assert_eq!(settled(70, 50).max_batches(), MIN_BATCHES);
        let between = settled(70, 1000).max_batches();
        assert!((40..46).contains(&between), "{between}");
    }

    #[test]
    fn who_comes_alone_never_waits() {
        assert!(!GroupSize::default().expects_more(1));
        let busy = settled(70, 1000);
        assert!(busy.expects_more(4) && !busy.expects_more(5));
    }
}
