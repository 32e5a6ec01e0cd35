//! `TransferWithAuthorization` of EIP-3009, and the EIP-712 digest that is signed.

use super::word::Decimal;
use crate::address::EvmAddress;
use crate::keccak::keccak;
use crate::offer::Token;

const DOMAIN_TYPE: &str =
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const TYPE: &str = "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)";

/// Permission to transfer an amount from one address to another, once, within a time window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authorization {
    pub(crate) from: EvmAddress,
    pub(crate) to: EvmAddress,
    pub(crate) value: Decimal,
    pub(crate) valid_after: Decimal,
    pub(crate) valid_before: Decimal,
    pub(crate) nonce: [u8; 32],
}

/// The EIP-712 domain: one token on one chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Domain<'a> {
    pub(crate) chain_id: u64,
    pub(crate) token: &'a Token,
}

impl Domain<'_> {
    fn separator(self) -> [u8; 32] {
        keccak(&[
            &keccak(&[DOMAIN_TYPE.as_bytes()]),
            &keccak(&[self.token.name.as_bytes()]),
            &keccak(&[self.token.version.as_bytes()]),
            &[0; 24],
            &self.chain_id.to_be_bytes(),
            &padded(self.token.address),
        ])
    }
}

impl Authorization {
    /// The digest that is signed.
    pub(crate) fn digest(&self, domain: Domain<'_>) -> [u8; 32] {
        keccak(&[b"\x19\x01", &domain.separator(), &self.struct_hash()])
    }

    fn struct_hash(&self) -> [u8; 32] {
        keccak(&[
            &keccak(&[TYPE.as_bytes()]),
            &padded(self.from),
            &padded(self.to),
            self.value.word(),
            self.valid_after.word(),
            self.valid_before.word(),
            &self.nonce,
        ])
    }
}

/// An address as a 32-byte word.
pub(crate) fn padded(address: EvmAddress) -> [u8; 32] {
    let mut word = [0; 32];
    if let Some(tail) = word.last_chunk_mut() {
        *tail = address.0;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    fn authorization() -> Authorization {
        let number = |text| Decimal::parse(text).unwrap();
        Authorization {
            from: EvmAddress::parse("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266").unwrap(),
            to: EvmAddress::parse("0x70997970C51812dc3A010C7d01b50e0d17dc79C8").unwrap(),
            value: number("500000"),
            valid_after: number("1767225600"),
            valid_before: number("1767225660"),
            nonce: [0x11; 32],
        }
    }

    // The vector was generated with viem and agrees with alloy.
    #[test]
    fn hashes_are_those_of_the_reference() {
        let token = Token::usdc(8453).unwrap();
        let domain = Domain { chain_id: 8453, token: &token };
        let typehash = "0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267";
        assert_eq!(hex::show(&keccak(&[TYPE.as_bytes()])), typehash);
        let separator = "0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f";
        assert_eq!(hex::show(&domain.separator()), separator);
        let hash = "0x73c0de19d0143ab5e92b5e639220f16cf10c09eccb8c182c8f063d0b08472c72";
        assert_eq!(hex::show(&authorization().struct_hash()), hash);
        let digest = "0xbfd6685e4c6f299c32c4a17bcc92b089a53738c891837fc35c72febad5b8b310";
        assert_eq!(hex::show(&authorization().digest(domain)), digest);
    }

    // From the vector of MPP, which signs the same structure.
    #[test]
    fn mpp_signs_the_same_digest() {
        let token = Token::usdc(8453).unwrap();
        let authorization = Authorization {
            from: EvmAddress::parse("0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A").unwrap(),
            to: EvmAddress::parse("0x209693Bc6afc0C5328bA36FaF03C514EF312287C").unwrap(),
            valid_after: Decimal::parse("0").unwrap(),
            valid_before: Decimal::parse("1893456000").unwrap(),
            nonce: hex::parse("0x4e6d04eda02eae5fc043caa48fa75388ca7f1351b9a94dc654e0b4d0d09c410f").unwrap(),
            ..authorization()
        };
        let digest = "0xa3d701ce0e2ead4d0c2a955c2e47826ab3b142e06236c548ee575e3faa1095ab";
        assert_eq!(hex::show(&authorization.digest(Domain { chain_id: 8453, token: &token })), digest);
    }

    #[test]
    fn every_field_counts() {
        let token = Token::usdc(8453).unwrap();
        let domain = Domain { chain_id: 8453, token: &token };
        let plain = authorization().digest(domain);
        let named_as_on_the_test_network = Token { name: "USDC".to_owned(), ..token.clone() };
        assert_ne!(plain, authorization().digest(Domain { token: &named_as_on_the_test_network, ..domain }));
        assert_ne!(plain, authorization().digest(Domain { chain_id: 1, ..domain }));
        assert_ne!(plain, Authorization { nonce: [0x12; 32], ..authorization() }.digest(domain));
        let more = Decimal::parse("500001").unwrap();
        assert_ne!(plain, Authorization { value: more, ..authorization() }.digest(domain));
    }
}
