//! The embedded facilitator: checks every payment as a real one does and settles it in a ledger of its own, where each
//! key is used once. It involves no chain and no money.

use super::{ChainStatus, Facilitator, FacilitatorCall, FacilitatorReply, NoResponse, PaymentSettings};
use crate::app::App;
use dropleaf_core::payment::{Item, Payment};
use dropleaf_core::sign_up::SignUp;
use dropleaf_core::{Clock, Code, Error};
use dropleaf_pay::facilitator::ReplyStatus;
use dropleaf_pay::sandbox::{self, Refused, Transfer};
use dropleaf_pay::{Network, SolanaAddress};
use dropleaf_store::sandbox_transfers::{self, SandboxTransfer};
use dropleaf_store::{DbError, Stmt, Store};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::net::IpAddr;
use std::sync::Arc;

/// Seconds after expiry when a payment that is not in the ledger is certain not to appear.
const GRACE_SECONDS: i64 = 300;

/// The requested transfer, and what its key was settled as before.
type CheckedTransfer = (Transfer, Option<SandboxTransfer>);

#[derive(Debug)]
pub struct Sandbox {
    store: Store,
    clock: Arc<dyn Clock>,
    networks: Vec<Network>,
    fee_payer: SolanaAddress,
}

impl Sandbox {
    pub fn new(store: Store, clock: Arc<dyn Clock>, networks: Vec<Network>) -> Self {
        let cluster = networks.iter().find_map(|network| match network {
            Network::Solana(cluster) => Some(*cluster),
            Network::Evm(_) => None,
        });
        let fee_payer = sandbox::fee_payer(cluster.unwrap_or(dropleaf_pay::Cluster::Mainnet));
        Self { store, clock, networks, fee_payer }
    }

    /// Refuses a used key, as a chain does.
    async fn verify(&self, body: &str) -> Result<Value, NoResponse> {
        Ok(match self.check_transfer(body).await? {
            Ok((transfer, None)) => transfer.verify_json(),
            Ok((transfer, Some(_))) => transfer.already_used().verify_json(),
            Err(refused) => refused.verify_json(),
        })
    }

    /// Repeats the first response for the same payment, even after it has expired. A key pays once: another payment with
    /// it is refused.
    async fn settle(&self, body: &str) -> Result<Value, NoResponse> {
        let (transfer, known) = match self.check_transfer(body).await? {
            Ok(judged) => judged,
            Err(refused) => return Ok(refused.settle_json()),
        };
        let row = self.row(&transfer);
        let settled = match known {
            Some(known) => known,
            None => self.record(&row).await?,
        };
        let same = settled.is_same(&row);
        Ok(if same { transfer.settled_json() } else { transfer.already_used().settle_json() })
    }

    /// The requested transfer, and what its key was settled as before. Only a new transfer must be within its validity
    /// period.
    async fn check_transfer(&self, body: &str) -> Result<Result<CheckedTransfer, Refused>, NoResponse> {
        let request = match sandbox::parse_request(body.as_bytes(), self.fee_payer) {
            Ok(request) => request,
            Err(refused) => return Ok(Err(refused)),
        };
        if !self.networks.contains(&request.transfer.network) {
            return Ok(Err(request.transfer.unsupported()));
        }
        let known =
            self.store.find_sandbox_transfer(request.transfer.key.as_str()).await.map_err(no_response)?;
        if known.is_some() {
            return Ok(Ok((request.transfer, known)));
        }
        Ok(request.check_time(self.clock.now()).map(|transfer| (transfer, None)))
    }

    fn row(&self, transfer: &Transfer) -> SandboxTransfer {
        SandboxTransfer {
            payment_key: transfer.key.to_string(),
            network: transfer.network.to_string(),
            asset: transfer.asset.to_string(),
            sender: transfer.from.to_string(),
            recipient: transfer.to.to_string(),
            amount: i64::try_from(transfer.amount.units()).unwrap_or(i64::MAX),
            transaction: transfer.transaction(),
            created_at: self.clock.now(),
        }
    }

    /// Settles a transfer and returns what the key is settled as, which may be a concurrent transfer.
    async fn record(&self, row: &SandboxTransfer) -> Result<SandboxTransfer, NoResponse> {
        self.store.commit(vec![sandbox_transfers::insert(row)]).await.map_err(no_response)?;
        let settled = self.store.find_sandbox_transfer(&row.payment_key).await.map_err(no_response)?;
        settled.ok_or_else(|| NoResponse("the settlement is not there".to_owned()))
    }
}

impl Facilitator for Sandbox {
    fn send<'a>(
        &'a self,
        call: FacilitatorCall,
        body: &'a str,
    ) -> BoxFuture<'a, Result<FacilitatorReply, NoResponse>> {
        Box::pin(async move {
            let answer = match call {
                FacilitatorCall::Verify => self.verify(body).await?,
                FacilitatorCall::Settle => self.settle(body).await?,
            };
            Ok(reply(&answer))
        })
    }

    fn supported(&self) -> BoxFuture<'_, Result<FacilitatorReply, NoResponse>> {
        Box::pin(async { Ok(reply(&sandbox::supported_json(&self.networks, self.fee_payer))) })
    }

    fn can_query_chain(&self, _network: &str) -> bool {
        true
    }

    fn query_chain<'a>(&'a self, payment: &'a Payment) -> BoxFuture<'a, ChainStatus> {
        Box::pin(async move {
            match self.store.find_sandbox_transfer(&payment.key).await {
                Ok(Some(settled))
                    if settled.recipient == payment.pay_to && settled.amount == payment.amount =>
                {
                    ChainStatus::OnChain { transaction: settled.transaction }
                }
                Ok(Some(_)) => ChainStatus::Void("authorization_used"),
                Ok(None) if self.clock.now() >= payment.valid_until + GRACE_SECONDS => {
                    ChainStatus::Void("payment_expired")
                }
                Ok(None) => ChainStatus::Absent,
                Err(_) => ChainStatus::Unknown,
            }
        })
    }
}

fn reply(answer: &Value) -> FacilitatorReply {
    FacilitatorReply { status: ReplyStatus::Success, body: answer.to_string().into_bytes().into() }
}

#[expect(clippy::needless_pass_by_value, reason = "handed over by map_err")]
fn no_response(error: dropleaf_store::DbError) -> NoResponse {
    NoResponse(error.to_string())
}

// Limits of the sandbox on a public host, where any client that signs gets for free what others pay for. To keep this
// from bypassing the anonymous quotas, its sales count against them.
impl App {
    /// Whether anyone can get what is sold without paying.
    pub fn is_public_sandbox(&self) -> bool {
        let sandbox = self.settings.payments.as_ref().is_some_and(PaymentSettings::is_sandbox);
        sandbox && !self.hosts.base.is_loopback()
    }

    /// A free account is subject to the sign-up policy.
    pub fn check_provision_allowed(&self) -> dropleaf_core::Result<()> {
        if !self.is_public_sandbox() || self.settings.sign_up == SignUp::Open {
            return Ok(());
        }
        let detail = "This server does not allow open sign-up, and sandbox payments cannot buy an account. Ask the operator for \
                    an account. Nothing was charged.";
        Err(Error::new(Code::Forbidden, detail))
    }

    /// Counts a free sale just before it is reserved: proofs that are invalid or known already, and repeats under an
    /// identifier, buy nothing and are not counted.
    pub(super) async fn count_sandbox_sale(
        &self,
        item: Item,
        ip: Option<IpAddr>,
    ) -> dropleaf_core::Result<()> {
        let stmts = self.sandbox_sale_stmts(item, ip)?;
        if stmts.is_empty() {
            return Ok(());
        }
        match self.store.commit(stmts).await {
            Ok(_) => Ok(()),
            Err(error @ DbError::Guard(label)) => {
                Err(self.rate_refusal(label).unwrap_or_else(|| error.into()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The statements that count a free sale, for the transaction that delivers it.
    pub(super) fn sandbox_sale_stmts(
        &self,
        item: Item,
        ip: Option<IpAddr>,
    ) -> dropleaf_core::Result<Vec<Stmt>> {
        if !self.is_public_sandbox() || matches!(item, Item::Unlock(_)) {
            return Ok(Vec::new());
        }
        let ip = ip.ok_or_else(|| Error::plain(Code::NoClientIp))?;
        Ok(self.anonymous_quota(ip).map(|quota| quota.take(self.now()).collect()).unwrap_or_default())
    }
}
