//! The sweep with a manual clock: expiry, erasure after retention, deletion of the last row.

use crate::harness::{DAY, Form, HOUR, Setup, on_each_database, page, site_path};
use serde_json::json;

#[tokio::test]
async fn expired_page_ends_then_is_erased_then_forgotten() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", page("Brief")).field("expires_in_hours", "1")).await;
        let url = site["url"].as_str().unwrap();
        node.clock.advance(HOUR);
        assert_eq!(node.app().sweep().await.unwrap().expired, 1);
        assert_eq!(node.count("SELECT active_pages FROM accounts").await, 0);
        node.get(url).header("accept", "application/json").send().await.refused(410, "expired");

        node.clock.advance(30 * DAY - 1);
        assert_eq!(node.app().sweep().await.unwrap().purged, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 1);
        node.clock.advance(1);
        assert_eq!(node.app().sweep().await.unwrap().purged, 1);
        node.clock.advance(2 * HOUR);
        node.app().collect_unreferenced_bodies().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 0);
        node.get(url).header("accept", "application/json").send().await.refused(410, "expired");
        node.patch_site(&site, json!({"expires_at": null})).await.refused(404, "not_found");
        node.get(url).send().await.expect(410);

        node.clock.advance(365 * DAY);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
        node.get(url).send().await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn deleted_page_is_erased_after_30_days() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", page("Deleted")).field("slug", "swept")).await;
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        node.clock.advance(30 * DAY);
        assert_eq!(node.app().sweep().await.unwrap().purged, 1);
        node.clock.advance(2 * HOUR);
        node.app().collect_unreferenced_bodies().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM slugs").await, 1, "the name waits longer");
        node.clock.advance(60 * DAY);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM slugs").await, 0);
    })
    .await;
}

#[tokio::test]
async fn unowned_page_is_erased_a_day_after_its_end() {
    on_each_database(Setup::new, async |node| {
        node.publish_anonymously().await;
        node.clock.advance(DAY);
        assert_eq!(node.app().sweep().await.unwrap().expired, 1);
        node.clock.advance(DAY);
        assert_eq!(node.app().sweep().await.unwrap().purged, 1);
        node.clock.advance(2 * HOUR);
        node.app().collect_unreferenced_bodies().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
    })
    .await;
}

#[tokio::test]
async fn sweep_leaves_live_pages_and_shared_bytes_alone() {
    on_each_database(Setup::new, async |node| {
        let brief = node.publish(Form::file("a.html", page("Twin")).field("expires_in_hours", "1")).await;
        let lasting = node.publish_page("Twin").await;
        for _ in 0..3 {
            node.clock.advance(40 * DAY);
            node.app().sweep().await.unwrap();
            node.app().collect_unreferenced_bodies().await.unwrap();
        }
        node.get(brief["url"].as_str().unwrap()).send().await.expect(410);
        assert_eq!(node.get(lasting["url"].as_str().unwrap()).send().await.expect(200).text(), page("Twin"));
    })
    .await;
}

#[tokio::test]
async fn used_up_counters_and_answers_are_cleared() {
    on_each_database(
        || Setup::new().with_rates(),
        async |node| {
            let form = Form::file("a.html", page("A"));
            node.post("/sites").header("idempotency-key", "k").form(form).send().await.expect(201);
            let quotas =
                "SELECT COUNT(*) FROM counters WHERE key LIKE 'anonymous_hour:%' OR key LIKE 'anonymous_day:%'";
            assert_eq!(node.count(quotas).await, 2);
            assert_eq!(node.count("SELECT COUNT(*) FROM idempotency").await, 1);
            node.clock.advance(2 * DAY);
            node.app().sweep().await.unwrap();
            assert_eq!(node.count("SELECT COUNT(*) FROM counters").await, 0);
            assert_eq!(node.count("SELECT COUNT(*) FROM idempotency").await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn clock_that_goes_back_loses_no_page() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", page("Steady")).field("expires_in_hours", "2")).await;
        node.clock.advance(-HOUR);
        node.app().sweep().await.unwrap();
        let put = node.put(&site_path(&site)).key(&node.key).json(&json!({"html": page("Steadier")}));
        let after = put.send().await.expect(200).json();
        assert!(after["updated_at"].as_i64() > site["updated_at"].as_i64());
        node.clock.advance(2 * HOUR);
        node.app().sweep().await.unwrap();
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    })
    .await;
}
