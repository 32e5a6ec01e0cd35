//! A histogram of response times. Observing one is two atomic additions, because every page view does it.

use super::Surface;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds in seconds; the last bucket has none.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
const SURFACES: [Surface; 3] = [Surface::Api, Surface::Page, Surface::Other];

#[derive(Debug, Default)]
struct Histogram {
    /// Responses up to each bound and above the previous one.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// Response times by surface.
#[derive(Debug, Clone, Default)]
pub(super) struct Latency(Arc<[Histogram; SURFACES.len()]>);

impl Latency {
    pub(super) fn observe(&self, surface: Surface, took: Duration) {
        let histogram = &self.0[surface as usize];
        let bucket = BOUNDS.partition_point(|bound| *bound < took.as_secs_f64());
        histogram.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        histogram.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

impl Collector for Latency {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "Time to the beginning of the response; for uploads it includes the time to send them";
        let mut metric = encoder.encode_descriptor("response_seconds", help, None, MetricType::Histogram)?;
        for surface in SURFACES {
            encode(&self.0[surface as usize], metric.encode_family(&[("surface", surface)])?)?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus counts seconds in floating point")]
fn encode(histogram: &Histogram, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
    let mut counts = histogram.buckets.iter().map(|count| count.load(Ordering::Relaxed));
    let mut buckets = BOUNDS.map(|bound| (bound, 0)).to_vec();
    buckets.push((f64::INFINITY, 0));
    for bucket in &mut buckets {
        bucket.1 = counts.next().unwrap_or_default();
    }
    let count = buckets.iter().map(|(_, count)| count).sum();
    let seconds = histogram.micros.load(Ordering::Relaxed) as f64 / 1e6;
    encoder.encode_histogram::<NoLabelSet>(seconds, count, &buckets, None)
}
