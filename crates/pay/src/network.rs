//! Networks on which payments settle, by their CAIP-2 names and their x402 v1 names.

use std::fmt;

/// A chain. EVM chains are identified by number, Solana's clusters by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Network {
    /// An EVM chain, by its chain id.
    Evm(u64),
    Solana(Cluster),
}

/// A Solana cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cluster {
    Mainnet,
    Devnet,
    Testnet,
}

/// The EVM chains that have a name in x402 v1.
const V1_CHAINS: [(u64, &str); 15] = [
    (8453, "base"),
    (84532, "base-sepolia"),
    (43114, "avalanche"),
    (43113, "avalanche-fuji"),
    (137, "polygon"),
    (80002, "polygon-amoy"),
    (1329, "sei"),
    (1328, "sei-testnet"),
    (4689, "iotex"),
    (3338, "peaq"),
    (2741, "abstract"),
    (11124, "abstract-testnet"),
    (1514, "story"),
    (41923, "educhain"),
    (324_705_682, "skale-base-sepolia"),
];

const CLUSTERS: [(Cluster, &str); 3] = [
    (Cluster::Mainnet, "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
    (Cluster::Devnet, "EtWTRABZaYq6iMfeYKouRu166VU2xqa1"),
    (Cluster::Testnet, "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3"),
];

impl Network {
    pub const BASE: Self = Self::Evm(8453);
    pub const BASE_SEPOLIA: Self = Self::Evm(84532);
    pub const SOLANA: Self = Self::Solana(Cluster::Mainnet);
    pub const SOLANA_DEVNET: Self = Self::Solana(Cluster::Devnet);

    /// Parses a CAIP-2 name such as `eip155:8453`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("eip155", id) => chain_id(id).map(Self::Evm),
            ("solana", reference) => CLUSTERS
                .iter()
                .find(|(_, name)| *name == reference)
                .map(|(cluster, _)| Self::Solana(*cluster)),
            _ => None,
        }
    }

    /// Parses an x402 v1 name such as `base`.
    pub fn parse_v1(text: &str) -> Option<Self> {
        match text {
            "solana" => Some(Self::SOLANA),
            "solana-devnet" => Some(Self::SOLANA_DEVNET),
            _ => V1_CHAINS.iter().find(|(_, name)| *name == text).map(|(id, _)| Self::Evm(*id)),
        }
    }

    /// The x402 v1 name; networks without one cannot be offered to v1 clients.
    pub fn v1_name(self) -> Option<&'static str> {
        match self {
            Self::Evm(id) => V1_CHAINS.iter().find(|(known, _)| *known == id).map(|(_, name)| *name),
            Self::Solana(Cluster::Mainnet) => Some("solana"),
            Self::Solana(Cluster::Devnet) => Some("solana-devnet"),
            Self::Solana(Cluster::Testnet) => None,
        }
    }

    pub const fn is_evm(self) -> bool {
        matches!(self, Self::Evm(_))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evm(id) => write!(f, "eip155:{id}"),
            Self::Solana(cluster) => {
                let name = CLUSTERS.iter().find(|(known, _)| known == cluster).map_or("", |(_, name)| name);
                write!(f, "solana:{name}")
            }
        }
    }
}

/// Accepts only the canonical form: no sign, no leading zero.
fn chain_id(text: &str) -> Option<u64> {
    let canonical = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    if canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_network_reads_back() {
        let evm = V1_CHAINS.iter().map(|(id, _)| Network::Evm(*id));
        let all = evm.chain(CLUSTERS.iter().map(|(cluster, _)| Network::Solana(*cluster)));
        for network in all {
            assert_eq!(Network::parse(&network.to_string()), Some(network));
            if let Some(name) = network.v1_name() {
                assert_eq!(Network::parse_v1(name), Some(network));
            }
        }
        assert_eq!(Network::BASE.to_string(), "eip155:8453");
        assert_eq!(Network::SOLANA.to_string(), "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp");
        assert_eq!(Network::Evm(42161).v1_name(), None);
    }

    #[test]
    fn the_two_namings_do_not_mix() {
        for text in [
            "base",
            "",
            "eip155",
            "eip155:",
            "eip155:08453",
            "eip155:+1",
            "EIP155:8453",
            "solana:x",
            "eip155:8453 ",
        ] {
            assert_eq!(Network::parse(text), None, "{text}");
        }
        for text in ["eip155:8453", "", "Base", "solana-testnet"] {
            assert_eq!(Network::parse_v1(text), None, "{text}");
        }
    }
}
