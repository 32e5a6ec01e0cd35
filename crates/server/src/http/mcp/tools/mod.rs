//! The tools, in the order they are listed. Each is a thin layer over one operation of `app`, the same as the API's.

mod account;
mod check;
mod custom_domains;
mod edit;
mod feedback;
mod lifecycle;
mod publish;
mod read;
mod settings;
mod share_links;
mod sites;
mod upload;
mod versions;

#[cfg(test)]
mod tools_tests;

use super::schema;
use super::sender::Sender;
use super::tool_result::{ToolOutput, UNREAD};
use crate::http::extract::Fields;
use crate::http::state::ApiState;
use dropleaf_app::Writer;
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::scope::Scope;
use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use serde::Deserialize;
use std::sync::LazyLock;
use utoipa::ToSchema;

/// One call of one tool.
#[derive(Debug)]
pub(super) struct Call {
    pub state: ApiState,
    pub sender: Sender,
    pub fields: Fields,
}

impl Call {
    fn account(&self) -> &Account {
        &self.sender.who.account
    }

    /// The caller as a writer of its own pages.
    fn writer(&self) -> Writer {
        Writer::Account(self.account().clone(), self.sender.who.maker.clone())
    }

    /// The page named by a call without other arguments.
    fn site(&mut self) -> Result<String> {
        self.fields.take::<OneSite>().map(|arguments| arguments.site)
    }
}

/// The MCP annotations of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hints {
    pub read_only: bool,
    /// Removes content, settings or access that existed before.
    pub destructive: bool,
    /// Repeating the call changes nothing more.
    pub idempotent: bool,
    /// Involves people outside: viewers see pages and write comments.
    pub open_world: bool,
}

const READS: Hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
const ADDS: Hints = Hints { read_only: false, destructive: false, idempotent: false, open_world: true };
const REPLACES: Hints = Hints { read_only: false, destructive: true, idempotent: false, open_world: true };
const SETTLES: Hints = Hints { read_only: false, destructive: false, idempotent: true, open_world: false };
const REMOVES: Hints = Hints { read_only: false, destructive: true, idempotent: true, open_world: true };

#[derive(Debug)]
pub(super) struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub needs: Scope,
    pub hints: Hints,
    pub input: fn() -> JsonObject,
    pub output: fn() -> JsonObject,
    pub run: fn(Call) -> BoxFuture<'static, Result<ToolOutput>>,
}

/// Publishing and reading first, then managing a page, then sharing, custom domains and feedback, the account and uploads.
static TOOLS: &[&Tool] = &[
    &publish::PUBLISH_HTML,
    &publish::UPDATE_SITE,
    &edit::EDIT_SITE,
    &check::CHECK_PAGE,
    &sites::GET_SITE,
    &sites::GET_CONTENT,
    &read::READ_SITE,
    &sites::LIST_SITES,
    &settings::SET_VISIBILITY,
    &settings::SET_PASSWORD,
    &settings::SET_EXPIRY,
    &settings::SET_EMAIL_GATE,
    &settings::SET_AGENTATION,
    &versions::LIST_VERSIONS,
    &versions::ROLLBACK_SITE,
    &lifecycle::DELETE_SITE,
    &lifecycle::RESTORE_SITE,
    &lifecycle::CLAIM_SITE,
    &share_links::CREATE_SHARE_LINK,
    &share_links::LIST_SHARE_LINKS,
    &share_links::REVOKE_SHARE_LINK,
    &custom_domains::LIST_CUSTOM_DOMAINS,
    &custom_domains::ADD_CUSTOM_DOMAIN,
    &custom_domains::UPDATE_CUSTOM_DOMAIN,
    &custom_domains::VERIFY_CUSTOM_DOMAIN,
    &custom_domains::DELETE_CUSTOM_DOMAIN,
    &feedback::LIST_FEEDBACK,
    &feedback::RESOLVE_FEEDBACK,
    &account::GET_ME,
    &account::GET_DESIGN_GUIDE,
    &upload::CREATE_UPLOAD,
];

static DESCRIBED: LazyLock<Vec<Described>> =
    LazyLock::new(|| TOOLS.iter().map(|tool| describe(tool)).collect());

pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name).copied()
}

/// A suspended account can only read, and delete its own pages and domains.
pub(super) fn check_account(tool: &Tool, account: &Account) -> Result<()> {
    let always = tool.needs == Scope::Read
        || [lifecycle::DELETE_SITE.name, custom_domains::DELETE_CUSTOM_DOMAIN.name].contains(&tool.name);
    if always { Ok(()) } else { account.check_active() }
}

/// All tools as the protocol describes them.
pub(super) fn list() -> Vec<Described> {
    DESCRIBED.clone()
}

pub(super) fn described(tool: &Tool) -> Described {
    DESCRIBED.iter().find(|described| described.name == tool.name).cloned().unwrap_or_default()
}

fn describe(tool: &Tool) -> Described {
    let Hints { read_only, destructive, idempotent, open_world } = tool.hints;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        .open_world(open_world);
    let (input, mut output) = ((tool.input)(), (tool.output)());
    // Comments of a deleted page cannot be read.
    if schema::has(&input, "site") && tool.name != lifecycle::DELETE_SITE.name {
        schema::add(&mut output, UNREAD, "Viewer comments that list_feedback has not returned yet.");
    }
    Described::new(tool.name, tool.description, input)
        .with_title(tool.title)
        .with_raw_output_schema(output.into())
        .with_annotations(annotations)
}

/// One of your pages.
#[derive(Debug, Deserialize, ToSchema)]
struct OneSite {
    /// The ID, the slug or the token of the page.
    site: String,
}
