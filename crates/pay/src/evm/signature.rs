//! 65-byte signatures on secp256k1, and recovery of the signer.

use k256::ecdsa::{self, RecoveryId, VerifyingKey};

use crate::address::EvmAddress;
use crate::keccak::keccak;

/// Half of the group order. A signature with a larger `s` is the mirror image of a valid one: contracts refuse it, and so do we,
/// so that one payment has one signature.
const HALF_ORDER: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x5d,
    0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

/// A well-formed signature: `r || s || v`.
#[derive(Clone, Copy)]
pub(crate) struct Signature {
    scalars: ecdsa::Signature,
    parity: RecoveryId,
}

impl Signature {
    /// `None` if a scalar is out of range, `s` is in the high half, or `v` is not 0, 1, 27 or 28.
    pub(crate) fn read(bytes: &[u8; 65]) -> Option<Self> {
        let (scalars, v) = bytes.split_at(64);
        let parity = match v {
            [0 | 27] => RecoveryId::new(false, false),
            [1 | 28] => RecoveryId::new(true, false),
            _ => return None,
        };
        if scalars.get(32..)? > HALF_ORDER.as_slice() {
            return None;
        }
        Some(Self { scalars: ecdsa::Signature::from_slice(scalars).ok()?, parity })
    }
}

/// The address of the key that signed a digest.
pub(crate) fn recover(digest: &[u8; 32], signature: &Signature) -> Option<EvmAddress> {
    let key = VerifyingKey::recover_from_prehash(digest, &signature.scalars, signature.parity).ok()?;
    address_of(&key)
}

/// The last 20 bytes of the Keccak-256 hash of the public key's coordinates.
pub(crate) fn address_of(key: &VerifyingKey) -> Option<EvmAddress> {
    let point = key.to_sec1_point(false);
    let hash = keccak(&[point.as_bytes().get(1..)?]);
    hash.last_chunk().copied().map(EvmAddress)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    const SIGNATURE: &str = "0xe3deba35625c0c338d389497956a10996804afe7c8173987f17b024b2b562baf7432f9d660457e8c123edac739f6bc07e6633db5d08e3ddef75f02a45c090efa1c";
    const DIGEST: &str = "0xbfd6685e4c6f299c32c4a17bcc92b089a53738c891837fc35c72febad5b8b310";

    fn signature() -> [u8; 65] {
        hex::parse(SIGNATURE).unwrap()
    }

    #[test]
    fn the_signer_is_recovered() {
        let digest = hex::parse(DIGEST).unwrap();
        let expected = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
        let mut bytes = signature();
        assert_eq!(recover(&digest, &Signature::read(&bytes).unwrap()).unwrap().to_string(), expected);
        bytes[64] = 1;
        assert_eq!(recover(&digest, &Signature::read(&bytes).unwrap()).unwrap().to_string(), expected);
        bytes[64] = 27;
        assert_ne!(
            recover(&digest, &Signature::read(&bytes).unwrap()).map(|a| a.to_string()).as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn the_high_half_and_numbers_out_of_range_are_refused() {
        let mut high = signature();
        // s becomes n - s and v the other parity: a malleated form of the same signature.
        let n =
            hex::parse::<32>("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").unwrap();
        let mut borrow = 0_i16;
        for at in (0..32).rev() {
            let difference = i16::from(n[at]) - i16::from(high[32 + at]) - borrow;
            borrow = i16::from(difference < 0);
            high[32 + at] = u8::try_from(difference.rem_euclid(256)).unwrap();
        }
        high[64] = 27;
        assert!(Signature::read(&high).is_none());

        assert!(Signature::read(&[0; 65]).is_none());
        let mut zero_s = signature();
        zero_s[32..64].fill(0);
        assert!(Signature::read(&zero_s).is_none());
        let mut large_r = signature();
        large_r[..32].fill(0xff);
        assert!(Signature::read(&large_r).is_none());
        for v in [2, 3, 26, 29, 31, 255] {
            let mut other = signature();
            other[64] = v;
            assert!(Signature::read(&other).is_none(), "{v}");
        }
    }

    #[test]
    fn the_boundary_of_the_low_half_is_low() {
        let mut bytes = signature();
        bytes[32..64].copy_from_slice(&HALF_ORDER);
        assert!(Signature::read(&bytes).is_some());
        bytes[63] += 1;
        assert!(Signature::read(&bytes).is_none());
    }
}
