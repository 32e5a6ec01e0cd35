//! The card processor of live payments, Stripe: sends requests and returns replies, with the key and version of the settings.
//! `pay` interprets them; anything but a reply is reported as lost, because the card may have been charged.

use super::exchange::{ANSWER_BYTES, client, exchange_with_headers};
use crate::config::StripeSettings;
use anyhow::Result;
use dropleaf_app::{CardProcessor, NoResponse, ProcessorReply};
use dropleaf_pay::stripe::{ApiRequest, Method};
use futures_util::future::BoxFuture;
use http::HeaderName;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder};

const VERSION: HeaderName = HeaderName::from_static("stripe-version");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

#[derive(Debug)]
pub(crate) struct StripeApi {
    client: Client,
    settings: StripeSettings,
}

impl StripeApi {
    pub(crate) fn new(settings: &StripeSettings) -> Result<Self> {
        Ok(Self { client: client()?, settings: settings.clone() })
    }

    fn request(&self, request: &ApiRequest) -> RequestBuilder {
        let url = format!("{}{}", self.settings.api_url.as_str().trim_end_matches('/'), request.path);
        let mut builder = match request.method {
            Method::Get => self.client.get(url),
            Method::Post => self
                .client
                .post(url)
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(request.form.clone()),
        };
        if let Some(key) = &request.idempotency_key {
            builder = builder.header(IDEMPOTENCY_KEY, key);
        }
        builder
            .header(AUTHORIZATION, self.settings.authorization.clone())
            .header(VERSION, self.settings.version.clone())
    }
}

impl CardProcessor for StripeApi {
    fn send<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<ProcessorReply, NoResponse>> {
        let request = self.request(request);
        Box::pin(async move {
            let response = exchange_with_headers(request, self.settings.timeout, ANSWER_BYTES).await;
            let response = response.map_err(NoResponse)?;
            let replayed = response.headers.get(REPLAYED).is_some_and(|value| value == "true");
            Ok(ProcessorReply { status: response.status, replayed, body: response.body })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::scripted_server::{ScriptedServer, answer};
    use dropleaf_pay::stripe::{
        ChargeAnswer, ExpectedCharge, Money, ObjectId, SharedPaymentToken, TokenCharge, TokenSpelling,
        charge_token, read_charge, retrieve_checkout,
    };
    use http::HeaderValue;
    use std::time::Duration;

    const PRICE: Money = Money::usd_cents(100);
    const EXPECTED: ExpectedCharge<'_> =
        ExpectedCharge { price: PRICE, request_id: Some("r1"), intent: None };

    fn api(url: &str) -> StripeApi {
        api_within(Duration::from_mins(1), url)
    }

    fn api_within(timeout: Duration, url: &str) -> StripeApi {
        crate::tls::install_provider();
        let mut authorization = HeaderValue::from_static("Bearer sk_test_hunter2");
        authorization.set_sensitive(true);
        let version = HeaderValue::from_static("2026-07-29.preview");
        StripeApi::new(&StripeSettings { api_url: url.parse().unwrap(), authorization, version, timeout })
            .unwrap()
    }

    fn charge() -> ApiRequest {
        let token = SharedPaymentToken::parse("spt_secret").unwrap();
        let spelling = TokenSpelling::Nested;
        charge_token(&TokenCharge {
            token: &token,
            price: PRICE,
            feature: "provision",
            request_id: "r1",
            spelling,
        })
    }

    #[tokio::test]
    async fn requests_are_sent_as_the_processor_expects_them() {
        let declined = r#"{"error":{"type":"card_error","code":"card_declined"}}"#;
        let replayed = answer(402, declined).replacen("\r\n", "\r\nIdempotent-Replayed: true\r\n", 1);
        let there = ScriptedServer::new(vec![answer(200, "{}"), replayed]);
        let api = api(&there.url);
        let reply = api.send(&retrieve_checkout(&ObjectId::parse("cs_1").unwrap())).await.unwrap();
        assert_eq!((reply.status, reply.replayed, reply.body.as_ref()), (200, false, &b"{}"[..]));
        let request = charge();
        // A decline is a reply too.
        let reply = api.send(&request).await.unwrap();
        assert_eq!((reply.status, reply.replayed, reply.body.as_ref()), (402, true, declined.as_bytes()));
        let received = there.requests();
        assert!(received[0].starts_with("GET /v1/checkout/sessions/cs_1 "), "{received:?}");
        assert!(!received[0].contains("idempotency-key") && !received[0].contains("content-type"));
        assert!(received[1].starts_with("POST /v1/payment_intents "), "{received:?}");
        assert!(received[1].contains("content-type: application/x-www-form-urlencoded\r\n"));
        let key = request.idempotency_key.unwrap();
        assert!(received[1].contains(&format!("idempotency-key: {key}\r\n")), "{received:?}");
        assert!(received[1].ends_with(&request.form));
        for request in received {
            assert!(request.contains("authorization: Bearer sk_test_hunter2\r\n"), "{request}");
            assert!(request.contains("stripe-version: 2026-07-29.preview\r\n"), "{request}");
        }
        assert_eq!(there.connections(), 1, "the connection is kept");
    }

    #[tokio::test]
    async fn a_path_in_the_address_is_kept() {
        let there = ScriptedServer::new(vec![answer(200, "{}")]);
        api(&format!("{}/stripe/", there.url)).send(&charge()).await.unwrap();
        assert!(there.requests()[0].starts_with("POST /stripe/v1/payment_intents "));
    }

    #[tokio::test]
    async fn whatever_is_no_reply_is_lost() {
        let elsewhere = ScriptedServer::new(vec![answer(200, "{}")]);
        let redirect = format!("HTTP/1.1 307 x\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", elsewhere.url);
        let whole = "x".repeat(256 * 1024);
        for (case, sent) in [
            ("redirect", redirect),
            ("oversize", answer(200, &format!("{whole}x"))),
            ("closed", String::new()),
            ("cut short", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"id".to_owned()),
            ("not HTTP", "SSH-2.0-x\r\n".to_owned()),
            ("silent", ScriptedServer::SILENCE.to_owned()),
        ] {
            let there = ScriptedServer::new(vec![sent]);
            // A server that never responds is given up soon; any other response may take its time.
            let timeout = Duration::from_secs(if case == "silent" { 1 } else { 60 });
            let Err(NoResponse(why)) = api_within(timeout, &there.url).send(&charge()).await else {
                panic!("{case}")
            };
            let is_clean = ["hunter2", "secret", "127.0.0.1"].iter().all(|text| !why.contains(text));
            assert!(!why.is_empty() && is_clean, "{case}: {why}");
        }
        assert!(elsewhere.requests().is_empty(), "a redirect is not followed");
    }

    #[tokio::test]
    async fn a_reply_that_is_garbage_leaves_the_outcome_open() {
        for sent in [answer(200, "<html>"), answer(502, "Bad gateway"), answer(200, r#"{"object":"charge"}"#)]
        {
            let there = ScriptedServer::new(vec![sent]);
            let reply = api(&there.url).send(&charge()).await.unwrap();
            let read = read_charge(reply.status, reply.replayed, &reply.body, &EXPECTED);
            assert!(matches!(read, ChargeAnswer::Ambiguous { .. }), "{read:?}");
        }
    }

    #[tokio::test]
    async fn an_unreachable_processor_is_lost_too() {
        // Bound, so that no other process takes the port, and not listening.
        let taken = tokio::net::TcpSocket::new_v4().unwrap();
        taken.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let address = taken.local_addr().unwrap();
        assert!(api(&format!("http://{address}")).send(&charge()).await.is_err());
    }

    #[test]
    fn the_key_is_hidden() {
        let shown = format!("{:?}", api("https://api.example.com"));
        assert!(shown.contains("api.example.com") && !shown.contains("hunter2"), "{shown}");
    }
}
