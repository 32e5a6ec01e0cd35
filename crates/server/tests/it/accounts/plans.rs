//! Plans and their limits, enforced atomically. Spec §8.

use crate::harness::{DAY, Form, HOUR, NOW, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

fn form() -> Form {
    Form::file("a.html", page("Planned"))
}

#[tokio::test]
async fn fourth_free_page_is_402_and_names_the_unlock() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        let first = node.publish_as(&key, form()).await;
        node.publish_as(&key, form()).await;
        node.publish_as(&key, form()).await;
        let refused = node.post("/sites").key(&key).form(form()).send().await.refused(402, "plan_page_limit");
        assert_eq!(refused.json()["unlock"], "higher_limits");
        let at = format!("{}/unlock?feature=higher_limits", node.base_url());
        assert_eq!(refused.json()["unlock_url"], at);
        assert!(refused.text().contains("POST /unlock?feature=higher_limits"));
        node.put(&site_path(&first)).key(&key).form(form()).send().await.expect(200);
        node.delete(&site_path(&first)).key(&key).send().await.expect(200);
        node.publish_as(&key, form()).await;
    })
    .await;
}

#[tokio::test]
async fn free_page_lives_7_days_unless_less_is_asked() {
    let node = Node::start().await;
    let key = node.account("free").await;
    assert_eq!(node.publish_as(&key, form()).await["expires_at"], NOW + 7 * DAY);
    let short = node.publish_as(&key, form().field("expires_in_hours", "5")).await;
    assert_eq!(short["expires_at"], NOW + 5 * HOUR);
    let whole = node.publish_as(&key, form().field("expires_in_hours", "168")).await;
    assert_eq!(whole["expires_at"], NOW + 7 * DAY);
}

#[tokio::test]
async fn longer_life_than_the_plans_is_402_and_never_cut() {
    let node = Node::start().await;
    let key = node.account("free").await;
    for asked in ["169", "never"] {
        let ask = node.post("/sites").key(&key).form(form().field("expires_in_hours", asked));
        let refused = ask.send().await.refused(402, "plan_lifetime_limit");
        assert_eq!(refused.json()["unlock"], "make_permanent");
        assert!(refused.text().contains("POST /unlock?feature=make_permanent"));
    }
    let site = node.publish_as(&key, form()).await;
    for change in [
        json!({"expires_at": null}),
        json!({"expires_at": NOW + 7 * DAY + 1}),
        json!({"expires_in_hours": 200}),
    ] {
        let patch = node.patch(&site_path(&site)).key(&key).json(&change).send().await;
        assert_eq!(patch.refused(402, "plan_lifetime_limit").json()["unlock"], "make_permanent");
    }
    let patch = node.patch(&site_path(&site)).key(&key).json(&json!({"expires_at": NOW + 6 * DAY}));
    patch.send().await.expect(200);
}

#[tokio::test]
async fn extending_a_free_page_again_and_again_does_not_outlive_the_plan() {
    let node = Node::start().await;
    let key = node.account("free").await;
    let site = node.publish_as(&key, form()).await;
    node.clock.advance(6 * DAY);
    let patch = node.patch(&site_path(&site)).key(&key).json(&json!({"expires_in_hours": 48}));
    patch.send().await.refused(402, "plan_lifetime_limit");
}

#[tokio::test]
async fn expired_pages_give_their_places_back() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        for _ in 0..3 {
            node.publish_as(&key, form().field("expires_in_hours", "1")).await;
        }
        node.post("/sites").key(&key).form(form()).send().await.refused(402, "plan_page_limit");
        node.clock.advance(HOUR);
        for _ in 0..3 {
            node.publish_as(&key, form()).await;
        }
        node.post("/sites").key(&key).form(form()).send().await.refused(402, "plan_page_limit");
        let me = node.get("/me").key(&key).send().await.expect(200).json();
        assert_eq!(me["counts"]["active_pages"], 3);
    })
    .await;
}

#[tokio::test]
async fn concurrent_publishes_never_exceed_the_plan() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        let tries = (0..20).map(|n| {
            let form = Form::file("a.html", page(&format!("N{n}")));
            node.post("/sites").key(&key).form(form).send()
        });
        let answers = futures_util::future::join_all(tries).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 3);
        for refused in answers.into_iter().filter(|answer| answer.status != 201) {
            refused.refused(402, "plan_page_limit");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 3);
        let me = node.get("/me").key(&key).send().await.expect(200).json();
        assert_eq!(me["counts"]["active_pages"], 3);
    })
    .await;
}

#[tokio::test]
async fn daily_cap_is_429_until_the_next_day() {
    on_each_database(
        || Setup::new().set("plans.solo.publishes_a_day", "3"),
        async |node| {
            let key = node.account("solo").await;
            let site = node.publish_as(&key, form()).await;
            node.publish_as(&key, form()).await;
            node.put(&site_path(&site)).key(&key).form(form()).send().await.expect(200);
            node.clock.advance(HOUR);
            let refused = node.post("/sites").key(&key).form(form()).send().await;
            let refused = refused.refused(429, "plan_daily_limit");
            assert_eq!(refused.header("retry-after"), (23 * HOUR).to_string());
            node.put(&site_path(&site)).key(&key).form(form()).send().await.refused(429, "plan_daily_limit");
            let me = node.get("/me").key(&key).send().await.expect(200).json();
            assert_eq!(me["counts"]["publishes_today"], 3);
            node.clock.advance(23 * HOUR);
            node.publish_as(&key, form()).await;
        },
    )
    .await;
}

#[tokio::test]
async fn solo_and_pro_pages_have_no_expiry_and_no_cap() {
    let node = Node::start().await;
    for plan in ["solo", "pro"] {
        let key = node.account(plan).await;
        for _ in 0..5 {
            assert_eq!(node.publish_as(&key, form()).await["expires_at"], Value::Null, "{plan}");
        }
        let me = node.get("/me").key(&key).send().await.expect(200).json();
        let daily = if plan == "solo" { json!(1000) } else { Value::Null };
        assert_eq!(me["limits"]["publishes_a_day"], daily);
    }
}

#[tokio::test]
async fn plans_are_settings() {
    let node =
        Setup::new().set("plans.team.active_pages", "1").set("accounts.default_plan", "team").start().await;
    let key = node.account("team").await;
    node.publish_as(&key, form()).await;
    node.post("/sites").key(&key).form(form()).send().await.refused(402, "plan_page_limit");
}
