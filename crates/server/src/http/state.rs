//! The state that every handler of the API and of the pages for people can use.

use super::body_budget::Budget;
use super::client_documents::ClientDocuments;
use super::operator::HealthRuns;
use super::reference_cache::ReferenceCache;
use crate::config::Resolved;
use crate::tasks::Tasks;
use dropleaf_app::App;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub(super) struct ApiState {
    pub app: Arc<App>,
    pub resolved: Arc<Resolved>,
    /// For work that the response does not wait for.
    pub tasks: Tasks,
    /// Client metadata documents of OAuth clients whose client id is a URL.
    pub documents: Arc<ClientDocuments>,
    /// Memory budget for request bodies.
    pub budget: Budget,
    /// The rendered API description.
    pub reference: Arc<ReferenceCache>,
    /// The last run of the health checks.
    pub health: Arc<HealthRuns>,
}
