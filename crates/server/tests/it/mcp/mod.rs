//! Tests the MCP server, its stdio bridge and its installation in clients.

mod mcp_answer_limit;
mod mcp_arguments;
mod mcp_card;
mod mcp_install;
mod mcp_prompts;
mod mcp_resources;
mod mcp_resume;
mod mcp_sessions;
mod mcp_stdio;
mod mcp_streams;
mod mcp_tools;
mod mcp_tools_content;
mod mcp_tools_edit;
pub(crate) mod mcp_tools_refused;
mod mcp_transport;
mod mcp_unread;
mod mcp_uploads;
