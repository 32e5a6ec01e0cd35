//! What the operations share: rate limits, queues, caches of rows, sealing, settings, statistics and the sweep.

pub(crate) mod body_source;
pub(crate) mod fair_queue;
pub(crate) mod health;
pub(crate) mod moment;
pub(crate) mod node_secret;
pub(crate) mod permit_queue;
pub(crate) mod rate_limits;
pub(crate) mod replica_read;
pub(crate) mod request_limit;
pub(crate) mod row_cache;
pub(crate) mod sealing;
pub(crate) mod service_stats;
pub(crate) mod settings;
pub(crate) mod shared_reads;
pub(crate) mod sweep;
pub(crate) mod throttle;
pub(crate) mod token_bucket;
pub(crate) mod work_lease;
