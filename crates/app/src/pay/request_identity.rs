//! The identity of a paid request, for comparison with earlier ones: its hash, its origin, and the identifiers its sender
//! chose. An identifier is an Idempotency-Key or a payment identifier, and is scoped to its payer.

use super::named_locks::NamedLocks;
use super::order::{Order, PayRequest};
use crate::app::App;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::{Code, Error, Result, network, secret};
use dropleaf_pay::{Address, Recognised};
use dropleaf_store::Stmt;
use dropleaf_store::idempotency::{self, StoredResponse};
use std::net::IpAddr;
use tokio::sync::OwnedMutexGuard;

/// Shorter identifiers can be guessed or are shared by many, so they do not prove who sent a request.
const PROVING_CHARACTERS: usize = 16;

#[derive(Debug)]
pub(super) struct RequestIdentity {
    pub(super) item: Item,
    pub(super) rail: Rail,
    pub(super) request_hash: [u8; 32],
    /// The account whose limits are raised.
    pub(super) account_id: Option<String>,
    /// Whether the payer's own key signed the proof; if not, the signature has not been verified yet.
    payer_is_eoa: bool,
    /// Keyed hash of the client's network; empty if unknown.
    pub(super) client: String,
    /// The scope of the identifiers.
    pub(super) scope: String,
    identifiers: Vec<RequestIdentifier>,
    /// What a mandate may be used for once: its transaction, its signature and its ID, hashed. Unlike an identifier it stays
    /// used when the payment is refused, and it is the same for all payers.
    pub(super) mandate_hashes: Vec<[u8; 32]>,
}

/// The scope of what mandates may be used for once.
const MANDATES: &str = "ap2";

#[derive(Debug, Clone, Copy)]
struct RequestIdentifier {
    hash: [u8; 32],
    kind: IdentifierKind,
    /// Long enough that knowing it proves having chosen it.
    proves_sender: bool,
}

#[derive(Debug, Clone, Copy)]
enum IdentifierKind {
    IdempotencyKey,
    PaymentIdentifier,
}

impl RequestIdentifier {
    fn new(kind: IdentifierKind, word: &str, text: &str) -> Self {
        Self {
            hash: secret::hash(&format!("{word} {text}")),
            kind,
            proves_sender: text.chars().count() >= PROVING_CHARACTERS,
        }
    }
}

/// The identifier that an `Idempotency-Key` is.
fn idempotency_identifier(key: Option<&str>) -> Result<Option<RequestIdentifier>> {
    if key.is_some_and(|key| key.is_empty() || key.len() > 255) {
        return Err(Error::field("Idempotency-Key", "must be 1 to 255 characters"));
    }
    Ok(key.map(|text| RequestIdentifier::new(IdentifierKind::IdempotencyKey, "key", text)))
}

/// The scope of the identifiers of a payment: its payer. Only EVM addresses are case-insensitive.
pub(super) fn scope_of(payment: &Payment) -> String {
    if matches!(payment.rail, Rail::Acp | Rail::Ap2) {
        token_scope(&payment.payer, &payment.client, !payment.once_hashes.is_empty())
    } else if payment.payer.starts_with("0x") {
        format!("payer:{}", payment.payer.to_ascii_lowercase())
    } else {
        format!("payer:{}", payment.payer)
    }
}

/// The scope of the identifiers of a token, which does not name its payer. An identifier that proves its sender belongs to all
/// tokens; another one to the network that sent it, or to the token alone if the network is unknown.
fn token_scope(key: &str, client: &str, proves_sender: bool) -> String {
    match (proves_sender, client) {
        (true, _) => "payer:tokens".to_owned(),
        (false, "") => format!("payer:{key}"),
        (false, client) => format!("payer:client:{client}"),
    }
}

impl RequestIdentity {
    /// The identifiers stored with the payment.
    pub(super) fn identifier_hashes(&self) -> Vec<[u8; 32]> {
        self.identifiers.iter().filter(|name| name.proves_sender).map(|name| name.hash).collect()
    }

    /// Locks the identifiers, so that no other task in this process works under them.
    pub(super) async fn lock_identifiers(&self, locks: &NamedLocks) -> Vec<OwnedMutexGuard<()>> {
        let mut names: Vec<_> = self
            .identifiers
            .iter()
            .map(|name| format!("{}:{}", self.scope, secret::text(&name.hash)))
            .collect();
        // A fixed order prevents deadlocks.
        names.sort();
        let mut guards = Vec::with_capacity(names.len());
        for name in names {
            guards.push(locks.lock(&name).await);
        }
        guards
    }

    /// Whether the payment bought exactly what this request asks for.
    pub(super) fn matches_purchase(&self, payment: &Payment) -> bool {
        payment.request_hash == self.request_hash
            && payment.item == self.item
            && (self.account_id.is_none() || payment.account_id == self.account_id)
    }

    /// Whether the proof is at least as strong as the one the payment was reserved with.
    pub(super) fn is_signed_as_strongly(&self, payment: &Payment) -> bool {
        self.payer_is_eoa || !payment.payer_is_eoa
    }

    /// Whether the request comes from the sender of the first: the same network, or one of its identifiers.
    pub(super) fn is_sender(&self, payment: &Payment) -> bool {
        (!self.client.is_empty() && self.client == payment.client)
            || self
                .identifiers
                .iter()
                .any(|name| name.proves_sender && payment.once_hashes.contains(&name.hash))
    }
}

impl App {
    /// The identity of a request that charges a shared payment token, whose payment has this `key`.
    pub(super) fn token_identity(
        &self,
        rail: Rail,
        key: &str,
        request_hash: [u8; 32],
        idempotency_key: Option<&str>,
        ip: Option<IpAddr>,
    ) -> Result<RequestIdentity> {
        let client = self.payment_client(ip);
        let identifiers: Vec<_> = idempotency_identifier(idempotency_key)?.into_iter().collect();
        let proves_sender = identifiers.iter().any(|name: &RequestIdentifier| name.proves_sender);
        Ok(RequestIdentity {
            item: Item::Provision,
            rail,
            request_hash,
            account_id: None,
            payer_is_eoa: false,
            scope: token_scope(key, &client, proves_sender),
            client,
            identifiers,
            mandate_hashes: Vec::new(),
        })
    }

    /// Keyed hash of the client's network; empty if it does not tell clients apart. Behind a proxy that does not forward
    /// addresses all clients appear internal; on a loopback host they really are.
    fn payment_client(&self, ip: Option<IpAddr>) -> String {
        let is_distinctive = |ip: &IpAddr| self.hosts.base.is_loopback() || !network::is_inside(*ip);
        let client = ip
            .filter(is_distinctive)
            .map(|ip| secret::text(&self.keys.mac("payment client", network::client_network(ip).as_bytes())));
        client.unwrap_or_default()
    }

    pub(super) fn request_identity(
        &self,
        request: &PayRequest,
        recognised: &Recognised,
    ) -> Result<RequestIdentity> {
        let key = idempotency_identifier(request.idempotency_key.as_deref())?;
        let identifier = recognised.payment_identifier.as_deref();
        let identifier =
            identifier.map(|text| RequestIdentifier::new(IdentifierKind::PaymentIdentifier, "id", text));
        let payer = match recognised.payer {
            Address::Evm(address) => address.to_lower(),
            Address::Solana(address) => address.to_string(),
        };
        Ok(RequestIdentity {
            item: request.order.item(),
            rail: request.proof.rail(),
            request_hash: request.request_hash,
            account_id: match &request.order {
                Order::Unlock { account, .. } => Some(account.id.clone()),
                Order::Publish(_) | Order::Provision => None,
            },
            payer_is_eoa: recognised.payer_is_eoa,
            client: self.payment_client(request.ip),
            scope: format!("payer:{payer}"),
            identifiers: key.into_iter().chain(identifier).collect(),
            mandate_hashes: Vec::new(),
        })
    }

    /// The earlier payment under one of the request's identifiers. Identifiers expire, but not while the payment is open.
    pub(super) async fn find_payment_by_identifier(
        &self,
        identity: &RequestIdentity,
    ) -> Result<Option<Payment>> {
        let horizon = self.now() - self.settings.retention.idempotency;
        for name in &identity.identifiers {
            let fresh = self.store.find_response(&identity.scope, &name.hash, horizon).await?;
            let (found, is_fresh) = match fresh {
                Some(found) => (found, true),
                None => match self.store.find_response(&identity.scope, &name.hash, i64::MIN).await? {
                    Some(found) => (found, false),
                    None => continue,
                },
            };
            let id = str::from_utf8(&found.sealed).map_err(Error::internal)?;
            let payment = self.store.find_payment(id).await?;
            let counts = |it: &Payment| it.state.is_open() || (is_fresh && it.state != PaymentState::Refused);
            let Some(payment) = payment.filter(counts) else { continue };
            if found.request_hash != identity.request_hash {
                return Err(match name.kind {
                    IdentifierKind::IdempotencyKey => Error::plain(Code::IdempotencyMismatch),
                    IdentifierKind::PaymentIdentifier => Error::new(
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

    /// The statements that record the request's identifiers, and the use of its mandate, for a reservation.
    pub(super) fn identifier_stmts<'a>(
        &'a self,
        identity: &'a RequestIdentity,
        payment: &'a Payment,
    ) -> impl Iterator<Item = Stmt> + 'a {
        let now = self.now();
        let horizon = now - self.settings.retention.idempotency;
        let identifiers = identity.identifiers.iter().map(|name| (identity.scope.as_str(), &name.hash));
        let mandate = identity.mandate_hashes.iter().map(|hash| (MANDATES, hash));
        identifiers.chain(mandate).map(move |(scope, hash)| {
            let sealed = payment.id.clone().into_bytes().into();
            let answer = StoredResponse { request_hash: identity.request_hash, status: 0, sealed };
            idempotency::insert(scope, hash, &answer, now, horizon)
        })
    }
}
