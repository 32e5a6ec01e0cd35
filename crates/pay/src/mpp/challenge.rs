//! A challenge as the value of `WWW-Authenticate`. Only an [`Issuer`](super::Issuer) can create one, because the id needs
//! its secret.

use std::fmt;

use super::SCHEME;
use super::credential_field::CredentialField;
use super::paid_request::PaidRequest;
use super::parameters::Parameters;
use crate::offer::Offer;

/// The longest challenge: common proxies reject responses with more than 8 KB of headers.
pub const CHALLENGE_BYTES: usize = 8 * 1024;

/// What a challenge is issued for.
#[derive(Debug, Clone, Copy)]
pub struct NewChallenge<'a> {
    /// An offer on an EVM chain.
    pub offer: &'a Offer,
    /// The request that the payment will come with.
    pub request: PaidRequest<'a>,
    pub field: CredentialField,
    /// Makes every challenge unique.
    pub random: [u8; 16],
    /// In epoch seconds. The authorization is valid until then, so it must not be later than
    /// [`Proof::check`](crate::Proof::check) accepts: the offer's timeout, and ten minutes for wrong clocks.
    pub expires_at: i64,
    /// A text for people in printable ASCII. Clients must not rely on it.
    pub description: Option<&'a str>,
}

/// A challenge to pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    pub id: String,
    /// The header value, at most [`CHALLENGE_BYTES`] long.
    pub www_authenticate: String,
}

/// Why no challenge can be issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChallengeFault {
    /// The offer is on Solana, or not offered in x402 v2, in whose form the payment is settled.
    OfferNotSupported,
    /// The expiry is not between the years 1970 and 9999.
    InvalidExpiry,
    /// The description contains something other than printable ASCII.
    InvalidDescription,
    TooLarge,
}

impl Challenge {
    pub(super) fn render(
        id: String,
        parameters: &Parameters,
        description: Option<&str>,
    ) -> Result<Self, ChallengeFault> {
        let all = [
            ("id", Some(id.as_str())),
            ("realm", Some(&parameters.realm)),
            ("method", Some(&parameters.method)),
            ("intent", Some(&parameters.intent)),
            ("request", Some(&parameters.request)),
            ("digest", parameters.digest.as_deref()),
            ("expires", parameters.expires.as_deref()),
            ("opaque", parameters.opaque.as_deref()),
            ("header", parameters.header.as_deref()),
            ("description", description),
        ];
        let rendered: Vec<String> = all
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| format!("{name}={}", quoted(value))))
            .collect();
        let www_authenticate = format!("{SCHEME} {}", rendered.join(", "));
        if www_authenticate.len() > CHALLENGE_BYTES {
            return Err(ChallengeFault::TooLarge);
        }
        Ok(Self { id, www_authenticate })
    }
}

/// Whether text may stand in a header value: no control characters, so no line breaks either.
pub(super) fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// A quoted string (RFC 9110, 5.6.4) of printable text.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl fmt::Display for ChallengeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OfferNotSupported => "The offer cannot be paid with MPP.",
            Self::InvalidExpiry => "The expiry is not between 1970 and 9999.",
            Self::InvalidDescription => "The description is not printable ASCII.",
            Self::TooLarge => "The challenge is longer than 8192 bytes.",
        })
    }
}

impl std::error::Error for ChallengeFault {}
