//! The parameter `request` of a challenge: how much of which token goes to whom. Reads and writes it, and compares it with
//! our offers.

use std::cmp::Ordering;

use serde::Serialize;

use super::credential_error::CredentialError;
use super::encoded_json;
use crate::address::EvmAddress;
use crate::amount::Amount;
use crate::generation::Generation;
use crate::json;
use crate::network::Network;
use crate::offer::{Asset, Offer, Token};
use crate::refusal::Refusal;
use crate::terms::Terms;

/// Prices are in tokens with six decimals; clients need the number to show the price to a person.
const DECIMALS: u8 = 6;
/// Canonical JSON writes numbers as IEEE doubles do, so a larger chain id has no exact form.
const LARGEST_NUMBER: u64 = (1 << 53) - 1;

/// What a challenge charges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Charge {
    amount: Amount,
    chain_id: u64,
    currency: EvmAddress,
    recipient: EvmAddress,
}

/// In alphabetical order, for the canonical form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChargeJson {
    amount: String,
    currency: String,
    method_details: MethodDetailsJson,
    recipient: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MethodDetailsJson {
    chain_id: u64,
    credential_types: [&'static str; 1],
    decimals: u8,
}

impl Charge {
    /// `None` for an offer that MPP cannot present: on Solana, or not to be settled in the form of x402 v2.
    pub(super) fn of(offer: &Offer) -> Option<Self> {
        match &offer.asset {
            Asset::Evm { chain_id, token, pay_to }
                if offer.is_shown_to(Generation::V2) && *chain_id <= LARGEST_NUMBER =>
            {
                let (currency, recipient) = (token.address, *pay_to);
                Some(Self { amount: offer.amount, chain_id: *chain_id, currency, recipient })
            }
            _ => None,
        }
    }

    pub(super) fn encode(&self) -> String {
        encoded_json::encode(&ChargeJson {
            amount: self.amount.to_string(),
            currency: self.currency.to_string(),
            method_details: MethodDetailsJson {
                chain_id: self.chain_id,
                credential_types: ["authorization"],
                decimals: DECIMALS,
            },
            recipient: self.recipient.to_string(),
        })
    }

    pub(crate) fn decode(text: &str) -> Option<Self> {
        let members = encoded_json::decode(text).ok()?;
        let address = |name| EvmAddress::parse(json::text(&members, name).ok()?);
        Some(Self {
            amount: Amount::parse(json::text(&members, "amount").ok()?)?,
            chain_id: json::member(&members, "methodDetails").ok()?.get("chainId")?.as_u64()?,
            currency: address("currency")?,
            recipient: address("recipient")?,
        })
    }

    /// Compares a new payment's charge with the current terms. Only the exact price can be settled.
    pub(super) fn check(&self, terms: &Terms) -> Result<(), CredentialError> {
        let current = self.current_offer(terms).ok_or(Refusal::NetworkNotOffered)?;
        let current = Self::of(current).ok_or(Refusal::NetworkNotOffered)?;
        if (self.currency, self.recipient) != (current.currency, current.recipient) {
            return Err(CredentialError::TermsChanged);
        }
        match self.amount.cmp(&current.amount) {
            Ordering::Less => Err(CredentialError::PriceIncreased),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(CredentialError::TermsChanged),
        }
    }

    /// The charge as an offer. It is our current one, unless the terms have changed since the challenge was issued: even then
    /// an earlier payment has to be found. The challenge does not say under which names the token signs, so the token must
    /// be the one that is offered now, or USDC.
    pub(super) fn offer(&self, terms: &Terms) -> Option<Offer> {
        let current = self.current_offer(terms);
        let offered = current.and_then(|offer| match &offer.asset {
            Asset::Evm { token, .. } => Some(token.clone()),
            Asset::Solana { .. } => None,
        });
        let mut known = offered.into_iter().chain(Token::usdc(self.chain_id));
        let token = known.find(|token| token.address == self.currency)?;
        // Without a current offer nothing is settled, and the time limit has no meaning.
        let max_timeout_seconds = current.map_or(0, |offer| offer.max_timeout_seconds);
        Some(self.offer_in(token, max_timeout_seconds))
    }

    /// The charge as an offer in a token.
    pub(crate) fn offer_in(&self, token: Token, max_timeout_seconds: u32) -> Offer {
        let asset = Asset::Evm { chain_id: self.chain_id, token, pay_to: self.recipient };
        Offer::new(asset, self.amount, max_timeout_seconds)
    }

    fn current_offer<'a>(&self, terms: &'a Terms) -> Option<&'a Offer> {
        terms.offer_on(Network::Evm(self.chain_id), Generation::V2)
    }

    pub(crate) fn chain_id(&self) -> u64 {
        self.chain_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Cluster;
    use crate::offer::{Mint, Resource};
    use crate::sandbox;

    fn offer(chain_id: u64) -> Offer {
        let asset = Asset::Evm { chain_id, token: Token::usdc(8453).unwrap(), pay_to: EvmAddress([7; 20]) };
        Offer::new(asset, Amount::new(500_000), 60)
    }

    fn terms(offer: Offer) -> Terms {
        let resource = Resource {
            url: "https://api.pages.test/publish".to_owned(),
            description: String::new(),
            mime_type: String::new(),
        };
        Terms::new(resource, vec![offer]).unwrap()
    }

    #[test]
    fn charges_read_back() {
        let charge = Charge::of(&offer(LARGEST_NUMBER)).unwrap();
        assert_eq!(Charge::decode(&charge.encode()), Some(charge));
        for bad in ["", "e30", "%"] {
            assert_eq!(Charge::decode(bad), None);
        }
    }

    #[test]
    fn what_cannot_be_settled_is_not_charged() {
        let fee_payer = sandbox::fee_payer(Cluster::Mainnet);
        let mint = Mint::usdc(Cluster::Mainnet, fee_payer).unwrap();
        let solana = Asset::Solana { cluster: Cluster::Mainnet, mint, pay_to: fee_payer };
        assert_eq!(Charge::of(&Offer { asset: solana, ..offer(8453) }), None);
        assert_eq!(Charge::of(&Offer { v2: false, ..offer(8453) }), None);
        assert_eq!(Charge::of(&offer(LARGEST_NUMBER + 1)), None);
    }

    #[test]
    fn a_charge_is_compared_with_the_current_terms() {
        let charge = Charge::of(&offer(8453)).unwrap();
        let check = |offer| charge.check(&terms(offer)).err();
        assert_eq!(check(offer(8453)), None);
        assert_eq!(
            check(Offer { amount: Amount::new(500_001), ..offer(8453) }),
            Some(CredentialError::PriceIncreased)
        );
        assert_eq!(
            check(Offer { amount: Amount::new(499_999), ..offer(8453) }),
            Some(CredentialError::TermsChanged)
        );
        let gone = Some(CredentialError::Refused(Refusal::NetworkNotOffered));
        assert_eq!(check(offer(1)), gone);
        assert_eq!(check(Offer { v2: false, ..offer(8453) }), gone);
    }

    #[test]
    fn a_charge_of_former_terms_is_still_an_offer_if_its_token_is_known() {
        let charge = Charge::of(&offer(8453)).unwrap();
        assert_eq!(charge.offer(&terms(offer(8453))), Some(offer(8453)));
        let cheaper = Offer { amount: Amount::new(1), ..offer(8453) };
        assert_eq!(charge.offer(&terms(cheaper)), Some(offer(8453)));
        let elsewhere = charge.offer(&terms(offer(1))).unwrap();
        assert_eq!(elsewhere.asset, offer(8453).asset);
        let other = Charge { currency: EvmAddress([1; 20]), ..charge };
        assert_eq!(other.offer(&terms(offer(8453))), None);
    }
}
