//! Terms as clients of both x402 versions read them.

use dropleaf_pay::{
    Amount, Asset, Bazaar, Cluster, EvmAddress, Example, HEADER_BYTES, Identifier, Mint, Network, Offer,
    Resource, Terms, TermsFault, Token,
};
use serde_json::{Value, json};

use crate::world::{evm_offer, fee_payer, resource, solana_offer, terms};

fn decode(header: &str) -> Value {
    let receipt = data_encoding::BASE64.decode(header.as_bytes()).unwrap();
    serde_json::from_slice(&receipt).unwrap()
}

fn bazaar() -> Bazaar {
    let schema =
        json!({ "type": "object", "properties": { "html": { "type": "string" } }, "required": ["html"] });
    let body = Example { value: json!({ "html": "<!doctype html><title>Hi</title>" }), schema };
    Bazaar {
        method: "POST",
        body: Some(body),
        query: None,
        output: json!({ "url": "https://pages.test/p/TOKEN/" }),
    }
}

#[test]
fn v2_reads_the_header() {
    let expected = json!({
        "x402Version": 2,
        "error": "payment_required",
        "resource": { "url": "https://api.pages.test/publish", "description": "Publish one private HTML page", "mimeType": "application/json" },
        "accepts": [
            { "scheme": "exact", "network": "eip155:8453", "amount": "500000",
              "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
              "maxTimeoutSeconds": 60, "extra": { "name": "USD Coin", "version": "2" } },
            { "scheme": "exact", "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "amount": "500000",
              "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "payTo": "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu",
              "maxTimeoutSeconds": 60, "extra": { "feePayer": "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse" } },
        ],
        "extensions": {},
    });
    assert_eq!(decode(&terms().header()), expected);
}

#[test]
fn v1_reads_the_body() {
    let mut terms = terms();
    terms.error = Some("expired".to_owned());
    terms.members.insert("error_description".to_owned(), json!("Sign a new one."));
    terms.members.insert("accepts".to_owned(), json!("of ours"));
    let body = Value::Object(terms.body());
    assert_eq!(body["x402Version"], 1);
    assert_eq!(body["error"], "expired");
    assert_eq!(body["error_description"], "Sign a new one.");
    let expected = json!({
        "scheme": "exact", "network": "base", "maxAmountRequired": "500000",
        "resource": "https://api.pages.test/publish", "description": "Publish one private HTML page", "mimeType": "application/json",
        "payTo": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "maxTimeoutSeconds": 60,
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "extra": { "name": "USD Coin", "version": "2" },
    });
    assert_eq!(body["accepts"][0], expected);
    assert_eq!(body["accepts"][1]["network"], "solana");
    assert_eq!(body["accepts"].as_array().unwrap().len(), 2);
}

#[test]
fn extensions_are_offered_as_the_reference_writes_them() {
    let mut terms = terms();
    terms.identifier = Identifier::Optional;
    terms.bazaar = Some(bazaar());
    terms.sandbox = true;
    let header = decode(&terms.header());
    let extensions = &header["extensions"];
    assert_eq!(extensions["payment-identifier"]["info"], json!({ "required": false }));
    let id = &extensions["payment-identifier"]["schema"]["properties"]["id"];
    assert_eq!(
        *id,
        json!({ "type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[a-zA-Z0-9_-]+$" })
    );
    let info = &extensions["bazaar"]["info"];
    let input = json!({ "type": "http", "method": "POST", "bodyType": "json", "body": { "html": "<!doctype html><title>Hi</title>" } });
    assert_eq!(info["input"], input);
    assert_eq!(
        info["output"],
        json!({ "type": "json", "example": { "url": "https://pages.test/p/TOKEN/" } })
    );
    let schema = &extensions["bazaar"]["schema"]["properties"]["input"];
    assert_eq!(schema["required"], json!(["type", "method", "bodyType", "body"]));
    assert_eq!(extensions["sandbox"]["info"]["sandbox"], true);

    let body = Value::Object(terms.body());
    assert_eq!(body["sandbox"], true);
    let v1 = &body["accepts"][0]["outputSchema"]["input"];
    assert_eq!(
        *v1,
        json!({ "type": "http", "method": "POST", "discoverable": true, "bodyType": "json", "bodyFields": { "html": { "type": "string" } } })
    );
}

#[test]
fn an_endpoint_without_a_body_is_described_by_its_query() {
    let mut terms = terms();
    let schema = json!({ "type": "object", "properties": { "feature": { "type": "string" } } });
    let query = Some(Example { value: json!({ "feature": "higher_limits" }), schema });
    terms.bazaar = Some(Bazaar { method: "POST", body: None, query: query.clone(), output: json!({}) });
    let info = |terms: &Terms| decode(&terms.header())["extensions"]["bazaar"]["info"]["input"].clone();
    assert_eq!(info(&terms)["queryParams"]["feature"], "higher_limits");
    assert_eq!(info(&terms)["body"], json!({}));
    terms.bazaar = Some(Bazaar { method: "GET", body: None, query, output: json!({}) });
    assert!(info(&terms).get("body").is_none());
}

#[test]
fn the_header_stays_under_its_limit() {
    let mut terms = terms();
    terms.bazaar = Some(bazaar());
    terms.identifier = Identifier::Optional;
    assert!(terms.header().len() < 4_000);
    terms.error = Some("é".repeat(100_000));
    assert!(terms.header().len() <= HEADER_BYTES);
    let huge = Bazaar { output: json!({ "text": "x".repeat(7_000) }), ..bazaar() };
    terms.bazaar = Some(huge);
    assert!(terms.header().len() <= HEADER_BYTES);
    let extensions = decode(&terms.header())["extensions"].clone();
    assert!(extensions.get("bazaar").is_none() && extensions.get("payment-identifier").is_some());
    let wordy = Resource { description: "x".repeat(9_000), ..resource() };
    let terms = Terms::new(wordy, vec![evm_offer()]).unwrap();
    assert!(terms.header().len() <= HEADER_BYTES);
    assert_eq!(decode(&terms.header())["accepts"].as_array().unwrap().len(), 1);
}

#[test]
fn terms_that_cannot_be_offered_are_faults() {
    assert_eq!(Terms::new(resource(), vec![]).err(), Some(TermsFault::NoOffer));
    let twice = vec![evm_offer(), solana_offer(), evm_offer()];
    assert_eq!(Terms::new(resource(), twice).err(), Some(TermsFault::TwoOffersOnOneNetwork(Network::BASE)));
    let asset =
        |chain_id| Asset::Evm { chain_id, token: Token::usdc(8453).unwrap(), pay_to: EvmAddress([1; 20]) };
    let many = (1..60).map(|id| Offer::new(asset(id), Amount::new(1), 60)).collect();
    assert_eq!(Terms::new(resource(), many).err(), Some(TermsFault::TooLarge));
}

#[test]
fn offers_are_shown_to_those_who_can_use_them() {
    let token = Token::usdc(8453).unwrap();
    let unnamed = Asset::Evm { chain_id: 42161, token, pay_to: EvmAddress([1; 20]) };
    let offers = vec![
        Offer { v2: false, ..evm_offer() },
        Offer { v1: false, ..solana_offer() },
        Offer::new(unnamed, Amount::new(500_000), 60),
    ];
    let terms = Terms::new(resource(), offers).unwrap();
    let networks = |accepts: &Value| -> Vec<String> {
        accepts.as_array().unwrap().iter().map(|it| it["network"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        networks(&Value::Array(terms.accepts_v2())),
        ["solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "eip155:42161"]
    );
    assert_eq!(networks(&terms.body()["accepts"]), ["base"]);
}

#[test]
fn usdc_is_known_where_its_name_is() {
    assert_eq!(Token::usdc(84532).unwrap().name, "USDC");
    assert_eq!(Token::usdc(1), None);
    assert_eq!(Mint::usdc(Cluster::Testnet, fee_payer()), None);
}
