//! A payment proof as it arrives in a header. Parsed strictly here and checked against our own terms in [`Proof::check`]; the
//! client's copy of the terms is only compared with them.

use std::fmt;

use dropleaf_core::base64;
use serde_json::Value;

use crate::address::{EvmAddress, SolanaAddress};
use crate::amount::Amount;
use crate::checked::{Checked, Recognised};
use crate::evm::Margins;
use crate::extensions;
use crate::generation::Generation;
use crate::json::{self, Object};
use crate::network::Network;
use crate::offer::{Asset, Mint, Offer, SCHEME, Token};
use crate::payment::Payment;
use crate::refusal::Refusal;
use crate::terms::Terms;

/// The longest header accepted: a normal proof has 1 to 2 KB, that of a contract wallet may have more.
pub const PROOF_BYTES: usize = 16 * 1024;

/// A placeholder address without an owner.
const NOBODY: &str = "11111111111111111111111111111111";

/// A well-formed proof of either version.
#[derive(Clone, PartialEq)]
pub struct Proof {
    generation: Generation,
    members: Object,
}

/// Parses the proof of a request from `PAYMENT-SIGNATURE` (v2) or `X-PAYMENT` (v1). No proof at all is valid. A header that
/// occurs twice is also [`Refusal::TwoProofs`], which only the caller can detect.
pub fn parse_proof(v2: Option<&str>, v1: Option<&str>) -> Result<Option<Proof>, Refusal> {
    match (v2, v1) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Refusal::TwoProofs),
        (Some(text), None) => Proof::parse(Generation::V2, text).map(Some),
        (None, Some(text)) => Proof::parse(Generation::V1, text).map(Some),
    }
}

impl Proof {
    /// Parses the header value of this version.
    pub fn parse(generation: Generation, header: &str) -> Result<Self, Refusal> {
        if header.len() > PROOF_BYTES {
            return Err(Refusal::HeaderTooLarge);
        }
        let bytes = base64::decode(header).ok_or(Refusal::NotBase64)?;
        let text = str::from_utf8(&bytes).map_err(|_| Refusal::NotUtf8)?;
        Self::from_members(generation, json::object(text)?)
    }

    pub(crate) fn from_members(generation: Generation, members: Object) -> Result<Self, Refusal> {
        if members.get("x402Version").and_then(Value::as_u64) != Some(generation.number()) {
            return Err(Refusal::WrongVersion);
        }
        Ok(Self { generation, members })
    }

    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Performs every check that needs no chain, cheap ones first. A proof that passes signs exactly what one of our current
    /// offers requires, unless `payer_is_eoa` is false: then the facilitator must tell whether a contract wallet signed it.
    pub fn check(&self, terms: &Terms, now: i64) -> Result<Checked, Refusal> {
        self.check_at(terms, now, Some(Margins::OURS))
    }

    /// Like `check` for a proof that may have expired: every check except that of its time. Nothing may be settled with the
    /// result; it only serves to look up whether the proof was settled.
    pub fn check_expired(&self, terms: &Terms, now: i64) -> Result<Checked, Refusal> {
        self.check_at(terms, now, None)
    }

    fn check_at(&self, terms: &Terms, now: i64, margins: Option<Margins>) -> Result<Checked, Refusal> {
        let offer = self.offer(terms)?;
        if self.generation == Generation::V2
            && !offer.is_accepted_as(json::member(&self.members, "accepted")?)
        {
            return Err(Refusal::OfferMismatch);
        }
        self.check_resource(terms)?;
        let sent = self.extensions()?;
        // v1 has no extensions, so an identifier cannot be required.
        let payment_identifier = match self.generation {
            Generation::V1 => None,
            Generation::V2 => extensions::identifier(sent, terms.identifier)?,
        };
        let payment = self.payment(offer)?;
        payment.pays(offer)?;
        if let Some(margins) = margins {
            payment.is_timely(offer, now, margins)?;
        }
        Ok(Checked {
            key: payment.key(offer)?,
            payer: payment.payer(),
            payer_is_eoa: payment.is_signed_by_payer(offer)?,
            network: offer.network(),
            asset: offer.token(),
            amount: offer.amount,
            generation: self.generation,
            valid_until: payment.valid_until(now),
            payment_identifier,
            offer: offer.clone(),
            payment,
            wants_catalogue: extensions::echoes_bazaar(sent),
        })
    }

    /// Identifies the payment without checking its time or today's price, to find the result of an earlier request with the same
    /// proof. The signature is checked, because nonces are public; but settling publishes the signature too, so anyone who reads
    /// the chain can send the same proof again. Disclose only what the whole request justifies: its body must be the same, and a
    /// response to a request without a body must not show a secret twice.
    pub fn recognise(&self, terms: &Terms) -> Result<Recognised, Refusal> {
        let offer = self.offer(terms)?;
        self.check_resource(terms)?;
        self.recognise_as(offer, terms)
    }

    /// Like `recognise` for a payment made while the terms still offered the proof's network or token, which they no longer do.
    /// `None` when they still do, or when it cannot be parsed that way.
    pub fn recognise_beside(&self, terms: &Terms) -> Option<Recognised> {
        let offer = self.own_offer().ok()??;
        let ours = terms.offer_on(offer.network(), self.generation);
        if ours.is_some_and(|ours| ours.token() == offer.token()) {
            return None;
        }
        self.recognise_as(&offer, terms).ok()
    }

    fn recognise_as(&self, offer: &Offer, terms: &Terms) -> Result<Recognised, Refusal> {
        let payment = self.payment(offer)?;
        let payer_is_eoa = payment.is_signed_by_payer(offer)?;
        let payment_identifier = match self.generation {
            Generation::V1 => None,
            Generation::V2 => {
                self.extensions().and_then(|it| extensions::identifier(it, terms.identifier)).unwrap_or(None)
            }
        };
        Ok(Recognised { key: payment.key(offer)?, payer: payment.payer(), payer_is_eoa, payment_identifier })
    }

    /// Our offer on the network that the proof names.
    fn offer<'a>(&self, terms: &'a Terms) -> Result<&'a Offer, Refusal> {
        let network = self.network()?;
        network.and_then(|it| terms.offer_on(it, self.generation)).ok_or(Refusal::NetworkNotOffered)
    }

    fn network(&self) -> Result<Option<Network>, Refusal> {
        let named = self.named()?;
        if json::text(named, "scheme")? != SCHEME {
            return Err(Refusal::SchemeNotOffered);
        }
        let name = json::text(named, "network")?;
        Ok(match self.generation {
            Generation::V1 => Network::parse_v1(name),
            Generation::V2 => Network::parse(name),
        })
    }

    /// The object in which a proof names what it pays.
    fn named(&self) -> Result<&Object, Refusal> {
        match self.generation {
            Generation::V1 => Ok(&self.members),
            Generation::V2 => json::member(&self.members, "accepted"),
        }
    }

    /// An offer with what the payment key is derived from. v1 does not name the token, so USDC is assumed.
    fn own_offer(&self) -> Result<Option<Offer>, Refusal> {
        let Some(network) = self.network()? else { return Ok(None) };
        let asset = match network {
            Network::Evm(chain_id) => {
                let token = match self.generation {
                    Generation::V1 => Token::usdc(chain_id),
                    Generation::V2 => self.own_token()?,
                };
                token.map(|token| Asset::Evm { chain_id, pay_to: token.address, token })
            }
            // On Solana the key depends only on the message.
            Network::Solana(cluster) => SolanaAddress::parse(NOBODY).map(|nobody| {
                let mint = Mint { address: nobody, decimals: None, fee_payer: nobody, memo: None };
                Asset::Solana { cluster, mint, pay_to: nobody }
            }),
        };
        Ok(asset.map(|asset| Offer::new(asset, Amount::new(1), 1)))
    }

    fn own_token(&self) -> Result<Option<Token>, Refusal> {
        let named = self.named()?;
        let extra = json::member(named, "extra")?;
        let (name, version) =
            (json::text(extra, "name")?.to_owned(), json::text(extra, "version")?.to_owned());
        let address = EvmAddress::parse(json::text(named, "asset")?);
        Ok(address.map(|address| Token { address, name, version }))
    }

    pub(crate) fn payment(&self, offer: &Offer) -> Result<Payment, Refusal> {
        let extra = self.members.get("accepted").and_then(|it| it.get("extra"));
        let method = extra.and_then(|it| it.get("assetTransferMethod"));
        if method.is_some_and(|method| method != "eip3009") {
            return Err(Refusal::MethodNotOffered);
        }
        Payment::read(json::member(&self.members, "payload")?, offer)
    }

    /// The signature does not cover the URL, but a proof that names another resource is refused.
    fn check_resource(&self, terms: &Terms) -> Result<(), Refusal> {
        let Some(resource) = self.optional("resource")? else { return Ok(()) };
        if terms.is_elsewhere(json::text(resource, "url")?) { Err(Refusal::OtherResource) } else { Ok(()) }
    }

    fn extensions(&self) -> Result<Option<&Object>, Refusal> {
        self.optional("extensions")
    }

    /// A member of v2 that may be absent, or null, which some clients send instead.
    fn optional(&self, name: &str) -> Result<Option<&Object>, Refusal> {
        match self.members.get(name) {
            Some(value) if self.generation == Generation::V2 && !value.is_null() => {
                value.as_object().map(Some).ok_or(Refusal::InvalidPayload)
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn members(&self) -> &Object {
        &self.members
    }
}

/// Keeps proofs out of logs: an unsettled authorization can be used to take the payer's money.
impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proof").field("generation", &self.generation).finish_non_exhaustive()
    }
}
