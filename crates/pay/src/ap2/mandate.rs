//! A payment mandate as it arrives, what it must answer, and what is known once it is verified.
//! Single use is left to the caller, which must keep transaction ids and references unique.

use std::{fmt, io};

use serde_json::Value;

use super::chain::Chain;
use super::digest;
use super::issuer::Issuers;
use super::refusal::MandateRefusal;
use super::signed_contents::SignedContents;

/// The largest mandate accepted, as compact JSON. A normal one has 2 to 6 KB.
pub const MANDATE_BYTES: usize = 64 * 1024;

/// A well-formed mandate of either version, not yet verified.
#[derive(Clone, PartialEq)]
pub struct Mandate {
    content: Content,
    transaction_id: String,
    fingerprint: String,
}

#[derive(Clone, PartialEq)]
enum Content {
    Contents(SignedContents),
    Chain(Chain),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MandateVersion {
    V01,
    V02,
}

/// What we asked for, and what a mandate must therefore say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MandateRequest<'a> {
    /// Our own name as the recipient of tokens, such as the URL of the service.
    pub audience: &'a str,
    /// The nonce issued with the transaction id.
    pub nonce: &'a str,
    pub transaction_id: &'a str,
    /// Our id as a payee.
    pub payee_id: &'a str,
    /// In minor units of the currency, such as cents.
    pub amount_minor: u64,
    /// The ISO 4217 code, such as `USD`.
    pub currency: &'a str,
    /// The hash of the open checkout mandate, if there is a checkout. Without it, mandates bound to a checkout are refused.
    pub open_checkout_hash: Option<&'a str>,
}

/// A mandate that passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedMandate {
    pub version: MandateVersion,
    pub transaction_id: String,
    /// The base64url SHA-256 of the last token, which receipts quote. Not enough for single use: anyone can derive a second
    /// valid signature from the first, and with it another hash. The transaction id must be unique too.
    pub reference: String,
    /// The issuer's own id of the mandate. Only v0.1 has one.
    pub mandate_id: Option<String>,
    /// The key id of the issuer that vouches for the mandate.
    pub issuer_kid: String,
    pub instrument: Instrument,
}

/// What to charge.
#[derive(Clone, PartialEq, Eq)]
pub struct Instrument {
    pub kind: InstrumentKind,
    /// The token to charge. Not validated beyond being present.
    pub id: String,
}

/// The instruments that can be charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstrumentKind {
    StripeSharedPaymentToken,
}

impl Mandate {
    /// Parses `{"payment_mandate": "<chain>"}` (v0.2) or `{"payment_mandate_contents": {…}, "user_authorization": "<token>"}`
    /// (v0.1). Other members are ignored.
    pub fn parse(body: &Value) -> Result<Self, MandateRefusal> {
        serde_json::to_writer(RemainingBytes(MANDATE_BYTES), body).map_err(|_| MandateRefusal::TooLarge)?;
        let (chain, contents, authorization) = (
            body.get("payment_mandate"),
            body.get("payment_mandate_contents"),
            body.get("user_authorization"),
        );
        match (chain, contents, authorization) {
            (Some(Value::String(text)), None, None) => {
                let chain = Chain::parse(text)?;
                let transaction_id = chain.closed_mandate()?.transaction_id.to_owned();
                Ok(Self { content: Content::Chain(chain), transaction_id, fingerprint: digest::hash(text) })
            }
            (None, Some(contents), Some(Value::String(authorization))) => {
                let signed = SignedContents::parse(contents, authorization)?;
                let transaction_id = signed.transaction_id()?.to_owned();
                let fingerprint = signed.fingerprint();
                Ok(Self { content: Content::Contents(signed), transaction_id, fingerprint })
            }
            _ => Err(MandateRefusal::NotAMandate),
        }
    }

    pub fn version(&self) -> MandateVersion {
        match self.content {
            Content::Contents(_) => MandateVersion::V01,
            Content::Chain(_) => MandateVersion::V02,
        }
    }

    /// The transaction it claims to pay, not verified: only for looking up what we requested.
    pub fn transaction_id(&self) -> &str {
        &self.transaction_id
    }

    /// Tells mandates apart: equal for the same mandate sent again, different after any change to what is signed or to a
    /// signature.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What it wants to be charged, not verified: only for looking up an earlier payment.
    pub fn unverified_instrument(&self) -> Result<Instrument, MandateRefusal> {
        match &self.content {
            Content::Contents(signed) => signed.chargeable_instrument(),
            Content::Chain(chain) => chain.closed_mandate()?.chargeable_instrument(),
        }
    }

    /// Performs every check. A mandate that passes is consent, by a trusted issuer's word, to exactly what we requested.
    pub fn verify(
        &self,
        issuers: &Issuers,
        request: &MandateRequest<'_>,
        now: i64,
    ) -> Result<VerifiedMandate, MandateRefusal> {
        let (issuer, reference, mandate_id) = match &self.content {
            Content::Contents(signed) => {
                let issuer = signed.verify(issuers, request, now)?;
                (issuer, signed.reference(), Some(signed.mandate_id()?.to_owned()))
            }
            Content::Chain(chain) => (chain.verify(issuers, request, now)?, chain.reference(), None),
        };
        let instrument = self.unverified_instrument()?;
        Ok(VerifiedMandate {
            version: self.version(),
            transaction_id: self.transaction_id.clone(),
            reference: reference.to_owned(),
            mandate_id,
            issuer_kid: issuer.kid().to_owned(),
            instrument,
        })
    }
}

impl MandateVersion {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V01 => "0.1",
            Self::V02 => "0.2",
        }
    }
}

impl InstrumentKind {
    /// The type by which mandates name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StripeSharedPaymentToken => "stripe_spt",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let kind = Self::StripeSharedPaymentToken;
        (text == kind.as_str()).then_some(kind)
    }
}

/// A writer that keeps nothing and fails after a number of bytes.
struct RemainingBytes(usize);

impl io::Write for RemainingBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps mandates out of logs: they contain the token to charge.
impl fmt::Debug for Mandate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mandate").field("version", &self.version()).finish_non_exhaustive()
    }
}

/// Keeps the token to charge out of logs.
impl fmt::Debug for Instrument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instrument").field("kind", &self.kind).finish_non_exhaustive()
    }
}
