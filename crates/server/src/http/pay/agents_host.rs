//! Maps requests at the agents' host, where an agent needs only a wallet: POST / publishes and GET / describes how. It
//! serves the paid routes, the documents about them and updates of paid pages; never the dashboard.

use http::Method;
use http::uri::{PathAndQuery, Uri};

/// Paths served as at the API's host, whatever the method.
const SAME_PATHS: [&str; 8] = [
    "/publish",
    "/provision",
    "/unlock",
    "/wallet-auth/challenge",
    "/openapi.json",
    "/discovery/resources",
    "/.well-known/x402",
    "/.well-known/x402-service",
];

/// The API path for a request at the agents' host; None if there is none.
pub(in crate::http) fn api_uri(method: &Method, uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    if path == "/" {
        let to = if method == Method::POST { "/publish" } else { "/.well-known/x402-service" };
        return with_path(uri, to);
    }
    let page = path.strip_prefix("/sites/").filter(|rest| !rest.is_empty());
    let is_method = |expected: Method| *method == expected || *method == Method::OPTIONS;
    let open = match page {
        Some(rest) => match rest.split_once('/') {
            None => is_method(Method::PUT),
            Some((name, end)) => !name.is_empty() && end == "claim" && is_method(Method::POST),
        },
        None => SAME_PATHS.contains(&path),
    };
    open.then(|| uri.clone())
}

/// The same URI with another path; the query is kept.
fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("{path}{query}")).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_publishes_and_tells_how() {
        let at = |method: Method, uri: &'static str| api_uri(&method, &Uri::from_static(uri));
        assert_eq!(at(Method::POST, "/").unwrap(), "/publish");
        assert_eq!(at(Method::POST, "/?a=b").unwrap(), "/publish?a=b");
        assert_eq!(at(Method::GET, "/").unwrap(), "/.well-known/x402-service");
        let absolute = at(Method::POST, "https://agents.example/").unwrap();
        assert_eq!(absolute, "https://agents.example/publish");
    }

    #[test]
    fn nothing_else_is_there() {
        let open = |method: Method, uri: &'static str| api_uri(&method, &Uri::from_static(uri)).is_some();
        assert!(open(Method::PUT, "/sites/site_x") && open(Method::POST, "/sites/site_x/claim"));
        assert!(open(Method::POST, "/unlock?feature=x") && open(Method::GET, "/openapi.json"));
        for path in [
            "/dashboard",
            "/login",
            "/sites",
            "/sites/",
            "/sites//claim",
            "/sites/x/claim/",
            "/sites/x/content",
            "/p/x/",
            "/publish/",
            "/mcp",
            "//",
        ] {
            assert!(!open(Method::PUT, path) && !open(Method::POST, path), "{path}");
        }
        assert!(!open(Method::GET, "/sites/x") && !open(Method::DELETE, "/sites/x"));
        assert!(!open(Method::GET, "/sites/x/claim") && !open(Method::PATCH, "/sites/x"));
    }
}
