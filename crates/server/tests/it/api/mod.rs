//! Tests what all API operations share, and the documents that describe the API.

mod agent_files;
mod errors;
pub(crate) mod foreign_origin;
mod guides;
mod idempotency;
mod openapi;
mod openapi_examples;
mod openapi_http;
