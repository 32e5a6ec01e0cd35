//! Runs a tool for its caller, and adds the number of unread comments to the result.

use super::arguments;
use super::sender::Sender;
use super::tool_result::{refused, success};
use super::tools::{self, Call, Tool};
use crate::http::extract::Fields;
use crate::http::state::ApiState;
use dropleaf_core::{Error, Result};
use futures_util::FutureExt;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use std::panic::AssertUnwindSafe;

/// Runs a tool and builds its result.
pub(super) async fn call(
    state: &ApiState,
    tool: &Tool,
    sender: Sender,
    arguments: Map<String, Value>,
) -> CallToolResult {
    if let Err(error) = tools::check_account(tool, &sender.who.account) {
        return refused(&error);
    }
    let work = async {
        let fields = Fields::new(prepare(state, tool, &sender, arguments).await?);
        (tool.run)(Call { state: state.clone(), sender, fields }).await
    };
    match catch_panic(work).await {
        Ok(output) => {
            let unread = unread(state, output.site_id.as_deref()).await;
            success(output, unread)
        }
        Err(error) => refused(&error),
    }
}

/// The arguments as the tool parses them. A page may be named by its URL in every tool that takes one.
async fn prepare(
    state: &ApiState,
    tool: &Tool,
    sender: &Sender,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>> {
    let mut arguments = arguments::prepare(tool.name, &tools::properties(tool), arguments)?;
    if let Some(Value::String(site)) = arguments.get_mut("site") {
        *site = state.app.resolve_site(&sender.who.account, site).await?;
    }
    Ok(arguments)
}

/// The library runs a tool in a task of its own. If it panicked there, the client would get no answer.
async fn catch_panic<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|_| Err(Error::internal("tool panicked")))
}

/// The number of comments on the page that no program of its owner has read. The operation itself has succeeded, so a
/// failure here counts as zero.
async fn unread(state: &ApiState, site_id: Option<&str>) -> i64 {
    match site_id {
        Some(id) => state.app.count_unread_feedback(id).await.unwrap_or_default(),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::Code;

    #[tokio::test]
    async fn tool_that_panics_is_an_error() {
        assert_eq!(catch_panic(async { Ok(1) }).await.unwrap(), 1);
        let panicked = catch_panic::<()>(async { panic!("a defect") }).await;
        assert_eq!(panicked.unwrap_err().code, Code::Internal);
    }
}
