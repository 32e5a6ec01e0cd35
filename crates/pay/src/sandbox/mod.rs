//! What a facilitator does that has no chain: it verifies payments for real and says what would be moved. Pure,
//! like all of the crate; keeping a ledger and using each key once is the caller's business.

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

/// A payment that is valid at this moment: what a ledger has to record to settle it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub generation: Generation,
    pub network: Network,
    /// May be settled once.
    pub key: PaymentKey,
    pub asset: Address,
    pub from: Address,
    pub to: Address,
    pub amount: Amount,
}

/// A request that a facilitator refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// As the reference facilitators of that generation say it.
    pub reason: &'static str,
    pub payer: Option<Address>,
    network: String,
}

/// A payment that is good but for the time, which is not looked at yet: what was settled before stays settled.
#[derive(Clone)]
pub struct Asked {
    pub transfer: Transfer,
    payment: Payment,
    offer: Offer,
}

/// Verifies the body of `POST /verify` or `POST /settle`. `fee_payer` is the one this facilitator signs with.
pub fn judge(body: &[u8], fee_payer: SolanaAddress, now: i64) -> Result<Transfer, Refused> {
    read(body, fee_payer)?.in_time(now)
}

/// The same without a look at the clock: who pays whom how much, and under which key.
pub fn read(body: &[u8], fee_payer: SolanaAddress) -> Result<Asked, Refused> {
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
    Ok(Asked { transfer: Transfer { generation, network, key, asset, from, to, amount }, payment, offer })
}

impl Asked {
    /// The transfer, if now is a time for it.
    pub fn in_time(self, now: i64) -> Result<Transfer, Refused> {
        let Self { transfer, payment, offer } = self;
        match payment.is_timely(&offer, now, Margins::FACILITATOR) {
            Ok(()) => Ok(transfer),
            Err(it) => Err(transfer.refused(reason(it, transfer.network.is_evm(), transfer.generation))),
        }
    }
}

/// Signatures stay out of logs.
impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").field("transfer", &self.transfer).finish_non_exhaustive()
    }
}

/// Whether payload and requirements speak of the same scheme and network.
fn check_agreement(proof: &Proof, offer: &Offer) -> Result<(), &'static str> {
    let named = match proof.generation() {
        Generation::V1 => Some(proof.members()),
        Generation::V2 => proof.members().get("accepted").and_then(Value::as_object),
    };
    let said = |name| named.and_then(|it: &Object| json::text(it, name).ok());
    if said("scheme") != Some(SCHEME) {
        return Err("unsupported_scheme");
    }
    if said("network") != Some(network_name(offer.network(), proof.generation()).as_str()) {
        return Err("invalid_network");
    }
    Ok(())
}

impl Transfer {
    /// The answer of `POST /verify`.
    pub fn verify_json(&self) -> Value {
        json!({ "isValid": true, "payer": self.from.to_string() })
    }

    /// The answer of `POST /settle` once the ledger holds the transfer; the same however often it is asked for.
    pub fn settled_json(&self) -> Value {
        let outcome = Outcome::Settled { transaction: self.transaction() };
        Receipt { network: self.network, payer: self.from, outcome }.to_json(self.generation)
    }

    /// The answer of `POST /settle` when the ledger has used the key before for something else.
    pub fn already_used(&self) -> Refused {
        let reason = match (self.generation, self.network.is_evm()) {
            (Generation::V2, true) => "invalid_exact_evm_nonce_already_used",
            _ => "duplicate_settlement",
        };
        self.refused(reason)
    }

    /// The answer of `POST /settle` when the ledger lets nobody owe.
    pub fn insufficient_funds(&self) -> Refused {
        self.refused("insufficient_funds")
    }

    /// The answer when the facilitator does not serve the network.
    pub fn unsupported(&self) -> Refused {
        self.refused("invalid_network")
    }

    fn refused(&self, reason: &'static str) -> Refused {
        Refused { reason, payer: Some(self.from), network: network_name(self.network, self.generation) }
    }

    /// A name in the chain's own form, made from the key alone.
    pub fn transaction(&self) -> String {
        let hash = Sha512::digest(format!("sandbox|{}", self.key));
        match self.network {
            Network::Evm(_) => format!("0x{}", HEXLOWER.encode(hash.get(..32).unwrap_or_default())),
            Network::Solana(_) => bs58::encode(hash).into_string(),
        }
    }
}

impl Refused {
    /// The answer of `POST /verify`.
    pub fn verify_json(&self) -> Value {
        self.with_payer(json!({ "isValid": false, "invalidReason": self.reason }))
    }

    /// The answer of `POST /settle`.
    pub fn settle_json(&self) -> Value {
        self.with_payer(json!({
            "success": false, "errorReason": self.reason, "transaction": "", "network": self.network,
        }))
    }

    /// Absent, not empty, when there is none: readers of v1 want an address or nothing.
    fn with_payer(&self, mut answer: Value) -> Value {
        if let (Some(payer), Some(members)) = (self.payer, answer.as_object_mut()) {
            members.insert("payer".to_owned(), payer.to_string().into());
        }
        answer
    }
}

/// The answer of `GET /supported` for the networks that shall be played.
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

/// A fee payer for a sandbox that nobody holds the key of: derived from a text, it signs nothing.
pub fn fee_payer(cluster: Cluster) -> SolanaAddress {
    let hash = sha2::Sha256::digest(format!("sandbox fee payer of {}", Network::Solana(cluster)));
    SolanaAddress(hash.into())
}

/// Where the sandbox's payers pay to when nobody said where: addresses that nobody holds the keys of.
pub fn pay_to() -> (EvmAddress, SolanaAddress) {
    let hash: [u8; 32] = sha2::Sha256::digest("sandbox recipient").into();
    let mut short = [0; 20];
    short.copy_from_slice(&hash[..20]);
    (EvmAddress(short), SolanaAddress(hash))
}
