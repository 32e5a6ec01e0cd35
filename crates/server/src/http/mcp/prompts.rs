//! Prompts: ways of working with pages that a person can pick from a client's menu.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, ListPromptsResult};

pub(super) fn list() -> ListPromptsResult {
    ListPromptsResult::default()
}

pub(super) fn get(name: &str, _arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    Err(ErrorData::invalid_params(format!("There is no prompt `{name}`."), None))
}
