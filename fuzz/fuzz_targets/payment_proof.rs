//! Parses any text as a payment header, and any JSON inside one: no panic, and no proof passes as signed by its payer unless
//! it is. The first byte chooses the protocol version and a valid proof to start from, the rest damages it.

#![no_main]

use std::sync::LazyLock;

use dropleaf_pay::payer::{EvmPayer, SolanaPayer, proof};
use dropleaf_pay::{
    Amount, Asset, Cluster, EvmAddress, Generation, Mint, Offer, Proof, Resource, SolanaAddress, Terms,
    Token, facilitator, sandbox,
};
use libfuzzer_sys::fuzz_target;

const NOW: i64 = 1_767_225_620;

static TERMS: LazyLock<Terms> = LazyLock::new(|| {
    let evm = Asset::Evm { chain_id: 8453, token: Token::usdc(8453).unwrap(), pay_to: EvmAddress([7; 20]) };
    let mint = Mint::usdc(Cluster::Mainnet, SolanaAddress([3; 32])).unwrap();
    let solana =
        Asset::Solana { cluster: Cluster::Mainnet, mint, pay_to: SolanaPayer::new(&[2; 32]).address };
    let resource = Resource {
        url: "https://api.pages.test/publish".to_owned(),
        description: String::new(),
        mime_type: "application/json".to_owned(),
    };
    let offers = [evm, solana].map(|asset| Offer::new(asset, Amount::new(500_000), 60));
    Terms::new(resource, offers.into()).unwrap()
});

static STARTS: LazyLock<Vec<(Generation, String)>> = LazyLock::new(|| {
    let offers = TERMS.offers();
    let evm = EvmPayer::new(&[1; 32]).unwrap().payload(&offers[0], [9; 32], 0, NOW + 60).unwrap();
    let payer = SolanaPayer::new(&[1; 32]);
    let solana = payer.payload(&payer.draft(&offers[1], [8; 32], "memo").unwrap());
    let mut starts = Vec::new();
    for generation in [Generation::V1, Generation::V2] {
        for (offer, payload) in [(&offers[0], &evm), (&offers[1], &solana)] {
            starts.push((generation, proof(offer, TERMS.resource(), generation, payload).to_string()));
        }
    }
    starts
});

fuzz_target!(|data: &[u8]| {
    for generation in [Generation::V1, Generation::V2] {
        check(generation, &data_encoding::BASE64.encode(data));
        if let Ok(text) = str::from_utf8(data) {
            check(generation, text);
        }
    }
    let _ = sandbox::check_request(data, SolanaAddress([3; 32]), NOW);
    let Some((&choice, damage)) = data.split_first() else { return };
    let (generation, start) = &STARTS[usize::from(choice) % STARTS.len()];
    let mut bytes = start.clone().into_bytes();
    for change in damage.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = change[2];
    }
    check(*generation, &data_encoding::BASE64.encode(&bytes));
});

fn check(generation: Generation, header: &str) {
    let Ok(proof) = Proof::parse(generation, header) else { return };
    let recognised = proof.recognise(&TERMS);
    let Ok(checked) = proof.check(&TERMS, NOW) else { return };
    let recognised = recognised.unwrap();
    assert_eq!((recognised.key, recognised.payer_is_eoa), (checked.key.clone(), checked.payer_is_eoa));
    assert_eq!(checked.amount, Amount::new(500_000));
    // A proof that passes as signed by the payer also passes at a facilitator, and for the same payment.
    let body = facilitator::build_request(&checked, &TERMS);
    let judged = sandbox::check_request(body.as_bytes(), SolanaAddress([3; 32]), NOW);
    assert_eq!(judged.is_ok(), checked.payer_is_eoa);
    assert!(judged.is_err() || judged.is_ok_and(|transfer| transfer.key == checked.key));
}
