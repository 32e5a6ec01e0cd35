//! The terms, wallets and good proofs that the tests start from.

use dropleaf_pay::payer::{EvmPayer, SolanaPayer, header, proof};
use dropleaf_pay::{
    Amount, Asset, Checked, Cluster, EvmAddress, Generation, Mint, Network, Offer, Proof, Refusal, Resource,
    SolanaAddress, Terms, Token,
};
use serde_json::Value;

pub(crate) const NOW: i64 = 1_767_225_620;
pub(crate) const BOTH: [Generation; 2] = [Generation::V1, Generation::V2];

pub(crate) fn evm_offer() -> Offer {
    let pay_to = EvmAddress::parse("0x70997970C51812dc3A010C7d01b50e0d17dc79C8").unwrap();
    let asset = Asset::Evm { chain_id: 8453, token: Token::usdc(8453).unwrap(), pay_to };
    Offer::new(asset, Amount::new(500_000), 60)
}

pub(crate) fn fee_payer() -> SolanaAddress {
    SolanaAddress::parse("GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse").unwrap()
}

pub(crate) fn solana_offer() -> Offer {
    let pay_to = SolanaAddress::parse("9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu").unwrap();
    let mint = Mint::usdc(Cluster::Mainnet, fee_payer()).unwrap();
    Offer::new(Asset::Solana { cluster: Cluster::Mainnet, mint, pay_to }, Amount::new(500_000), 60)
}

pub(crate) fn resource() -> Resource {
    Resource {
        url: "https://api.pages.test/publish".to_owned(),
        description: "Publish one private HTML page".to_owned(),
        mime_type: "application/json".to_owned(),
    }
}

pub(crate) fn terms() -> Terms {
    Terms::new(resource(), vec![evm_offer(), solana_offer()]).unwrap()
}

/// The public development key of the reference vectors.
pub(crate) fn evm_payer() -> EvmPayer {
    let text = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    let secret: Vec<u8> = (0..32).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect();
    EvmPayer::new(&secret.try_into().unwrap()).unwrap()
}

pub(crate) fn solana_payer() -> SolanaPayer {
    SolanaPayer::new(&[1; 32])
}

/// The authorization of the reference vector, signed for an offer that may differ from ours.
pub(crate) fn evm_payload(offer: &Offer) -> Value {
    evm_payer().payload(offer, [0x11; 32], 1_767_225_600, 1_767_225_660).unwrap()
}

pub(crate) fn evm_proof(generation: Generation) -> Value {
    proof(&evm_offer(), &resource(), generation, &evm_payload(&evm_offer()))
}

pub(crate) fn solana_proof(generation: Generation) -> Value {
    let offer = solana_offer();
    let payer = solana_payer();
    let draft = payer.draft(&offer, [7; 32], "153d9d010a246f91d0aa4cc1a73f9b4d").unwrap();
    proof(&offer, &resource(), generation, &payer.payload(&draft))
}

pub(crate) fn check_at(generation: Generation, proof: &Value, now: i64) -> Result<Checked, Refusal> {
    Proof::parse(generation, &header(proof))?.check(&terms(), now)
}

pub(crate) fn check(generation: Generation, proof: &Value) -> Result<Checked, Refusal> {
    check_at(generation, proof, NOW)
}

/// The name of a network in this version.
pub(crate) fn name(network: Network, generation: Generation) -> String {
    match generation {
        Generation::V1 => network.v1_name().unwrap().to_owned(),
        Generation::V2 => network.to_string(),
    }
}
