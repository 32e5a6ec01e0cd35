//! Stores the bodies of a bundle: those too large for the database go to the object store, a few at a time. Returns the
//! statements that refer to them; committing these is left to the operation.

use crate::app::App;
use dropleaf_content as content;
use dropleaf_core::Result;
use dropleaf_store::Stmt;
use dropleaf_store::blobs::{BlobError, Encoding, NewBlob, NewBody};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;

/// Bodies of one upload that are stored concurrently.
const CONCURRENT_BODIES: usize = 4;
/// The sum of their sizes; a larger body is stored alone.
const CONCURRENT_BYTES: u64 = 32 << 20;

impl App {
    /// The statements are in the order of the hashes, whichever body is stored first. After an error no further body is
    /// begun; objects that were stored already are swept, since no row refers to them.
    pub(super) async fn stage_bodies(&self, mut files: Vec<content::File>, now: i64) -> Result<Vec<Stmt>> {
        // A fixed order, so that two transactions never wait for each other's bodies.
        files.sort_by_key(|file| file.hash);
        files.dedup_by_key(|file| file.hash);
        let mut staging = BoundedTasks::new(&self.limits.extra_bodies);
        for file in files {
            let blob = new_blob(file);
            staging.push(blob.body.stored_bytes(), self.stage_body(blob, self.minter.nonce(), now)).await?;
        }
        Ok(staging.finish().await?)
    }

    async fn stage_body(&self, blob: NewBlob, nonce: String, now: i64) -> Result<Stmt, BlobError> {
        self.store.blobs.stage(&self.store.db, blob, &nonce, now).await
    }
}

/// Runs tasks within the limits above. After the first error no task is begun, and those that run are awaited, so that the
/// object store completes or aborts what it has begun.
struct BoundedTasks<'a, T, E> {
    extra: &'a Semaphore,
    running: FuturesUnordered<BoxFuture<'a, Completed<T, E>>>,
    running_bytes: u64,
    added: usize,
    done: Vec<(usize, T)>,
}

struct Completed<T, E> {
    number: usize,
    bytes: u64,
    outcome: Result<T, E>,
}

impl<'a, T: Send + 'a, E: Send + 'a> BoundedTasks<'a, T, E> {
    fn new(extra: &'a Semaphore) -> Self {
        Self { extra, running: FuturesUnordered::new(), running_bytes: 0, added: 0, done: Vec::new() }
    }

    /// Waits until there is room for a task of this size, and adds it.
    async fn push(
        &mut self,
        bytes: u64,
        task: impl Future<Output = Result<T, E>> + Send + 'a,
    ) -> Result<(), E> {
        let permit = loop {
            if self.running.is_empty() {
                break None;
            }
            if self.running.len() < CONCURRENT_BODIES
                && self.running_bytes.saturating_add(bytes) <= CONCURRENT_BYTES
                && let Ok(permit) = self.extra.try_acquire()
            {
                break Some(permit);
            }
            self.complete_one().await?;
        };
        let number = self.added;
        self.added += 1;
        self.running_bytes += bytes;
        self.running.push(Box::pin(async move {
            let outcome = task.await;
            drop(permit);
            Completed { number, bytes, outcome }
        }));
        Ok(())
    }

    /// The results, in the order in which the tasks were added.
    async fn finish(mut self) -> Result<Vec<T>, E> {
        while !self.running.is_empty() {
            self.complete_one().await?;
        }
        self.done.sort_unstable_by_key(|(number, _)| *number);
        Ok(self.done.into_iter().map(|(_, done)| done).collect())
    }

    async fn complete_one(&mut self) -> Result<(), E> {
        let Some(Completed { number, bytes, outcome }) = self.running.next().await else { return Ok(()) };
        self.running_bytes -= bytes;
        match outcome {
            Ok(done) => self.done.push((number, done)),
            Err(error) => {
                while self.running.next().await.is_some() {}
                return Err(error);
            }
        }
        Ok(())
    }
}

fn new_blob(file: content::File) -> NewBlob {
    let encoding = |encoding| match encoding {
        content::Encoding::Identity => Encoding::Identity,
        content::Encoding::Zstd => Encoding::Zstd,
    };
    let (encoding, body) = match file.body {
        content::Body::Packed { encoding: stored, bytes } => (encoding(stored), NewBody::Memory(bytes)),
        content::Body::Spooled { encoding: stored, file, stored_bytes } => {
            (encoding(stored), NewBody::File { file, stored_bytes })
        }
    };
    NewBlob { hash: file.hash, encoding, size_bytes: file.size_bytes, body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::rate_limits::EXTRA_BODIES;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Barrier;

    /// Counts how much runs at once.
    #[derive(Default)]
    struct Running {
        now: AtomicUsize,
        most: AtomicUsize,
    }

    impl Running {
        async fn run(&self, number: usize, gate: Option<&Barrier>) -> Result<usize, &'static str> {
            self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            if let Some(gate) = gate {
                gate.wait().await;
            } else {
                tokio::task::yield_now().await;
            }
            self.now.fetch_sub(1, Ordering::SeqCst);
            Ok(number)
        }
    }

    #[tokio::test]
    async fn four_bodies_are_stored_at_once_and_their_order_is_kept() {
        let (running, gate) = (Running::default(), Barrier::new(CONCURRENT_BODIES));
        let extra = Semaphore::new(EXTRA_BODIES);
        let mut tasks = BoundedTasks::new(&extra);
        for number in 0..8 {
            // None completes before four have begun.
            tasks.push(1 << 20, running.run(number, Some(&gate))).await.unwrap();
        }
        assert_eq!(tasks.finish().await, Ok((0..8).collect()));
        assert_eq!(running.most.load(Ordering::SeqCst), CONCURRENT_BODIES);
    }

    #[tokio::test]
    async fn large_bodies_are_stored_fewer_at_once() {
        for (bytes, most) in [(16 << 20, 2), (17 << 20, 1), (1 << 40, 1)] {
            let (running, extra) = (Running::default(), Semaphore::new(EXTRA_BODIES));
            let mut tasks = BoundedTasks::new(&extra);
            for number in 0..6 {
                tasks.push(bytes, running.run(number, None)).await.unwrap();
            }
            assert_eq!(tasks.finish().await, Ok((0..6).collect()));
            assert_eq!(running.most.load(Ordering::SeqCst), most, "{bytes}");
        }
    }

    #[tokio::test]
    async fn one_body_at_a_time_is_stored_while_other_uploads_use_what_is_left() {
        let (running, extra) = (Running::default(), Semaphore::new(0));
        let mut tasks = BoundedTasks::new(&extra);
        for number in 0..6 {
            tasks.push(1, running.run(number, None)).await.unwrap();
        }
        assert_eq!(tasks.finish().await, Ok((0..6).collect()));
        assert_eq!(running.most.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn after_an_error_no_body_is_begun_and_those_that_run_end() {
        let (begun, ended) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let (gate, extra) = (&Barrier::new(CONCURRENT_BODIES), Semaphore::new(EXTRA_BODIES));
        let mut tasks = BoundedTasks::new(&extra);
        let mut outcome = Ok(());
        for number in 0..8 {
            let task = async move {
                begun.fetch_add(1, Ordering::SeqCst);
                gate.wait().await;
                if number == 0 {
                    return Err("full");
                }
                tokio::task::yield_now().await;
                ended.fetch_add(1, Ordering::SeqCst);
                Ok(())
            };
            outcome = tasks.push(1, task).await;
            if outcome.is_err() {
                break;
            }
        }
        assert_eq!(outcome, Err("full"));
        assert_eq!(begun.load(Ordering::SeqCst), CONCURRENT_BODIES);
        assert_eq!(ended.load(Ordering::SeqCst), CONCURRENT_BODIES - 1);
        assert_eq!(extra.available_permits(), EXTRA_BODIES);
    }
}
