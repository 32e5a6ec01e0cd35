//! A fake facilitator: verifies payments for real, keeps a ledger in which each key is used once, counts its calls, and
//! can fail, stall or lie on request. It serves HTTP on loopback, or is called in the same process.

use super::NOW;
use dropleaf_app::{ChainStatus, Facilitator, FacilitatorCall, FacilitatorReply, NoResponse};
use dropleaf_core::payment::Payment;
use dropleaf_core::{Clock, ManualClock};
use dropleaf_pay::facilitator::ReplyStatus;
use dropleaf_pay::sandbox::{self, Transfer};
use dropleaf_pay::{Cluster, Network, SolanaAddress};
use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Supported,
    Verify,
    Settle,
    /// Looking a payment up on the chain.
    Trace,
}

/// How one call fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Does nothing and answers this.
    Says(u16, String),
    /// Executes the call but answers this.
    DoesAndSays(u16, String),
    /// Another party settles first; answers this.
    OvertakenAndSays(u16, String),
    /// Does nothing and closes the connection.
    Closes,
    /// Executes the call; the response is lost.
    DoesAndCloses,
    /// Does nothing and never answers.
    Hangs,
    /// Waits to be released, then behaves normally.
    Waits,
    /// Executes the call, waits to be released, then answers.
    DoesAndWaits,
}

/// Faults that every client of a facilitator must survive.
impl Fault {
    pub(crate) fn says(status: u16, body: &str) -> Self {
        Self::Says(status, body.to_owned())
    }

    pub(crate) fn overtaken(body: &str) -> Self {
        Self::OvertakenAndSays(200, body.to_owned())
    }

    pub(crate) fn does_and_says(status: u16, body: &str) -> Self {
        Self::DoesAndSays(status, body.to_owned())
    }
}

/// Clones share the same facilitator.
#[derive(Debug, Clone)]
pub(crate) struct FakeFacilitator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    port: u16,
    clock: Arc<dyn Clock>,
    networks: [Network; 2],
    fee_payer: SolanaAddress,
    books: Mutex<Books>,
    stalls: UnboundedSender<Call>,
    stalled: tokio::sync::Mutex<UnboundedReceiver<Call>>,
    gate: Semaphore,
    gone_on: Semaphore,
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Debug, Default)]
struct Books {
    ledger: Vec<Transfer>,
    calls: Vec<(Call, String)>,
    faults: Vec<(Call, VecDeque<Fault>)>,
    forgetful: bool,
    sees_chain: bool,
    /// The chain is configured but does not answer.
    blind: bool,
    slow_chain: bool,
    /// The chain reports that unsettled payments were canceled.
    canceled: bool,
    /// The chain is available again, and the server was not notified.
    is_back: bool,
}

impl FakeFacilitator {
    /// For nodes whose clock is fixed at [`NOW`].
    pub(crate) async fn start() -> Self {
        Self::start_with(Arc::new(ManualClock::at(NOW))).await
    }

    pub(crate) async fn start_with(clock: Arc<dyn Clock>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (stalls, stalled) = unbounded_channel();
        let fake = Self(Arc::new(Inner {
            port: listener.local_addr().unwrap().port(),
            clock,
            networks: [Network::BASE, Network::SOLANA],
            fee_payer: sandbox::fee_payer(Cluster::Mainnet),
            books: Mutex::default(),
            stalls,
            stalled: stalled.into(),
            gate: Semaphore::new(0),
            gone_on: Semaphore::new(0),
            tasks: Mutex::default(),
        }));
        let inner = Arc::downgrade(&fake.0);
        fake.0.tasks.lock().unwrap().spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let Some(inner) = inner.upgrade() else { return };
                open.spawn(talk(stream, Self(inner)));
            }
        });
        fake
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.0.port)
    }

    /// Sets the faults of the next calls of this kind, in order; later calls succeed.
    pub(crate) fn next(&self, call: Call, faults: impl IntoIterator<Item = Fault>) {
        let mut books = self.0.books.lock().unwrap();
        match books.faults.iter_mut().find(|(of, _)| *of == call) {
            Some((_, queue)) => queue.extend(faults),
            None => books.faults.push((call, faults.into_iter().collect())),
        }
    }

    /// From now on, settling a settled payment again is refused as used.
    pub(crate) fn forgets(&self) {
        self.0.books.lock().unwrap().forgetful = true;
    }

    /// From now on, it repeats its first answer again.
    pub(crate) fn remembers(&self) {
        self.0.books.lock().unwrap().forgetful = false;
    }

    /// From now on, settled payments can be looked up. Only in the same process.
    pub(crate) fn sees_the_chain(&self) {
        self.0.books.lock().unwrap().sees_chain = true;
    }

    /// Sets whether the chain is unresponsive from now on.
    pub(crate) fn is_blind(&self, blind: bool) {
        self.0.books.lock().unwrap().blind = blind;
    }

    /// From now on, the chain reports that unsettled payments were canceled by their payer.
    pub(crate) fn cancels(&self) {
        self.0.books.lock().unwrap().canceled = true;
    }

    /// Makes the chain available, for the first time or again.
    pub(crate) fn chain_is_back(&self) {
        let mut books = self.0.books.lock().unwrap();
        (books.sees_chain, books.blind, books.is_back) = (true, false, true);
    }

    /// From now on, lookups on the chain wait to be released.
    pub(crate) fn looks_slowly(&self) {
        self.0.books.lock().unwrap().slow_chain = true;
    }

    /// The number of calls.
    pub(crate) fn calls(&self, call: Call) -> usize {
        self.bodies(call).len()
    }

    /// The bodies of the calls.
    pub(crate) fn bodies(&self, call: Call) -> Vec<String> {
        let books = self.0.books.lock().unwrap();
        books.calls.iter().filter(|(of, _)| *of == call).map(|(_, body)| body.clone()).collect()
    }

    /// The settled transfers.
    pub(crate) fn ledger(&self) -> Vec<Transfer> {
        self.0.books.lock().unwrap().ledger.clone()
    }

    /// The total amount settled.
    pub(crate) fn moved(&self) -> u64 {
        self.ledger().iter().map(|transfer| transfer.amount.units()).sum()
    }

    /// Waits until a call stalls.
    pub(crate) async fn stalled(&self) -> Call {
        self.0.stalled.lock().await.recv().await.unwrap()
    }

    /// Releases one stalled call.
    pub(crate) fn let_go(&self) {
        self.0.gate.add_permits(1);
    }

    /// Waits until a released call has continued.
    pub(crate) async fn passed(&self) {
        self.0.gone_on.acquire().await.unwrap().forget();
    }

    /// The error says why there is no response.
    async fn answer(&self, call: Call, body: &str) -> Result<(u16, String), &'static str> {
        let fault = {
            let mut books = self.0.books.lock().unwrap();
            books.calls.push((call, body.to_owned()));
            books.faults.iter_mut().find(|(of, _)| *of == call).and_then(|(_, queue)| queue.pop_front())
        };
        match fault {
            None => Ok(self.honest(call, body)),
            Some(Fault::Says(status, text)) => Ok((status, text)),
            Some(Fault::DoesAndSays(status, text)) => {
                self.honest(call, body);
                Ok((status, text))
            }
            Some(Fault::OvertakenAndSays(status, text)) => {
                self.honest(Call::Settle, body);
                Ok((status, text))
            }
            Some(Fault::Closes) => Err("closed"),
            Some(Fault::DoesAndCloses) => {
                self.honest(call, body);
                Err("closed")
            }
            Some(Fault::Hangs) => Err("hangs"),
            Some(Fault::Waits) => {
                self.stall(call).await;
                Ok(self.honest(call, body))
            }
            Some(Fault::DoesAndWaits) => {
                let answer = self.honest(call, body);
                self.stall(call).await;
                Ok(answer)
            }
        }
    }

    async fn stall(&self, call: Call) {
        self.0.stalls.send(call).unwrap();
        self.0.gate.acquire().await.unwrap().forget();
        self.0.gone_on.add_permits(1);
    }

    fn honest(&self, call: Call, body: &str) -> (u16, String) {
        let inner = &self.0;
        if call == Call::Supported {
            return (200, sandbox::supported_json(&inner.networks, inner.fee_payer).to_string());
        }
        let judged = sandbox::check_request(body.as_bytes(), inner.fee_payer, inner.clock.now());
        let mut books = inner.books.lock().unwrap();
        let used = |books: &Books, key| books.ledger.iter().any(|it| it.key == key);
        let answer = match (call, judged) {
            (Call::Settle, Ok(transfer)) if !used(&books, transfer.key.clone()) => {
                let answer = transfer.settled_json();
                books.ledger.push(transfer);
                answer
            }
            (Call::Settle, Ok(transfer)) if books.forgetful => transfer.already_used().settle_json(),
            (Call::Settle, Ok(transfer)) => transfer.settled_json(),
            (_, Ok(transfer)) if used(&books, transfer.key.clone()) => transfer.already_used().verify_json(),
            (_, Ok(transfer)) => transfer.verify_json(),
            (Call::Settle, Err(refused)) => refused.settle_json(),
            (_, Err(refused)) => refused.verify_json(),
        };
        (200, answer.to_string())
    }
}

/// In the same process: a response that never comes is lost at once.
impl Facilitator for FakeFacilitator {
    fn send<'a>(
        &'a self,
        call: FacilitatorCall,
        body: &'a str,
    ) -> BoxFuture<'a, Result<FacilitatorReply, NoResponse>> {
        let call = match call {
            FacilitatorCall::Verify => Call::Verify,
            FacilitatorCall::Settle => Call::Settle,
        };
        Box::pin(async move { reply(self.answer(call, body).await) })
    }

    fn supported(&self) -> BoxFuture<'_, Result<FacilitatorReply, NoResponse>> {
        Box::pin(async { reply(self.answer(Call::Supported, "").await) })
    }

    fn can_query_chain(&self, _network: &str) -> bool {
        self.0.books.lock().unwrap().sees_chain
    }

    fn query_chain<'a>(&'a self, payment: &'a Payment) -> BoxFuture<'a, ChainStatus> {
        Box::pin(async move {
            let is_slow = self.0.books.lock().unwrap().slow_chain;
            if is_slow {
                self.stall(Call::Trace).await;
            }
            let mut books = self.0.books.lock().unwrap();
            books.calls.push((Call::Trace, payment.key.clone()));
            let found = books.ledger.iter().find(|transfer| transfer.key.as_str() == payment.key);
            match found {
                _ if !books.sees_chain || books.blind => ChainStatus::Unknown,
                Some(transfer) => ChainStatus::OnChain { transaction: transfer.transaction() },
                None if books.canceled => ChainStatus::Void("authorization_canceled"),
                None if self.0.clock.now() >= payment.valid_until + 300 => {
                    ChainStatus::Void("payment_expired")
                }
                None => ChainStatus::Absent,
            }
        })
    }

    fn has_chain_recovered(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { std::mem::take(&mut self.0.books.lock().unwrap().is_back) })
    }
}

fn reply(answer: Result<(u16, String), &'static str>) -> Result<FacilitatorReply, NoResponse> {
    match answer {
        Ok((status, body)) => {
            Ok(FacilitatorReply { status: ReplyStatus::from_http(status), body: body.into() })
        }
        Err(why) => Err(NoResponse(why.to_owned())),
    }
}

/// Handles one request on one connection.
async fn talk(mut stream: TcpStream, fake: FakeFacilitator) {
    let Some((path, body)) = read(&mut stream).await else { return };
    let call = match path.as_str() {
        "/supported" => Call::Supported,
        "/verify" => Call::Verify,
        "/settle" => Call::Settle,
        other => panic!("a facilitator has no {other}"),
    };
    match fake.answer(call, &body).await {
        Ok((status, text)) => {
            let head = format!(
                "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                text.len()
            );
            // The client may have disconnected.
            let _ = stream.write_all(format!("{head}{text}").as_bytes()).await;
        }
        Err("hangs") => std::future::pending().await,
        Err(_) => {}
    }
}

async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) {
            return Some((head.split(' ').nth(1)?.to_owned(), body.to_owned()));
        }
    }
}
