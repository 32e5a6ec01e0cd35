//! Runs a tool for its caller, and adds the number of unread comments to the result.

use super::sender::Sender;
use super::tool_result::{refused, success};
use super::tools::{self, Call, Tool};
use crate::http::extract::Fields;
use crate::http::state::ApiState;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};

/// Runs a tool and builds its result.
pub(super) async fn call(
    state: &ApiState,
    tool: &Tool,
    sender: Sender,
    arguments: Map<String, Value>,
) -> CallToolResult {
    let call = Call { state: state.clone(), sender, fields: Fields::new(arguments) };
    if let Err(error) = tools::check_account(tool, &call.sender.who.account) {
        return refused(&error);
    }
    match (tool.run)(call).await {
        Ok(output) => {
            let unread = unread(state, output.site_id.as_deref()).await;
            success(output, unread)
        }
        Err(error) => refused(&error),
    }
}

/// The number of comments on the page that no program of its owner has read. The operation itself has succeeded, so a
/// failure here counts as zero.
async fn unread(state: &ApiState, site_id: Option<&str>) -> i64 {
    match site_id {
        Some(id) => state.app.count_unread_feedback(id).await.unwrap_or_default(),
        None => 0,
    }
}
