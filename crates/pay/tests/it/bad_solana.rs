//! Solana transactions that do not pay, or do more than pay. All have genuine signatures, except where the test is about them.

use dropleaf_pay::payer::{Call, Draft, SolanaPayer, proof};
use dropleaf_pay::{Amount, Asset, Generation, Mint, Offer, Refusal, SolanaAddress};
use serde_json::{Value, json};

use crate::world::{BOTH, check, evm_offer, fee_payer, resource, solana_offer, solana_payer, solana_proof};

fn address(text: &str) -> SolanaAddress {
    SolanaAddress::parse(text).unwrap()
}

fn draft() -> Draft {
    solana_payer().draft(&solana_offer(), [7; 32], "memo").unwrap()
}

fn send(generation: Generation, payload: &Value) -> Option<Refusal> {
    check(generation, &proof(&solana_offer(), &resource(), generation, payload)).err()
}

fn refused(what: &str, refusal: Refusal, change: impl Fn(&mut Draft)) {
    for generation in BOTH {
        let mut bent = draft();
        change(&mut bent);
        assert_eq!(
            send(generation, &solana_payer().payload(&bent)),
            Some(refusal),
            "{what} in {generation:?}"
        );
    }
}

#[test]
fn the_unbent_draft_pays() {
    for generation in BOTH {
        assert_eq!(send(generation, &solana_payer().payload(&draft())), None);
        assert!(check(generation, &solana_proof(generation)).is_ok());
    }
}

#[test]
fn instructions_must_be_those_of_a_payment() {
    let lighthouse = address("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
    let system = address("11111111111111111111111111111111");
    let note = Call { program: lighthouse, accounts: vec![], data: vec![1] };
    refused("none", Refusal::InstructionCount, |d| d.calls.clear());
    refused("two", Refusal::InstructionCount, |d| d.calls.truncate(2));
    refused("eight", Refusal::InstructionCount, |d| d.calls.extend(vec![note.clone(); 4]));
    refused("no limit", Refusal::ComputeLimit, |d| drop(d.calls.remove(0)));
    refused("price before limit", Refusal::ComputeLimit, |d| d.calls.swap(0, 1));
    refused("a longer limit", Refusal::ComputeLimit, |d| d.calls[0].data.push(0));
    refused("a limit elsewhere", Refusal::ComputeLimit, |d| d.calls[0].program = system);
    refused("a short price", Refusal::ComputePrice, |d| d.calls[1].data.truncate(5));
    refused("no price", Refusal::ComputePrice, |d| drop(d.calls.remove(1)));
    refused("a price elsewhere", Refusal::ComputePrice, |d| d.calls[1].program = system);
    refused("too dear", Refusal::ComputePriceTooHigh, |d| {
        d.calls[1].data[1..].copy_from_slice(&5_000_001_u64.to_le_bytes());
    });
    refused("memo instead of transfer", Refusal::NoTransfer, |d| d.calls.swap(2, 3));
    refused("an unchecked transfer", Refusal::NoTransfer, |d| d.calls[2].data[0] = 3);
    refused("a transfer with a byte more", Refusal::NoTransfer, |d| d.calls[2].data.push(0));
    refused("a transfer of another program", Refusal::NoTransfer, |d| d.calls[2].program = system);
    refused("a multisig", Refusal::NoTransfer, |d| d.calls[2].accounts.push(solana_payer().address));
    refused("an account created first", Refusal::NoTransfer, |d| {
        let create = Call {
            program: address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
            accounts: vec![],
            data: vec![1],
        };
        d.calls.insert(2, create);
    });
    refused("a system transfer after it", Refusal::ForeignInstruction, |d| {
        d.calls.push(Call { program: system, accounts: vec![], data: vec![2, 0, 0, 0] });
    });
    refused("a second token transfer", Refusal::ForeignInstruction, |d| d.calls.push(d.calls[2].clone()));
    for more in 0..=3 {
        let mut bent = draft();
        bent.calls.extend(vec![note.clone(); more]);
        assert_eq!(send(Generation::V2, &solana_payer().payload(&bent)), None);
    }
}

#[test]
fn the_fee_payer_is_ours_and_takes_no_part() {
    refused("another sponsor", Refusal::FeePayerMismatch, |d| d.fee_payer = SolanaAddress([9; 32]));
    refused("in a memo", Refusal::FeePayerUsed, |d| d.calls[3].accounts.push(fee_payer()));
    refused("in the budget", Refusal::FeePayerUsed, |d| d.calls[0].accounts.push(fee_payer()));
    refused("as authority", Refusal::FeePayerUsed, |d| d.calls[2].accounts[3] = fee_payer());
    refused("as source", Refusal::FeePayerUsed, |d| d.calls[2].accounts[0] = fee_payer());
    refused("a third signer", Refusal::TooManySigners, |d| d.more_signers.push(SolanaAddress([8; 32])));
}

#[test]
fn amount_token_and_recipient_are_those_of_the_offer() {
    let signed_for =
        |offer: &Offer| solana_payer().payload(&solana_payer().draft(offer, [7; 32], "memo").unwrap());
    let Asset::Solana { cluster, mint, pay_to } = solana_offer().asset else { unreachable!() };
    let other_mint = Mint { address: SolanaAddress([6; 32]), ..mint.clone() };
    let other_decimals = Mint { decimals: Some(9), ..mint.clone() };
    for generation in BOTH {
        for units in [0, 499_999, 500_001, u64::MAX] {
            let offer = Offer { amount: Amount::new(units), ..solana_offer() };
            assert_eq!(send(generation, &signed_for(&offer)), Some(Refusal::AmountMismatch));
        }
        for mint in [&other_mint, &other_decimals] {
            let asset = Asset::Solana { cluster, mint: mint.clone(), pay_to };
            let offer = Offer { asset, ..solana_offer() };
            assert_eq!(send(generation, &signed_for(&offer)), Some(Refusal::AssetMismatch));
        }
        let asset = Asset::Solana { cluster, mint: mint.clone(), pay_to: SolanaPayer::new(&[4; 32]).address };
        assert_eq!(
            send(generation, &signed_for(&Offer { asset, ..solana_offer() })),
            Some(Refusal::RecipientMismatch)
        );
    }
    refused("to the wallet, not its account", Refusal::RecipientMismatch, |d| {
        d.calls[2].accounts[2] = pay_to;
    });
}

#[test]
fn the_payer_must_have_signed() {
    refused("an authority that is no signer", Refusal::InvalidSignature, |d| {
        d.calls[2].accounts[3] = SolanaAddress([5; 32]);
    });
    for generation in BOTH {
        let mut stolen = draft();
        stolen.calls[2].accounts[3] = SolanaPayer::new(&[4; 32]).address;
        assert_eq!(send(generation, &solana_payer().payload(&stolen)), Some(Refusal::InvalidSignature));
        let mut payload = solana_payer().payload(&draft());
        let text = payload["transaction"].as_str().unwrap().to_owned();
        // The second signature begins at byte 65, within the 22nd group of four characters.
        let bent = format!("{}AAAAAAAA{}", &text[..100], &text[108..]);
        payload["transaction"] = json!(bent);
        assert_eq!(send(generation, &payload), Some(Refusal::InvalidSignature));
    }
}

#[test]
fn what_is_no_transaction_is_refused() {
    for generation in BOTH {
        for (transaction, refusal) in [
            (json!(""), Refusal::TransactionUnreadable),
            (json!("AA=="), Refusal::TransactionUnreadable),
            (json!("%"), Refusal::TransactionUnreadable),
            (json!("A".repeat(1648)), Refusal::TransactionUnreadable),
            (json!("A".repeat(1644)), Refusal::TransactionUnreadable),
            (json!(null), Refusal::InvalidPayload),
            (json!({}), Refusal::InvalidPayload),
        ] {
            assert_eq!(send(generation, &json!({ "transaction": transaction })), Some(refusal));
        }
        let mut more = solana_payer().payload(&draft());
        more["signature"] = json!("0x");
        assert_eq!(send(generation, &more), Some(Refusal::InvalidPayload));
        let evm = crate::world::evm_payload(&evm_offer());
        assert_eq!(send(generation, &evm), Some(Refusal::InvalidPayload));
    }
    let mut rotated = solana_proof(Generation::V2);
    rotated["accepted"]["extra"]["feePayer"] = json!("AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9");
    assert_eq!(check(Generation::V2, &rotated).err(), Some(Refusal::OfferMismatch));
}
