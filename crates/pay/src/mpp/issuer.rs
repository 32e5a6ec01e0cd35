//! Issues challenges and recognizes them when they come back. Nothing is stored: the id of a challenge is a MAC of its
//! parameters.

use std::fmt;

use dropleaf_core::{iso, secret};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::answered_challenge::AnsweredChallenge;
use super::challenge::{Challenge, ChallengeFault, NewChallenge, is_printable};
use super::charge::Charge;
use super::credential::Credential;
use super::credential_error::CredentialError;
use super::parameters::Parameters;
use super::{INTENT, METHOD, opaque};

/// The shortest secret.
pub const SECRET_BYTES: usize = 32;
const REALM_BYTES: usize = 255;
/// The last second of the year 9999: later years have no form in RFC 3339.
const LAST_SECOND: i64 = 253_402_300_799;

/// A realm, usually the host of the API, and the secrets that authenticate its challenges.
#[derive(Clone)]
pub struct Issuer {
    realm: String,
    key: Hmac<Sha256>,
    former_keys: Vec<Hmac<Sha256>>,
}

/// Why there is no issuer: a configuration error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssuerFault {
    /// The realm must be 1 to 255 characters of printable ASCII other than `|`.
    InvalidRealm,
    /// A secret has fewer than [`SECRET_BYTES`] bytes.
    ShortSecret,
}

impl Issuer {
    /// Challenges are issued with `secret`. Those issued with former secrets are still accepted: keep a former secret for as long
    /// as a payer who sends a credential again must get the first response.
    pub fn new(realm: &str, secret: &[u8], former_secrets: &[&[u8]]) -> Result<Self, IssuerFault> {
        if realm.is_empty() || realm.len() > REALM_BYTES || !is_printable(realm) || realm.contains('|') {
            return Err(IssuerFault::InvalidRealm);
        }
        let keyed = |secret: &[u8]| {
            let long = Some(secret).filter(|it| it.len() >= SECRET_BYTES).ok_or(IssuerFault::ShortSecret)?;
            Hmac::new_from_slice(long).map_err(|_| IssuerFault::ShortSecret)
        };
        let former_keys = former_secrets.iter().map(|secret| keyed(secret)).collect::<Result<_, _>>()?;
        Ok(Self { realm: realm.to_owned(), key: keyed(secret)?, former_keys })
    }

    pub fn issue(&self, new: &NewChallenge<'_>) -> Result<Challenge, ChallengeFault> {
        let charge = Charge::of(new.offer).ok_or(ChallengeFault::OfferNotSupported)?;
        if !(0..=LAST_SECOND).contains(&new.expires_at) {
            return Err(ChallengeFault::InvalidExpiry);
        }
        if !new.description.is_none_or(is_printable) {
            return Err(ChallengeFault::InvalidDescription);
        }
        let parameters = Parameters {
            realm: self.realm.clone(),
            method: METHOD.to_owned(),
            intent: INTENT.to_owned(),
            request: charge.encode(),
            expires: Some(iso::format(new.expires_at)),
            digest: new.request.digest.map(|digest| digest.to_string()),
            opaque: Some(opaque::encode(new.request.route, &new.random)),
            header: new.field.parameter().map(str::to_owned),
        };
        // No value contains the separator: the realm was checked, and the others are base64, dates or constants.
        let binding = parameters.binding().unwrap_or_default();
        let mac = self.key.clone().chain_update(binding).finalize().into_bytes();
        Challenge::render(secret::text(&mac), &parameters, new.description)
    }

    /// Whether the credential answers a challenge that we issued, in the header field that the challenge selected.
    pub fn verify(&self, credential: Credential) -> Result<AnsweredChallenge, CredentialError> {
        let parameters = &credential.parameters;
        if parameters.method != METHOD || parameters.intent != INTENT {
            return Err(CredentialError::UnsupportedMethod);
        }
        if !self.is_bound(&credential.id, parameters) {
            return Err(CredentialError::UnknownChallenge);
        }
        if parameters.header.as_deref() != credential.field.parameter() {
            return Err(CredentialError::WrongField);
        }
        // What was issued can be read; if it cannot, it was not issued.
        let is_current_realm = parameters.realm == self.realm;
        AnsweredChallenge::read(credential, is_current_realm).ok_or(CredentialError::UnknownChallenge)
    }

    /// Whether the id is the MAC of the parameters, in constant time.
    fn is_bound(&self, id: &str, parameters: &Parameters) -> bool {
        let (Some(mac), Some(binding)) = (secret::bytes(id), parameters.binding()) else { return false };
        let mut keys = std::iter::once(&self.key).chain(&self.former_keys);
        keys.any(|key| key.clone().chain_update(&binding).verify_slice(&mac).is_ok())
    }
}

/// Keeps the secrets out of logs.
impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer").field("realm", &self.realm).finish_non_exhaustive()
    }
}

impl fmt::Display for IssuerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidRealm => "The realm is not 1 to 255 characters of printable ASCII without `|`.",
            Self::ShortSecret => "A secret for payment challenges is shorter than 32 bytes.",
        })
    }
}

impl std::error::Error for IssuerFault {}
