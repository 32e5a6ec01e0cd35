//! The receipt that tells a payer how a settlement ended: the value of `PAYMENT-RESPONSE` or `X-PAYMENT-RESPONSE`.

use dropleaf_core::base64;
use serde_json::{Value, json};

use crate::address::Address;
use crate::generation::Generation;
use crate::json;
use crate::network::Network;

/// The result of a settlement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub network: Network,
    pub payer: Address,
    pub outcome: Outcome,
}

/// Settled in a transaction, or refused for a reason. Facilitators' messages are never passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Settled { transaction: String },
    Refused { reason: String },
}

impl Receipt {
    /// The receipt in the form of this version.
    pub fn to_json(&self, generation: Generation) -> Value {
        let network = network_name(self.network, generation);
        let payer = self.payer.to_string();
        match &self.outcome {
            Outcome::Settled { transaction } => {
                json!({ "success": true, "transaction": transaction, "network": network, "payer": payer })
            }
            Outcome::Refused { reason } => json!({
                "success": false, "errorReason": reason, "transaction": "", "network": network, "payer": payer,
            }),
        }
    }

    /// The value of the header [`Generation::receipt_header`].
    pub fn header(&self, generation: Generation) -> String {
        base64::encode(self.to_json(generation).to_string().as_bytes())
    }

    /// Parses a header value, as a client does.
    pub fn parse(header: &str) -> Option<Self> {
        let bytes = base64::decode(header)?;
        let members = json::object(str::from_utf8(&bytes).ok()?).ok()?;
        let text = |name| json::text(&members, name).ok();
        let network = text("network")?;
        let outcome = if members.get("success")?.as_bool()? {
            Outcome::Settled { transaction: text("transaction")?.to_owned() }
        } else {
            Outcome::Refused { reason: text("errorReason")?.to_owned() }
        };
        Some(Self {
            network: Network::parse(network).or_else(|| Network::parse_v1(network))?,
            payer: Address::parse(text("payer")?)?,
            outcome,
        })
    }
}

/// The name of a network in this version.
pub(crate) fn network_name(network: Network, generation: Generation) -> String {
    let v1 = network.v1_name().filter(|_| generation == Generation::V1);
    v1.map_or_else(|| network.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_read_back_in_both_generations() {
        let payer = Address::parse("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266").unwrap();
        let settled = Outcome::Settled { transaction: format!("0x{}", "ab".repeat(32)) };
        for outcome in [settled, Outcome::Refused { reason: "insufficient_funds".to_owned() }] {
            let receipt = Receipt { network: Network::BASE, payer, outcome };
            for generation in [Generation::V1, Generation::V2] {
                assert_eq!(Receipt::parse(&receipt.header(generation)), Some(receipt.clone()));
            }
            assert_eq!(receipt.to_json(Generation::V1)["network"], "base");
            assert_eq!(receipt.to_json(Generation::V2)["network"], "eip155:8453");
        }
    }

    #[test]
    fn what_is_no_receipt_is_none() {
        for json in
            ["", "{}", "null", r#"{"success":"true","transaction":"0x","network":"base","payer":"0x"}"#]
        {
            assert_eq!(Receipt::parse(&base64::encode(json.as_bytes())), None);
        }
        assert_eq!(Receipt::parse("%"), None);
    }
}
