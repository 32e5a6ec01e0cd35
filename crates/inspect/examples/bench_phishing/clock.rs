//! Measures CPU time of this thread where the system reports it, so that other load on the machine does not count.

use std::time::Instant;

/// Sorted, shortest first.
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// Runs `run` this many times.
    pub(crate) fn of(times: usize, run: impl Fn()) -> Self {
        let mut seconds: Vec<f64> = (0..times).map(|_| timed(&run)).collect();
        seconds.sort_by(f64::total_cmp);
        Self(seconds)
    }

    pub(crate) fn best(&self) -> f64 {
        self.0.first().copied().unwrap_or(0.0)
    }
}

pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

fn timed(run: impl Fn()) -> f64 {
    let (started, core) = (Instant::now(), on_core());
    run();
    match (core, on_core()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed().as_secs_f64(),
    }
}

fn on_core() -> Option<f64> {
    // The kernel updates its counter when a thread yields.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

pub(crate) fn megabytes(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6
}
