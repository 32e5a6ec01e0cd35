//! Views while the database is away: with `views.stale_seconds`, pages that any viewer may see go on, and nothing else does.

use crate::harness::{Answer, Database, Form, HOUR, Link, Node, PgProxy, Setup, in_time, page};
use serde_json::{Value, json};

const STALE_SECONDS: i64 = 60;

struct Outage {
    node: Node,
    proxy: PgProxy,
    database: Database,
}

impl Outage {
    async fn prepare(stale_seconds: i64) -> Self {
        let database = Database::postgres().await;
        let Database::Postgres(url) = &database else { panic!("SQLite has no connections") };
        let proxy = PgProxy::start(url).await;
        let setup = Setup::new().set("views.stale_seconds", stale_seconds.to_string());
        Self { node: setup.database(Database::Postgres(proxy.url.clone())).start().await, proxy, database }
    }

    /// Takes the database away, when the rows that were read before are no longer fresh.
    fn begin(&self, link: Link) {
        self.proxy.set_link(link);
        self.node.clock.advance(1);
    }

    async fn end(self) {
        self.proxy.set_link(Link::Up);
        self.node.stop().await;
        self.database.remove().await;
    }

    async fn view(&self, path: &str) -> Answer {
        self.node.get(path).send().await
    }
}

fn path(site: &Value) -> String {
    format!("/p/{}/", site["unlisted_token"].as_str().unwrap())
}

fn is_stale(answer: &Answer) -> bool {
    answer
        .headers
        .get("cache-status")
        .is_some_and(|it| it.to_str().unwrap().starts_with("dropleaf; hit; ttl=-"))
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_pages_never_stop_while_the_database_is_away() {
    let outage = Outage::prepare(STALE_SECONDS).await;
    let mut paths = Vec::new();
    for number in 0..5 {
        let site = outage.node.publish_page(&format!("Page {number}")).await;
        assert!(!is_stale(&outage.view(&path(&site)).await.expect(200)));
        paths.push(path(&site));
    }
    let mut views = 0;
    for link in [Link::Cut, Link::Silent] {
        outage.begin(link);
        for round in 0..200 {
            for (number, path) in paths.iter().enumerate() {
                let answer = outage.view(path).await.expect(200);
                assert!(is_stale(&answer), "{link:?} in round {round}");
                assert_eq!(answer.header("cache-control"), "no-store");
                assert!(answer.text().contains(&format!("Page {number}")));
                views += 1;
            }
        }
        assert_eq!(outage.node.running.metrics.stale_views.get(), views);
        outage.proxy.set_link(Link::Up);
        // The database is asked again after a second, and then rows are current.
        in_time("current rows", async {
            loop {
                outage.node.clock.advance(1);
                if !is_stale(&outage.view(&paths[0]).await.expect(200)) {
                    return;
                }
                views += 1;
            }
        })
        .await;
        for path in &paths {
            assert!(!is_stale(&outage.view(path).await.expect(200)));
        }
    }
    outage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_shown_until_the_limit_after_it_was_read() {
    let outage = Outage::prepare(STALE_SECONDS).await;
    let site = outage.node.publish_page("Bounded").await;
    outage.view(&path(&site)).await.expect(200);
    outage.begin(Link::Cut);
    outage.node.clock.advance(STALE_SECONDS - 2);
    let answer = outage.view(&path(&site)).await.expect(200);
    assert_eq!(answer.header("cache-status"), "dropleaf; hit; ttl=-59; detail=stale-if-error");
    outage.node.clock.advance(1);
    outage.view(&path(&site)).await.expect(503);
    outage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_are_not_open_to_all_answer_503() {
    let outage = Outage::prepare(HOUR).await;
    let node = &outage.node;
    let publish = async |change: Value| {
        let site = node.publish_page("Closed").await;
        node.patch_site(&site, change).await.expect(200);
        node.head(&path(&site)).send().await;
        site
    };
    let expiring = publish(json!({"expires_in_hours": 0.5})).await;
    let sites = [
        publish(json!({"password": "secret"})).await,
        publish(json!({"email_gate_domain": "example.org"})).await,
        publish(json!({"visibility": "burn"})).await,
        expiring.clone(),
    ];
    let closed_later = node.publish_page("Closed later").await;
    outage.view(&path(&closed_later)).await.expect(200);
    node.patch_site(&closed_later, json!({"password": "secret"})).await.expect(200);
    let deleted = node.publish_page("Deleted").await;
    outage.view(&path(&deleted)).await.expect(200);
    node.delete(&crate::harness::site_path(&deleted)).key(&node.key).send().await.expect(200);
    let never_viewed = node.publish_page("Never viewed").await;
    outage.view(&path(&expiring)).await.expect(200);
    outage.begin(Link::Cut);
    outage.view(&path(&expiring)).await.expect(200);
    node.clock.advance(HOUR / 2);
    for site in sites.iter().chain([&closed_later, &deleted, &never_viewed]) {
        let answer = outage.view(&path(site)).await.expect(503);
        assert!(!is_stale(&answer));
    }
    outage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_suspended_account_answer_503() {
    let outage = Outage::prepare(STALE_SECONDS).await;
    let node = &outage.node;
    let key = node.account("free").await;
    let site = node.publish_as(&key, Form::file("page.html", page("Suspended"))).await;
    outage.view(&path(&site)).await.expect(200);
    node.app().suspend_owner("test", site["id"].as_str().unwrap(), "spam").await.unwrap();
    outage.begin(Link::Cut);
    outage.view(&path(&site)).await.expect(503);
    outage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_and_other_parts_of_a_page_answer_503() {
    let outage = Outage::prepare(STALE_SECONDS).await;
    let site = outage.node.publish_page("Reported").await;
    outage.view(&path(&site)).await.expect(200);
    outage.begin(Link::Cut);
    outage.view(&path(&site)).await.expect(200);
    outage.view(&format!("{}_dropleaf/report", path(&site))).await.expect(503);
    outage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cached_file_is_shown_in_every_coding() {
    let outage = Outage::prepare(STALE_SECONDS).await;
    let text = page(&"compressible ".repeat(200));
    let site = outage.node.publish(Form::file("page.html", text)).await;
    let view = async |coding: &str| {
        outage.node.get(&path(&site)).header("accept-encoding", coding).send().await.expect(200)
    };
    view("gzip").await;
    outage.begin(Link::Cut);
    for (coding, name) in [("br", "br"), ("zstd", "zstd"), ("gzip", "gzip"), ("identity", "")] {
        assert_eq!(view(coding).await.header("content-encoding"), name);
    }
    outage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_setting_every_view_answers_503() {
    let outage = Outage::prepare(0).await;
    let site = outage.node.publish_page("Current only").await;
    outage.view(&path(&site)).await.expect(200);
    outage.begin(Link::Cut);
    let answer = outage.view(&path(&site)).await.expect(503);
    assert!(!answer.header("retry-after").is_empty());
    outage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn node_stays_ready_for_views_as_long_as_pages_can_be_shown() {
    for (stale_seconds, expected) in [(STALE_SECONDS, 200), (0, 503)] {
        let outage = Outage::prepare(stale_seconds).await;
        outage.view("/readyz").await.expect(200);
        outage.view("/readyz?for=views").await.expect(200);
        outage.begin(Link::Cut);
        // The result of a check is kept for a second.
        in_time("the outage to be noticed", async { while outage.view("/readyz").await.status != 503 {} })
            .await;
        outage.view("/readyz?for=views").await.expect(expected);
        outage.view("/readyz?for=everything").await.expect(503);
        outage.node.clock.advance(STALE_SECONDS);
        outage.view("/readyz?for=views").await.expect(503);
        outage.end().await;
    }
}
