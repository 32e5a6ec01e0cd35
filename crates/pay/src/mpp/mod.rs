//! MPP, the `Payment` scheme of HTTP authentication (`draft-httpauth-payment-01`), with method `evm` and intent `charge`
//! (`draft-evm-charge-00`): a 402 carries a challenge, and the client answers it with a signed EIP-3009 authorization.
//! Settlement, and the lookup of earlier payments, are those of x402, because the authorization is the same.
//!
//! The order of the checks, once the page itself has been accepted:
//! 1. [`Credential::parse`] reads the header field.
//! 2. [`Issuer::verify`] checks that we issued the challenge, and yields an [`AnsweredChallenge`].
//! 3. [`AnsweredChallenge::proof`] checks the authorization against its challenge and turns it into a [`Proof`](crate::Proof).
//! 4. A payment that is already known gets its first response again, whatever the price or the time is now.
//! 5. [`AnsweredChallenge::check_request`] compares a new payment with this request and with the current terms.
//! 6. [`Proof::check`](crate::Proof::check) does the rest, including the expiry: an authorization ends when its challenge does.
//!
//! Every refusal maps to a [`Problem`]. A client pays again when it gets a 402, so none may be sent once money may have moved.

mod answered_challenge;
mod body_digest;
mod challenge;
mod charge;
mod credential;
mod credential_error;
mod credential_field;
mod encoded_json;
mod issuer;
mod opaque;
mod paid_request;
mod parameters;
mod payer_did;
mod payment_receipt;
mod problem;

pub use answered_challenge::AnsweredChallenge;
pub use body_digest::BodyDigest;
pub use challenge::{CHALLENGE_BYTES, Challenge, ChallengeFault, NewChallenge};
#[cfg(feature = "test-payer")]
pub(crate) use charge::Charge;
pub use credential::{CREDENTIAL_BYTES, Credential, has_payment_scheme};
pub use credential_error::CredentialError;
pub use credential_field::CredentialField;
pub use issuer::{Issuer, IssuerFault, SECRET_BYTES};
pub use paid_request::PaidRequest;
pub use payment_receipt::PaymentReceipt;
pub use problem::Problem;

/// The header field of a receipt, on successful responses only.
pub const PAYMENT_RECEIPT: &str = "payment-receipt";
/// The header field in which a client says which methods it can pay with.
pub const ACCEPT_PAYMENT: &str = "accept-payment";

const SCHEME: &str = "Payment";
const METHOD: &str = "evm";
const INTENT: &str = "charge";

/// What an authorization has as its nonce, which ties it to one challenge: the hash of the challenge's id and realm. The draft
/// joins the two; newer clients hash them as a JSON array. Either one names exactly one challenge, because ids have one length.
pub(crate) fn challenge_hashes(id: &str, realm: &str) -> [[u8; 32]; 2] {
    let array = serde_json::json!([id, realm]).to_string();
    [crate::keccak::keccak(&[id.as_bytes(), realm.as_bytes()]), crate::keccak::keccak(&[array.as_bytes()])]
}
