//! The OpenAPI document: generated from the routes, then completed with credentials, errors and examples. `text` is the
//! document in git, `served` the one of a running server.

mod error_json;
mod examples;
mod failures;
mod prices;
mod security;

#[cfg(test)]
mod routes_tests;

use crate::http::{health, mcp, oauth, routes};
use dropleaf_app::PaymentSettings;
use dropleaf_core::host::Hosts;
use serde_json::{Value, json};
use std::sync::LazyLock;
use utoipa::openapi::OpenApi as Document;
use utoipa::{OpenApi, PartialSchema};
use utoipa_axum::router::OpenApiRouter;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "dropleaf",
        version = "1.0.0",
        description = "Private hosting for pages made by software agents. Send one file and get back an unguessable link.",
        license(name = "Apache-2.0 OR MIT", identifier = "Apache-2.0 OR MIT")
    ),
    // Answered before the router, and by the router of pages for people.
    paths(health::healthz, health::readyz, oauth::authorize::authorize),
    tags(
        (name = "Sites", description = "Publish and manage pages."),
        (name = "Share tokens", description = "Links that open a page without its password."),
        (name = "Custom domains", description = "Host names of your own that show a page."),
        (name = "Uploads", description = "Upload files to addresses created earlier."),
        (name = "Feedback", description = "Comments from viewers."),
        (name = "Webhooks", description = "Signed messages to your own programs when something happens."),
        (name = "API keys", description = "The credentials of an account."),
        (name = "Account", description = "Account details and limits."),
        (name = "Payments", description = "Buy pages, keys and higher limits with x402 or MPP."),
        (name = "OAuth", description = "Access that a user grants to an app: OAuth 2.1 and device login."),
        (name = "MCP", description = "The same operations for Model Context Protocol clients."),
        (name = "Documents", description = "Discovery documents, guides, this description and health checks."),
    )
)]
struct Head;

/// The tag of operations that read no stored data and need no credential.
const DOCUMENTS: &str = "Documents";

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut document = Head::openapi();
    for part in [described(routes::documented()), described(mcp::operations())] {
        document.merge(part);
    }
    let mut document = serde_json::to_value(document).unwrap_or_default();
    complete(&mut document);
    document
});

/// The OpenAPI description of a route table.
fn described<S: Clone + Send + Sync + 'static>(mut routes: OpenApiRouter<S>) -> Document {
    std::mem::take(routes.get_openapi_mut())
}

/// The document in git.
pub fn text() -> String {
    serde_json::to_string_pretty(&*DOCUMENT).unwrap_or_default()
}

/// The document of this server, with its addresses and prices. Without `payments` nothing is sold.
pub(super) fn served(hosts: &Hosts, payments: Option<&PaymentSettings>) -> Value {
    let mut document = DOCUMENT.clone();
    match payments {
        Some(payments) => prices::add_prices(&mut document, payments),
        None => prices::remove_payments(&mut document),
    }
    let base_url = hosts.base.url();
    examples::relocate(&mut document, &base_url, &hosts.site.url());
    document["servers"] = json!([{"url": base_url}]);
    document["components"]["securitySchemes"] = security::schemes(&base_url);
    document
}

fn complete(document: &mut Value) {
    document["components"]["securitySchemes"] = security::schemes("");
    document["components"]["schemas"]["Error"] =
        serde_json::to_value(error_json::ErrorJson::schema()).unwrap_or_default();
    let Some(paths) = document["paths"].as_object_mut() else { return };
    // The router writes `{*path}` for a parameter that may contain slashes; the format has no such mark.
    *paths = std::mem::take(paths).into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            security::add_oauth(method, operation);
            failures::add(method, path, operation);
        }
    }
    examples::lift(document);
}
