//! Parses any bytes as a Solana transaction: no panic, and only the one transaction that its payer signed passes. The fuzzer
//! damages a valid one, so that it gets past the length fields.

#![no_main]

use std::sync::LazyLock;

use data_encoding::BASE64;
use dropleaf_pay::payer::{SolanaPayer, header, proof};
use dropleaf_pay::{
    Amount, Asset, Cluster, Generation, Mint, Offer, PaymentKey, Proof, Refusal, Resource, SolanaAddress,
    Terms,
};
use libfuzzer_sys::fuzz_target;

static TERMS: LazyLock<Terms> = LazyLock::new(|| {
    let mint = Mint::usdc(Cluster::Mainnet, SolanaAddress([3; 32])).unwrap();
    let asset = Asset::Solana { cluster: Cluster::Mainnet, mint, pay_to: SolanaPayer::new(&[2; 32]).address };
    let resource = Resource {
        url: "https://api.pages.test/publish".to_owned(),
        description: String::new(),
        mime_type: String::new(),
    };
    Terms::new(resource, vec![Offer::new(asset, Amount::new(500_000), 60)]).unwrap()
});

static GOOD: LazyLock<(Vec<u8>, PaymentKey)> = LazyLock::new(|| {
    let payer = SolanaPayer::new(&[1; 32]);
    let payload = payer.payload(&payer.draft(&TERMS.offers()[0], [8; 32], "memo").unwrap());
    let bytes = BASE64.decode(payload["transaction"].as_str().unwrap().as_bytes()).unwrap();
    let key = check(&bytes).unwrap();
    (bytes, key)
});

fuzz_target!(|data: &[u8]| {
    let _ = check(data);
    let (good, key) = &*GOOD;
    let mut bytes = good.clone();
    for change in data.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = change[2];
    }
    // Signatures cannot be forged: whatever still passes has the same message.
    if let Ok(found) = check(&bytes) {
        assert_eq!(found, *key);
        assert_eq!(bytes[65..], good[65..]);
    }
});

fn check(transaction: &[u8]) -> Result<PaymentKey, Refusal> {
    let payload = serde_json::json!({ "transaction": BASE64.encode(transaction) });
    let text = header(&proof(&TERMS.offers()[0], TERMS.resource(), Generation::V2, &payload));
    Ok(Proof::parse(Generation::V2, &text)?.check(&TERMS, 1_767_225_620)?.key)
}
