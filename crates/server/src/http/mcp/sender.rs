//! The caller of an MCP message: set on the request before the library handles it, read by the tools and resources.

use dropleaf_app::{Caller, Identity};
use http::request::Parts;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// The caller of a message, passed to the tools as a request extension.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub who: Identity,
    pub caller: Caller,
}

/// The caller of this message. `endpoint` sets it on every request.
pub(super) fn sender(context: &RequestContext<RoleServer>) -> Result<Sender, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    parts
        .and_then(|parts| parts.extensions.get::<Sender>())
        .cloned()
        .ok_or_else(|| ErrorData::internal_error("the message has no sender", None))
}
