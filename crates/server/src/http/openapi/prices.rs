//! Adds prices to the document if payments are enabled, and removes everything about payments if they are not.

use crate::http::pay;
use dropleaf_app::PaymentSettings;
use dropleaf_core::ledger::dollars;
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_core::webhook::EventType;
use serde_json::{Value, json};

/// Members of an error that only concern payments.
const OF_PAYMENTS: [&str; 4] = ["unlock", "unlock_url", "reason", "transaction"];

/// Adds the price of each paid operation, which catalogues read.
pub(super) fn add_prices(document: &mut Value, payments: &PaymentSettings) {
    let price = |item| dollars(payments.prices.of(item));
    // MPP is paid on the EVM network only.
    let protocols: &[&str] = if payments.evm.is_some() { &["x402", "mpp"] } else { &["x402"] };
    for (path, item) in [("/publish", Item::Publish), ("/provision", Item::Provision)] {
        if !payments.is_payable(item) {
            continue;
        }
        document["paths"][path]["post"]["x-payment-info"] = json!({
            "protocols": protocols, "pricingMode": "fixed", "price": price(item), "currency": "USD",
        });
    }
    let payable: Vec<Item> =
        Sku::ALL.map(Item::Unlock).into_iter().filter(|item| payments.is_payable(*item)).collect();
    let amounts = payable.iter().map(|item| payments.prices.of(*item));
    let (Some(least), Some(most)) = (amounts.clone().min(), amounts.max()) else { return };
    let [least, most] = [least, most].map(dollars);
    let unlocks = payable.iter().map(|item| (item.as_str().to_owned(), Value::from(price(*item))));
    document["paths"]["/unlock"]["post"]["x-payment-info"] = json!({
        "protocols": protocols, "pricingMode": "range", "minPrice": least,
        "maxPrice": most, "currency": "USD",
        "prices": unlocks.collect::<serde_json::Map<_, _>>(),
    });
}

/// Removes the paid operations. The wallet's signature stays: it still updates pages that were paid for earlier.
pub(super) fn remove_payments(document: &mut Value) {
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.retain(|tag| tag["name"] != pay::TAG);
    }
    let is_sold = |operation: &Value| {
        operation["tags"].as_array().is_some_and(|tags| tags.iter().any(|tag| tag == pay::TAG))
    };
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.retain(|_, item| !item.as_object().is_some_and(|item| item.values().any(is_sold)));
    }
    if let Some(members) = document["components"]["schemas"]["Error"]["properties"].as_object_mut() {
        members.retain(|name, _| !OF_PAYMENTS.contains(&name.as_str()));
    }
    remove_word(document, EventType::PaymentReceived.as_str());
    drop_unused(document);
}

/// Removes a word from every set of words that has it.
fn remove_word(document: &mut Value, word: &str) {
    match document {
        Value::Object(members) => {
            if let Some(words) = members.get_mut("enum").and_then(Value::as_array_mut) {
                words.retain(|known| known != word);
            }
            members.values_mut().for_each(|member| remove_word(member, word));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove_word(item, word)),
        _ => {}
    }
}

/// Removes schemas that nothing refers to.
fn drop_unused(document: &mut Value) {
    loop {
        let text = document.to_string();
        let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
        let before = schemas.len();
        schemas.retain(|name, _| text.contains(&format!("\"#/components/schemas/{name}\"")));
        if schemas.len() == before {
            return;
        }
    }
}
