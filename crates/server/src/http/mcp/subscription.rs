//! Runs a subscription of the newest revision: prepared before the library handles the message, started by the library.

use super::resources;
use super::stream_holder::StreamHolder;
use super::streams::Place;
use crate::http::state::ApiState;
use dropleaf_app::Listener;
use dropleaf_core::Result;
use futures_util::future::BoxFuture;
use rmcp::service::SubscriptionContext;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A subscription that has been accepted but not started.
#[derive(Debug)]
pub(super) struct Subscription {
    accepted: Vec<String>,
    ready: Mutex<Option<Ready>>,
}

struct Ready {
    listener: Listener,
    over: BoxFuture<'static, ()>,
    _place: Place,
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").finish_non_exhaustive()
    }
}

impl Subscription {
    /// Starts listening at once, so that nothing is missed before the subscription is acknowledged. Accepts those of
    /// the requested resources that belong to the caller's pages.
    pub(super) async fn new(
        state: &ApiState,
        holder: StreamHolder,
        place: Place,
        requested: &[String],
    ) -> Result<Self> {
        let listener = state.app.listen_for_notices(&holder.who.account.id);
        let accepted = resources::all_watchable(state, &holder.who.account, requested).await?;
        let over = holder.until_over(state, place.ended.clone());
        Ok(Self { accepted, ready: Mutex::new(Some(Ready { listener, over, _place: place })) })
    }

    pub(super) fn accepted(&self) -> &[String] {
        &self.accepted
    }

    /// Sends notifications until the subscription ends. The library calls this once.
    pub(super) async fn run(&self, context: &SubscriptionContext) {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut ready) = ready else { return };
        let accepted = context.accepted().resource_subscriptions.iter().flatten();
        let watched: Vec<String> = accepted.map(|uri| resources::tail(uri).to_owned()).collect();
        loop {
            let notice = tokio::select! {
                () = context.cancelled() => return,
                () = &mut ready.over => return,
                notice = ready.listener.next() => notice,
            };
            let Some(notice) = notice else { return };
            for uri in resources::named_by(&notice, Some(&watched)) {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return;
                }
            }
        }
    }
}
