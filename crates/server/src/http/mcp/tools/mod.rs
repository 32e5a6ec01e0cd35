//! The tools, in the order they are listed. Each is a thin skin over one act of `app`, the same as the API's.

mod sites;

use super::answer::{Answer, UNREAD};
use super::door::Sender;
use super::schema;
use crate::http::api::ApiState;
use crate::http::extract::Fields;
use dropleaf_core::Result;
use dropleaf_core::scope::Scope;
use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use std::sync::LazyLock;

/// One call of one tool.
#[derive(Debug)]
pub(super) struct Call {
    pub state: ApiState,
    pub sender: Sender,
    pub fields: Fields,
}

/// What a tool may do to the world, told honestly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hints {
    pub read_only: bool,
    /// Takes something away that was there.
    pub destructive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// What it does or returns reaches people outside: pages are seen by strangers, comments come from them.
    pub open_world: bool,
}

pub(super) const READS: Hints =
    Hints { read_only: true, destructive: false, idempotent: true, open_world: false };

#[derive(Debug)]
pub(super) struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub needs: Scope,
    pub hints: Hints,
    pub input: fn() -> JsonObject,
    pub output: fn() -> JsonObject,
    pub run: fn(Call) -> BoxFuture<'static, Result<Answer>>,
}

/// In the order a reader meets them: publish first.
static TOOLS: &[&Tool] = &[&sites::PUBLISH_HTML, &sites::GET_SITE];

static DESCRIBED: LazyLock<Vec<Described>> =
    LazyLock::new(|| TOOLS.iter().map(|tool| describe(tool)).collect());

pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name).copied()
}

/// All of them as the protocol describes them.
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
    if schema::has(&input, "site") {
        schema::add(&mut output, UNREAD, "Comments of viewers that list_feedback has not given yet.");
    }
    Described::new(tool.name, tool.description, input)
        .with_title(tool.title)
        .with_raw_output_schema(output.into())
        .with_annotations(annotations)
}
