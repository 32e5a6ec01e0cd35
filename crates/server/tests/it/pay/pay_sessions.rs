//! `/pay/sessions` and the pages behind its links: a person pays by card, and the program that asked gets what was bought.

use crate::harness::{DAY, NOW, Node, PayLink, Setup, VISA, on_each_database};
use dropleaf_app::SandboxReply;
use dropleaf_pay::stripe::sandbox::{PaymentRef, STALLED_CARD, Step, StepKind};
use futures_util::future::join_all;
use serde_json::{Value, json};

/// Something happens to the payment of a form; its events are delivered.
async fn step(node: &Node, form: &str, kind: StepKind) -> SandboxReply {
    let payment = PaymentRef::Checkout(form.rsplit('/').next().unwrap());
    let reply = node.app().sandbox_processor().unwrap().step(Step { payment, kind }).await.unwrap();
    assert_eq!(reply.status, 200, "{}", reply.body);
    node.app().receive_sandbox_events(&reply.events).await.unwrap();
    reply
}

#[tokio::test]
async fn a_person_pays_and_the_program_gets_a_key_with_credit() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        assert_eq!(
            (&link.made["amount"], &link.made["feature"], &link.made["expires_at"], &link.made["sandbox"]),
            (&json!("6.00"), &json!("provision"), &json!(NOW + 1800), &json!(true))
        );
        let polled = link.poll().await;
        assert_eq!((PayLink::status(&polled), &polled["code"]), ("pending", &json!(link.code)));
        assert!(polled.get("api_key").is_none() && polled.get("key_delivered").is_none());

        let page = link.page().await.expect(200);
        assert!(page.text().contains("$6.00"), "{}", page.text());
        assert!(page.header("cache-control").contains("no-store") && !page.has("refresh"));
        let form = link.open_form().await;
        assert!(form.starts_with(&format!("{}/pay/sandbox/cs_", node.base_url())), "{form}");
        assert_eq!(link.open_form().await, form, "the same form");
        assert!(node.get(&form).browser().send().await.expect(200).text().contains("$6.00"));
        let back = link.submit(&form, VISA, &[]).await.expect(303);
        assert_eq!(back.header("location"), format!("{}?done=1", link.url));
        let paid = node.get(back.header("location")).browser().send().await.expect(200);
        assert!(!paid.has("refresh") && !paid.text().contains("stk_live_"), "{}", paid.text());

        let polled = link.poll().await;
        assert_eq!((PayLink::status(&polled), &polled["key_delivered"]), ("completed", &json!(true)));
        let key = polled["api_key"].as_str().unwrap();
        assert!(key.starts_with(polled["prefix"].as_str().unwrap()) && key.starts_with("stk_live_"));
        let again = link.poll().await;
        assert_eq!((PayLink::status(&again), &again["key_delivered"]), ("completed", &json!(true)));
        assert!(again.get("api_key").is_none() && again.get("prefix").is_none());

        let account = node.account_of(key).await;
        assert_eq!((account.sandbox_balance_minor, account.balance_minor), (500, 0));
        node.check_ledger().await;
        // The link is used up.
        assert_eq!(link.begin().await.expect(303).header("location"), link_path(&link));
        let late = link.submit(&form, VISA, &[]).await.expect(303);
        assert_eq!(late.header("location"), format!("{}?done=1", link.url));
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 1);
    })
    .await;
}

fn link_path(link: &PayLink<'_>) -> String {
    format!("/pay/{}", link.url.rsplit('/').next().unwrap())
}

#[tokio::test]
async fn a_balance_and_an_unlock_are_bought_for_the_account_of_the_key() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        let topup = node.pay_link(&json!({"feature": "topup"}), Some(&key)).await;
        assert_eq!(topup.made["amount"], "10.00");
        topup.pay().await;
        let polled = topup.poll().await;
        assert_eq!(PayLink::status(&polled), "completed");
        for absent in ["api_key", "prefix", "key_delivered", "unlocked"] {
            assert!(polled.get(absent).is_none(), "{polled}");
        }
        assert_eq!(node.account_of(&key).await.sandbox_balance_minor, 1000);

        let body = json!({"feature": "make_permanent", "amount_minor": 250});
        let unlock = node.pay_link(&body, Some(&key)).await;
        assert_eq!(unlock.poll().await["unlocked"], false);
        unlock.pay().await;
        let polled = unlock.poll().await;
        assert_eq!((PayLink::status(&polled), &polled["unlocked"]), ("completed", &json!(true)));
        assert_eq!(node.account_of(&key).await.sandbox_balance_minor, 1050);
        node.post("/pay/sessions").key(&key).json(&body).send().await.refused(409, "conflict");
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn an_unlock_that_the_account_has_by_then_becomes_credit() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        let body = json!({"feature": "make_permanent"});
        let (first, second) =
            (node.pay_link(&body, Some(&key)).await, node.pay_link(&body, Some(&key)).await);
        first.pay().await;
        second.pay().await;
        for link in [first, second] {
            let polled = link.poll().await;
            assert_eq!((PayLink::status(&polled), &polled["unlocked"]), ("completed", &json!(true)));
        }
        assert_eq!(node.account_of(&key).await.sandbox_balance_minor, 200);
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn a_card_that_is_refused_leaves_the_link_payable() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        let form = link.open_form().await;
        for number in ["4000000000000002", "4111111111111111", "4242424242424241", ""] {
            let refused = link.submit(&form, number, &[]).await.expect(422);
            assert!(refused.text().contains("<form"), "another card can be tried");
        }
        let three_d_secure = "4000002500003155";
        for answer in [None, Some("failed"), Some("")] {
            let fields: Vec<_> = answer.map(|answer| ("authentication", answer)).into_iter().collect();
            let status = if answer == Some("failed") { 422 } else { 200 };
            link.submit(&form, three_d_secure, &fields).await.expect(status);
            assert_eq!(PayLink::status(&link.poll().await), "pending", "{answer:?}");
        }
        link.page().await.expect(200);
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
        link.submit(&form, three_d_secure, &[("authentication", "approved")]).await.expect(303);
        assert!(link.poll().await["api_key"].is_string());
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn delayed_money_is_awaited() {
    on_each_database(Setup::new, async |node| {
        for arrives in [true, false] {
            let link = node.key_link().await;
            let form = link.open_form().await;
            let back = link.submit(&form, STALLED_CARD, &[]).await.expect(303);
            assert_eq!(node.get(back.header("location")).send().await.expect(200).header("refresh"), "3");
            let polled = link.poll().await;
            assert!(PayLink::status(&polled) == "processing" && polled.get("api_key").is_none());
            assert_eq!(link.page().await.expect(200).header("refresh"), "3");
            assert_eq!(link.begin().await.expect(303).header("location"), link_path(&link));
            let kind = if arrives { StepKind::ReceiveFunds } else { StepKind::FailFunds };
            step(node, &form, kind).await;
            let polled = link.poll().await;
            let page = link.page().await.expect(200);
            assert!(!page.has("refresh"));
            if arrives {
                assert!(polled["api_key"].is_string(), "{polled}");
            } else {
                assert_eq!(PayLink::status(&polled), "failed");
                assert!(polled.get("api_key").is_none());
            }
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 1);
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn a_link_that_no_one_began_to_pay_expires() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        node.clock.advance(1799);
        link.page().await.expect(200);
        node.clock.advance(1);
        assert!(!link.page().await.expect(410).text().contains("<form"));
        assert_eq!(PayLink::status(&link.poll().await), "expired");
        assert_eq!(link.begin().await.expect(303).header("location"), link_path(&link));
        assert_eq!(node.count("SELECT COUNT(*) FROM sandbox_objects").await, 0, "no form was opened");
        node.clock.advance(2 * DAY);
        node.app().sweep().await.unwrap();
        link.poll_now().send().await.refused(404, "not_found");
        link.page().await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn a_form_is_open_for_a_while_longer_and_expires_then() {
    on_each_database(Setup::new, async |node| {
        let (late, never) = (node.key_link().await, node.key_link().await);
        let forms = [late.open_form().await, never.open_form().await];
        node.clock.advance(1800);
        assert_eq!(PayLink::status(&late.poll().await), "pending");
        assert_eq!(late.open_form().await, forms[0]);
        late.submit(&forms[0], VISA, &[]).await.expect(303);
        assert!(late.poll().await["api_key"].is_string());

        node.clock.advance(1860);
        assert_eq!(PayLink::status(&never.poll().await), "expired");
        never.page().await.expect(410);
        let left = never.submit(&forms[1], VISA, &[]).await.expect(303);
        assert_eq!(left.header("location"), never.url);
        assert_eq!(node.get(&forms[1]).send().await.expect(303).header("location"), never.url);
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 1);
    })
    .await;
}

#[tokio::test]
async fn the_code_the_link_and_the_id_do_not_reveal_each_other() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        let slug = link.url.rsplit('/').next().unwrap().to_owned();
        let form = link.open_form().await;
        let id = node.rows("SELECT id FROM pay_sessions", Vec::new(), |row| row.string(0)).await.remove(0);
        let (code, checkout) = (&link.code, form.rsplit('/').next().unwrap());
        assert!(code.len() >= 22 && slug.len() >= 15);
        let all = [code.as_str(), &slug, &id, checkout];
        for (at, one) in all.iter().enumerate() {
            for (_, other) in all.iter().enumerate().filter(|(other, _)| *other != at) {
                assert!(!one.contains(other), "{one} {other}");
            }
        }
        assert!(!link.url.contains(code) && !link.made["qr"].as_str().unwrap().contains(code));
        link.submit(&form, VISA, &[]).await.expect(303);
        for page in [link.page().await, node.get(&format!("{}?done=1", link.url)).send().await] {
            let text = page.text();
            assert!(!text.contains(code.as_str()) && !text.contains(&id) && !text.contains("stk_live_"));
        }
        // None of them is a code, and the code opens no page.
        for wrong in [&slug, &id, checkout] {
            node.get(&format!("/pay/sessions/{wrong}/poll")).send().await.refused(404, "not_found");
        }
        node.get(&format!("/pay/{code}")).send().await.expect(404);
        assert!(link.poll().await["api_key"].is_string());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_polls_at_once_one_gets_the_key() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        link.pay().await;
        node.clock.advance(3);
        let answers = join_all((0..50).map(|_| link.poll_now().send())).await;
        let polled: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json()).collect();
        assert!(polled.iter().all(|polled| PayLink::status(polled) == "completed"));
        assert_eq!(polled.iter().filter(|polled| polled.get("api_key").is_some()).count(), 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM api_keys WHERE name = 'provisioned'").await, 1);
    })
    .await;
}
