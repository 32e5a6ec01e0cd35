//! Compares the document with the route tables: every operation is a route, and every route for programs is described.

use crate::http::mcp;
use crate::http::routes::{conventions, documented, people};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Answered before any router.
const BEFORE_THE_ROUTER: [&str; 2] = ["/healthz", "/readyz"];
/// Served by the router of pages for people, but called by programs.
const AMONG_PAGES: &str = "/oauth/authorize";
/// Paths that browsers, crawlers and mail programs request by convention.
const CONVENTIONS: [&str; 4] = ["/favicon.ico", "/favicon.svg", "/robots.txt", "/unsubscribe/{token}"];
/// Pages for people: these addresses, and in `BELOW` the prefixes of others.
const PAGES: [&str; 5] = ["/", "/device", "/drop", "/logout", "/oauth/consent"];
const BELOW: [&str; 6] = ["/assets", "/claim", "/dashboard", "/login", "/operator", "/pay"];

/// The paths of a route table with their methods. The router only reveals them in its debug output.
fn table(debug: &str) -> BTreeSet<(String, String)> {
    let (routes, paths) = debug.split_once("node: Node { paths: {").expect("the router's debug output");
    // `RouteId(7): MethodRouter(MethodRouter { get: …, … })`, in any order.
    let methods: BTreeMap<&str, Vec<&str>> = routes
        .split("RouteId(")
        .skip(1)
        .map(|route| {
            let (number, endpoint) = route.split_once("): ").expect("the number of a route");
            let answers = |name: &str| {
                endpoint.split_once(&format!("{name}: ")).is_some_and(|(_, is)| !is.starts_with("None"))
            };
            let methods = ["get", "delete", "patch", "post", "put"].into_iter();
            let named: Vec<&str> = methods.filter(|name| answers(name)).collect();
            (number, if named.is_empty() { vec!["any"] } else { named })
        })
        .collect();
    let mut found = BTreeSet::new();
    for entry in paths.split("RouteId(").skip(1) {
        // What follows the paths belongs to the router's fallback.
        let Some((number, rest)) =
            entry.split_once("): \"").filter(|(number, _)| methods.contains_key(number))
        else {
            break;
        };
        let path = rest.split_once('"').unwrap().0;
        for method in &methods[number] {
            found.insert((path.to_owned(), (*method).to_owned()));
        }
    }
    assert!(!found.is_empty(), "{debug}");
    found
}

/// The operations of the document.
fn operations() -> BTreeSet<(String, String)> {
    let document: Value = serde_json::from_str(&super::text()).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(|method| (path.clone(), method.clone()))
        })
        .collect()
}

fn paths(operations: &BTreeSet<(String, String)>) -> BTreeSet<&str> {
    operations.iter().map(|(path, _)| path.as_str()).collect()
}

#[test]
fn every_route_for_programs_is_in_the_document_and_every_operation_is_a_route() {
    let routes = table(&format!("{:?}", documented().split_for_parts().0));
    let mcp = table(&format!("{:?}", mcp::operations().split_for_parts().0));
    let mut described = operations();
    for (path, method) in &routes {
        let operation = (path.replace("{*", "{"), method.clone());
        assert!(described.remove(&operation), "{operation:?} is not in the document");
    }
    // The MCP endpoint answers every method itself; the document has those that the protocol defines.
    for path in paths(&mcp) {
        let before = described.len();
        described.retain(|(described, _)| described != path);
        assert!(described.len() < before, "{path} is not in the document");
    }
    let rest = paths(&described);
    let known: BTreeSet<&str> = BEFORE_THE_ROUTER.into_iter().chain([AMONG_PAGES]).collect();
    assert_eq!(rest, known, "no router knows these operations");
}

#[test]
fn every_other_route_is_a_convention_or_a_page_for_people() {
    let conventions = table(&format!("{:?}", conventions()));
    assert_eq!(paths(&conventions), CONVENTIONS.into_iter().collect());
    let people = table(&format!("{:?}", people(true)));
    assert!(paths(&people).contains(AMONG_PAGES));
    for path in paths(&people).into_iter().filter(|path| *path != AMONG_PAGES) {
        let below =
            |page: &str| path.strip_prefix(page).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let page = PAGES.contains(&path) || BELOW.iter().any(|page| below(page));
        assert!(page, "{path} is neither in the OpenAPI document nor known as a page for people");
    }
}
