//! MPP: challenges for paid requests, and credentials that answer them. A credential becomes an x402 proof, so everything
//! from the reservation on is the same.

use super::PayError;
use super::purchase_result::PayRefused;
use crate::app::App;
use dropleaf_core::payment::Item;
use dropleaf_core::{Error, Result};
use dropleaf_pay::mpp::{
    AnsweredChallenge, Challenge, Credential, CredentialError, CredentialField, Issuer, NewChallenge,
    PaidRequest,
};
use dropleaf_pay::{Proof, Terms};

/// The shortest time to answer a challenge, in seconds: a person may have to confirm the payment.
const LEAST_SECONDS: i64 = 300;

/// A payment by MPP: the proof, and what the challenge binds it to.
#[derive(Debug)]
pub struct MppPayment {
    challenge: AnsweredChallenge,
    proof: Proof,
    route: String,
    digest: Option<dropleaf_pay::mpp::BodyDigest>,
}

impl MppPayment {
    /// The ID of the challenge, for the receipt.
    pub fn challenge_id(&self) -> &str {
        self.challenge.id()
    }

    pub(super) const fn proof(&self) -> &Proof {
        &self.proof
    }

    /// For a payment that is not known yet: whether its challenge was issued for this request and these terms.
    pub(super) fn check_request(&self, terms: &Terms) -> Result<(), PayError> {
        let request = PaidRequest { route: &self.route, digest: self.digest };
        self.challenge.check_request(&request, terms).map_err(|error| PayRefused::from(error).into())
    }
}

impl From<CredentialError> for PayRefused {
    fn from(error: CredentialError) -> Self {
        Self {
            reason: error.reason().to_owned(),
            sentence: error.sentence().to_owned(),
            // Even a malformed credential is answered with a new challenge, as clients expect.
            malformed: false,
            receipt: None,
            problem: error.problem(),
        }
    }
}

impl App {
    /// A challenge for a request, if it can be paid with MPP.
    pub fn payment_challenge(
        &self,
        item: Item,
        request: PaidRequest<'_>,
        field: CredentialField,
    ) -> Option<Challenge> {
        let listing = self.listing(item).ok()?;
        let offer = listing.mpp_offer()?;
        let seconds = i64::from(offer.max_timeout_seconds).max(LEAST_SECONDS);
        let new = NewChallenge {
            offer,
            request,
            field,
            random: self.minter.bytes(),
            expires_at: self.now() + seconds,
            // The terms of x402 beside it describe the item. Common proxies accept few bytes of headers.
            description: None,
        };
        match self.mpp_issuer().map(|issuer| issuer.issue(&new)) {
            Ok(Ok(challenge)) => Some(challenge),
            Ok(Err(why)) => {
                tracing::debug!(%why, item = item.as_str(), "no MPP challenge");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "no MPP challenges");
                None
            }
        }
    }

    /// Reads a credential and checks all that does not depend on the state of the payment.
    pub fn mpp_payment(
        &self,
        item: Item,
        request: PaidRequest<'_>,
        field: CredentialField,
        credential: &str,
    ) -> Result<Box<MppPayment>, PayError> {
        let refused = |error: CredentialError| PayError::Refused(error.into());
        let credential = Credential::parse(field, credential).map_err(refused)?;
        let challenge = self.mpp_issuer()?.verify(credential).map_err(refused)?;
        let proof = challenge.proof(&self.terms_to_recognise(item)?).map_err(refused)?;
        let (route, digest) = (request.route.to_owned(), request.digest);
        Ok(Box::new(MppPayment { challenge, proof, route, digest }))
    }

    /// Challenges are bound to the server's secret, so every node accepts those of the others.
    fn mpp_issuer(&self) -> Result<Issuer> {
        let secret = self.keys.mac("mpp challenge", b"");
        Issuer::new(&self.hosts.base.host, &secret, &[]).map_err(Error::internal)
    }
}
