//! Parses Solana transactions, legacy or version 0 without address tables. Rejects whatever the runtime would reject as
//! malformed, so that nothing can be interpreted in two ways.

use crate::address::SolanaAddress;

/// The maximum size of a transaction on the network.
const MOST_BYTES: usize = 1232;

/// A transaction whose indexes are all in range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transaction {
    pub(crate) signatures: Vec<[u8; 64]>,
    /// The bytes that are signed.
    pub(crate) message: Vec<u8>,
    /// Signers first, starting with the fee payer.
    pub(crate) keys: Vec<SolanaAddress>,
    /// The block it refers to; about 150 blocks later it can no longer be executed.
    pub(crate) blockhash: [u8; 32],
    pub(crate) instructions: Vec<Instruction>,
}

/// A call to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) program: SolanaAddress,
    pub(crate) accounts: Vec<SolanaAddress>,
    pub(crate) data: Vec<u8>,
}

impl Transaction {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MOST_BYTES {
            return None;
        }
        let mut rest = Reader(bytes);
        let signatures = rest.list(|rest| rest.array::<64>().copied())?;
        let message = rest.0;
        let versioned = message.first()? & 0x80 != 0;
        if versioned && rest.byte()? != 0x80 {
            return None;
        }
        let [signers, readonly_signers, readonly_others] = rest.array::<3>()?.map(usize::from);
        let keys = rest.list(|rest| rest.array().copied().map(SolanaAddress))?;
        let counts_fit = signers == signatures.len()
            && readonly_signers < signers
            && signers + readonly_others <= keys.len()
            && keys
                .iter()
                .enumerate()
                .all(|(index, key)| !keys.iter().skip(index + 1).any(|other| other == key));
        if !counts_fit {
            return None;
        }
        let blockhash = *rest.array::<32>()?;
        let instructions = rest.list(|rest| Instruction::read(rest, &keys))?;
        // Addresses from a table cannot be resolved here, so there must be none.
        if versioned && rest.length()? != 0 {
            return None;
        }
        let message = message.to_vec();
        rest.0.is_empty().then_some(Self { signatures, message, keys, blockhash, instructions })
    }

    /// The account that pays the network fees.
    pub(crate) fn fee_payer(&self) -> Option<SolanaAddress> {
        self.keys.first().copied()
    }

    /// The signature in the slot of a key.
    pub(crate) fn signature_of(&self, signer: SolanaAddress) -> Option<&[u8; 64]> {
        self.keys
            .iter()
            .zip(&self.signatures)
            .find(|(key, _)| **key == signer)
            .map(|(_, signature)| signature)
    }
}

impl Instruction {
    fn read(rest: &mut Reader<'_>, keys: &[SolanaAddress]) -> Option<Self> {
        let program = rest.byte()?;
        // The fee payer cannot be a program.
        let program = *keys.get(usize::from(program)).filter(|_| program != 0)?;
        let accounts = rest.list(|rest| keys.get(usize::from(rest.byte()?)).copied())?;
        let data = rest.list(Reader::byte)?;
        Some(Self { program, accounts, data })
    }
}

/// The bytes left to parse.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| *byte)
    }

    /// A list with its length in front. Nothing is preallocated, because the length is untrusted.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.length()?;
        (0..length).map(|_| item(self)).collect()
    }

    /// A compact-u16: seven bits per byte, low bits first, only in its shortest form.
    fn length(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        for index in 0..3 {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                let shortest = index == 0 || byte != 0;
                return (shortest && u16::try_from(value).is_ok()).then_some(value);
            }
        }
        None
    }
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (head, tail) = self.0.split_first_chunk()?;
        self.0 = tail;
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;

    use super::*;
    use crate::solana::{COMPUTE_BUDGET, MEMO, TOKEN};

    const VECTOR: &str = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABHkZirG3uz7HzU5ih4uO+NqgtUxfHPuPyIh+3MdRWnkEExVhF5snNUk6fB3jiHMgN3ES/BMlDA/VB3UP4vg74BgAIBBAjtSSjGKNHCxurpAziQWZVhKVknOlxj+TY2wUYUrIc30YqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29cK8kCOGhpAsJh82TGFPHsq0/z4F9YGhwIBT/HU9NN52yMROnTi0H5KqQzBEA7ECRFt9yPict9kQwtNUtP/np+EwMGRm/lIRcy/+ytunLDm+e8jOW7xfcSayxDmzpAAAAAxvp6877brTo9ZfNqq8l0MbG75MLS9uDkfKYCA0UvXWEFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpruutSnlvzC4V3ExgYbRe2bNz8mrfx5jKfS2MxYGCcY4EBAAFAiBOAAAEAAkDAQAAAAAAAAAHBAIFAwEKDCChBwAAAAAABgYAIDE1M2Q5ZDAxMGEyNDZmOTFkMGFhNGNjMWE3M2Y5YjRkAA==";

    fn vector() -> Vec<u8> {
        BASE64.decode(VECTOR.as_bytes()).unwrap()
    }

    #[test]
    fn the_reference_transaction_is_read() {
        let read = Transaction::read(&vector()).unwrap();
        let keys: Vec<String> = read.keys.iter().map(ToString::to_string).collect();
        assert_eq!(
            keys,
            [
                "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse",
                "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9",
                "3wvJdyFnGvaMWpbq93NU91SggiVRveULUXL6iX5VZDGP",
                "ASZ2TDDNJG2n42TxAezqNNzwWipykHrENDKMCoLKgzup",
                "ComputeBudget111111111111111111111111111111",
                "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
                "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
                "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
            ]
        );
        let programs: Vec<_> = read.instructions.iter().map(|it| it.program).collect();
        assert_eq!(programs, [COMPUTE_BUDGET, COMPUTE_BUDGET, TOKEN, MEMO]);
        assert_eq!(read.instructions[2].data, [0x0c, 0x20, 0xa1, 0x07, 0, 0, 0, 0, 0, 6]);
        assert_eq!(read.instructions[2].accounts, [2, 5, 3, 1].map(|index: usize| read.keys[index]));
        assert_eq!(read.signatures[0], [0; 64]);
    }

    #[test]
    fn every_shorter_and_every_longer_text_is_refused() {
        let bytes = vector();
        for end in 0..bytes.len() {
            assert_eq!(Transaction::read(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Transaction::read(&[bytes.as_slice(), &[0]].concat()), None);
    }

    #[test]
    fn lengths_have_one_form() {
        let length = |bytes: &[u8]| Reader(bytes).length();
        assert_eq!(length(&[0]), Some(0));
        assert_eq!(length(&[0x7f]), Some(127));
        assert_eq!(length(&[0x80, 1]), Some(128));
        assert_eq!(length(&[0xff, 0xff, 3]), Some(65535));
        for bytes in
            [&[][..], &[0x80], &[0x80, 0], &[0x81, 0x80, 0], &[0xff, 0xff, 4], &[0x80, 0x80, 0x80, 1]]
        {
            assert_eq!(length(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn malformed_headers_keys_and_tables_are_refused() {
        let header = 1 + 128 + 1;
        let change = |at: usize, byte: u8| {
            let mut bytes = vector();
            bytes[at] = byte;
            Transaction::read(&bytes)
        };
        assert!(change(header - 1, 0x81).is_none(), "version 1");
        assert!(change(header, 1).is_none(), "fewer signers than signatures");
        assert!(change(header, 3).is_none(), "more signers than signatures");
        assert!(change(header + 1, 2).is_none(), "a fee payer that cannot be charged");
        assert!(change(header + 2, 7).is_none(), "more read-only keys than there are");
        let last = vector().len() - 1;
        assert!(change(last, 1).is_none(), "an address table");
        let mut twice = vector();
        let keys = header + 4;
        twice.copy_within(keys..keys + 32, keys + 64);
        assert!(Transaction::read(&twice).is_none(), "a key twice");
        let mut called = vector();
        called[last - 35] = 0;
        assert!(Transaction::read(&called).is_none(), "the fee payer as a program");
    }
}
