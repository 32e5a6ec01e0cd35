//! Files that agents install or discover: a plugin with a skill and the MCP endpoint, the skill alone, and the entry for the
//! MCP registry. All are written for this server from its settings; nothing needs a credential.

mod archive;
mod documents;

use super::guides::guide_facts;
use super::mcp::document;
use super::state::ApiState;
use crate::http::error;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use documents::{SKILL_NAME, ServerFacts};
use dropleaf_core::Error;
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

pub(super) fn documents() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(plugin))
        .routes(routes!(plugin_mcp))
        .routes(routes!(plugin_skill))
        .routes(routes!(plugin_archive))
        .routes(routes!(claude_plugin))
        .routes(routes!(skills_index))
        .routes(routes!(skill))
        .routes(routes!(registry_entry))
}

fn facts(state: &ApiState) -> ServerFacts<'_> {
    let privacy = state.resolved.config.operator.privacy_policy_url.trim();
    ServerFacts {
        origin: &state.resolved.hosts.base,
        skill: dropleaf_pages::skill_md(&guide_facts(state)),
        privacy_policy_url: Some(privacy).filter(|url| !url.is_empty()),
    }
}

fn json(value: &Value, headers: &HeaderMap) -> Response {
    document(value.to_string(), JSON, headers)
}

/// Get the plugin manifest
///
/// Agent Plugins 1.0.0. The plugin is this file with `/mcp.json` and `/skills/dropleaf/SKILL.md`; `/plugin.zip` has all
/// of them.
#[utoipa::path(
    get, path = "/plugin.json", tag = "Documents", operation_id = "getPlugin",
    responses(
        (status = 200, description = "The manifest", body = Value, example = json!({"name": "dropleaf", "version": "0.1.0", "license": "Apache-2.0 OR MIT"})),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn plugin(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    json(&facts(&state).plugin(), &headers)
}

/// Get the plugin's MCP configuration
#[utoipa::path(
    get, path = "/mcp.json", tag = "Documents", operation_id = "getPluginMcp",
    responses(
        (status = 200, description = "The configuration", body = Value, example = json!({"mcpServers": {"dropleaf": {"type": "streamable-http", "url": "http://localhost:8080/mcp"}}})),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn plugin_mcp(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    json(&facts(&state).plugin_mcp(), &headers)
}

/// Get the plugin's skill
#[utoipa::path(
    get, path = "/skills/dropleaf/SKILL.md", tag = "Documents", operation_id = "getPluginSkill",
    responses(
        (status = 200, description = "The skill", content_type = "text/markdown", body = String),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn plugin_skill(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    document(facts(&state).skill, MARKDOWN, &headers)
}

/// Download the plugin
///
/// One archive for clients of Agent Plugins and for Claude.
#[utoipa::path(
    get, path = "/plugin.zip", tag = "Documents", operation_id = "downloadPlugin",
    responses((status = 200, description = "The archive", content_type = "application/zip", body = String)),
    security(()),
)]
async fn plugin_archive(State(state): State<ApiState>) -> Response {
    let bytes = match archive::write(&facts(&state).files()) {
        Ok(bytes) => bytes,
        Err(failed) => {
            return error::respond(&Error::internal(failed), error::Wants::Json).map(axum::body::Body::new);
        }
    };
    let name = format!("attachment; filename=\"{SKILL_NAME}-plugin.zip\"");
    let mut response = ([(header::CONTENT_TYPE, "application/zip")], bytes).into_response();
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&name).ok().map(|name| (header::CONTENT_DISPOSITION, name)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    response
}

/// Get the plugin manifest for Claude
#[utoipa::path(
    get, path = "/.claude-plugin/plugin.json", tag = "Documents", operation_id = "getClaudePlugin",
    responses(
        (status = 200, description = "The manifest", body = Value, example = json!({"name": "dropleaf", "version": "0.1.0", "homepage": "http://localhost:8080"})),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn claude_plugin(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    json(&facts(&state).claude_plugin(), &headers)
}

/// List the skills of this server
///
/// Agent Skills Discovery 0.2.0.
#[utoipa::path(
    get, path = "/.well-known/agent-skills/index.json", tag = "Documents", operation_id = "listSkills",
    responses(
        (status = 200, description = "The index", body = Value, example = json!({"skills": [{"name": "dropleaf", "type": "skill-md", "url": "/.well-known/agent-skills/dropleaf/SKILL.md"}]})),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn skills_index(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    json(&facts(&state).skills_index(), &headers)
}

/// Get the skill of this server
#[utoipa::path(
    get, path = "/.well-known/agent-skills/dropleaf/SKILL.md", tag = "Documents", operation_id = "getSkill",
    responses(
        (status = 200, description = "The skill", content_type = "text/markdown", body = String),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn skill(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    document(facts(&state).skill, MARKDOWN, &headers)
}

/// Get the entry for the MCP registry
///
/// `server.json` of schema 2025-12-11, ready to be published by the one who controls the domain.
#[utoipa::path(
    get, path = "/server.json", tag = "Documents", operation_id = "getRegistryEntry",
    responses(
        (status = 200, description = "The entry", body = Value, example = json!({"name": "localhost/dropleaf", "version": "0.1.0", "remotes": [{"type": "streamable-http", "url": "http://localhost:8080/mcp"}]})),
        (status = 304, description = "Not modified"),
    ),
    security(()),
)]
async fn registry_entry(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    json(&facts(&state).registry_entry(), &headers)
}
