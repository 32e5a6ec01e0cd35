//! The HTTP server: routes each request by host and path. This is done by hand, before the router and its layers,
//! because page views are most of the traffic and need none of them.

mod address;
mod agent_files;
mod anonymous_upload;
pub mod api;
mod api_error;
mod body;
mod body_budget;
mod challenge;
mod changed_file;
mod client_documents;
mod cookie;
mod dashboard;
mod deadline;
mod destination;
pub mod error;
mod error_body;
pub mod error_reference;
mod extract;
mod fast_dispatch;
mod foreign_origin;
mod guides;
mod head_size;
pub(crate) mod health;
mod layer;
mod mcp;
mod media_type;
pub mod metrics_page;
mod oauth;
pub mod openapi;
mod operator;
mod pay;
mod pay_link;
mod quality;
pub(crate) mod readiness;
mod reference;
mod reference_cache;
mod response_budget;
mod routes;
mod self_check;
mod sign_in;
mod small_body;
mod state;
mod strict_response;
mod string_enum;
mod view;
mod web;

pub use body::OutBody;
pub(crate) use head_size::{
    ACCEPTED_BYTES as HEAD_BYTES, READ_BYTES as HEAD_READ_BYTES, refuse as refuse_large_head,
};
pub(crate) use self_check::{PAUSE as SELF_CHECK_PAUSE, SelfCheckJson};

use crate::config::Resolved;
use crate::connection::Connection;
use crate::fast_path::{FastRequest, FastResponse, Missing};
use crate::metrics::{Metrics, Surface};
use crate::tasks::Tasks;
use crate::wire::Answerer;
use axum::Router;
use client_documents::ClientDocuments;
use deadline::Late;
use destination::Destination;
use dropleaf_app::{App, ServedSite};
use dropleaf_core::host::HostRole;
use dropleaf_core::{Code, Error, network};
use error::Wants;
use http::request::Parts;
use http::{Request, Response, StatusCode, header};
use hyper::body::Incoming;
use readiness::Readiness;
use reference_cache::ReferenceCache;
use state::ApiState;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;
use view::PageAddress;

/// Headers of requests that a proxy forwards.
const FORWARDING: [&str; 3] = ["x-forwarded-for", "forwarded", "via"];

/// The address of the connected peer, for the API's extractors.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

#[derive(Debug, Clone)]
pub struct Dispatcher {
    pub app: Arc<App>,
    pub resolved: Arc<Resolved>,
    pub metrics: Arc<Metrics>,
    /// For work that the response does not wait for.
    pub tasks: Tasks,
    /// The requests of this server to itself that were answered.
    self_checks: Arc<self_check::SelfChecks>,
    pub(crate) readiness: Arc<Readiness>,
    plain_heads: Arc<view::PlainHeads>,
    api: Router,
}

impl Answerer for Dispatcher {
    async fn answer(&self, request: Request<Incoming>, connection: &Arc<Connection>) -> Response<OutBody> {
        let start = Instant::now();
        let (surface, mut response) = self.dispatch(request, connection).await;
        self.metrics.count(surface, response.status().as_u16(), start.elapsed());
        if self.is_secure() {
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, view::HSTS);
        }
        response
    }

    fn has_fast_path(&self) -> bool {
        self.resolved.fast_path.load(Ordering::Relaxed)
    }

    fn answer_fast(
        &self,
        request: &FastRequest<'_>,
        since: Instant,
        connection: &Connection,
        response: &mut FastResponse,
    ) -> bool {
        let status = self.dispatch_fast(request, connection, response);
        if let Some(status) = status {
            self.metrics.count(Surface::Page, status, since.elapsed());
        }
        status.is_some()
    }

    #[expect(clippy::disallowed_methods, reason = "only reads; a shutdown may cut it off")]
    async fn load(&self, missing: Missing, connection: &Connection) {
        let app = Arc::clone(&self.app);
        // A task, so that whoever stops waiting does not stop a read that others share.
        let loading = match missing {
            Missing::Row(key) => tokio::spawn(async move { app.reload_page(&key).await }),
            Missing::Body(file, coding) => {
                let Some(charge) = connection.try_charge(file.size_bytes) else { return };
                tokio::spawn(async move {
                    app.load_inline_body(&file, coding).await;
                    drop(charge);
                })
            }
        };
        // If it fails, hyper gets the request.
        let _ = loading.await;
    }
}

impl Dispatcher {
    pub fn new(app: Arc<App>, resolved: Arc<Resolved>, metrics: Arc<Metrics>, tasks: Tasks) -> Self {
        let state = ApiState {
            app: Arc::clone(&app),
            resolved: Arc::clone(&resolved),
            tasks: tasks.clone(),
            budget: body_budget::Budget::new(longest_body(&resolved)),
            documents: Arc::new(ClientDocuments::new(resolved.config.oauth.allow_loopback_documents)),
            reference: Arc::new(ReferenceCache::new(openapi::served)),
            health: Arc::default(),
        };
        let api = routes::router(state);
        let readiness = Arc::new(Readiness::new(Arc::clone(&app), Arc::clone(&tasks.drain)));
        let (self_checks, plain_heads) = (Arc::default(), Arc::default());
        Self { app, resolved, metrics, tasks, self_checks, readiness, plain_heads, api }
    }

    async fn dispatch(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> (Surface, Response<OutBody>) {
        let (head, body) = request.into_parts();
        let is_our_host =
            || authority_of(&head).is_some_and(|it| self.resolved.hosts.role_of(it) != HostRole::Unknown);
        if let Some(refusal) = head_size::refuse(&head, is_our_host) {
            return (Surface::Other, refusal);
        }
        let Some(authority) = authority_of(&head) else {
            let error = Error::new(Code::InvalidRequest, "A request needs exactly one Host header.");
            return (Surface::Other, error::respond(&error, Wants::Json));
        };
        let path = head.uri.path();
        // Before the host is matched: whether a proxy keeps it is one of the things to find out.
        if path == dropleaf_core::self_check::PATH
            && let Some(nonce) = self.self_checks.accept(&self.app, &head)
        {
            return (
                Surface::Other,
                Box::pin(self_check::answer(self, &nonce, authority, &head, body, connection)).await,
            );
        }
        if destination::is_health_check(path) {
            return (Surface::Other, Box::pin(health::answer(&self.readiness, &head.uri)).await);
        }
        if let Some(refusal) = crate::tls::refuse_other_host(connection, &head, authority) {
            return (Surface::Other, refusal);
        }
        let domain;
        let (address, is_own_host) = match Destination::of(&self.resolved.hosts, authority, path) {
            Destination::Api => {
                let request = Request::from_parts(head, body);
                // Boxed, so that the future of a page view is not larger because of it.
                return (Surface::Api, Box::pin(self.call_api(request, connection)).await);
            }
            Destination::Agents => {
                let request = Request::from_parts(head, body);
                return (Surface::Api, Box::pin(self.call_agents(request, connection)).await);
            }
            Destination::SafePreview(label) => {
                return (Surface::Page, Box::pin(self.look(&head, label)).await);
            }
            Destination::Page(address) => (Some(address), false),
            Destination::OwnRoot(label) => {
                (view::find_root_address(&self.resolved.hosts.site, &head, label), true)
            }
            Destination::NoPage => (None, false),
            Destination::OtherHost => {
                let Some(found) = self.find_domain(authority) else {
                    return Box::pin(self.answer_unknown(Request::from_parts(head, body), connection)).await;
                };
                domain = found;
                let rest = destination::below_root(path);
                (Some(PageAddress::Domain { domain: &domain, rest }), false)
            }
        };
        let response = match address {
            Some(address) => view::answer(self, &head, body, connection, address).await,
            None => view::other(&head, is_own_host),
        };
        (Surface::Page, response)
    }

    fn is_secure(&self) -> bool {
        self.resolved.hosts.base.scheme == "https"
    }

    fn find_domain(&self, authority: &str) -> Option<Arc<ServedSite>> {
        self.app.served_domain(self.resolved.hosts.domain_of(authority)?)
    }

    /// Runs work within the time limit of a request that arrived at `since`. Work that is ready at once, such as a
    /// cached page, needs no timer.
    async fn in_time<T>(
        &self,
        head: &Parts,
        since: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, Error> {
        let mut work = pin!(work);
        if let Poll::Ready(done) = futures_util::poll!(&mut work) {
            return Ok(done);
        }
        let late = || deadline::refusal(Late::Server, head.method.is_safe());
        tokio::time::timeout_at(since + self.time_limit(), work).await.map_err(|_| late())
    }

    /// The same for work that loses something if it is given up, such as the only view of a page: it gets more time.
    async fn in_long_time<T>(
        &self,
        since: Instant,
        work: impl Future<Output = T> + Unpin,
    ) -> Result<T, Error> {
        let end = since + self.time_limit() * deadline::LONG_FACTOR;
        let late = || deadline::refusal(Late::Server, false);
        tokio::time::timeout_at(end, work).await.map_err(|_| late())
    }

    fn time_limit(&self) -> Duration {
        Duration::from_secs(self.resolved.config.limits.request_seconds.max(1))
    }

    async fn look(&self, head: &Parts, label: Option<&str>) -> Response<OutBody> {
        let look = self.in_time(head, Instant::now(), view::answer_safe_preview(self, head, label)).await;
        look.unwrap_or_else(|error| error::respond(&error, Wants::of(&head.headers)))
    }

    async fn call_api(
        &self,
        mut request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Response<OutBody> {
        request.extensions_mut().insert(Peer(connection.peer));
        request.extensions_mut().insert(Arc::clone(connection));
        let is_safe = request.method().is_safe();
        // Held also while the rest of a refused upload is read after the response.
        let reading = connection.read_body();
        let request = request.map(|body| axum::body::Body::new(body::Keeping::new(body, reading)));
        let response = match self.api.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        if media_type::is(response.headers(), "text/event-stream") {
            let listening = connection.listen();
            return response.map(|body| {
                response_budget::charge_events(body, connection, &self.tasks).keeping(listening)
            });
        }
        response_budget::charge(response, connection, is_safe).await
    }

    /// Serves the agents' host, which exposes part of the API.
    async fn call_agents(
        &self,
        mut request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Response<OutBody> {
        let Some(uri) = pay::api_uri(request.method(), request.uri()) else {
            let detail = format!(
                "This is the endpoint for paying agents: POST / publishes a page, GET / describes the service. The full API is \
                 at {}.",
                self.resolved.hosts.base.url()
            );
            return error::respond(&Error::new(Code::NotFound, detail), Wants::Json);
        };
        *request.uri_mut() = uri;
        self.call_api(request, connection).await
    }

    /// A request for a host name that is neither ours nor a verified custom domain. A proxy on this machine, or a trusted one,
    /// asks `/tls/allow` by whatever name it has for this server; what it forwards for others does not count.
    async fn answer_unknown(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> (Surface, Response<OutBody>) {
        let peer = connection.peer.ip().to_canonical();
        let is_proxy = peer.is_loopback() || network::is_in(peer, &self.resolved.trusted_proxies);
        let is_forwarded = FORWARDING.iter().any(|name| request.headers().contains_key(*name));
        if request.uri().path() == api::TLS_ALLOW_PATH && is_proxy && !is_forwarded {
            return (Surface::Api, self.call_api(request, connection).await);
        }
        let (head, _) = request.into_parts();
        (Surface::Other, self.misdirected(&head))
    }

    fn misdirected(&self, head: &Parts) -> Response<OutBody> {
        let detail = format!(
            "This server is configured for {}. To use another host name, set base_url or site_url to it.",
            self.resolved.hosts.base.url()
        );
        let wants = match Wants::of(&head.headers) {
            Wants::Page => Wants::Page,
            Wants::Json | Wants::Text => Wants::Json,
        };
        error::respond(&Error::new(Code::MisdirectedHost, detail), wants)
    }
}

/// The largest body held in memory.
fn longest_body(resolved: &Resolved) -> u64 {
    let limits = &resolved.config.limits;
    let longest = mcp::longest_message(limits.upload_bytes).memory();
    longest.max(extract::JsonLimit::of_text(limits.publish_bytes).memory())
}

/// The host of a request: from the URI itself, or from the single required `Host` header.
pub(crate) fn authority_of(head: &Parts) -> Option<&str> {
    if let Some(authority) = head.uri.authority() {
        return Some(authority.as_str());
    }
    let mut hosts = head.headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    }
}

/// An empty response with this status.
fn empty(status: StatusCode) -> Response<OutBody> {
    let mut response = Response::new(OutBody::empty());
    *response.status_mut() = status;
    response
}
