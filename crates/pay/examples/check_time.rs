//! Measures how long it takes to check a payment proof, from the header to the result, signature included. Prints microseconds
//! for each network and protocol version, as JSON.
//! `cargo run --release -p dropleaf-pay --features test-payer --example check_time`

use dropleaf_pay::payer::{EvmPayer, SolanaPayer, header, proof};
use dropleaf_pay::{
    Amount, Asset, Cluster, EvmAddress, Generation, Mint, Offer, Proof, Resource, SolanaAddress, Terms, Token,
};
use std::error::Error;
use std::time::{Duration, Instant};

const NOW: i64 = 1_767_225_620;
const WARM_UP: Duration = Duration::from_millis(200);
const MEASURED: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let evm = evm_offer().ok_or("no offer on the EVM network")?;
    let solana = solana_offer().ok_or("no offer on Solana")?;
    let resource = Resource {
        url: "https://api.pages.test/publish".to_owned(),
        description: "Publish one private HTML page".to_owned(),
        mime_type: "application/json".to_owned(),
    };
    let terms = Terms::new(resource.clone(), vec![evm.clone(), solana.clone()])?;
    let mut lines = Vec::new();
    for (name, generation) in [("v1", Generation::V1), ("v2", Generation::V2)] {
        let payer = EvmPayer::new(&[7; 32]).ok_or("no key")?;
        let payload = payer.payload(&evm, [1; 32], 0, NOW + 60).ok_or("no payload")?;
        let sent = header(&proof(&evm, &resource, generation, &payload));
        lines.push(format!("  \"evm {name}\": {:.1}", micros(generation, &sent, &terms)?));
        let payer = SolanaPayer::new(&[7; 32]);
        let draft = payer.draft(&solana, [7; 32], "how long does it take").ok_or("no draft")?;
        let sent = header(&proof(&solana, &resource, generation, &payer.payload(&draft)));
        lines.push(format!("  \"solana {name}\": {:.1}", micros(generation, &sent, &terms)?));
    }
    println!("{{\n{}\n}}", lines.join(",\n"));
    Ok(())
}

/// Microseconds per check.
fn micros(generation: Generation, sent: &str, terms: &Terms) -> Result<f64, Box<dyn Error>> {
    let check = || Proof::parse(generation, sent)?.check(terms, NOW);
    let run = |time: Duration| -> Result<(u32, Duration), Box<dyn Error>> {
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < time {
            check()?;
            done += 1;
        }
        Ok((done, start.elapsed()))
    };
    run(WARM_UP)?;
    let (done, took) = run(MEASURED)?;
    Ok(took.as_secs_f64() * 1e6 / f64::from(done))
}

fn evm_offer() -> Option<Offer> {
    let pay_to = EvmAddress::parse("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")?;
    let asset = Asset::Evm { chain_id: 8453, token: Token::usdc(8453)?, pay_to };
    Some(Offer::new(asset, Amount::new(500_000), 60))
}

fn solana_offer() -> Option<Offer> {
    let fee_payer = SolanaAddress::parse("GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse")?;
    let pay_to = SolanaAddress::parse("9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu")?;
    let mint = Mint::usdc(Cluster::Mainnet, fee_payer)?;
    let asset = Asset::Solana { cluster: Cluster::Mainnet, mint, pay_to };
    Some(Offer::new(asset, Amount::new(500_000), 60))
}
