//! The payment terms of one endpoint: the offers and their metadata, as a 402 presents them to both x402 versions at once, to v2
//! in a header and to v1 in the body.

use std::fmt;

use dropleaf_core::base64;
use serde_json::{Value, json};

use crate::extensions::{self, Bazaar, Identifier};
use crate::generation::Generation;
use crate::json::{self, Object};
use crate::network::Network;
use crate::offer::{Offer, Resource};

/// Common proxies reject responses with more than 8 KB of headers in total. A challenge of MPP and the other headers need some
/// of it.
pub const HEADER_BYTES: usize = 11 * 512;
const ERROR_CHARS: usize = 300;
const OWED: &str = "payment_required";

/// What is owed, and how it may be paid.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    resource: Resource,
    offers: Vec<Offer>,
    /// Why payment is required: a stable code, or the reason of the last refusal.
    pub error: Option<String>,
    pub identifier: Identifier,
    pub bazaar: Option<Bazaar>,
    /// No money moves, and the terms say so.
    pub sandbox: bool,
    /// Additional members in the body of a 402, besides those of x402.
    pub members: Object,
}

/// Why terms cannot be offered: a configuration error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermsFault {
    NoOffer,
    /// v1 proofs name only the network, so it must identify the offer.
    TwoOffersOnOneNetwork(Network),
    TooLarge,
}

impl Terms {
    pub fn new(resource: Resource, offers: Vec<Offer>) -> Result<Self, TermsFault> {
        if offers.is_empty() {
            return Err(TermsFault::NoOffer);
        }
        for (index, offer) in offers.iter().enumerate() {
            if offers.iter().skip(index + 1).any(|other| other.network() == offer.network()) {
                return Err(TermsFault::TwoOffersOnOneNetwork(offer.network()));
            }
        }
        let terms = Self {
            resource,
            offers,
            error: None,
            identifier: Identifier::NotOffered,
            bazaar: None,
            sandbox: false,
            members: Object::new(),
        };
        if terms.render(0).len() > HEADER_BYTES {
            return Err(TermsFault::TooLarge);
        }
        Ok(terms)
    }

    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// The offer on a network, if it is shown to clients of this version.
    pub(crate) fn offer_on(&self, network: Network, generation: Generation) -> Option<&Offer> {
        self.offers.iter().find(|offer| offer.network() == network && offer.is_shown_to(generation))
    }

    /// The value of `PAYMENT-REQUIRED`, at most [`HEADER_BYTES`] long: optional parts are left out to stay within that.
    pub fn header(&self) -> String {
        let fitting =
            [4, 3, 2, 1].into_iter().map(|detail| self.render(detail)).find(|it| it.len() <= HEADER_BYTES);
        fitting.unwrap_or_else(|| self.render(0))
    }

    /// The header with increasing detail: 0 offers, 1 error, 2 description, 3 extensions, 4 also the catalog extension.
    fn render(&self, detail: u8) -> String {
        let mut resource = json!({ "url": self.resource.url, "mimeType": self.resource.mime_type });
        if let (2.., Some(members)) = (detail, resource.as_object_mut()) {
            members.insert("description".into(), self.resource.description.clone().into());
        }
        let error = if detail > 0 { self.error_text() } else { OWED.to_owned() };
        let accepts: Vec<Value> = self.accepts_v2();
        let extensions = if detail > 2 { self.extensions(detail > 3) } else { Object::new() };
        let terms = json!({
            "x402Version": 2, "error": error, "resource": resource, "accepts": accepts, "extensions": extensions,
        });
        base64::encode(terms.to_string().as_bytes())
    }

    /// The offers in the form of v2, for the header and for catalogs.
    pub fn accepts_v2(&self) -> Vec<Value> {
        self.offers.iter().filter(|offer| offer.is_shown_to(Generation::V2)).map(Offer::v2_json).collect()
    }

    /// The extensions in the form of v2, for the header and for catalogs.
    pub fn extensions(&self, with_bazaar: bool) -> Object {
        let bazaar = self.bazaar.as_ref().filter(|_| with_bazaar).map(Bazaar::v2_json);
        let sandbox = self.sandbox.then(extensions::sandbox_json);
        let all = [extensions::identifier_json(self.identifier), bazaar, sandbox];
        all.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The body of the 402, for v1 clients. Additional members never replace those of x402.
    pub fn body(&self) -> Object {
        let shown = self.offers.iter().filter(|offer| offer.is_shown_to(Generation::V1));
        let accepts: Vec<Value> = shown
            .filter_map(|offer| offer.v1_json(&self.resource, self.bazaar.as_ref().map(Bazaar::v1_json)))
            .collect();
        let mut body = self.members.clone();
        if self.sandbox {
            body.insert("sandbox".into(), true.into());
        }
        let protocol = json!({ "x402Version": 1, "error": self.error_text(), "accepts": accepts });
        body.extend(json::into_object(protocol));
        body
    }

    fn error_text(&self) -> String {
        self.error.as_deref().unwrap_or(OWED).chars().take(ERROR_CHARS).collect()
    }

    /// Whether a URL from a client names another endpoint of this service. Ignores query, scheme and a trailing slash, and URLs
    /// on other hosts, because proxies rewrite those.
    pub(crate) fn is_elsewhere(&self, url: &str) -> bool {
        let (host, path) = place(url);
        let (our_host, our_path) = place(&self.resource.url);
        host.eq_ignore_ascii_case(our_host) && path != our_path
    }
}

/// Host with port, and path without trailing slashes.
fn place(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or("");
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    (host, path.trim_end_matches('/'))
}

impl fmt::Display for TermsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOffer => f.write_str("There is no offer."),
            Self::TwoOffersOnOneNetwork(network) => write!(f, "There are two offers on {network}."),
            Self::TooLarge => write!(f, "The offers do not fit into {HEADER_BYTES} bytes."),
        }
    }
}

impl std::error::Error for TermsFault {}
