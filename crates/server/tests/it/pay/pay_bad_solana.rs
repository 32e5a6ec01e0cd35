//! Solana proofs with one defect each, for `pay_bad_proofs`.

use crate::harness::{NOW, Purse};
use crate::pay::pay_bad_proofs::{Cases, around, evm, solana};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_pay::payer::{Draft, SolanaPayer};
use dropleaf_pay::{Amount, Asset, Generation, Mint, Offer, SolanaAddress, Terms};
use serde_json::{Value, json};

/// Transactions that do not pay, or do more than pay.
pub(crate) fn bent_solana(terms: &Terms, generation: Generation) -> Cases<Value> {
    let (ours, payer) = (solana(terms), SolanaPayer::new(&[1; 32]));
    let Asset::Solana { cluster, mint, pay_to } = ours.asset.clone() else { unreachable!() };
    let fee_payer = mint.fee_payer;
    let draft = |offer: &Offer| payer.draft(offer, [7; 32], "memo").unwrap();
    let paying = |offer: &Offer| payer.payload(&draft(offer));
    let other = |mint: Mint, pay_to| {
        paying(&Offer { asset: Asset::Solana { cluster, mint, pay_to }, ..ours.clone() })
    };
    let amount = |units| paying(&Offer { amount: Amount::new(units), ..ours.clone() });
    let drawn = |bend: &dyn Fn(&mut Draft)| {
        let mut draft = draft(ours);
        bend(&mut draft);
        payer.payload(&draft)
    };
    let bytes = |bend: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = STANDARD.decode(paying(ours)["transaction"].as_str().unwrap()).unwrap();
        bend(&mut bytes);
        json!({"transaction": STANDARD.encode(bytes)})
    };
    let price = ours.amount.units();
    let cases = vec![
        ("underpaid", amount(price - 1)),
        ("overpaid", amount(price + 1)),
        ("another mint", other(Mint { address: SolanaAddress([6; 32]), ..mint.clone() }, pay_to)),
        ("other decimals", other(Mint { decimals: Some(9), ..mint.clone() }, pay_to)),
        ("to somebody else", other(mint.clone(), SolanaPayer::new(&[4; 32]).address)),
        ("to the wallet, not its account", drawn(&|draft| draft.calls[2].accounts[2] = pay_to)),
        ("another fee payer", drawn(&|draft| draft.fee_payer = SolanaAddress([9; 32]))),
        ("fee payer as authority", drawn(&|draft| draft.calls[2].accounts[3] = fee_payer)),
        ("fee payer as source", drawn(&|draft| draft.calls[2].accounts[0] = fee_payer)),
        (
            "fee payer moving funds",
            drawn(&|draft| {
                let mut more = draft.calls[2].clone();
                more.accounts[0] = fee_payer;
                draft.calls.push(more);
            }),
        ),
        ("a second transfer", drawn(&|draft| draft.calls.push(draft.calls[2].clone()))),
        ("no transfer", drawn(&|draft| drop(draft.calls.remove(2)))),
        ("an unchecked transfer", drawn(&|draft| draft.calls[2].data[0] = 3)),
        ("no compute limit", drawn(&|draft| drop(draft.calls.remove(0)))),
        ("too dear", drawn(&|draft| draft.calls[1].data[1..].copy_from_slice(&5_000_001_u64.to_le_bytes()))),
        ("a third signer", drawn(&|draft| draft.more_signers.push(SolanaAddress([8; 32])))),
        ("address lookup tables", bytes(&|bytes| *bytes.last_mut().unwrap() = 1)),
        ("no signature of the payer", bytes(&|bytes| bytes[65..129].fill(0))),
        ("another signature", bytes(&|bytes| bytes[70] ^= 1)),
        ("changed after it was signed", bytes(&|bytes| bytes[135] ^= 1)),
        ("cut short", bytes(&|bytes| bytes.truncate(200))),
        ("with a byte more", bytes(&|bytes| bytes.push(0))),
        ("no transaction", json!({"transaction": ""})),
        ("a transaction in hex", json!({"transaction": "0x00"})),
        (
            "an authorization of the other family",
            Purse::new().evm.payload(evm(terms), [7; 32], 0, NOW + 120).unwrap(),
        ),
    ];
    let wrap = |(what, payload)| (what, around(terms, ours, generation, &payload));
    cases.into_iter().map(wrap).collect()
}
