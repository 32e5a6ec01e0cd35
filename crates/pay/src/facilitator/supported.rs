//! What a facilitator can settle, from `GET /supported`, and who pays the fees on Solana.

use serde_json::Value;

use super::{ReplyStatus, object};
use crate::address::SolanaAddress;
use crate::generation::Generation;
use crate::network::Network;
use crate::offer::SCHEME;

/// What a facilitator supports. Kinds we do not know are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Supported {
    pub kinds: Vec<SupportedKind>,
}

/// A network supported in one protocol version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SupportedKind {
    pub generation: Generation,
    pub network: Network,
    /// Facilitators change it from time to time, so it is reloaded before offers are made.
    pub fee_payer: Option<SolanaAddress>,
}

impl Supported {
    /// `None` if the response is unusable: then nothing is supported, whatever was known before.
    pub fn read(status: ReplyStatus, body: &[u8]) -> Option<Self> {
        let answer = object(body).filter(|_| status == ReplyStatus::Success)?;
        let kinds = answer.get("kinds")?.as_array()?.iter().filter_map(kind).collect();
        Some(Self { kinds })
    }

    pub fn kind(&self, generation: Generation, network: Network) -> Option<&SupportedKind> {
        self.kinds.iter().find(|kind| kind.generation == generation && kind.network == network)
    }

    /// Who pays fees on a network; v2 takes precedence over v1.
    pub fn fee_payer(&self, network: Network) -> Option<SolanaAddress> {
        let of = |generation| self.kind(generation, network).and_then(|kind| kind.fee_payer);
        of(Generation::V2).or_else(|| of(Generation::V1))
    }
}

fn kind(value: &Value) -> Option<SupportedKind> {
    if value.get("scheme")?.as_str()? != SCHEME {
        return None;
    }
    let generation = Generation::from_number(value.get("x402Version")?.as_u64()?)?;
    let name = value.get("network")?.as_str()?;
    let network = match generation {
        Generation::V1 => Network::parse_v1(name)?,
        Generation::V2 => Network::parse(name)?,
    };
    let fee_payer = value.get("extra").and_then(|extra| extra.get("feePayer")).and_then(Value::as_str);
    Some(SupportedKind { generation, network, fee_payer: fee_payer.and_then(SolanaAddress::parse) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:8453"},
        {"x402Version":2,"scheme":"exact","network":"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp","extra":{"feePayer":"GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"}},
        {"x402Version":1,"scheme":"exact","network":"base"},{"x402Version":2,"scheme":"upto","network":"eip155:1"},
        {"x402Version":3,"scheme":"exact","network":"eip155:1"},{"x402Version":2,"scheme":"exact","network":"stellar:x"},7],
        "extensions":[],"signers":{"eip155:*":["0x"]}}"#;

    #[test]
    fn what_is_known_is_read_and_the_rest_left_out() {
        let supported = Supported::read(ReplyStatus::Success, ANSWER.as_bytes()).unwrap();
        assert_eq!(supported.kinds.len(), 3);
        assert!(supported.kind(Generation::V1, Network::BASE).is_some());
        assert!(supported.kind(Generation::V1, Network::SOLANA).is_none());
        let fee_payer = supported.fee_payer(Network::SOLANA).unwrap().to_string();
        assert_eq!(fee_payer, "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse");
        assert_eq!(supported.fee_payer(Network::BASE), None);
    }

    #[test]
    fn no_answer_supports_nothing() {
        for (status, body) in
            [(500, ANSWER), (308, ANSWER), (200, ""), (200, "[]"), (200, "{}"), (200, r#"{"kinds":{}}"#)]
        {
            assert_eq!(Supported::read(ReplyStatus::from_http(status), body.as_bytes()), None);
        }
    }
}
