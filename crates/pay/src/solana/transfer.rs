//! Parses a signed transaction as clients send it, and checks that it pays an offer and does nothing else.

use std::fmt;

use dropleaf_core::base64;
use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::transaction::Instruction;
use super::{COMPUTE_BUDGET, LIGHTHOUSE, MEMO, TOKEN, TOKEN_2022, Transaction, token_account};
use crate::address::SolanaAddress;
use crate::amount::Amount;
use crate::json::{self, Object};
use crate::offer::Mint;
use crate::refusal::Refusal;

/// The sponsor pays for every compute unit: at most five lamports, here in micro-lamports.
const HIGHEST_PRICE: u64 = 5_000_000;
/// Longer base64 cannot be a transaction.
const MOST_CHARS: usize = 1644;

/// A transaction with a transfer in the required position.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SignedTransaction {
    text: String,
    transaction: Transaction,
    program: SolanaAddress,
    source: SolanaAddress,
    mint: SolanaAddress,
    destination: SolanaAddress,
    pub(crate) payer: SolanaAddress,
    amount: u64,
    decimals: u8,
}

impl SignedTransaction {
    /// Parses `{transaction}` without further members, and finds the required instructions.
    pub(crate) fn read(payload: &Object) -> Result<Self, Refusal> {
        let text = json::text(payload, "transaction")?;
        if payload.len() != 1 {
            return Err(Refusal::InvalidPayload);
        }
        if text.len() > MOST_CHARS {
            return Err(Refusal::TransactionUnreadable);
        }
        let bytes = base64::decode(text).ok_or(Refusal::TransactionUnreadable)?;
        let transaction = Transaction::read(&bytes).ok_or(Refusal::TransactionUnreadable)?;
        if !(3..=7).contains(&transaction.instructions.len()) {
            return Err(Refusal::InstructionCount);
        }
        let [limit, price, transfer, extras @ ..] = transaction.instructions.as_slice() else {
            return Err(Refusal::InstructionCount);
        };
        check_budget(limit, price)?;
        let (program, data, accounts) = (transfer.program, &transfer.data, &transfer.accounts);
        // `0c`, eight bytes of amount, one of decimals; source, mint, destination, authority.
        let ([12, units @ .., decimals], [source, mint, destination, payer]) =
            (data.as_slice(), accounts.as_slice())
        else {
            return Err(Refusal::NoTransfer);
        };
        let units = units.try_into().map(u64::from_le_bytes).map_err(|_| Refusal::NoTransfer)?;
        if program != TOKEN && program != TOKEN_2022 {
            return Err(Refusal::NoTransfer);
        }
        if extras.iter().any(|it| it.program != MEMO && it.program != LIGHTHOUSE) {
            return Err(Refusal::ForeignInstruction);
        }
        let (source, mint, destination, payer) = (*source, *mint, *destination, *payer);
        let (amount, decimals, text) = (units, *decimals, text.to_owned());
        Ok(Self { text, transaction, program, source, mint, destination, payer, amount, decimals })
    }

    /// Serializes the payload.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "transaction": self.text })
    }

    /// Whether it transfers the right amount of the right token to the right wallet, without risk to the fee payer.
    pub(crate) fn pays(&self, amount: Amount, mint: &Mint, pay_to: SolanaAddress) -> Result<(), Refusal> {
        if self.transaction.fee_payer() != Some(mint.fee_payer) {
            return Err(Refusal::FeePayerMismatch);
        }
        if self.transaction.instructions.iter().any(|it| it.accounts.contains(&mint.fee_payer)) {
            return Err(Refusal::FeePayerUsed);
        }
        if self.transaction.signatures.len() != 2 {
            return Err(Refusal::TooManySigners);
        }
        if self.mint != mint.address || mint.decimals.is_some_and(|decimals| decimals != self.decimals) {
            return Err(Refusal::AssetMismatch);
        }
        if self.amount != amount.units() {
            return Err(Refusal::AmountMismatch);
        }
        if token_account(pay_to, mint.address, self.program) != Some(self.destination) {
            return Err(Refusal::RecipientMismatch);
        }
        mint.memo.as_deref().map_or(Ok(()), |memo| self.has_memo(memo))
    }

    fn has_memo(&self, text: &str) -> Result<(), Refusal> {
        let mut memos = self.transaction.instructions.iter().filter(|it| it.program == MEMO);
        match (memos.next(), memos.next()) {
            (Some(memo), None) if memo.data == text.as_bytes() => Ok(()),
            (Some(_), None) => Err(Refusal::MemoMismatch),
            _ => Err(Refusal::MemoCount),
        }
    }

    /// Whether the payer signed it. The fee payer's slot is left to the facilitator.
    pub(crate) fn is_signed(&self) -> Result<(), Refusal> {
        let signature = self.transaction.signature_of(self.payer).ok_or(Refusal::InvalidSignature)?;
        let key = VerifyingKey::from_bytes(&self.payer.0).map_err(|_| Refusal::InvalidSignature)?;
        key.verify_strict(&self.transaction.message, &Signature::from_bytes(signature))
            .map_err(|_| Refusal::InvalidSignature)
    }

    /// The payer's token account, from which the transfer is made.
    pub(crate) fn source(&self) -> SolanaAddress {
        self.source
    }

    pub(crate) fn blockhash(&self) -> [u8; 32] {
        self.transaction.blockhash
    }

    /// The hash of what the chain executes at most once. Not the signature, because a payer can sign one message in many ways.
    pub(crate) fn message_hash(&self) -> [u8; 32] {
        Sha256::digest(&self.transaction.message).into()
    }
}

fn check_budget(limit: &Instruction, price: &Instruction) -> Result<(), Refusal> {
    if limit.program != COMPUTE_BUDGET || !matches!(limit.data.as_slice(), [2, _, _, _, _]) {
        return Err(Refusal::ComputeLimit);
    }
    let [3, price_bytes @ ..] = price.data.as_slice() else { return Err(Refusal::ComputePrice) };
    let micro_lamports = price_bytes.try_into().map(u64::from_le_bytes).map_err(|_| Refusal::ComputePrice)?;
    if price.program != COMPUTE_BUDGET {
        return Err(Refusal::ComputePrice);
    }
    if micro_lamports > HIGHEST_PRICE { Err(Refusal::ComputePriceTooHigh) } else { Ok(()) }
}

impl fmt::Debug for SignedTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedTransaction").field("payer", &self.payer).finish_non_exhaustive()
    }
}
