//! Files that run on a viewer's computer: always saved and never shown, and a browser that navigates to one is told
//! first what it is about to save. Which files these are is decided when they are uploaded.

use super::scene::Scene;
use super::{FETCH_SITE, file, headers, report, without_body};
use crate::http::{OutBody, error};
use crate::pages::{self, RiskyFile};
use dropleaf_app::LiveFile;
use dropleaf_core::Error;
use http::{HeaderValue, Method, Response, StatusCode, header};
use std::sync::Arc;

/// The field of the form on the page that asks first.
const AGREED: &str = "dropleaf-download=1";
const ATTACHMENT: HeaderValue = HeaderValue::from_static("attachment");

pub(super) async fn send(scene: &Scene<'_>, file: &Arc<LiveFile>) -> Result<Response<OutBody>, Error> {
    if scene.visitor.navigation && !may_skip_question(scene) {
        return Ok(ask_first(scene, file));
    }
    let mut response = file::send(scene, file, StatusCode::OK).await?;
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    response.headers_mut().insert(header::CONTENT_DISPOSITION, attachment(name));
    Ok(response)
}

/// Whether the button was pressed, or the page itself links to the file: a browser may send `<a download>` as a navigation,
/// and would save the question under the file's name. A link from another site or from a letter never skips the question,
/// and neither does the form of a gate, which leads on to wherever such a link pointed.
fn may_skip_question(scene: &Scene<'_>) -> bool {
    let site = scene.head.headers.get(FETCH_SITE).and_then(|site| site.to_str().ok());
    let is_agreed = scene.head.uri.query().is_some_and(|query| query.split('&').any(|pair| pair == AGREED));
    match site {
        Some("same-origin") => is_agreed || !scene.page.door.is_gated(),
        Some(_) => false,
        None => is_agreed,
    }
}

fn ask_first(scene: &Scene<'_>, file: &LiveFile) -> Response<OutBody> {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let page =
        pages::risky(&RiskyFile { name, size_bytes: file.size_bytes, report: &report::link(&scene.root()) });
    let mut response = error::designed(StatusCode::OK, page);
    headers::unburnt(response.headers_mut());
    if scene.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// `attachment` with the file's name in UTF-8 (RFC 6266, RFC 8187).
fn attachment(name: &str) -> HeaderValue {
    let mut text = String::from("attachment; filename*=UTF-8''");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let hex = |digit: u8| char::from(b"0123456789ABCDEF"[usize::from(digit)]);
            text.extend(['%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    HeaderValue::from_str(&text).unwrap_or(ATTACHMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_coded_so_that_none_ends_the_header() {
        assert_eq!(attachment("setup.exe"), "attachment; filename*=UTF-8''setup.exe");
        assert_eq!(attachment("ü \"x\".exe"), "attachment; filename*=UTF-8''%C3%BC%20%22x%22.exe");
    }
}
