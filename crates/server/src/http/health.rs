//! `/healthz`: the process answers. `/readyz`: its storage does too. Both on every host.

use super::{OutBody, error};
use dropleaf_app::App;
use http::{HeaderValue, Response, header};
use std::time::Duration;

pub(super) async fn answer(app: &App, path: &str) -> Response<OutBody> {
    let ready = if path == "/readyz" {
        match tokio::time::timeout(Duration::from_secs(2), app.ping()).await {
            Ok(outcome) => outcome,
            Err(_) => {
                Err(dropleaf_core::Error::plain(dropleaf_core::Code::StorageUnavailable).retry_after(5))
            }
        }
    } else {
        Ok(())
    };
    match ready {
        Ok(()) => {
            let mut response = Response::new(OutBody::from(String::from("{\"status\":\"ok\"}\n")));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
            response
        }
        Err(error) => error::respond(&error, error::Wants::Json),
    }
}
