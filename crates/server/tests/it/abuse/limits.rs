//! Rate limits: anonymous publishing per address, requests per key, and which address counts. Spec §8.

use crate::harness::{Answer, DAY, Form, HOUR, Node, Setup, on_each_database, page};
use serde_json::json;

async fn publish_from(node: &Node, forwarded: Option<&str>) -> Answer {
    let ask = node.post("/sites").form(Form::file("a.html", page("Anonymous")));
    match forwarded {
        Some(list) => ask.header("x-forwarded-for", list).send().await,
        None => ask.send().await,
    }
}

#[tokio::test]
async fn eleventh_anonymous_page_in_an_hour_is_429() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            node.clock.advance(60);
            for n in 1..=10 {
                let answer = publish_from(node, None).await.expect(201);
                assert_eq!(answer.header("ratelimit-policy"), "\"anonymous_hour\";q=10;w=3600");
                assert_eq!(answer.header("ratelimit"), format!("\"anonymous_hour\";r={};t=3540", 10 - n));
            }
            let refused = publish_from(node, None).await.refused(429, "rate_limited");
            assert_eq!(refused.header("retry-after"), "3540");
            assert_eq!(refused.header("ratelimit"), "\"anonymous_hour\";r=0;t=3540");
            assert_eq!(refused.header("ratelimit-policy"), "\"anonymous_hour\";q=10;w=3600");
            node.clock.advance(3540);
            publish_from(node, None).await.expect(201);
        },
    )
    .await;
}

#[tokio::test]
async fn twenty_first_anonymous_page_in_a_day_is_429() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            for _ in 0..2 {
                for _ in 0..10 {
                    publish_from(node, None).await.expect(201);
                }
                node.clock.advance(HOUR);
            }
            let refused = publish_from(node, None).await.refused(429, "rate_limited");
            assert_eq!(refused.header("retry-after"), (22 * HOUR).to_string());
            node.clock.advance(DAY);
            publish_from(node, None).await.expect(201);
        },
    )
    .await;
}

#[tokio::test]
async fn concurrent_anonymous_publishes_never_exceed_the_rate() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let answers = futures_util::future::join_all((0..20).map(|_| publish_from(node, None))).await;
            assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 10);
            assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 429)));
        },
    )
    .await;
}

#[tokio::test]
async fn refused_uploads_are_not_counted_as_pages_but_as_attempts() {
    let node = Setup::new().with_rates().start().await;
    for _ in 0..29 {
        let bad = node.post("/sites").form(Form::file("a.docx", "x"));
        bad.send().await.refused(400, "unsupported_type");
    }
    publish_from(&node, None).await.expect(201);
    publish_from(&node, None).await.refused(429, "rate_limited");
    node.clock.advance(60);
    publish_from(&node, None).await.expect(201);
}

#[tokio::test]
async fn address_is_the_peers_unless_a_trusted_proxy_names_another() {
    let node = Setup::new().with_rates().set("limits.anonymous_per_hour", "1").start().await;
    publish_from(&node, Some("203.0.113.7")).await.expect(201);
    publish_from(&node, Some("203.0.113.8")).await.refused(429, "rate_limited");

    let setup = Setup::new().with_rates().set("limits.anonymous_per_hour", "1");
    let node = setup.set("trusted_proxies", "127.0.0.0/8,10.0.0.0/8").start().await;
    publish_from(&node, Some("203.0.113.7")).await.expect(201);
    publish_from(&node, Some("198.51.100.9, 203.0.113.7")).await.refused(429, "rate_limited");
    publish_from(&node, Some("203.0.113.7, 203.0.113.8")).await.expect(201);
    publish_from(&node, Some("203.0.113.9, 10.1.2.3")).await.expect(201);
    publish_from(&node, Some("203.0.113.9:5000")).await.refused(429, "rate_limited");
}

#[tokio::test]
async fn proxy_that_names_nobody_is_400() {
    let node = Setup::new().with_rates().set("trusted_proxies", "127.0.0.1").start().await;
    for forwarded in [None, Some(""), Some("unknown"), Some("127.0.0.1"), Some("203.0.113.7, nonsense")] {
        publish_from(&node, forwarded).await.refused(400, "no_client_ip");
    }
    let owned = node.post("/sites").key(&node.key).form(Form::file("a.html", page("Owned")));
    owned.send().await.expect(201);
}

#[tokio::test]
async fn ipv6_clients_count_by_their_64() {
    let setup = Setup::new().with_rates().set("limits.anonymous_per_hour", "1");
    let node = setup.set("trusted_proxies", "127.0.0.1").start().await;
    publish_from(&node, Some("2001:db8:1:2::5")).await.expect(201);
    publish_from(&node, Some("2001:db8:1:2:ffff::9")).await.refused(429, "rate_limited");
    publish_from(&node, Some("[2001:db8:1:2::77]:443")).await.refused(429, "rate_limited");
    publish_from(&node, Some("2001:db8:1:3::5")).await.expect(201);
    publish_from(&node, Some("::ffff:203.0.113.7")).await.expect(201);
    publish_from(&node, Some("203.0.113.7")).await.refused(429, "rate_limited");
}

#[tokio::test]
async fn repeat_of_an_answered_request_is_free() {
    let node = Setup::new().with_rates().set("limits.anonymous_per_hour", "1").start().await;
    let publish = async |once: &str| {
        let form = Form::file("a.html", page("Once"));
        node.post("/sites").header("idempotency-key", once).form(form).send().await
    };
    let first = publish("first").await.expect(201);
    assert_eq!(publish("first").await.expect(201).body, first.body);
    publish("second").await.refused(429, "rate_limited");
}

#[tokio::test]
async fn addresses_are_not_stored() {
    let setup = Setup::new().with_rates().set("trusted_proxies", "127.0.0.1");
    let node = setup.start().await;
    publish_from(&node, Some("203.0.113.77")).await.expect(201);
    assert_eq!(node.count("SELECT COUNT(*) FROM counters WHERE key LIKE 'anonymous_hour:%'").await, 1);
    let keys = node.rows("SELECT key FROM counters", vec![], |row| Ok(row.text(0)?.to_owned())).await;
    assert!(keys.iter().all(|key| !key.contains("203.0")), "{keys:?}");
}

#[tokio::test]
async fn key_has_120_requests_a_minute() {
    let node = Setup::new().with_rates().start().await;
    for n in 1..=120 {
        let answer = node.get("/me").key(&node.key).send().await.expect(200);
        assert_eq!(answer.header("ratelimit"), format!("\"key_minute\";r={};t=60", 120 - n));
        assert_eq!(answer.header("ratelimit-policy"), "\"key_minute\";q=120;w=60");
    }
    let refused = node.get("/me").key(&node.key).send().await.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), "60");
    assert_eq!(refused.header("ratelimit"), "\"key_minute\";r=0;t=60");
    let other = node.account("solo").await;
    node.get("/me").key(&other).send().await.expect(200);
    node.clock.advance(60);
    node.get("/me").key(&node.key).send().await.expect(200);
}

#[tokio::test]
async fn keys_of_one_account_share_its_rate() {
    let node = Setup::new().with_rates().set("limits.account_per_minute", "5").start().await;
    let mut keys = vec![node.key.clone()];
    for _ in 0..2 {
        let made = node.post("/api-keys").key(&node.key).json(&json!({})).send().await.expect(201).json();
        keys.push(made["key"].as_str().unwrap().to_owned());
    }
    for (key, left) in keys.iter().zip([2, 1, 0]) {
        let answer = node.get("/me").key(key).send().await.expect(200);
        assert_eq!(answer.header("ratelimit"), format!("\"account_minute\";r={left};t=60"));
    }
    for key in &keys {
        let refused = node.get("/me").key(key).send().await.refused(429, "rate_limited");
        assert_eq!(refused.header("ratelimit-policy"), "\"account_minute\";q=5;w=60");
    }
    let other = node.account("solo").await;
    node.get("/me").key(&other).send().await.expect(200);
    node.clock.advance(60);
    node.get("/me").key(&keys[2]).send().await.expect(200);
}

#[tokio::test]
async fn exempt_networks_are_left_alone() {
    let node = Node::start().await;
    for _ in 0..35 {
        publish_from(&node, None).await.expect(201);
    }
    let answer = node.get("/me").key(&node.key).send().await.expect(200);
    assert!(!answer.has("ratelimit"));
}

#[tokio::test]
async fn viewing_is_not_rate_limited() {
    let node = Setup::new().with_rates().start().await;
    let site = node.publish_page("Popular").await;
    for _ in 0..300 {
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    }
}
