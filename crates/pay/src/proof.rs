//! A proof of payment as it arrives in a header. Read strictly here, judged against our own terms in
//! [`Proof::check`]; what the client says the terms were is only compared with them.

use std::fmt;

use serde_json::Value;

use crate::address::{EvmAddress, SolanaAddress};
use crate::amount::Amount;
use crate::base64;
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

/// The longest header that is looked at: an ordinary proof has 1 to 2 KB, that of a contract wallet may have more.
pub const PROOF_BYTES: usize = 16 * 1024;

/// An address that is nobody's.
const NOBODY: &str = "11111111111111111111111111111111";

/// A well-formed proof of either generation.
#[derive(Clone, PartialEq)]
pub struct Proof {
    generation: Generation,
    members: Object,
}

/// Reads the proof of a request from `PAYMENT-SIGNATURE` (v2) or `X-PAYMENT` (v1). None is a valid answer. A header
/// that is there twice is [`Refusal::TwoProofs`] too, which only the caller can see.
pub fn parse_proof(v2: Option<&str>, v1: Option<&str>) -> Result<Option<Proof>, Refusal> {
    match (v2, v1) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Refusal::TwoProofs),
        (Some(text), None) => Proof::parse(Generation::V2, text).map(Some),
        (None, Some(text)) => Proof::parse(Generation::V1, text).map(Some),
    }
}

impl Proof {
    /// Reads the value of a generation's header.
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

    /// Every check that needs no chain, cheap ones first. Whoever passes has signed exactly what one of our current
    /// offers asks for, unless `payer_is_eoa` is false: then the facilitator must say whether a contract did.
    pub fn check(&self, terms: &Terms, now: i64) -> Result<Checked, Refusal> {
        self.check_at(terms, now, Some(Margins::OURS))
    }

    /// The same for a proof that may have expired: every check but that of its time. Nothing may be settled with it; it is
    /// for looking up whether it was.
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
        // v1 has no extensions, so its clients cannot be asked for one.
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

    /// Which payment this is, without asking whether it is timely or pays today's price: for finding what an
    /// earlier request with the same proof came to. The signature is checked, as nonces are public; but settling
    /// publishes the signature too, so whoever reads the chain can send the same proof again. Tell them only what the
    /// request as a whole entitles to: its body must be the same, and an answer without a body shows no secret twice.
    pub fn recognise(&self, terms: &Terms) -> Result<Recognised, Refusal> {
        let offer = self.offer(terms)?;
        self.check_resource(terms)?;
        self.recognise_as(offer, terms)
    }

    /// The same when the terms no longer offer the network or the token that the proof names: for a payment that was made
    /// while they did. None when they do, or when it cannot be read so.
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

    /// Where a proof says what it pays.
    fn named(&self) -> Result<&Object, Refusal> {
        match self.generation {
            Generation::V1 => Ok(&self.members),
            Generation::V2 => json::member(&self.members, "accepted"),
        }
    }

    /// An offer that names what the payment's key is made of. v1 does not say which token, so it is the usual one.
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
            // The message alone is the key there.
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

    /// A signature does not cover the address, but a client that says where it wanted to pay is taken at its word.
    fn check_resource(&self, terms: &Terms) -> Result<(), Refusal> {
        let Some(resource) = self.optional("resource")? else { return Ok(()) };
        if terms.is_elsewhere(json::text(resource, "url")?) { Err(Refusal::OtherResource) } else { Ok(()) }
    }

    fn extensions(&self) -> Result<Option<&Object>, Refusal> {
        self.optional("extensions")
    }

    /// A member of v2 that may be absent, or null, which some clients write for absent.
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

/// An unsettled authorization is somebody's money: it stays out of logs.
impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proof").field("generation", &self.generation).finish_non_exhaustive()
    }
}
