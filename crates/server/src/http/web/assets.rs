//! Serves `/assets/…`: the dashboard's style and scripts. Names contain a hash of the content, so browsers can cache
//! them permanently.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use dropleaf_core::{Code, Error};
use http::header;

use super::WebError;
use dropleaf_pages::asset;

pub(in crate::http) async fn serve(Path(name): Path<String>) -> Result<Response, WebError> {
    let asset = asset(&name).ok_or_else(|| Error::plain(Code::NotFound))?;
    let headers =
        [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, asset.text).into_response())
}
