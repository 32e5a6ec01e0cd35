//! Describes each item for clients and catalogues: its URL, the request, and the response.

use dropleaf_core::host::Hosts;
use dropleaf_core::payment::Item;
use dropleaf_pay::{Bazaar, Example, Resource};
use serde_json::json;

/// The URL and description of an item.
pub(super) fn resource(base: &str, item: Item) -> Resource {
    let description = match item {
        Item::Publish => "Publish one permanent private HTML page",
        Item::Provision => "Get an API key for a new account",
        Item::Unlock(sku) => sku.description(),
        Item::Topup => "Add to the prepaid balance of an account",
    };
    Resource {
        url: format!("{base}{}", address(item)),
        description: description.to_owned(),
        mime_type: "application/json".to_owned(),
    }
}

/// Path and query below the API's base URL.
fn address(item: Item) -> String {
    match item {
        Item::Publish => "/publish".to_owned(),
        Item::Provision => "/provision".to_owned(),
        Item::Unlock(sku) => format!("/unlock?feature={}", sku.as_str()),
        Item::Topup => "/pay/sessions".to_owned(),
    }
}

/// The catalogue entry of an item. Short, because it is sent in a header of every 402.
pub(super) fn bazaar(hosts: &Hosts, item: Item) -> Bazaar {
    let (body, query, output) = match item {
        Item::Publish => {
            let body = Example {
                value: json!({ "html": "<!doctype html><title>Hi</title><p>Hello" }),
                schema: json!({
                    "type": "object", "required": ["html"],
                    "properties": { "html": { "type": "string" }, "filename": { "type": "string" } },
                }),
            };
            let output = json!({
                "url": hosts.page_url("0Qm1Yv2nT3uW4xZ5aB6cD7"),
                "unlisted_token": "0Qm1Yv2nT3uW4xZ5aB6cD7", "claim_token": "clm_0Qm1Yv2nT3uW4xZ5", "expires_at": null,
            });
            (Some(body), None, output)
        }
        Item::Provision => {
            let output = json!({
                "ok": true, "protocol": "x402", "api_key": "stk_live_0Qm1Yv2nT3uW", "prefix": "stk_live_0Qm1",
                "usage": "Authorization: Bearer stk_live_0Qm1Yv2nT3uW",
            });
            (None, None, output)
        }
        Item::Unlock(sku) => {
            let query = Example {
                value: json!({ "feature": sku.as_str() }),
                schema: json!({
                    "type": "object", "required": ["feature"],
                    "properties": { "feature": { "type": "string", "enum": [sku.as_str()] } },
                }),
            };
            (None, Some(query), json!({ "ok": true, "sku": sku.as_str() }))
        }
        Item::Topup => (None, None, json!({})),
    };
    Bazaar { method: "POST", body, query, output }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::host::Origin;

    #[test]
    fn every_item_is_bought_at_an_address_of_its_own() {
        let origin = Origin::parse("https://api.example.com").unwrap();
        let hosts = Hosts::new(origin.clone(), origin, "api.example.com".to_owned(), true);
        let urls: Vec<String> = Item::ALL.map(|item| resource(&hosts.base.url(), item).url).to_vec();
        assert_eq!(urls[0], "https://api.example.com/publish");
        assert_eq!(urls[5], "https://api.example.com/unlock?feature=higher_limits");
        let all: std::collections::HashSet<_> = urls.iter().collect();
        assert_eq!(all.len(), urls.len());
        for item in Item::ALL {
            let bazaar = bazaar(&hosts, item);
            assert_eq!(bazaar.method, "POST");
            // It is sent in a header, and not every client decodes UTF-8.
            assert!(bazaar.output.to_string().is_ascii(), "{}", bazaar.output);
            assert!(resource("", item).description.is_ascii());
        }
    }
}
