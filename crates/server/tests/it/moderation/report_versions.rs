//! Reported content is kept until a decision: neither new versions nor a concurrent erasure removes it.

use crate::harness::{
    Answer, DAY, Database, Form, NOW, Node, Setup, in_time, on_each_database, page, site_path,
};
use crate::moderation::operator_case::{case, id, report};
use dropleaf_core::report::{Reason, Report, ReportContent};
use dropleaf_store::{Db, Stmt, reports, sites};
use futures_util::TryStreamExt;
use serde_json::{Value, json};

fn keeping(versions: &str) -> impl Fn() -> Setup {
    move || Setup::new().set("storage.versions_kept", versions)
}

async fn put(node: &Node, site: &Value, title: &str) -> Answer {
    node.put(&site_path(site)).key(&node.key).form(Form::file("a.html", page(title))).send().await.expect(200)
}

async fn kept(node: &Node) -> Vec<i64> {
    node.rows("SELECT version FROM site_versions ORDER BY version", vec![], |row| row.int(0)).await
}

/// As the owner sees them, newest first.
async fn owned(node: &Node, site: &Value) -> Vec<i64> {
    let list = node.get(&format!("{}/versions", site_path(site))).key(&node.key).send().await.expect(200);
    let list = list.json();
    list["versions"].as_array().unwrap().iter().map(|known| known["version"].as_i64().unwrap()).collect()
}

/// Every version has its body, and no unused body is kept.
async fn sound(node: &Node) {
    node.clock.advance(DAY);
    node.app().collect_unreferenced_bodies().await.unwrap();
    let wrong = "SELECT COUNT(*) FROM bundles WHERE refs <> \
                 (SELECT COUNT(*) FROM site_versions WHERE site_versions.bundle_id = bundles.id)";
    assert_eq!(node.count(wrong).await, 0);
    assert_eq!(
        node.count("SELECT COUNT(*) FROM bundles").await,
        i64::try_from(kept(node).await.len()).unwrap()
    );
}

#[tokio::test]
async fn reported_version_outlives_any_number_of_updates_until_it_is_decided() {
    on_each_database(keeping("2"), async |node| {
        let operator = node.operator().await;
        let site = node.publish_page("Version 1").await;
        put(node, &site, "Version 2").await;
        put(node, &site, "The bad one").await;
        report(node, &site, "It asks for my card").await;
        for n in 4..12 {
            put(node, &site, &format!("Version {n}")).await;
        }
        // The version before it may be what the viewer saw.
        assert_eq!(kept(node).await, [2, 3, 10, 11]);
        assert_eq!(owned(node, &site).await, [11, 10]);
        let back = node.post(&format!("{}/rollback", site_path(&site))).key(&node.key);
        back.json(&json!({"version": 3})).send().await.refused(404, "not_found");
        let shown = operator.get(&case(&site)).await.expect(200).text();
        let look = format!("href=\"{}?version=3\">version 3</a>", case(&site));
        for part in ["about version 3", "<span class=\"badge bad\">reported</span>", &look] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let looked = operator.get(&format!("{}?version=3", case(&site))).await.expect(200).text();
        assert!(looked.contains("The bad one") && !looked.contains("The report is about"), "{looked}");
        sound(node).await;
        node.app().dismiss_reports("ada", id(&site), "").await.unwrap();
        assert_eq!(kept(node).await, [10, 11]);
        sound(node).await;
    })
    .await;
}

#[tokio::test]
async fn reports_keep_no_more_than_a_set_number_of_versions() {
    on_each_database(keeping("2"), async |node| {
        let site = node.publish_page("Version 1").await;
        for n in 2..30 {
            report(node, &site, "again").await;
            report(node, &site, "and again").await;
            put(node, &site, &format!("Version {n}")).await;
        }
        for n in 30..34 {
            put(node, &site, &format!("Version {n}")).await;
        }
        let first: Vec<i64> = (1..=10).collect();
        assert_eq!(kept(node).await, [first.as_slice(), &[28, 32, 33]].concat());
        sound(node).await;
    })
    .await;
}

#[tokio::test]
async fn take_down_seals_and_marks_what_was_reported() {
    on_each_database(keeping("2"), async |node| {
        let words: Vec<String> = (0..80).map(|n| format!("word{n}")).collect();
        let bad = format!("<!doctype html><title>Bad</title><p>{}</p>", words.join(" "));
        let site = node.publish(Form::file("a.html", bad.clone())).await;
        report(node, &site, "false").await;
        for n in 2..9 {
            put(node, &site, &format!("Version {n}")).await;
        }
        node.app().take_down("ada", id(&site), "a false bank").await.unwrap();
        let opened = node.app().open_evidence("ada", id(&site), "court").await.unwrap();
        let pieces: Vec<_> = opened.stream.try_collect().await.unwrap();
        let archive = String::from_utf8_lossy(&pieces.concat()).into_owned();
        assert!(archive.contains("_dropleaf/versions/1/index.html"));
        let again = node.post("/sites").key(&node.key).form(Form::file("b.html", bad)).send().await;
        again.refused(422, "content_blocked");
        assert_eq!(kept(node).await, [0; 0]);
    })
    .await;
}

#[tokio::test]
async fn reported_page_cannot_become_one_that_is_read_once() {
    on_each_database(Setup::new, async |node| {
        let (site, before) = (node.publish_page("Bad").await, node.publish_page("Secret").await);
        let burn = json!({"visibility": "burn"});
        node.patch_site(&before, burn.clone()).await.expect(200);
        report(node, &site, "false bank").await;
        report(node, &before, "no idea").await;
        node.patch_site(&site, burn.clone()).await.refused(409, "conflict");
        let form = Form::file("a.html", page("Good")).field("burn_after_read", "true");
        node.put(&site_path(&site)).key(&node.key).form(form).send().await.refused(409, "conflict");
        // A page that was a burn page before it was reported is erased.
        let purge = format!("{}?purge=true", site_path(&before));
        let gone = node.delete(&purge).key(&node.key).send().await.expect(200).json();
        assert_eq!(gone["restorable_until"], Value::Null);
        node.app().dismiss_reports("ada", id(&site), "").await.unwrap();
        node.patch_site(&site, burn).await.expect(200);
    })
    .await;
}

/// From now on every page is reported at the moment it is erased.
async fn report_at_the_last_moment(node: &Node) {
    let is_sqlite = node.running.resolved.database_url.starts_with("sqlite:");
    let sql: &[&'static str] = if is_sqlite {
        &[
            "CREATE TRIGGER late AFTER UPDATE ON sites WHEN NEW.purged_at IS NOT NULL AND OLD.purged_at IS NULL \
           BEGIN INSERT INTO reports (id, site_id, reason, created_at) VALUES ('rep_' || NEW.id, NEW.id, 'other', 1); END",
        ]
    } else {
        &[
            "CREATE FUNCTION late_report() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             INSERT INTO reports (id, site_id, reason, created_at) VALUES ('rep_' || NEW.id, NEW.id, 'other', 1); \
             RETURN NEW; END $$",
            "CREATE TRIGGER late AFTER UPDATE ON sites FOR EACH ROW \
             WHEN (NEW.purged_at IS NOT NULL AND OLD.purged_at IS NULL) EXECUTE FUNCTION late_report()",
        ]
    };
    for sql in sql {
        node.exec(sql, vec![]).await;
    }
}

async fn no_more_reports(node: &Node) {
    let is_sqlite = node.running.resolved.database_url.starts_with("sqlite:");
    node.exec(if is_sqlite { "DROP TRIGGER late" } else { "DROP TRIGGER late ON sites" }, vec![]).await;
}

#[tokio::test]
async fn report_that_comes_with_the_erasure_stops_it() {
    on_each_database(Setup::new, async |node| {
        let owned = node.publish_page("Owned").await;
        let unowned = node.publish_anonymously().await;
        let purge = format!("{}?purge=true", site_path(&owned));
        report_at_the_last_moment(node).await;
        node.delete(&purge).key(&node.key).send().await.refused(409, "conflict");
        node.get(owned["url"].as_str().unwrap()).send().await.expect(200);
        node.clock.advance(DAY);
        assert_eq!(node.app().sweep().await.unwrap().expired, 1);
        node.clock.advance(DAY);
        assert_eq!(node.app().sweep().await.unwrap().purged, 0);
        node.get(unowned["url"].as_str().unwrap()).send().await.expect(410);
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 2);
        no_more_reports(node).await;
        assert_eq!(node.app().sweep().await.unwrap().purged, 1);
        node.delete(&purge).key(&node.key).send().await.expect(200);
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 0);
    })
    .await;
}

/// Waits until this many database connections wait for a lock.
async fn waiting(node: &Node, connections: i64) {
    let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    in_time("connections that wait for a lock", async { while node.count(sql).await < connections {} }).await;
}

#[tokio::test]
async fn erasure_waits_for_a_report_that_is_being_written() {
    let database = Database::postgres().await;
    let node = Setup::new().database(database.clone()).start().await;
    let site = node.publish_page("Bad").await;
    let url = &node.running.resolved.database_url;
    let (gate, writer) = (Db::open(url).await.unwrap(), Db::open(url).await.unwrap());
    // While this connection lives, the transaction of the report does not end.
    gate.exec(Stmt::new("SELECT pg_advisory_lock(7)", [])).await.unwrap();
    let told = Report {
        id: "rep_1".into(),
        site_id: id(&site).into(),
        content: ReportContent { reason: Reason::Phishing, comment: None, contact: None },
        version: Some(1),
        created_at: NOW,
        closed: None,
        signal: None,
    };
    let stmts = vec![
        sites::lock(&told.site_id),
        reports::insert(&told, None),
        Stmt::new("SELECT pg_advisory_xact_lock(7)", []),
    ];
    let purge = async {
        waiting(&node, 1).await;
        node.delete(&format!("{}?purge=true", site_path(&site))).key(&node.key).send().await
    };
    let open = async {
        waiting(&node, 2).await;
        gate.close().await;
    };
    let (written, purged, ()) = tokio::join!(writer.batch(stmts), purge, open);
    written.unwrap();
    let purged = purged.expect(200).json();
    assert!(purged["restorable_until"].is_i64() && purged["warnings"].is_array(), "{purged}");
    assert_eq!(kept(&node).await, [1]);
    writer.close().await;
    node.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn sweep_keeps_a_reported_page_as_long_as_evidence_and_no_longer() {
    on_each_database(Setup::new, async |node| {
        let sites = [node.publish_anonymously().await, node.publish_anonymously().await];
        for site in &sites {
            report(node, site, "false bank").await;
        }
        node.clock.advance(DAY);
        assert_eq!(node.app().sweep().await.unwrap().expired, 2);
        node.clock.advance(89 * DAY);
        assert_eq!(node.app().sweep().await.unwrap().purged, 0);
        node.app().dismiss_reports("ada", id(&sites[0]), "").await.unwrap();
        assert_eq!(node.app().sweep().await.unwrap().purged, 1);
        node.clock.advance(DAY);
        assert_eq!(node.app().sweep().await.unwrap().purged, 1, "its time is over");
    })
    .await;
}
