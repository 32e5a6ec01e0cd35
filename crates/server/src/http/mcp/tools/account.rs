//! Tools that read the account and the design guide.

use super::{Call, READS, Tool, schema};
use crate::http::api::MeJson;
use crate::http::guides::guide_facts;
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::Result;
use dropleaf_core::scope::Scope;
use dropleaf_pages as pages;
use serde::Serialize;
use utoipa::ToSchema;

pub(super) static GET_ME: Tool = Tool {
    name: "get_me",
    title: "Get account",
    description: "Read the account: its plan, usage and limits (null means unlimited).",
    needs: Scope::Read,
    hints: READS,
    input: schema::nothing,
    output: schema::output::<MeJson>,
    run: |call| Box::pin(get_me(call)),
};

async fn get_me(call: Call) -> Result<ToolOutput> {
    let me = MeJson::of(&call.state, call.account()).await?;
    Ok(ToolOutput::json(me).warned(call.fields.warnings()))
}

/// A Markdown document for agents.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct GuideJson {
    markdown: String,
}

pub(super) static GET_DESIGN_GUIDE: Tool = Tool {
    name: "get_design_guide",
    title: "Read the design guide",
    description: "Read how to make a good page; recommended before the first one.",
    needs: Scope::Read,
    hints: READS,
    input: schema::nothing,
    output: schema::output::<GuideJson>,
    run: |call| Box::pin(std::future::ready(Ok(get_design_guide(call)))),
};

fn get_design_guide(call: Call) -> ToolOutput {
    let markdown = pages::design_guide(&guide_facts(&call.state));
    let answer = ToolOutput::json(GuideJson { markdown: markdown.clone() });
    answer.worded(markdown).warned(call.fields.warnings())
}
