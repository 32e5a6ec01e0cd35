//! Redirects of page requests: to another address of the page, or to its own host.

use super::headers;
use super::page_address::PageAddress;
use super::page_request::PageRequest;
use crate::http::{OutBody, empty};
use dropleaf_core::Error;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};

/// The page's own host, where browsers are redirected so that no two pages share an origin.
pub(super) fn isolated_target(request: &PageRequest<'_>) -> Option<String> {
    let hosts = &request.dispatcher.resolved.hosts;
    // Safari does not resolve the names below localhost.
    let has_no_host = request.visitor.safari && hosts.site.is_loopback();
    let plain = matches!(request.head.method, Method::GET | Method::HEAD);
    if !matches!(request.address, PageAddress::Shared { .. })
        || !hosts.isolated
        || !request.visitor.navigation
        || has_no_host
        || !plain
    {
        return None;
    }
    let origin = hosts.isolated_origin(&request.page.site.host_label);
    Some(with_query(request.head, &format!("{origin}{}", request.head.uri.path())))
}

pub(super) fn with_query(head: &Parts, target: &str) -> String {
    match head.uri.query() {
        Some(query) => format!("{target}?{query}"),
        None => target.to_owned(),
    }
}

pub(super) fn redirect(status: StatusCode, target: &str) -> Result<Response<OutBody>, Error> {
    let mut response = empty(status);
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_str(target).map_err(Error::internal)?);
    headers::redirect(headers);
    Ok(response)
}
