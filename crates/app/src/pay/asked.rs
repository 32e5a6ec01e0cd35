//! What a request asks for, as far as it is compared with earlier ones: its hash, where it comes from, and the names its
//! sender gave it. A name is an Idempotency-Key or a payment identifier, and means something only with its payer.

use super::act::{Order, PayRequest};
use super::locks::Locks;
use crate::app::App;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::{Code, Error, Result, network, secret};
use dropleaf_pay::{Address, Recognised};
use dropleaf_store::Stmt;
use dropleaf_store::idempotency::{self, Answered};
use std::net::IpAddr;
use tokio::sync::OwnedMutexGuard;

/// Names that are shorter are guessed, or the same for many: they do not show who sent a request.
const TELLING_CHARACTERS: usize = 16;

#[derive(Debug)]
pub(super) struct Asked {
    pub(super) item: Item,
    pub(super) request_hash: [u8; 32],
    /// Whose limits are lifted.
    pub(super) account_id: Option<String>,
    /// Whether the payer's own key signed the proof; else nobody has checked it so far.
    payer_is_eoa: bool,
    /// Keyed hash of the network it comes from; empty when that is not known.
    pub(super) client: String,
    /// Whose names these are.
    pub(super) scope: String,
    names: Vec<Name>,
}

#[derive(Debug, Clone, Copy)]
struct Name {
    hash: [u8; 32],
    kind: Kind,
    /// Whether whoever knows it is whoever chose it.
    is_telling: bool,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    IdempotencyKey,
    PaymentIdentifier,
}

impl Asked {
    /// The names that the payment's row keeps.
    pub(super) fn once_hashes(&self) -> Vec<[u8; 32]> {
        self.names.iter().filter(|name| name.is_telling).map(|name| name.hash).collect()
    }

    /// Waits until nobody else in this process works under the same names.
    pub(super) async fn take_turns(&self, locks: &Locks) -> Vec<OwnedMutexGuard<()>> {
        let mut names: Vec<_> =
            self.names.iter().map(|name| format!("{}:{}", self.scope, secret::text(&name.hash))).collect();
        // One order for everybody.
        names.sort();
        let mut turns = Vec::with_capacity(names.len());
        for name in names {
            turns.push(locks.take(&name).await);
        }
        turns
    }

    /// Whether the payment bought this very thing.
    pub(super) fn is_of(&self, payment: &Payment) -> bool {
        payment.request_hash == self.request_hash
            && payment.item == self.item
            && (self.account_id.is_none() || payment.account_id == self.account_id)
    }

    /// Whether the proof is as good as the one that the payment was reserved with.
    pub(super) fn is_signed_like(&self, payment: &Payment) -> bool {
        self.payer_is_eoa || !payment.payer_is_eoa
    }

    /// Whether it comes from who sent the first: from the same network, or with one of its names.
    pub(super) fn is_sender(&self, payment: &Payment) -> bool {
        (!self.client.is_empty() && self.client == payment.client)
            || self.names.iter().any(|name| name.is_telling && payment.once_hashes.contains(&name.hash))
    }
}

impl App {
    pub(super) fn asked(&self, request: &PayRequest, known: &Recognised) -> Result<Asked> {
        if request.once_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > 255) {
            return Err(Error::field("Idempotency-Key", "must be 1 to 255 characters"));
        }
        let name = |kind, word: &str, text: &str| Name {
            hash: secret::hash(&format!("{word} {text}")),
            kind,
            is_telling: text.chars().count() >= TELLING_CHARACTERS,
        };
        let key = request.once_key.as_deref().map(|text| name(Kind::IdempotencyKey, "key", text));
        let identifier = known.payment_identifier.as_deref();
        let identifier = identifier.map(|text| name(Kind::PaymentIdentifier, "id", text));
        // Behind a proxy that names nobody everybody comes from inside. At home that is where everybody is.
        let is_telling = |ip: &IpAddr| self.hosts.base.is_loopback() || !network::is_inside(*ip);
        let client = request
            .ip
            .filter(is_telling)
            .map(|ip| secret::text(&self.keys.mac("payment client", network::client_network(ip).as_bytes())));
        let payer = match known.payer {
            Address::Evm(address) => address.to_lower(),
            Address::Solana(address) => address.to_string(),
        };
        Ok(Asked {
            item: request.order.item(),
            request_hash: request.request_hash,
            account_id: match &request.order {
                Order::Unlock { account, .. } => Some(account.id.clone()),
                Order::Publish(_) | Order::Provision => None,
            },
            payer_is_eoa: known.payer_is_eoa,
            client: client.unwrap_or_default(),
            scope: format!("payer:{payer}"),
            names: key.into_iter().chain(identifier).collect(),
        })
    }

    /// The payment that was made before under one of the request's names. Names lapse, but not while it is open.
    pub(super) async fn find_first(&self, asked: &Asked) -> Result<Option<Payment>> {
        let horizon = self.now() - self.settings.retention.idempotency;
        for name in &asked.names {
            let fresh = self.store.find_answer(&asked.scope, &name.hash, horizon).await?;
            let (found, is_fresh) = match fresh {
                Some(found) => (found, true),
                None => match self.store.find_answer(&asked.scope, &name.hash, i64::MIN).await? {
                    Some(found) => (found, false),
                    None => continue,
                },
            };
            let id = str::from_utf8(&found.sealed).map_err(Error::internal)?;
            let payment = self.store.find_payment(id).await?;
            let counts = |it: &Payment| it.state.is_open() || (is_fresh && it.state != PaymentState::Refused);
            let Some(payment) = payment.filter(counts) else { continue };
            if found.request_hash != asked.request_hash {
                return Err(match name.kind {
                    Kind::IdempotencyKey => Error::plain(Code::IdempotencyMismatch),
                    Kind::PaymentIdentifier => Error::new(
                        Code::Conflict,
                        "This payment identifier was already used with a different request. Nothing was charged. Use a new \
                         identifier.",
                    ),
                });
            }
            return Ok(Some(payment));
        }
        Ok(None)
    }

    /// The statements that give a reservation the request's names.
    pub(super) fn name_payment<'a>(
        &'a self,
        asked: &'a Asked,
        payment: &'a Payment,
    ) -> impl Iterator<Item = Stmt> + 'a {
        let now = self.now();
        let horizon = now - self.settings.retention.idempotency;
        asked.names.iter().map(move |name| {
            let sealed = payment.id.clone().into_bytes().into();
            let answer = Answered { request_hash: asked.request_hash, status: 0, sealed };
            idempotency::insert(&asked.scope, &name.hash, &answer, now, horizon)
        })
    }
}
