//! A gauge that is absent while its value is unknown: a zero would be taken for a measurement.

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Stands for an unknown value; no metric of ours has it.
const UNKNOWN: i64 = i64::MIN;

#[derive(Debug, Clone)]
pub(super) struct OptionalGauge(Arc<AtomicI64>);

impl Default for OptionalGauge {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(UNKNOWN)))
    }
}

impl OptionalGauge {
    pub(super) fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(super) fn clear(&self) {
        self.set(UNKNOWN);
    }
}

impl EncodeMetric for OptionalGauge {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_gauge(&self.0.load(Ordering::Relaxed))
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }

    fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }
}
