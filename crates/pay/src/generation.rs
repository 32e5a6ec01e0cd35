//! The two versions of x402, and the names of the headers each of them uses (in lower case).

/// A version of x402.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Generation {
    V1,
    V2,
}

/// The terms for v2 clients, on a 402.
pub const PAYMENT_REQUIRED: &str = "payment-required";
/// A v2 proof.
pub const PAYMENT_SIGNATURE: &str = "payment-signature";
/// A v2 receipt.
pub const PAYMENT_RESPONSE: &str = "payment-response";
/// A v1 proof.
pub const X_PAYMENT: &str = "x-payment";
/// A v1 receipt.
pub const X_PAYMENT_RESPONSE: &str = "x-payment-response";

impl Generation {
    /// The value of `x402Version`.
    pub const fn number(self) -> u64 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            _ => None,
        }
    }

    /// The request header of a proof.
    pub const fn proof_header(self) -> &'static str {
        match self {
            Self::V1 => X_PAYMENT,
            Self::V2 => PAYMENT_SIGNATURE,
        }
    }

    /// The response header of a receipt.
    pub const fn receipt_header(self) -> &'static str {
        match self {
            Self::V1 => X_PAYMENT_RESPONSE,
            Self::V2 => PAYMENT_RESPONSE,
        }
    }
}
