//! A fake external content checker: records its requests and answers as configured, also with errors or never.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

#[derive(Debug, Clone)]
pub(crate) enum Says {
    This(u16, String),
    /// Redirects to another address.
    GoTo(String),
    /// Accepts the request and never answers.
    Nothing,
    /// Signals that it was called, and accepts once released; with an error status this is no valid answer.
    Held(u16, Arc<Semaphore>, Arc<Semaphore>),
}

#[derive(Debug, Clone)]
pub(crate) struct FakeChecker {
    pub(crate) url: String,
    inner: Arc<Mutex<Inner>>,
    _tasks: Arc<JoinSet<()>>,
}

#[derive(Debug)]
struct Inner {
    says: Says,
    heard: Vec<(HeaderMap, Value)>,
}

impl FakeChecker {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/ask?list=all", listener.local_addr().unwrap());
        let accept = Says::This(200, r#"{"verdict":"accept"}"#.to_owned());
        let inner = Arc::new(Mutex::new(Inner { says: accept, heard: Vec::new() }));
        let router = Router::new().route("/ask", any(answer)).with_state(inner.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, inner, _tasks: Arc::new(tasks) }
    }

    pub(crate) fn says(&self, status: u16, body: impl Into<String>) {
        self.set(Says::This(status, body.into()));
    }

    pub(crate) fn set(&self, says: Says) {
        self.inner.lock().unwrap().says = says;
    }

    /// Returns and clears the requests so far, with their headers.
    pub(crate) fn heard(&self) -> Vec<(HeaderMap, Value)> {
        std::mem::take(&mut self.inner.lock().unwrap().heard)
    }
}

async fn answer(State(inner): State<Arc<Mutex<Inner>>>, headers: HeaderMap, body: Bytes) -> Response {
    let says = {
        let mut inner = inner.lock().unwrap();
        inner.heard.push((headers, serde_json::from_slice(&body).unwrap()));
        inner.says.clone()
    };
    match says {
        Says::This(status, body) => (StatusCode::from_u16(status).unwrap(), body).into_response(),
        Says::GoTo(url) => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, url)]).into_response(),
        Says::Nothing => std::future::pending().await,
        Says::Held(status, asked, go_on) => {
            asked.add_permits(1);
            go_on.acquire().await.unwrap().forget();
            (StatusCode::from_u16(status).unwrap(), r#"{"verdict":"accept"}"#).into_response()
        }
    }
}
