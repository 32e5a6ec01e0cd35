//! Sends the stored files of a version to its owner. Spec §4.

use crate::connection::Connection;
use crate::http::api_error::ApiError;
use crate::http::extract::Reader;
use crate::http::state::ApiState;
use crate::http::view::{attachment, sending};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::DownloadContent;
use dropleaf_core::{Error, number};
use http::{HeaderValue, header};
use std::sync::Arc;

/// Without this policy an uploaded page would run in the API's origin, should a browser show it after all.
const POLICY: &str = "sandbox; default-src 'none'";

/// Download the files of a version
///
/// The uploaded file under its own name; for an archive, a zip with all its files. Markdown, text, images and data are
/// returned as they were uploaded, not as the page that was generated from them. An encrypted page is returned as ciphertext.
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/download", tag = "Sites", operation_id = "downloadSite",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("version" = Option<i64>, Query, minimum = 1, description = "The version; the current one by default."),
    ),
    responses((status = 200, description = "The file, or a zip archive of the files", content(
        (String = "application/zip"), (String = "text/html"), (String = "text/markdown"), (String = "application/pdf"),
        (String = "application/octet-stream"), (String = "text/plain"), (String = "image/svg+xml"), (String = "image/png"),
        (String = "image/jpeg"), (String = "image/gif"), (String = "image/webp"), (String = "image/avif"),
        (serde_json::Value = "application/json", example = json!({"leaves": 3})), (String = "text/csv"), (String = "text/tab-separated-values"),
    ), headers(("Content-Disposition" = String, description = "`attachment` with the name of the file.")))),
    security(("api_key" = [])),
)]
pub(super) async fn download(
    State(state): State<ApiState>,
    Reader(account): Reader,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    Extension(connection): Extension<Arc<Connection>>,
) -> Result<Response, ApiError> {
    let version = version_in(query.as_deref().unwrap_or_default())?;
    let found = state.app.find_download(&account, &name, version).await?;
    let (mime, bytes, body) = match found.content {
        DownloadContent::File(file) => {
            let part = sending::open(&state.app, &connection, &file, None).await?;
            (file.mime.clone(), Some(part.bytes), Body::from_stream(part.stream))
        }
        DownloadContent::Archive(files) => {
            let stream = sending::open_archive(&state.app, &connection, files).await?;
            ("application/zip".into(), None, Body::from_stream(stream))
        }
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    let mime = HeaderValue::from_bytes(&mime).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_TYPE, mime);
    headers.insert(header::CONTENT_DISPOSITION, attachment(&found.name));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // The length of an archive is known only when it is complete.
    if let Some(bytes) = bytes {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    Ok(response)
}

/// The version named in the query.
fn version_in(query: &str) -> Result<Option<i64>, Error> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let Some((name, value)) = pairs.find(|(name, _)| name == "version") else { return Ok(None) };
    let version = number::integer(&value).filter(|version| *version >= 1);
    version.map(Some).ok_or_else(|| Error::field(&name, "must be an integer of at least 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_positive_integer() {
        assert_eq!(version_in("").unwrap(), None);
        assert_eq!(version_in("x=1&version=7").unwrap(), Some(7));
        for bad in ["version=", "version=0", "version=-1", "version=1.5", "version=two"] {
            assert!(version_in(bad).is_err(), "{bad}");
        }
    }
}
