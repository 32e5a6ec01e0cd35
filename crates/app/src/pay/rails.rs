//! The menu of payment rails: every way to pay that this version knows, whether it can be used now, and why not. Every
//! response and document that lists rails takes them from here.

use super::cards::NO_PROCESSOR;
use super::{Listing, PaymentSettings};
use crate::app::App;
use dropleaf_core::payment::Item;
use dropleaf_core::rail::Rail;
use dropleaf_core::{Code, Error, Result};
use serde::Serialize;
use std::sync::Arc;

const PUBLISH: &str = "publish";
const PROVISION: &str = "provision";
const UNLOCK: &str = "unlock";
const TOPUP: &str = "topup";

/// A way to pay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RailStatus {
    /// The name of a [`Rail`].
    pub protocol: &'static str,
    /// The versions of the protocol, if it has any.
    pub versions: &'static [i64],
    pub networks: Vec<String>,
    /// What it can pay for now.
    pub pays_for: Vec<&'static str>,
    /// Whether it can be used now.
    pub live: bool,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub how: &'static str,
}

impl RailStatus {
    /// The menu of a sandbox with its default settings, for documents.
    pub fn sandbox_example(evm: &str, solana: &str) -> Vec<Self> {
        let wallet = |networks: &[&str]| RailCoverage {
            networks: networks.iter().map(|name| (*name).to_owned()).collect(),
            pays_for: vec![PUBLISH, PROVISION, UNLOCK],
        };
        let facts = MenuFacts {
            x402: wallet(&[evm, solana]),
            mpp: wallet(&[evm]),
            accepts_cards: true,
            ..MenuFacts::default()
        };
        facts.menu()
    }
}

/// What the menu follows from.
#[derive(Debug, Default)]
struct MenuFacts<'a> {
    /// The networks and items of the x402 terms, and of those that have an MPP challenge.
    x402: RailCoverage,
    mpp: RailCoverage,
    /// Why there are none.
    no_x402: &'a str,
    no_mpp: &'a str,
    accepts_cards: bool,
    /// Why card tokens are not accepted; `None` if they are.
    no_acp: Option<&'a str>,
    /// Why mandates are not accepted; `None` if they are.
    no_ap2: Option<&'a str>,
    /// Why no accounts are sold; `None` if they are.
    no_provision: Option<String>,
}

/// What a rail can pay for, and on which networks.
#[derive(Debug, Default)]
struct RailCoverage {
    networks: Vec<String>,
    pays_for: Vec<&'static str>,
}

impl RailCoverage {
    fn of<'a>(listings: impl Iterator<Item = &'a Listing>, is_offered: impl Fn(&str) -> bool) -> Self {
        let mut rail = Self::default();
        for listing in listings {
            let name = match listing.item {
                Item::Publish => PUBLISH,
                Item::Provision => PROVISION,
                Item::Unlock(_) => UNLOCK,
                Item::Topup => TOPUP,
            };
            if !rail.pays_for.contains(&name) {
                rail.pays_for.push(name);
            }
            for offer in listing.terms.offers() {
                let network = offer.network().to_string();
                if is_offered(&network) && !rail.networks.contains(&network) {
                    rail.networks.push(network);
                }
            }
        }
        rail
    }
}

impl MenuFacts<'_> {
    fn menu(self) -> Vec<RailStatus> {
        let cards = |all: &[&'static str]| if self.accepts_cards { all.to_vec() } else { Vec::new() };
        let no_cards = NO_PROCESSOR;
        let tokens = if self.no_acp.is_none() { vec![PROVISION] } else { Vec::new() };
        let mandates = if self.no_ap2.is_none() { vec![PROVISION] } else { Vec::new() };
        let x402 = "Send the request without a payment; the 402 response contains the terms. Repeat it with the signed payment in \
                    PAYMENT-SIGNATURE (v2) or X-PAYMENT (v1).";
        let mpp = "Send the request without a payment; the 402 response contains a challenge in WWW-Authenticate: Payment (method \
                   evm, intent charge). Repeat it with Authorization: Payment <credential>; for /unlock in \
                   Payment-Authorization.";
        let card =
            "POST /pay/sessions creates a link where a person can pay by card. Poll it for the result.";
        let acp = "acp_shared_payment_token in the JSON body of POST /provision.";
        let ap2 = "Sign a payment mandate for the transaction in ap2, which GET /provision and the 402 response of POST /provision \
                   contain, with an instrument of type stripe_spt. Send it as ap2_mandate in the JSON body of POST /provision.";
        let balance = "Send the request with an API key, or an access token with sites:write, and without a payment. A balance is \
                       topped up by card.";
        let all = [
            (Rail::X402.as_str(), &[1, 2][..], self.x402, self.no_x402, x402),
            (Rail::Mpp.as_str(), &[1], self.mpp, self.no_mpp, mpp),
            (Rail::Acp.as_str(), &[], tokens.into(), self.no_acp.unwrap_or_default(), acp),
            (Rail::Ap2.as_str(), &[], mandates.into(), self.no_ap2.unwrap_or_default(), ap2),
            (Rail::Card.as_str(), &[], cards(&[PROVISION, TOPUP, UNLOCK]).into(), no_cards, card),
            (Rail::Balance.as_str(), &[], vec![PUBLISH, PROVISION, UNLOCK].into(), "", balance),
        ];
        let status = |(protocol, versions, rail, reason, how): (_, _, RailCoverage, &str, _)| {
            let RailCoverage { networks, mut pays_for } = rail;
            let is_configured = !pays_for.is_empty();
            if self.no_provision.is_some() {
                pays_for.retain(|item| *item != PROVISION);
            }
            let live = !pays_for.is_empty();
            let why = match &self.no_provision {
                Some(refusal) if is_configured => refusal.clone(),
                _ => reason.to_owned(),
            };
            RailStatus { protocol, versions, networks, pays_for, live, why: (!live).then_some(why), how }
        };
        all.into_iter().map(status).collect()
    }
}

impl From<Vec<&'static str>> for RailCoverage {
    fn from(pays_for: Vec<&'static str>) -> Self {
        Self { networks: Vec::new(), pays_for }
    }
}

impl App {
    /// Every rail. Empty if nothing is sold.
    pub fn rails(&self) -> Vec<RailStatus> {
        let listings = self.listings();
        self.rails_with(listings.iter().map(AsRef::as_ref))
    }

    /// Every rail, for a buyer of an account: none is live while no accounts are sold.
    pub fn provision_rails(&self) -> Vec<RailStatus> {
        let mut rails = self.rails();
        if let Err(refusal) = self.check_provision_allowed() {
            for rail in &mut rails {
                rail.live = false;
                rail.pays_for.clear();
                rail.why = Some(refusal.detail.clone());
            }
        }
        rails
    }

    /// The terms that a new payment with a wallet is checked against. If there can be none, no wallet rail is live for this item.
    pub(super) fn listing_to_pay(&self, item: Item) -> Result<Arc<Listing>> {
        if self.require_payments()?.is_payable(item) {
            return self.listing(item);
        }
        let detail = "No network is configured here on which this can be paid with a wallet. This request charged nothing. GET \
                      /provision lists the payment protocols that are live.";
        Err(Error::new(Code::RailNotLive, detail))
    }

    /// Every rail, while these items can be paid with a wallet.
    pub(super) fn rails_with<'a>(
        &self,
        listings: impl Iterator<Item = &'a Listing> + Clone,
    ) -> Vec<RailStatus> {
        let Some(payments) = &self.settings.payments else { return Vec::new() };
        let facts = MenuFacts {
            x402: RailCoverage::of(listings.clone(), |_| true),
            mpp: RailCoverage::of(listings.filter(|listing| listing.has_mpp()), |network| {
                network.starts_with("eip155:")
            }),
            no_x402: no_wallets(payments),
            no_mpp: no_evm(payments),
            accepts_cards: self.accepts_cards(),
            no_acp: self.token_unavailable(),
            no_ap2: self.mandates_unavailable(),
            no_provision: self.check_provision_allowed().err().map(|refusal| refusal.detail),
        };
        facts.menu()
    }
}

fn no_wallets(payments: &PaymentSettings) -> &'static str {
    if payments.networks().is_empty() {
        "No network is configured to receive payments."
    } else {
        "The facilitator does not support the configured networks, or does not respond."
    }
}

fn no_evm(payments: &PaymentSettings) -> &'static str {
    if payments.evm.is_none() {
        "No EVM network is configured to receive payments."
    } else {
        "The facilitator does not support the EVM network in x402 v2."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(facts: MenuFacts<'_>) -> Vec<&'static str> {
        let menu = facts.menu();
        for rail in &menu {
            assert_eq!(rail.live, !rail.pays_for.is_empty(), "{rail:?}");
            assert_eq!(rail.live, rail.why.is_none(), "{rail:?}");
            assert!(rail.why.as_ref().is_none_or(|why| !why.is_empty()), "{rail:?}");
        }
        let names: Vec<_> = menu.iter().map(|rail| rail.protocol).collect();
        assert_eq!(names, ["x402", "mpp", "acp", "ap2", "card", "balance"]);
        menu.into_iter().filter(|rail| rail.live).map(|rail| rail.protocol).collect()
    }

    fn facts() -> MenuFacts<'static> {
        MenuFacts { no_x402: "a", no_mpp: "b", no_acp: Some("d"), no_ap2: Some("c"), ..MenuFacts::default() }
    }

    fn wallets() -> RailCoverage {
        RailCoverage { networks: vec!["eip155:8453".to_owned()], pays_for: vec![PUBLISH, PROVISION] }
    }

    #[test]
    fn rails_are_live_if_they_can_pay_for_something() {
        assert_eq!(live(facts()), ["balance"]);
        let cards = || MenuFacts { accepts_cards: true, no_acp: None, ..facts() };
        let all = MenuFacts { x402: wallets(), mpp: wallets(), no_ap2: None, ..cards() };
        assert_eq!(live(all), ["x402", "mpp", "acp", "ap2", "card", "balance"]);
        assert_eq!(live(cards()), ["acp", "card", "balance"]);
    }

    #[test]
    fn where_no_accounts_are_sold_no_rail_pays_for_one() {
        let no_provision = Some("closed".to_owned());
        let facts =
            || MenuFacts { no_provision: no_provision.clone(), accepts_cards: true, no_acp: None, ..facts() };
        let open = || MenuFacts { x402: wallets(), ..facts() };
        assert_eq!(live(open()), ["x402", "card", "balance"]);
        let menu = open().menu();
        assert!(menu.iter().all(|rail| !rail.pays_for.contains(&PROVISION)));
        let why = |name: &str| menu.iter().find(|rail| rail.protocol == name).unwrap().why.clone();
        assert_eq!((why("acp").as_deref(), why("mpp").as_deref()), (Some("closed"), Some("b")));
    }
}
