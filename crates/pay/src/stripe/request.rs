//! Requests to the processor: method, path, form and idempotency key. The base URL, the secret key and the version header are
//! added by the caller.

use std::fmt;

use super::{Money, ObjectId, SharedPaymentToken};

/// A request to the processor, with a form in `application/x-www-form-urlencoded`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiRequest {
    pub method: Method,
    /// With the query of a GET.
    pub path: String,
    /// The body; empty if there are no parameters.
    pub form: String,
    /// The header `Idempotency-Key`. A retry must send the same key and the same form.
    pub idempotency_key: Option<String>,
}

impl ApiRequest {
    /// The path without the query, and the parameters: the query of a GET, or the form.
    pub fn path_and_parameters(&self) -> (&str, &str) {
        match (self.method, self.path.split_once('?')) {
            (Method::Get, Some((path, query))) => (path, query),
            _ => (&self.path, &self.form),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Post,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A payment form to open: what is sold, for how much, and where the person goes afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCheckout<'a> {
    /// Our id of the purchase: the processor repeats it in every answer, and it makes the request idempotent.
    pub reference: &'a str,
    pub price: Money,
    /// The name of the product on the form.
    pub product: &'a str,
    pub feature: &'a str,
    pub success_url: &'a str,
    pub cancel_url: &'a str,
    /// 30 minutes to 24 hours from now by the processor's clock: leave a minute for the difference between clocks.
    pub expires_at: i64,
}

/// A charge of a shared payment token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenCharge<'a> {
    pub token: &'a SharedPaymentToken,
    pub price: Money,
    pub feature: &'a str,
    /// Our id of the purchase. It must be the same in every request that charges this token: the idempotency key depends on
    /// the token alone, and the processor refuses a key that it has seen with other parameters.
    pub request_id: &'a str,
    pub spelling: TokenSpelling,
}

/// How the token is named in the form. The API is a preview, and its documents disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenSpelling {
    /// `payment_method_data[shared_payment_granted_token]`
    #[default]
    Nested,
    /// `shared_payment_granted_token`
    TopLevel,
}

impl TokenSpelling {
    const fn name(self) -> &'static str {
        match self {
            Self::Nested => "payment_method_data[shared_payment_granted_token]",
            Self::TopLevel => "shared_payment_granted_token",
        }
    }
}

/// Opens a payment form. The answer is read with [`read_checkout`](super::read_checkout).
pub fn create_checkout(new: &NewCheckout<'_>) -> ApiRequest {
    let form = encode(&[
        ("mode", "payment"),
        ("line_items[0][quantity]", "1"),
        ("line_items[0][price_data][currency]", new.price.currency.as_str()),
        ("line_items[0][price_data][unit_amount]", &new.price.minor_units.to_string()),
        ("line_items[0][price_data][product_data][name]", new.product),
        ("client_reference_id", new.reference),
        ("metadata[feature]", new.feature),
        ("success_url", new.success_url),
        ("cancel_url", new.cancel_url),
        ("expires_at", &new.expires_at.to_string()),
        // Delayed methods, such as bank debits, would be unpaid for days.
        ("payment_method_types[0]", "card"),
    ]);
    let idempotency_key = Some(format!("pay_session_{}", new.reference));
    ApiRequest { method: Method::Post, path: "/v1/checkout/sessions".to_owned(), form, idempotency_key }
}

pub fn retrieve_checkout(id: &ObjectId) -> ApiRequest {
    without_form(Method::Get, format!("/v1/checkout/sessions/{id}"))
}

/// Closes a payment form that is still open.
pub fn expire_checkout(id: &ObjectId) -> ApiRequest {
    without_form(Method::Post, format!("/v1/checkout/sessions/{id}/expire"))
}

/// Charges a token. The answer is read with [`read_charge`](super::read_charge).
pub fn charge_token(charge: &TokenCharge<'_>) -> ApiRequest {
    let form = encode(&[
        ("amount", &charge.price.minor_units.to_string()),
        ("currency", charge.price.currency.as_str()),
        ("confirm", "true"),
        // Nobody is there to be redirected.
        ("automatic_payment_methods[enabled]", "true"),
        ("automatic_payment_methods[allow_redirects]", "never"),
        (charge.spelling.name(), charge.token.reveal()),
        ("metadata[feature]", charge.feature),
        ("metadata[request_id]", charge.request_id),
    ]);
    let idempotency_key = Some(charge.token.idempotency_key());
    ApiRequest { method: Method::Post, path: "/v1/payment_intents".to_owned(), form, idempotency_key }
}

pub fn retrieve_intent(id: &ObjectId) -> ApiRequest {
    without_form(Method::Get, format!("/v1/payment_intents/{id}"))
}

/// Cancels a payment intent that is not paid. The answer is read with [`read_charge`](super::read_charge).
pub fn cancel_intent(id: &ObjectId) -> ApiRequest {
    without_form(Method::Post, format!("/v1/payment_intents/{id}/cancel"))
}

/// Lists the refunds of a payment. The answer is read with [`read_refunds`](super::read_refunds).
pub fn list_refunds(intent: &ObjectId) -> ApiRequest {
    without_form(Method::Get, format!("/v1/refunds?payment_intent={intent}&limit=100"))
}

fn without_form(method: Method, path: String) -> ApiRequest {
    ApiRequest { method, path, form: String::new(), idempotency_key: None }
}

fn encode(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Keeps the form out of logs, because it may hold a token.
impl fmt::Debug for ApiRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("idempotency_key", &self.idempotency_key)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKOUT: NewCheckout<'_> = NewCheckout {
        reference: "pay_1",
        price: Money::usd_cents(600),
        product: "API key & credit",
        feature: "provision",
        success_url: "https://api.pages.test/pay/x?done=1",
        cancel_url: "https://api.pages.test/pay/x",
        expires_at: 1_767_227_460,
    };

    #[test]
    fn a_checkout_is_created_with_these_bytes() {
        let request = create_checkout(&CHECKOUT);
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/checkout/sessions"));
        assert_eq!(request.idempotency_key.as_deref(), Some("pay_session_pay_1"));
        let expected = "mode=payment&line_items%5B0%5D%5Bquantity%5D=1\
            &line_items%5B0%5D%5Bprice_data%5D%5Bcurrency%5D=usd\
            &line_items%5B0%5D%5Bprice_data%5D%5Bunit_amount%5D=600\
            &line_items%5B0%5D%5Bprice_data%5D%5Bproduct_data%5D%5Bname%5D=API+key+%26+credit\
            &client_reference_id=pay_1&metadata%5Bfeature%5D=provision\
            &success_url=https%3A%2F%2Fapi.pages.test%2Fpay%2Fx%3Fdone%3D1\
            &cancel_url=https%3A%2F%2Fapi.pages.test%2Fpay%2Fx\
            &expires_at=1767227460&payment_method_types%5B0%5D=card";
        assert_eq!(request.form, expected);
    }

    #[test]
    fn a_token_is_charged_with_these_bytes_in_either_spelling() {
        let token = SharedPaymentToken::parse("spt_123").unwrap();
        let request = |spelling| {
            let price = Money::usd_cents(100);
            charge_token(&TokenCharge {
                token: &token,
                price,
                feature: "provision",
                request_id: "r1",
                spelling,
            })
        };
        let nested = request(TokenSpelling::default());
        assert_eq!((nested.method, nested.path.as_str()), (Method::Post, "/v1/payment_intents"));
        let expected = "amount=100&currency=usd&confirm=true&automatic_payment_methods%5Benabled%5D=true\
            &automatic_payment_methods%5Ballow_redirects%5D=never\
            &payment_method_data%5Bshared_payment_granted_token%5D=spt_123\
            &metadata%5Bfeature%5D=provision&metadata%5Brequest_id%5D=r1";
        assert_eq!(nested.form, expected);
        let key = token.idempotency_key();
        assert_eq!((key.len(), nested.idempotency_key), (42, Some(key)));
        let top_level = request(TokenSpelling::TopLevel);
        assert!(top_level.form.contains("never&shared_payment_granted_token=spt_123&metadata"));
    }

    #[test]
    fn other_requests_are_a_path() {
        let id = ObjectId::parse("cs_test_1").unwrap();
        for (request, method, path) in [
            (retrieve_checkout(&id), "GET", "/v1/checkout/sessions/cs_test_1"),
            (expire_checkout(&id), "POST", "/v1/checkout/sessions/cs_test_1/expire"),
            (retrieve_intent(&id), "GET", "/v1/payment_intents/cs_test_1"),
            (cancel_intent(&id), "POST", "/v1/payment_intents/cs_test_1/cancel"),
            (list_refunds(&id), "GET", "/v1/refunds?payment_intent=cs_test_1&limit=100"),
        ] {
            assert_eq!((request.method.as_str(), request.path.as_str()), (method, path));
            assert_eq!((request.form.as_str(), request.idempotency_key), ("", None));
        }
    }

    #[test]
    fn a_request_is_logged_without_its_token() {
        let token = SharedPaymentToken::parse("spt_secret").unwrap();
        let price = Money::usd_cents(100);
        let spelling = TokenSpelling::Nested;
        let charge = TokenCharge { token: &token, price, feature: "f", request_id: "r", spelling };
        assert!(!format!("{charge:?} {:?}", charge_token(&charge)).contains("secret"));
    }
}
