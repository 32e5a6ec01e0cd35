//! Payments on Solana: a transaction that transfers a token, signed by its payer and awaiting the fee payer's signature.

mod token_account;
mod transaction;
mod transfer;

use crate::address::SolanaAddress;

pub(crate) use token_account::token_account;
pub(crate) use transaction::Transaction;
pub(crate) use transfer::SignedTransaction;

const fn program(address: &str) -> SolanaAddress {
    SolanaAddress(bs58::decode(address.as_bytes()).into_array_const_unwrap())
}

pub(crate) const COMPUTE_BUDGET: SolanaAddress = program("ComputeBudget111111111111111111111111111111");
pub(crate) const TOKEN: SolanaAddress = program("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
pub(crate) const TOKEN_2022: SolanaAddress = program("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
pub(crate) const MEMO: SolanaAddress = program("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
const LIGHTHOUSE: SolanaAddress = program("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
const TOKEN_ACCOUNTS: SolanaAddress = program("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
