//! The plain HTTP listener beside HTTPS: answers HTTP-01 challenges of certificate authorities and redirects everything
//! else.

use super::challenges::Challenges;
use super::served::ServedCertificates;
use super::server_name::normalize;
use crate::connection::Connection;
use crate::http::error::{self, Wants};
use crate::http::readiness::Readiness;
use crate::http::{OutBody, authority_of, health, refuse_large_head};
use crate::metrics::{Metrics, Surface};
use crate::wire::Answerer;
use dropleaf_core::certificate::ChallengeKind;
use dropleaf_core::host::{HostRole, Hosts, Origin};
use dropleaf_core::{Code, Error};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const CHALLENGE_PATH: &str = "/.well-known/acme-challenge/";
/// How long the answer to a challenge may take to be found.
const CHALLENGE_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Redirect {
    readiness: Arc<Readiness>,
    hosts: Hosts,
    certificates: Arc<ServedCertificates>,
    challenges: Arc<Challenges>,
    metrics: Arc<Metrics>,
}

impl Answerer for Redirect {
    async fn answer(&self, request: Request<Incoming>, _: &Arc<Connection>) -> Response<OutBody> {
        let start = Instant::now();
        let (head, _) = request.into_parts();
        let response = self.respond(&head).await;
        self.metrics.count(Surface::Other, response.status().as_u16(), start.elapsed());
        response
    }
}

impl Redirect {
    pub(crate) fn new(
        readiness: &Arc<Readiness>,
        hosts: &Hosts,
        certificates: &Arc<ServedCertificates>,
        metrics: &Arc<Metrics>,
    ) -> Self {
        Self {
            readiness: Arc::clone(readiness),
            hosts: hosts.clone(),
            certificates: Arc::clone(certificates),
            challenges: certificates.challenges(),
            metrics: Arc::clone(metrics),
        }
    }

    async fn respond(&self, head: &Parts) -> Response<OutBody> {
        if let Some(refusal) = refuse_large_head(head, || false) {
            return refusal;
        }
        let refuse = |code, detail: &str| error::respond(&Error::new(code, detail), Wants::Text);
        let Some(authority) = authority_of(head) else {
            return refuse(Code::InvalidRequest, "A request needs exactly one Host header.");
        };
        let path = head.uri.path();
        if path == "/healthz" || path == "/readyz" {
            return health::answer(&self.readiness, &head.uri).await;
        }
        let name = normalize(authority.split_once(':').map_or(authority, |(host, _)| host));
        let Some(origin) = self.origin_of(&name) else {
            return refuse(Code::MisdirectedHost, "This host name is not served here.");
        };
        if let Some(token) = path.strip_prefix(CHALLENGE_PATH) {
            return self.challenge(head, token).await;
        }
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let location = format!("{}{target}", origin.url_of(&name));
        match HeaderValue::try_from(location) {
            Ok(location) if target.starts_with('/') => {
                let mut response = Response::new(OutBody::empty());
                *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
                response.headers_mut().insert(header::LOCATION, location);
                response
            }
            _ => refuse(Code::InvalidRequest, "The address of this request is not a path."),
        }
    }

    /// The public address of a host: its scheme and port.
    fn origin_of(&self, name: &str) -> Option<&Origin> {
        let hosts = &self.hosts;
        let at = |origin: &Origin| format!("{name}:{}", origin.port);
        if matches!(hosts.role_of(&at(&hosts.base)), HostRole::Api { .. }) {
            return Some(&hosts.base);
        }
        if let Some(agents) = &hosts.agents
            && hosts.role_of(&at(agents)) == HostRole::Agents
        {
            return Some(agents);
        }
        let is_page = matches!(
            hosts.role_of(&at(&hosts.site)),
            HostRole::Pages | HostRole::Isolated(_) | HostRole::Slug(_)
        );
        (is_page || self.certificates.is_served_domain(name)).then_some(&hosts.site)
    }

    async fn challenge(&self, head: &Parts, token: &str) -> Response<OutBody> {
        if head.method != Method::GET && head.method != Method::HEAD {
            return error::respond(&Error::plain(Code::MethodNotAllowed), Wants::Text);
        }
        let found =
            tokio::time::timeout(CHALLENGE_LIMIT, self.challenges.find(ChallengeKind::Http01, token)).await;
        let found = found.unwrap_or_else(|_| Err(Error::plain(Code::StorageUnavailable).retry_after(5)));
        match found {
            Ok(Some(key_authorization)) => {
                let kind = "application/octet-stream";
                error::bare(StatusCode::OK, kind, String::from_utf8_lossy(&key_authorization).into_owned())
            }
            Ok(None) => error::respond(&Error::plain(Code::NotFound), Wants::Text),
            Err(error) => error::respond(&error, Wants::Text),
        }
    }
}
