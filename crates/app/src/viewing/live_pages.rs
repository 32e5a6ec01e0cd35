//! The open streams of live pages on this node, and what wakes them: a change of the page or a comment, here or on another
//! node. It holds no content and reads no rows; a woken stream reads the page itself, one stream of a page at a time.

use crate::app::{ALL_CHANGED, App};
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, Result, network};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedMutexGuard, watch};

/// The most open streams of a node, of the pages of one account on it, of one page, and of one client network.
const NODE_MOST: usize = 4000;
const ACCOUNT_MOST: usize = 2000;
const PAGE_MOST: usize = 1000;
const NETWORK_MOST: usize = 100;
/// The most of one wide network, which may be one customer with 65,536 client networks.
const WIDE_NETWORK_MOST: usize = 300;
/// How long a refused client should wait.
const RETRY_SECONDS: i64 = 60;
/// How often changes by other processes are looked for while streams are open, on databases that do not announce them.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Counts what happened to a page while it had open streams. Only differences matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageSignal {
    /// Changes of the page's row: content, settings or state.
    pub changes: u64,
    /// New or changed comments.
    pub feedback: u64,
}

#[derive(Debug, Default)]
pub(crate) struct LivePages {
    open: Mutex<OpenStreams>,
    /// Notified when the first stream opens.
    first_opened: Notify,
}

#[derive(Debug, Default)]
struct OpenStreams {
    total: usize,
    by_network: HashMap<String, usize>,
    by_wide_network: HashMap<String, usize>,
    /// Pages without an account count together.
    by_account: HashMap<String, usize>,
    /// By the page's token, under which changes are announced.
    by_token: HashMap<String, PageChannel>,
    /// The tokens of the same pages by site ID, under which comments are announced.
    tokens: HashMap<String, String>,
}

#[derive(Debug)]
struct PageChannel {
    signal: watch::Sender<PageSignal>,
    /// Held while a stream reads the page, so that the others find the row in the cache.
    read_lock: Arc<tokio::sync::Mutex<()>>,
    streams: usize,
}

/// The networks by which the streams of a client are counted.
#[derive(Debug, Clone)]
struct ClientNetworks {
    narrow: String,
    wide: String,
}

impl ClientNetworks {
    /// Clients whose address is unknown share one place.
    fn of(ip: Option<IpAddr>) -> Self {
        let name = |network: fn(IpAddr) -> String| ip.map_or_else(|| "unknown".to_owned(), network);
        Self { narrow: name(network::client_network), wide: name(network::wide_network) }
    }
}

fn has_room(counts: &HashMap<String, usize>, name: &str, most: usize) -> bool {
    counts.get(name).is_none_or(|count| *count < most)
}

fn add(counts: &mut HashMap<String, usize>, name: &str) {
    *counts.entry(name.to_owned()).or_default() += 1;
}

fn release(counts: &mut HashMap<String, usize>, name: &str) {
    if let Some(count) = counts.get_mut(name) {
        *count -= 1;
        if *count == 0 {
            counts.remove(name);
        }
    }
}

/// One open stream; dropping it releases its place.
#[derive(Debug)]
pub struct LiveStream {
    pages: Arc<LivePages>,
    token: String,
    site_id: String,
    /// The account of the page when it was opened.
    account_id: String,
    networks: Option<ClientNetworks>,
    signal: watch::Receiver<PageSignal>,
    read_lock: Arc<tokio::sync::Mutex<()>>,
}

impl LivePages {
    fn open(&self) -> MutexGuard<'_, OpenStreams> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a stream. `networks` is `None` for clients without limits.
    fn subscribe(self: &Arc<Self>, site: &Site, networks: Option<ClientNetworks>) -> Result<LiveStream> {
        let mut guard = self.open();
        let open = &mut *guard;
        if open.total >= NODE_MOST {
            return Err(Error::plain(Code::Overloaded).retry_after(RETRY_SECONDS));
        }
        if open.by_token.get(&site.token).is_some_and(|page| page.streams >= PAGE_MOST) {
            let detail =
                format!("{PAGE_MOST} viewers follow this page, the maximum. Reload it to see changes.");
            return Err(Error::new(Code::Overloaded, detail).retry_after(RETRY_SECONDS));
        }
        let account_id = site.account_id.clone().unwrap_or_default();
        if !has_room(&open.by_account, &account_id, ACCOUNT_MOST) {
            let detail = format!(
                "{ACCOUNT_MOST} viewers follow pages of this account, the maximum. Reload the page to see changes."
            );
            return Err(Error::new(Code::Overloaded, detail).retry_after(RETRY_SECONDS));
        }
        if let Some(ClientNetworks { narrow, wide }) = &networks {
            if !has_room(&open.by_network, narrow, NETWORK_MOST)
                || !has_room(&open.by_wide_network, wide, WIDE_NETWORK_MOST)
            {
                let detail =
                    "Your network follows the maximum number of pages. Reload the page to see changes.";
                return Err(Error::new(Code::RateLimited, detail).retry_after(RETRY_SECONDS));
            }
            add(&mut open.by_network, narrow);
            add(&mut open.by_wide_network, wide);
        }
        add(&mut open.by_account, &account_id);
        open.total += 1;
        let page = open.by_token.entry(site.token.clone()).or_insert_with(|| PageChannel {
            signal: watch::Sender::new(PageSignal::default()),
            read_lock: Arc::default(),
            streams: 0,
        });
        page.streams += 1;
        let (signal, read_lock) = (page.signal.subscribe(), Arc::clone(&page.read_lock));
        open.tokens.entry(site.id.clone()).or_insert_with(|| site.token.clone());
        let is_first = open.total == 1;
        drop(guard);
        if is_first {
            self.first_opened.notify_one();
        }
        let (token, site_id) = (site.token.clone(), site.id.clone());
        Ok(LiveStream { pages: Arc::clone(self), token, site_id, account_id, networks, signal, read_lock })
    }

    /// Wakes the streams of a page by its name in notifications between nodes; `*` wakes all. A change is always announced
    /// under the page's token, so slugs need not be known.
    pub(crate) fn page_changed(&self, name: &str) {
        let open = self.open();
        let changed = |page: &PageChannel| page.signal.send_modify(|signal| signal.changes += 1);
        if name == ALL_CHANGED {
            open.by_token.values().for_each(changed);
        } else if let Some(page) = name.strip_prefix("t:").and_then(|token| open.by_token.get(token)) {
            changed(page);
        }
    }

    /// Wakes the streams of a page whose comments changed.
    pub(crate) fn feedback_changed(&self, site_id: &str) {
        let open = self.open();
        if let Some(page) = open.tokens.get(site_id).and_then(|token| open.by_token.get(token)) {
            page.signal.send_modify(|signal| signal.feedback += 1);
        }
    }

    /// Waits until changes by other processes should be looked for: never while no stream is open.
    pub(crate) async fn next_look(&self) {
        while self.open().total == 0 {
            self.first_opened.notified().await;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

impl LiveStream {
    /// What has happened so far.
    pub fn signal(&mut self) -> PageSignal {
        *self.signal.borrow_and_update()
    }

    /// Waits until something happens after the last [`LiveStream::signal`].
    pub async fn changed(&mut self) {
        // The sender lives as long as this stream is counted.
        if self.signal.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until no other stream of the page reads it; the first one fills the row cache for the others.
    pub async fn lock_for_reading(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.read_lock).lock_owned().await
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        let mut guard = self.pages.open();
        let open = &mut *guard;
        open.total -= 1;
        release(&mut open.by_account, &self.account_id);
        if let Some(ClientNetworks { narrow, wide }) = &self.networks {
            release(&mut open.by_network, narrow);
            release(&mut open.by_wide_network, wide);
        }
        if let Some(page) = open.by_token.get_mut(&self.token) {
            page.streams -= 1;
            if page.streams == 0 {
                open.by_token.remove(&self.token);
                open.tokens.remove(&self.site_id);
            }
        }
    }
}

impl App {
    /// Follows a page from now on, for one viewer. The caller has checked that the viewer may see the page.
    pub fn follow_page(&self, site: &Site, ip: Option<IpAddr>) -> Result<LiveStream> {
        let networks = (!self.is_exempt(ip)).then(|| ClientNetworks::of(ip));
        self.caches.pages.live.subscribe(site, networks)
    }
}

#[cfg(test)]
mod tests;
