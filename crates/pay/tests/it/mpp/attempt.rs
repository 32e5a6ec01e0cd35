//! A payment attempt that succeeds, and of which tests change one thing: that of the vector.

use std::sync::LazyLock;

use dropleaf_pay::mpp::{
    Challenge, Credential, CredentialError, CredentialField, Issuer, NewChallenge, PaidRequest,
};
use dropleaf_pay::payer::{EvmPayer, mpp_challenge, mpp_header};
use dropleaf_pay::{Amount, Asset, Checked, EvmAddress, Offer, Terms, Token};
use serde_json::{Value, json};

use crate::world::resource;

pub(crate) const EXPIRES: i64 = 1_893_456_000;
pub(crate) const NOW: i64 = EXPIRES - 200;
pub(crate) const ROUTE: &str = "POST /publish";

static VECTOR: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../vectors/mpp.json")).unwrap());

/// A text of the vector.
pub(crate) fn vector(name: &str) -> &'static str {
    VECTOR[name].as_str().unwrap()
}

pub(crate) fn offer() -> Offer {
    let pay_to = EvmAddress::parse("0x209693Bc6afc0C5328bA36FaF03C514EF312287C").unwrap();
    let asset = Asset::Evm { chain_id: 8453, token: Token::usdc(8453).unwrap(), pay_to };
    Offer::new(asset, Amount::new(500_000), 300)
}

pub(crate) fn payer() -> EvmPayer {
    EvmPayer::new(&[0x11; 32]).unwrap()
}

pub(crate) fn issuer() -> Issuer {
    Issuer::new(vector("realm"), vector("secret").as_bytes(), &[]).unwrap()
}

/// What is sent, to whom and when.
pub(crate) struct Attempt {
    pub(crate) credential: Value,
    /// Sent instead of the credential.
    pub(crate) header: Option<String>,
    pub(crate) field: CredentialField,
    pub(crate) route: &'static str,
    pub(crate) body: &'static str,
    pub(crate) issuer: Issuer,
    pub(crate) offer: Offer,
    pub(crate) now: i64,
}

impl Attempt {
    /// The credential of the vector, sent to the server of the vector.
    pub(crate) fn good() -> Self {
        let token = vector("authorization").strip_prefix("Payment ").unwrap();
        let json = data_encoding::BASE64URL_NOPAD.decode(token.as_bytes()).unwrap();
        Self {
            credential: serde_json::from_slice(&json).unwrap(),
            header: None,
            field: CredentialField::Authorization,
            route: ROUTE,
            body: vector("body"),
            issuer: issuer(),
            offer: offer(),
            now: NOW,
        }
    }

    pub(crate) fn issue(&self) -> Challenge {
        let new = NewChallenge {
            offer: &self.offer,
            request: PaidRequest::new(self.route, self.body.as_bytes()),
            field: self.field,
            random: [9; 16],
            expires_at: EXPIRES,
            description: None,
        };
        self.issuer.issue(&new).unwrap()
    }

    /// Answers a new challenge for the same request.
    pub(crate) fn answer_anew(&mut self) {
        let challenge = mpp_challenge(&self.issue().www_authenticate).unwrap();
        self.credential = payer().mpp_credential(&challenge, &Token::usdc(8453).unwrap()).unwrap();
    }

    /// A parameter of the challenge that the client returns.
    pub(crate) fn echo(&mut self, name: &str) -> &mut Value {
        &mut self.credential["challenge"][name]
    }

    pub(crate) fn payload(&mut self, name: &str) -> &mut Value {
        &mut self.credential["payload"][name]
    }

    /// Removes a member of the credential, by the JSON pointer of its parent.
    pub(crate) fn remove(&mut self, parent: &str, name: &str) {
        let members = self.credential.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        members.remove(name).unwrap();
    }

    /// Replaces the authorization by one that is truly signed, for an offer and with a nonce that may differ.
    pub(crate) fn sign(&mut self, wallet: &EvmPayer, offer: &Offer, nonce: [u8; 32], times: (i64, i64)) {
        let signed = wallet.payload(offer, nonce, times.0, times.1).unwrap();
        let mut payload = signed["authorization"].clone();
        payload["type"] = json!("authorization");
        payload["signature"] = signed["signature"].clone();
        self.credential["payload"] = payload;
        self.credential["source"] = json!(format!("did:pkh:eip155:8453:{}", wallet.address));
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms::new(resource(), vec![self.offer.clone()]).unwrap()
    }

    pub(crate) fn header(&self) -> String {
        self.header.clone().unwrap_or_else(|| mpp_header(&self.credential))
    }

    /// Every check of a new payment, in the order of the module's documentation.
    pub(crate) fn judge(&self) -> Result<Checked, CredentialError> {
        let answered = self.issuer.verify(Credential::parse(self.field, &self.header())?)?;
        let proof = answered.proof(&self.terms())?;
        answered.check_request(&PaidRequest::new(self.route, self.body.as_bytes()), &self.terms())?;
        Ok(proof.check(&self.terms(), self.now)?)
    }
}

/// The nonce that answers the challenge of the vector.
pub(crate) fn nonce() -> [u8; 32] {
    let text = vector("nonce").strip_prefix("0x").unwrap();
    data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap().try_into().unwrap()
}
