//! A facilitator without a chain: verifies payments for real and returns the transfer they would make. Pure, like the whole
//! crate; keeping a ledger and using each key only once is left to the caller.

mod reason;
mod requirements;

use std::fmt;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use crate::address::{Address, EvmAddress, SolanaAddress};
use crate::amount::Amount;
use crate::evm::Margins;
use crate::generation::Generation;
use crate::json::{self, Object};
use crate::key::PaymentKey;
use crate::network::{Cluster, Network};
use crate::offer::{Asset, Offer, SCHEME};
use crate::payment::Payment;
use crate::proof::Proof;
use crate::receipt::{Outcome, Receipt, network_name};

use reason::reason;

/// A payment that is valid now: what a ledger must record to settle it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub generation: Generation,
    pub network: Network,
    /// May be settled only once.
    pub key: PaymentKey,
    pub asset: Address,
    pub from: Address,
    pub to: Address,
    pub amount: Amount,
}

/// A request that the facilitator refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The reason string of the reference facilitators for that version.
    pub reason: &'static str,
    pub payer: Option<Address>,
    network: String,
}

/// A payment that is valid except for its time, which has not been checked yet: one settled earlier stays settled.
#[derive(Clone)]
pub struct TransferRequest {
    pub transfer: Transfer,
    payment: Payment,
    offer: Offer,
}

/// Verifies the body of `POST /verify` or `POST /settle`. `fee_payer` is the one this facilitator signs with.
pub fn check_request(body: &[u8], fee_payer: SolanaAddress, now: i64) -> Result<Transfer, Refused> {
    parse_request(body, fee_payer)?.check_time(now)
}

/// Like [`check_request`] without checking the time: payer, recipient, amount and key.
pub fn parse_request(body: &[u8], fee_payer: SolanaAddress) -> Result<TransferRequest, Refused> {
    let early = |reason| Refused { reason, payer: None, network: String::new() };
    let text = str::from_utf8(body).map_err(|_| early("invalid_payload"))?;
    let request = json::object(text).map_err(|_| early("invalid_payload"))?;
    let version = request.get("x402Version").and_then(Value::as_u64).and_then(Generation::from_number);
    let generation = version.ok_or_else(|| early("invalid_x402_version"))?;
    let requirements =
        json::member(&request, "paymentRequirements").map_err(|_| early("invalid_payment_requirements"))?;
    let network = json::text(requirements, "network").unwrap_or("").to_owned();
    let refused = |reason, payer| Refused { reason, payer, network: network.clone() };

    let offer = requirements::read(requirements, generation).map_err(|reason| refused(reason, None))?;
    let payload = json::member(&request, "paymentPayload").map_err(|_| refused("invalid_payload", None))?;
    let proof = Proof::from_members(generation, payload.clone())
        .map_err(|_| refused("invalid_x402_version", None))?;
    check_agreement(&proof, &offer).map_err(|reason| refused(reason, None))?;
    if matches!(&offer.asset, Asset::Solana { mint, .. } if mint.fee_payer != fee_payer) {
        return Err(refused("fee_payer_not_managed_by_facilitator", None));
    }

    let is_evm = offer.network().is_evm();
    let payment = proof.payment(&offer).map_err(|it| refused(reason(it, is_evm, generation), None))?;
    let (from, to) = (payment.payer(), offer.pay_to());
    let unfit = |it| refused(reason(it, is_evm, generation), Some(from));
    // Without a chain there are no contract wallets, so the payer's own key must have signed.
    let signed = payment.is_signed_by_payer(&offer).map_err(unfit)?;
    if !signed {
        return Err(unfit(crate::Refusal::InvalidSignature));
    }
    payment.pays(&offer).map_err(unfit)?;
    let key = payment.key(&offer).map_err(unfit)?;
    let (network, asset, amount) = (offer.network(), offer.token(), offer.amount);
    Ok(TransferRequest {
        transfer: Transfer { generation, network, key, asset, from, to, amount },
        payment,
        offer,
    })
}

impl TransferRequest {
    /// The transfer, if the payment is valid at this time.
    pub fn check_time(self, now: i64) -> Result<Transfer, Refused> {
        let Self { transfer, payment, offer } = self;
        match payment.is_timely(&offer, now, Margins::FACILITATOR) {
            Ok(()) => Ok(transfer),
            Err(it) => Err(transfer.refused(reason(it, transfer.network.is_evm(), transfer.generation))),
        }
    }
}

/// Keeps signatures out of logs.
impl fmt::Debug for TransferRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransferRequest").field("transfer", &self.transfer).finish_non_exhaustive()
    }
}

/// Whether payload and requirements name the same scheme and network.
fn check_agreement(proof: &Proof, offer: &Offer) -> Result<(), &'static str> {
    let named = match proof.generation() {
        Generation::V1 => Some(proof.members()),
        Generation::V2 => proof.members().get("accepted").and_then(Value::as_object),
    };
    let member = |name| named.and_then(|it: &Object| json::text(it, name).ok());
    if member("scheme") != Some(SCHEME) {
        return Err("unsupported_scheme");
    }
    if member("network") != Some(network_name(offer.network(), proof.generation()).as_str()) {
        return Err("invalid_network");
    }
    Ok(())
}

impl Transfer {
    /// The response to `POST /verify`.
    pub fn verify_json(&self) -> Value {
        json!({ "isValid": true, "payer": self.from.to_string() })
    }

    /// The response to `POST /settle` once the ledger holds the transfer; always the same for the same transfer.
    pub fn settled_json(&self) -> Value {
        let outcome = Outcome::Settled { transaction: self.transaction() };
        Receipt { network: self.network, payer: self.from, outcome }.to_json(self.generation)
    }

    /// The response to `POST /settle` when the ledger has already used the key for something else.
    pub fn already_used(&self) -> Refused {
        let reason = match (self.generation, self.network.is_evm()) {
            (Generation::V2, true) => "invalid_exact_evm_nonce_already_used",
            _ => "duplicate_settlement",
        };
        self.refused(reason)
    }

    /// The response to `POST /settle` when the payer's balance is too low and the ledger allows no debt.
    pub fn insufficient_funds(&self) -> Refused {
        self.refused("insufficient_funds")
    }

    /// The response when the facilitator does not serve the network.
    pub fn unsupported(&self) -> Refused {
        self.refused("invalid_network")
    }

    fn refused(&self, reason: &'static str) -> Refused {
        Refused { reason, payer: Some(self.from), network: network_name(self.network, self.generation) }
    }

    /// A transaction id in the chain's format, derived from the key alone.
    pub fn transaction(&self) -> String {
        let hash = Sha512::digest(format!("sandbox|{}", self.key));
        match self.network {
            Network::Evm(_) => format!("0x{}", HEXLOWER.encode(hash.get(..32).unwrap_or_default())),
            Network::Solana(_) => bs58::encode(hash).into_string(),
        }
    }
}

impl Refused {
    /// The response to `POST /verify`.
    pub fn verify_json(&self) -> Value {
        self.with_payer(json!({ "isValid": false, "invalidReason": self.reason }))
    }

    /// The response to `POST /settle`.
    pub fn settle_json(&self) -> Value {
        self.with_payer(json!({
            "success": false, "errorReason": self.reason, "transaction": "", "network": self.network,
        }))
    }

    /// Omits the member when there is no payer: v1 clients expect an address or nothing.
    fn with_payer(&self, mut answer: Value) -> Value {
        if let (Some(payer), Some(members)) = (self.payer, answer.as_object_mut()) {
            members.insert("payer".to_owned(), payer.to_string().into());
        }
        answer
    }
}

/// The response to `GET /supported` for the simulated networks.
pub fn supported_json(networks: &[Network], fee_payer: SolanaAddress) -> Value {
    let mut kinds = Vec::new();
    for network in networks {
        for generation in [Generation::V2, Generation::V1] {
            if generation == Generation::V1 && network.v1_name().is_none() {
                continue;
            }
            let name = network_name(*network, generation);
            let mut kind = json!({ "x402Version": generation.number(), "scheme": SCHEME, "network": name });
            if let (Network::Solana(_), Some(members)) = (network, kind.as_object_mut()) {
                members.insert("extra".into(), json!({ "feePayer": fee_payer.to_string() }));
            }
            kinds.push(kind);
        }
    }
    let signers = json!({ "solana:*": [fee_payer.to_string()] });
    json!({ "kinds": kinds, "extensions": [], "signers": signers })
}

/// A fee payer for a sandbox, derived from a text: its key is unknown, and it signs nothing.
pub fn fee_payer(cluster: Cluster) -> SolanaAddress {
    let hash = sha2::Sha256::digest(format!("sandbox fee payer of {}", Network::Solana(cluster)));
    SolanaAddress(hash.into())
}

/// The sandbox's recipients when none are configured: addresses whose keys are unknown.
pub fn pay_to() -> (EvmAddress, SolanaAddress) {
    let hash: [u8; 32] = sha2::Sha256::digest("sandbox recipient").into();
    let mut short = [0; 20];
    short.copy_from_slice(&hash[..20]);
    (EvmAddress(short), SolanaAddress(hash))
}
