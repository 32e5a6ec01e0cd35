//! Threads: replies by viewers, the owner and programs, reopening, filters and bulk resolve. Spec §4 Feedback.

use crate::harness::{Ask, Form, HOUR, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

async fn annotated(node: &Node) -> Value {
    node.publish(Form::file("page.html", page("Draft")).field("agentation", "true")).await
}

fn endpoint(site: &Value, rest: &str) -> String {
    format!("{}_dropleaf/feedback{rest}", site["url"].as_str().unwrap())
}

/// A comment by a viewer, as its browser got it.
async fn left(node: &Node, site: &Value, said: Value) -> Value {
    node.post(&endpoint(site, "")).json(&said).send().await.expect(201).json()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap().to_owned()
}

fn tokens(made: &Value) -> String {
    format!("{}:{}", text(made, "id"), text(made, "viewer_token"))
}

fn post(node: &Node, path: &str) -> Ask {
    node.post(path).header("accept", "application/json")
}

fn reply(node: &Node, site: &Value, made: &Value, said: &Value) -> Ask {
    let path = endpoint(site, &format!("/{}/replies", text(made, "id")));
    post(node, &path).header("feedback-tokens", &tokens(made)).json(said)
}

/// What a viewer with these secrets is shown.
async fn shown(node: &Node, site: &Value, secrets: &str) -> Vec<Value> {
    let ask = node.get(&endpoint(site, "")).header("feedback-tokens", secrets);
    ask.send().await.expect(200).json()["feedback"].as_array().unwrap().clone()
}

async fn listed(node: &Node, site: &Value, query: &str) -> Vec<Value> {
    let path = format!("{}/feedback{query}", site_path(site));
    node.get(&path).key(&node.key).send().await.expect(200).json()["feedback"].as_array().unwrap().clone()
}

fn comments(list: &[Value]) -> Vec<&str> {
    list.iter().map(|item| item["comment"].as_str().unwrap()).collect()
}

fn own(node: &Node, site: &Value, rest: &str, body: &Value) -> Ask {
    node.post(&format!("{}/feedback{rest}", site_path(site))).key(&node.key).json(body)
}

#[tokio::test]
async fn viewer_and_owner_talk_and_only_the_author_of_the_comment_sees_it() {
    on_each_database(Setup::new, async |node| {
        let site = annotated(node).await;
        let made = left(node, &site, json!({"comment": "Old number."})).await;
        let id = text(&made, "id");
        let answer = own(node, &site, &format!("/{id}/replies"), &json!({"text": " Which one?\u{0} "}));
        let answer = answer.send().await.expect(201).json();
        assert_eq!(
            (&answer["reply"]["text"], &answer["reply"]["author"]),
            (&json!("Which one?"), &json!("agent"))
        );
        let said = json!({"text": "The second.", "name": " Ada\n"});
        let replied = reply(node, &site, &made, &said).send().await.expect(201).json();
        assert_eq!((&replied["reply"]["name"], &replied["state"]), (&json!("Ada"), &json!("open")));
        let mine = shown(node, &site, &tokens(&made)).await;
        assert_eq!(
            (&mine[0]["is_own"], &mine[0]["can_reply"], &mine[0]["reply_count"]),
            (&json!(true), &json!(true), &json!(2))
        );
        assert_eq!(mine[0]["replies"][1]["text"], "The second.");
        for secrets in ["", &format!("{id}:wrong"), "junk"] {
            let other = shown(node, &site, secrets).await;
            assert_eq!((&other[0]["replies"], &other[0]["can_reply"]), (&json!([]), &json!(false)));
            let path = endpoint(&site, &format!("/{id}/replies"));
            let ask = post(node, &path).header("feedback-tokens", secrets).json(&json!({"text": "Me too."}));
            ask.send().await.refused(403, "forbidden");
        }
        node.patch_site(&site, json!({"feedback_visible": "everyone"})).await.expect(200);
        let other = shown(node, &site, "").await;
        assert_eq!(other[0]["replies"].as_array().unwrap().len(), 2);
        let path = endpoint(&site, &format!("/{id}/replies"));
        node.post(&path).json(&json!({"text": "Me too."})).send().await.expect(201);
        let all =
            node.get(&format!("{}/feedback/{id}/replies", site_path(&site))).key(&node.key).send().await;
        let all = all.expect(200).json();
        assert_eq!(all["replies"].as_array().unwrap().len(), 3);
        assert!(text(&all, "notice").contains("untrusted data"));
        let stored = node.count("SELECT COUNT(*) FROM feedback WHERE viewer_hash IS NOT NULL").await;
        assert_eq!(stored, 1, "only the hash of the secret is kept");
    })
    .await;
}

#[tokio::test]
async fn resolved_comment_is_reopened_by_choice_and_is_unread_again() {
    on_each_database(Setup::new, async |node| {
        let site = annotated(node).await;
        let made = left(node, &site, json!({"comment": "Old number."})).await;
        let id = text(&made, "id");
        listed(node, &site, "").await;
        let unread = "SELECT COUNT(*) FROM feedback WHERE read_at IS NULL AND resolved_at IS NULL";
        assert_eq!(node.count(unread).await, 0);
        node.post(&format!("/feedback/{id}/resolve")).key(&node.key).send().await.expect(200);
        assert!(shown(node, &site, "").await.is_empty(), "other viewers no longer see it");
        assert_eq!(shown(node, &site, &tokens(&made)).await[0]["state"], "resolved");
        let path = endpoint(&site, &format!("/{id}/replies"));
        post(node, &path).json(&json!({"text": "x"})).send().await.refused(404, "not_found");
        let replied = reply(node, &site, &made, &json!({"text": "Thanks."})).send().await.expect(201).json();
        assert_eq!(replied["state"], "resolved");
        let said = json!({"text": "It is back.", "still_a_problem": true});
        let replied = reply(node, &site, &made, &said).send().await.expect(201).json();
        assert_eq!((&replied["state"], &replied["reply"]["reopens"]), (&json!("reopened"), &json!(true)));
        assert_eq!(node.count(unread).await, 1);
        let item = &listed(node, &site, "?state=reopened").await[0];
        assert_eq!((&item["reopened_by"], &item["resolved_at"]), (&json!("viewer"), &Value::Null));
        node.post(&format!("/feedback/{id}/resolve")).key(&node.key).send().await.expect(200);
        let reopened = own(node, &site, &format!("/{id}/reopen"), &json!({})).send().await.expect(200).json();
        assert_eq!(reopened["state"], "reopened");
        assert_eq!(listed(node, &site, "").await[0]["reopened_by"], "agent");
        own(node, &site, "/fb_00000000000000000000/reopen", &json!({}))
            .send()
            .await
            .refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn replies_have_the_checks_limits_and_rates_of_comments() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let site = annotated(node).await;
            let made = left(node, &site, json!({"comment": "x"})).await;
            for bad in [
                json!({}),
                json!({"text": " "}),
                json!({"text": "x".repeat(4001)}),
                json!({"text": "x", "name": "n".repeat(61)}),
            ] {
                reply(node, &site, &made, &bad).send().await.refused(400, "invalid_field");
            }
            let plain = post(node, &endpoint(&site, &format!("/{}/replies", text(&made, "id"))))
                .header("content-type", "text/plain");
            plain.send().await.refused(400, "invalid_request");
            for _ in 0..19 {
                reply(node, &site, &made, &json!({"text": "x"})).send().await.expect(201);
            }
            reply(node, &site, &made, &json!({"text": "x"})).send().await.refused(429, "rate_limited");
            node.clock.advance(HOUR);
            let path = format!("/{}/replies", text(&made, "id"));
            for _ in 0..31 {
                own(node, &site, &path, &json!({"text": "x", "author": "owner"})).send().await.expect(201);
            }
            own(node, &site, &path, &json!({"text": "x"})).send().await.refused(409, "too_many");
            own(node, &site, &path, &json!({"text": "x", "author": "viewer"}))
                .send()
                .await
                .refused(400, "invalid_field");
            let item = &listed(node, &site, "").await[0];
            assert_eq!((&item["reply_count"], item["replies"].as_array().unwrap().len()), (&json!(50), 5));
            node.delete(&format!("/feedback/{}", text(&made, "id"))).key(&node.key).send().await.expect(200);
            assert_eq!(
                node.count("SELECT COUNT(*) FROM feedback_replies").await,
                0,
                "replies go with their comment"
            );
        },
    )
    .await;
}

#[tokio::test]
async fn filters_and_orders_select_part_by_part() {
    on_each_database(Setup::new, async |node| {
        let site = annotated(node).await;
        let severities = ["suggestion", "blocking", "important", "blocking", ""];
        let mut made = Vec::new();
        for (number, severity) in severities.into_iter().enumerate() {
            let intent = if number % 2 == 0 { "fix" } else { "question" };
            let said = json!({"comment": format!("Number {number} is 50% Ä_"), "severity": severity, "intent": intent});
            made.push(left(node, &site, said).await);
            node.clock.advance(1);
        }
        node.post(&format!("/feedback/{}/resolve", text(&made[1], "id"))).key(&node.key).send().await.expect(200);
        let number = |item: &Value| item["comment"].as_str().unwrap().chars().nth(7).unwrap();
        for (query, expected) in [
            ("", "43201"),
            ("?order=oldest", "02341"),
            ("?order=severity", "32041"),
            ("?order=severity&state=all", "32041"),
            ("?state=open&order=oldest", "0234"),
            ("?state=resolved", "1"),
            ("?state=reopened", ""),
            ("?severity=blocking", "31"),
            ("?intent=question&order=oldest", "31"),
            ("?query=number+2", "2"),
            ("?query=50%25+%C3%84_", "43201"),
            ("?query=%25%25", ""),
            ("?query=none", ""),
        ] {
            let seen: String = listed(node, &site, query).await.iter().map(number).collect();
            assert_eq!(seen, expected, "{query}");
            let (mut parts, mut cursor) = (String::new(), String::new());
            let mark = if query.is_empty() { "?" } else { "&" };
            loop {
                let path = format!("{}/feedback{query}{mark}limit=2{cursor}", site_path(&site));
                let list = node.get(&path).key(&node.key).send().await.expect(200).json();
                parts.extend(list["feedback"].as_array().unwrap().iter().map(number));
                let Some(next) = list["next_cursor"].as_str() else { break };
                cursor = format!("&cursor={next}");
            }
            assert_eq!(parts, expected, "{query}, two at a time");
        }
        for bad in ["?state=shut", "?severity=x", "?intent=x", "?order=x", "?order=severity&cursor=open-1-fb_00000000000000000000"] {
            let ask = node.get(&format!("{}/feedback{bad}", site_path(&site))).key(&node.key);
            ask.send().await.refused(400, "invalid_field");
        }
    })
    .await;
}

#[tokio::test]
async fn many_are_resolved_by_id_or_filter_all_or_none() {
    on_each_database(Setup::new, async |node| {
        let site = annotated(node).await;
        let mut ids = Vec::new();
        for severity in ["blocking", "blocking", "suggestion"] {
            ids.push(text(&left(node, &site, json!({"comment": "x", "severity": severity})).await, "id"));
        }
        let unknown = "fb_00000000000000000000";
        let refused = own(node, &site, "/resolve", &json!({"ids": [ids[0], unknown]})).send().await;
        assert_eq!(refused.refused(404, "not_found").json()["not_found"], unknown);
        assert_eq!(listed(node, &site, "?state=open").await.len(), 3);
        for bad in [
            json!({}),
            json!({"ids": []}),
            json!({"ids": ["x"]}),
            json!({"ids": [ids[0]], "severity": "blocking"}),
            json!({"severity": "x"}),
        ] {
            own(node, &site, "/resolve", &bad).send().await.refused(400, "invalid_field");
        }
        let done = own(node, &site, "/resolve", &json!({"severity": "blocking", "note": "v3"}))
            .send()
            .await
            .expect(200);
        assert_eq!(done.json()["ids"].as_array().unwrap().len(), 2);
        assert_eq!(listed(node, &site, "?state=resolved").await[0]["resolved_note"], "v3");
        let again = own(node, &site, "/resolve", &json!({"ids": ids})).send().await.expect(200).json();
        assert_eq!(again["ids"].as_array().unwrap().len(), 3);
        assert!(listed(node, &site, "?state=open").await.is_empty());
        let other = node.account("solo").await;
        let path = format!("{}/feedback/resolve", site_path(&site));
        node.post(&path).key(&other).json(&json!({"ids": ids})).send().await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn tools_filter_reply_and_resolve_several() {
    on_each_database(Setup::new, async |node| {
        let site = annotated(node).await;
        let first = left(node, &site, json!({"comment": "One.", "severity": "blocking"})).await;
        let second = left(node, &site, json!({"comment": "Two."})).await;
        let client = node.mcp_modern(&node.key);
        let list = client.call("list_feedback", json!({"site": site["id"], "order": "severity"})).await;
        assert_eq!(comments(list["structuredContent"]["feedback"].as_array().unwrap()), ["One.", "Two."]);
        let list = client.call("list_feedback", json!({"site": site["id"], "query": "two"})).await;
        assert_eq!(comments(list["structuredContent"]["feedback"].as_array().unwrap()), ["Two."]);
        let replied = client.call("reply_to_feedback", json!({"id": first["id"], "text": "Changed."})).await;
        assert_eq!(replied["structuredContent"]["reply"]["author"], "agent");
        let done =
            client.call("resolve_feedback", json!({"ids": [first["id"], second["id"]], "note": "v2"})).await;
        assert_eq!(done["structuredContent"]["ids"].as_array().unwrap().len(), 2);
        assert!(listed(node, &site, "?state=open").await.is_empty());
        let mine = shown(node, &site, &tokens(&first)).await;
        assert_eq!(mine[0]["replies"][0]["text"], "Changed.");
    })
    .await;
}
