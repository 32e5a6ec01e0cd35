//! The two generations of x402, and the names of the headers each of them uses (in lower case).

/// A generation of x402.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Generation {
    V1,
    V2,
}

/// Terms for v2 clients, on a 402.
pub const PAYMENT_REQUIRED: &str = "payment-required";
/// A proof of v2.
pub const PAYMENT_SIGNATURE: &str = "payment-signature";
/// A receipt for v2.
pub const PAYMENT_RESPONSE: &str = "payment-response";
/// A proof of v1.
pub const X_PAYMENT: &str = "x-payment";
/// A receipt for v1.
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

    /// The header a proof comes in.
    pub const fn proof_header(self) -> &'static str {
        match self {
            Self::V1 => X_PAYMENT,
            Self::V2 => PAYMENT_SIGNATURE,
        }
    }

    /// The header a receipt leaves in.
    pub const fn receipt_header(self) -> &'static str {
        match self {
            Self::V1 => X_PAYMENT_RESPONSE,
            Self::V2 => PAYMENT_RESPONSE,
        }
    }
}
