//! The embedded facilitator: it checks every payment as a real one does and settles it in a ledger of its own, where each
//! key is used once. No chain, no money.

use super::{Ask, Facilitator, Lost, Reply, Trace};
use dropleaf_core::Clock;
use dropleaf_core::payment::Payment;
use dropleaf_pay::sandbox::{self, Transfer};
use dropleaf_pay::{Network, SolanaAddress};
use dropleaf_store::{Store, sandbox_transfers};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

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

    async fn verify(&self, body: &str) -> Result<Value, Lost> {
        let transfer = match sandbox::judge(body.as_bytes(), self.fee_payer, self.clock.now()) {
            Ok(transfer) => transfer,
            Err(refused) => return Ok(refused.verify_json()),
        };
        let known = self.store.find_sandbox_transfer(transfer.key.as_str()).await.map_err(lost)?;
        Ok(if known.is_some() { transfer.already_used().verify_json() } else { transfer.verify_json() })
    }

    /// The same payment again is answered as it was the first time.
    async fn settle(&self, body: &str) -> Result<Value, Lost> {
        let transfer = match sandbox::judge(body.as_bytes(), self.fee_payer, self.clock.now()) {
            Ok(transfer) => transfer,
            Err(refused) => return Ok(refused.settle_json()),
        };
        self.record(&transfer).await?;
        Ok(transfer.settled_json())
    }

    async fn record(&self, transfer: &Transfer) -> Result<(), Lost> {
        let row = sandbox_transfers::SandboxTransfer {
            payment_key: transfer.key.to_string(),
            network: transfer.network.to_string(),
            asset: transfer.asset.to_string(),
            sender: transfer.from.to_string(),
            recipient: transfer.to.to_string(),
            amount: i64::try_from(transfer.amount.units()).unwrap_or(i64::MAX),
            transaction: transfer.transaction(),
            created_at: self.clock.now(),
        };
        self.store.commit(vec![sandbox_transfers::insert(&row)]).await.map_err(lost)?;
        Ok(())
    }
}

impl Facilitator for Sandbox {
    fn ask<'a>(&'a self, ask: Ask, body: &'a str) -> BoxFuture<'a, Result<Reply, Lost>> {
        Box::pin(async move {
            let answer = match ask {
                Ask::Verify => self.verify(body).await?,
                Ask::Settle => self.settle(body).await?,
            };
            Ok(reply(&answer))
        })
    }

    fn supported(&self) -> BoxFuture<'_, Result<Reply, Lost>> {
        Box::pin(async { Ok(reply(&sandbox::supported_json(&self.networks, self.fee_payer))) })
    }

    fn trace<'a>(&'a self, payment: &'a Payment) -> BoxFuture<'a, Trace> {
        Box::pin(async move {
            match self.store.find_sandbox_transfer(&payment.key).await {
                Ok(Some(transaction)) => Trace::Landed { transaction },
                Ok(None) => Trace::Absent,
                Err(_) => Trace::CannotTell,
            }
        })
    }
}

fn reply(answer: &Value) -> Reply {
    Reply { status: 200, body: answer.to_string().into_bytes().into() }
}

#[expect(clippy::needless_pass_by_value, reason = "handed over by map_err")]
fn lost(error: dropleaf_store::DbError) -> Lost {
    Lost(error.to_string())
}
