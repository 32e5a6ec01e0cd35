//! The tools, in the order they are listed. Each is a thin layer over one operation of `app`, the same as the API's.

mod account;
mod check;
mod custom_domains;
mod edit;
mod feedback;
mod lifecycle;
mod publish;
mod read;
mod read_range;
mod settings;
mod share_links;
mod site_list;
mod sites;
mod upload;
mod versions;

#[cfg(test)]
mod tools_tests;

use super::schema;
use super::sender::Sender;
use super::tool_result::ToolOutput;
use crate::http::extract::Fields;
use crate::http::state::ApiState;
use dropleaf_app::Writer;
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::scope::Scope;
use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

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
    &site_list::LIST_SITES,
    &settings::SET_VISIBILITY,
    &settings::SET_PASSWORD,
    &settings::SET_EXPIRY,
    &settings::SET_EMAIL_GATE,
    &settings::SET_AGENTATION,
    &settings::SET_LIVE,
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
    &feedback::REPLY_TO_FEEDBACK,
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
    // The title is already a member of the tool.
    let annotations = ToolAnnotations::new()
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        .open_world(open_world);
    let mut input = (tool.input)();
    // Describes the type, which the tool's own description does better. So does that of a list for its objects.
    input.remove("description");
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        let items = properties.values_mut().filter_map(|property| property.get_mut("items")?.as_object_mut());
        items.for_each(|item| drop(item.remove("description")));
    }
    // Without an output schema: the protocol does not require one, and it would be most of the list. OpenAPI has them; see
    // `outputs`.
    Described::new(tool.name, tool.description, input).with_title(tool.title).with_annotations(annotations)
}

/// The schema of each tool's structured result in the OpenAPI document, by the tool's name.
pub(super) fn outputs() -> Value {
    let reference = |tool: &&Tool| {
        let output = (tool.output)();
        let name = output.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
        (tool.name.to_owned(), json!({"$ref": format!("#/components/schemas/{name}")}))
    };
    Value::Object(TOOLS.iter().map(reference).collect())
}

/// The types of results that no endpoint of the API has, for the OpenAPI document.
pub(super) fn components() -> Vec<(String, RefOr<Schema>)> {
    let mut components = Vec::new();
    add::<sites::ContentJson>(&mut components);
    add::<read::SourceJson>(&mut components);
    add::<site_list::ListedSitesJson>(&mut components);
    add::<feedback::ResolvedComments>(&mut components);
    add::<account::GuideJson>(&mut components);
    add::<upload::UploadJson>(&mut components);
    components
}

fn add<T: ToSchema>(components: &mut Vec<(String, RefOr<Schema>)>) {
    T::schemas(components);
    components.push((T::name().into_owned(), T::schema()));
}

/// The properties of a tool's input schema.
pub(super) fn properties(tool: &Tool) -> Map<String, Value> {
    let described = DESCRIBED.iter().find(|described| described.name == tool.name);
    let properties = described.and_then(|described| described.input_schema.get("properties")?.as_object());
    properties.cloned().unwrap_or_default()
}

/// One of your pages.
#[derive(Debug, Deserialize, ToSchema)]
struct OneSite {
    /// ID, slug, token or URL.
    site: String,
}
