//! The owner's pages as resources: `dropleaf://sites/{id}` tells about one, `…/content` is what is stored.

use super::door::Sender;
use crate::http::api::ApiState;
use rmcp::ErrorData;
use rmcp::model::{ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult};

pub(super) async fn list(
    _state: &ApiState,
    _sender: &Sender,
    _cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    Ok(ListResourcesResult::default())
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::default()
}

pub(super) async fn read(
    _state: &ApiState,
    _sender: &Sender,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    Err(ErrorData::resource_not_found(format!("There is no resource {uri}."), None))
}
