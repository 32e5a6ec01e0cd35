//! A fake facilitator: verifies payments for real, keeps a ledger in which each key is used once, counts its calls, and
//! can fail, stall or lie on request. It is called in the same process.

use dropleaf_app::{ChainStatus, Facilitator, FacilitatorCall, FacilitatorReply, NoResponse};
use dropleaf_core::Clock;
use dropleaf_core::payment::Payment;
use dropleaf_pay::facilitator::ReplyStatus;
use dropleaf_pay::sandbox::{self, Transfer};
use dropleaf_pay::{Cluster, Network, SolanaAddress};
use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

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
    clock: Arc<dyn Clock>,
    networks: [Network; 2],
    fee_payer: SolanaAddress,
    books: Mutex<Books>,
    stalls: UnboundedSender<Call>,
    stalled: tokio::sync::Mutex<UnboundedReceiver<Call>>,
    gate: Semaphore,
    gone_on: Semaphore,
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
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let (stalls, stalled) = unbounded_channel();
        Self(Arc::new(Inner {
            clock,
            networks: [Network::BASE, Network::SOLANA],
            fee_payer: sandbox::fee_payer(Cluster::Mainnet),
            books: Mutex::default(),
            stalls,
            stalled: stalled.into(),
            gate: Semaphore::new(0),
            gone_on: Semaphore::new(0),
        }))
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

    /// From now on, settled payments can be looked up.
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
    pub(crate) async fn answer(&self, call: Call, body: &str) -> Result<(u16, String), &'static str> {
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

/// A response that never comes is lost at once.
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
