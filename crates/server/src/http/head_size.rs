//! Limits the size of a request's head. More is read than is accepted: a page on a sibling host can store so many
//! cookies for the parent domain that every request of a victim is refused, and a refusal by the HTTP library could
//! neither explain that nor clear them.

use super::OutBody;
use super::error::{self, Wants};
use dropleaf_core::{Code, Error};
use http::request::Parts;
use http::{HeaderValue, Response, header};

/// Read from the connection: all that Chromium sends for a domain with the 180 cookies of 4096 bytes it can store. Held
/// only while a head arrives, and until it is refused; `large_heads` bounds how many at a time.
pub(crate) const READ_BYTES: usize = 768 * 1024;
/// Accepted: the path, the query and all headers, in the format of HTTP/1.1.
pub(crate) const ACCEPTED_BYTES: usize = 32 * 1024;
/// Above this size, the cookies are the cause.
const COOKIE_BYTES: usize = ACCEPTED_BYTES / 2;
/// Above this size, the address is the cause.
const ADDRESS_BYTES: usize = ACCEPTED_BYTES / 2;

/// Refuses a head that is too large. Cookies are cleared only on hosts of ours: browsers clear them for the whole registrable
/// domain, and a custom domain is part of its owner's.
pub(crate) fn refuse(head: &Parts, is_our_host: impl FnOnce() -> bool) -> Option<Response<OutBody>> {
    // The colon, a space and the end of the line.
    let field = |name: &http::HeaderName, value: &HeaderValue| name.as_str().len() + value.len() + 4;
    let address = head.uri.path_and_query().map_or(0, |address| address.as_str().len());
    let all = address + head.headers.iter().map(|(name, value)| field(name, value)).sum::<usize>();
    if all <= ACCEPTED_BYTES {
        return None;
    }
    let cookies = head.headers.get_all(header::COOKIE).iter().map(HeaderValue::len).sum::<usize>();
    let are_cookies = cookies > COOKIE_BYTES;
    let clears = are_cookies && is_our_host();
    let detail = if clears && is_secure(&head.headers) {
        "This request had too many cookies, possibly from another site on this domain. They have been cleared. Reload the page. \
         You may have to sign in again."
    } else if are_cookies {
        "This request had too many cookies, possibly from another site on this domain. Delete the cookies of this site in your \
         browser settings, then reload the page. You may have to sign in again."
    } else if address > ADDRESS_BYTES {
        "The address of this request is too long. Check the link or ask the sender for a new one."
    } else {
        "The address and headers of a request can be at most 32 KiB in total."
    };
    let mut response = error::respond(&Error::new(Code::HeadersTooLarge, detail), Wants::of(&head.headers));
    if clears {
        response.headers_mut().insert("clear-site-data", HeaderValue::from_static("\"cookies\""));
    }
    Some(response)
}

/// Whether the browser uses https or a loopback host: only then does it send fetch metadata and honor
/// `Clear-Site-Data`.
fn is_secure(headers: &http::HeaderMap) -> bool {
    headers.contains_key("sec-fetch-site") || headers.contains_key("sec-fetch-mode")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Request, StatusCode};

    fn refused(lines: &[(&str, String)]) -> Option<Response<OutBody>> {
        refused_at(true, lines)
    }

    fn refused_at(is_our_host: bool, lines: &[(&str, String)]) -> Option<Response<OutBody>> {
        let mut request = Request::get("/p/x/");
        for (name, value) in lines {
            request = request.header(*name, value);
        }
        refuse(&request.body(()).unwrap().into_parts().0, || is_our_host)
    }

    #[test]
    fn only_too_many_cookies_are_cleared() {
        assert!(refused(&[("cookie", "c".repeat(30_000))]).is_none());
        let split: Vec<_> = (0..40).map(|n| ("cookie", format!("c{n}={}", "x".repeat(3900)))).collect();
        for lines in [split, vec![("cookie", "c".repeat(160_000))]] {
            let response = refused(&lines).expect("a refusal");
            assert_eq!(response.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
            assert_eq!(response.headers()["clear-site-data"], "\"cookies\"");
        }
        let lines = [("cookie", "c".repeat(160_000)), ("sec-fetch-mode", "navigate".into())];
        let theirs = refused_at(false, &lines).expect("a refusal");
        assert!(
            !theirs.headers().contains_key("clear-site-data"),
            "nor the other sites of a custom domain's owner"
        );
        let other = refused(&[("cookie", "session=x".into()), ("x-long", "y".repeat(40_000))]);
        assert!(!other.expect("a refusal").headers().contains_key("clear-site-data"));
    }
}
