//! The body of `POST /verify` and `POST /settle`. It is rebuilt from the checked payment, so that nothing else the client sent
//! reaches the facilitator; the requirements are always our own offer.

use serde_json::{Value, json};

use crate::checked::Checked;
use crate::extensions::Bazaar;
use crate::generation::Generation;
use crate::json::Object;
use crate::offer::SCHEME;
use crate::receipt::network_name;
use crate::terms::Terms;

/// The body for both endpoints. The same payment always yields the same bytes: store them to repeat a settlement.
pub fn build_request(checked: &Checked, terms: &Terms) -> String {
    let version = checked.generation.number();
    let payload = checked.payment.to_json();
    let resource = terms.resource();
    let (payment, requirements) = match checked.generation {
        Generation::V1 => {
            let network = network_name(checked.network, Generation::V1);
            let payment =
                json!({ "x402Version": version, "scheme": SCHEME, "network": network, "payload": payload });
            let schema = terms.bazaar.as_ref().map(Bazaar::v1_json);
            (payment, checked.offer.v1_json(resource, schema).unwrap_or(Value::Null))
        }
        Generation::V2 => {
            let accepted = checked.offer.v2_json();
            let payment = json!({
                "x402Version": version,
                "resource": { "url": resource.url, "description": resource.description, "mimeType": resource.mime_type },
                "accepted": accepted,
                "payload": payload,
                "extensions": extensions(checked, terms),
            });
            (payment, accepted)
        }
    };
    json!({ "x402Version": version, "paymentPayload": payment, "paymentRequirements": requirements })
        .to_string()
}

/// Our catalog description, if the client sent it back, which is how it requests that the endpoint be listed.
fn extensions(checked: &Checked, terms: &Terms) -> Object {
    let bazaar = terms.bazaar.as_ref().filter(|_| checked.wants_catalogue).map(Bazaar::v2_json);
    bazaar.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
