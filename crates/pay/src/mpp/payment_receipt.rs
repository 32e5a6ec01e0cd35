//! The receipt of a settled payment: the value of `Payment-Receipt`. There is none for a payment that failed.

use dropleaf_core::iso;
use serde::Serialize;

use super::{METHOD, encoded_json};
use crate::json;

const SUCCESS: &str = "success";

/// A receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentReceipt {
    /// The transaction.
    pub reference: String,
    pub challenge_id: String,
    pub chain_id: u64,
    /// In epoch seconds.
    pub settled_at: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptJson<'a> {
    status: &'a str,
    method: &'a str,
    timestamp: String,
    reference: &'a str,
    challenge_id: &'a str,
    chain_id: u64,
}

impl PaymentReceipt {
    /// The value of the header field.
    pub fn header(&self) -> String {
        encoded_json::encode(&ReceiptJson {
            status: SUCCESS,
            method: METHOD,
            timestamp: iso::format(self.settled_at),
            reference: &self.reference,
            challenge_id: &self.challenge_id,
            chain_id: self.chain_id,
        })
    }

    /// Parses a header value, as a client does.
    pub fn parse(header: &str) -> Option<Self> {
        let members = encoded_json::decode(header).ok()?;
        let text = |name| json::text(&members, name).ok();
        if (text("status")?, text("method")?) != (SUCCESS, METHOD) {
            return None;
        }
        Some(Self {
            reference: text("reference")?.to_owned(),
            challenge_id: text("challengeId")?.to_owned(),
            chain_id: members.get("chainId")?.as_u64()?,
            settled_at: iso::parse(text("timestamp")?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::secret;

    #[test]
    fn receipts_read_back() {
        let receipt = PaymentReceipt {
            reference: format!("0x{}", "ab".repeat(32)),
            challenge_id: "VtqDZKrdJNmEfZOR_0i7vObW58gFI_R-47AAATjy0XY".to_owned(),
            chain_id: 8453,
            settled_at: 1_767_225_600,
        };
        assert_eq!(PaymentReceipt::parse(&receipt.header()), Some(receipt.clone()));
        let expected = format!(
            r#"{{"status":"success","method":"evm","timestamp":"2026-01-01T00:00:00Z","reference":"{}","challengeId":"{}","chainId":8453}}"#,
            receipt.reference, receipt.challenge_id
        );
        assert_eq!(secret::bytes(&receipt.header()).unwrap(), expected.as_bytes());
    }

    #[test]
    fn what_is_no_receipt_is_none() {
        let failed = r#"{"status":"failed","method":"evm","timestamp":"2026-01-01T00:00:00Z","reference":"0x","challengeId":"","chainId":1}"#;
        for json in ["", "{}", "null", failed] {
            assert_eq!(PaymentReceipt::parse(&secret::text(json.as_bytes())), None);
        }
        assert_eq!(PaymentReceipt::parse("%"), None);
    }
}
