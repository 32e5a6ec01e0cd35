//! The optional member `source` of a credential: the payer as a DID of the method `pkh`, which is an account on a chain.

use crate::address::EvmAddress;
use crate::network::Network;

/// Whether the DID names this account: `did:pkh:eip155:<chain id>:<address>`, with the address in any case.
pub(super) fn names(did: &str, chain_id: u64, account: EvmAddress) -> bool {
    let parts = did.strip_prefix("did:pkh:").and_then(|rest| rest.rsplit_once(':'));
    parts.is_some_and(|(network, address)| {
        Network::parse(network) == Some(Network::Evm(chain_id)) && EvmAddress::parse(address) == Some(account)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_account_on_this_chain_is_named() {
        let text = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
        let account = EvmAddress::parse(text).unwrap();
        for good in
            [format!("did:pkh:eip155:8453:{text}"), format!("did:pkh:eip155:8453:{}", account.to_lower())]
        {
            assert!(names(&good, 8453, account), "{good}");
        }
        for bad in [
            String::new(),
            text.to_owned(),
            format!("did:pkh:eip155:1:{text}"),
            format!("did:pkh:eip155:08453:{text}"),
            format!("did:pkh:8453:{text}"),
            format!("did:pkh:eip155:8453:{text}#key"),
            format!("did:ethr:eip155:8453:{text}"),
            format!("DID:pkh:eip155:8453:{text}"),
            "did:pkh:eip155:8453:0x209693Bc6afc0C5328bA36FaF03C514EF312287C".to_owned(),
            "did:pkh:solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:x".to_owned(),
        ] {
            assert!(!names(&bad, 8453, account), "{bad}");
        }
    }
}
