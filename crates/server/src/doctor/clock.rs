//! Other clocks to compare with: of the database server, and in the `Date` headers of the S3 server and the certificate
//! authority.

use super::{Doctor, Storage};
use dropleaf_app::TlsMode;
use dropleaf_core::health::{self, ClockFacts, Finding};
use std::time::{Duration, UNIX_EPOCH};

const PATIENCE: Duration = Duration::from_secs(5);

impl Doctor {
    pub(super) async fn check_clock(&self) -> Finding {
        let (database, outside) = tokio::join!(self.database_clock(), self.outside_clock());
        let others = [database, outside].into_iter().flatten().collect();
        health::clock(&ClockFacts { own: self.clock.now(), others })
    }

    async fn database_clock(&self) -> Option<(String, i64)> {
        let Storage::Open(store) = &self.storage else { return None };
        let read = tokio::time::timeout(PATIENCE, store.db.read_postgres()).await;
        Some(("the database server".to_owned(), read.ok()?.ok()??.now))
    }

    async fn outside_clock(&self) -> Option<(String, i64)> {
        let resolved = &self.resolved;
        let (name, url) = match s3_endpoint(&resolved.blobs_url) {
            Some(endpoint) => ("the S3 server", endpoint),
            None if resolved.settings.tls_mode == TlsMode::Acme => {
                ("the certificate authority", resolved.config.tls.acme.directory_url.clone())
            }
            None => return None,
        };
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .user_agent("dropleaf")
            .build()
            .ok()?;
        // Any response will do, also a refusal.
        let response = client.head(url).send().await.ok()?;
        let date = response.headers().get(http::header::DATE)?.to_str().ok()?;
        let since = httpdate::parse_http_date(date).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((name.to_owned(), i64::try_from(since.as_secs()).ok()?))
    }
}

/// Where the S3 server of a blobs URL is.
fn s3_endpoint(blobs_url: &str) -> Option<String> {
    let rest = blobs_url.strip_prefix("s3://")?;
    let (_, options) = rest.split_once('?').unwrap_or((rest, ""));
    let option = |wanted: &str| {
        let mut pairs = form_urlencoded::parse(options.as_bytes());
        pairs.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    let region = || option("region").unwrap_or_else(|| "us-east-1".to_owned());
    Some(option("endpoint").unwrap_or_else(|| format!("https://s3.{}.amazonaws.com", region())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_a_bucket() {
        assert_eq!(s3_endpoint("file:/var/lib"), None);
        assert_eq!(s3_endpoint("s3://b?region=eu-west-1").unwrap(), "https://s3.eu-west-1.amazonaws.com");
        assert_eq!(
            s3_endpoint("s3://b/prefix?endpoint=http://127.0.0.1:9000&region=x&secret_access_key=y").unwrap(),
            "http://127.0.0.1:9000"
        );
    }
}
