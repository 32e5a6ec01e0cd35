//! Every node serves the same names: from its start, and soon after a change on another one.

use crate::domains::served_names::{change, domain, root, serve};
use crate::harness::{Ask, Database, Node, Setup, in_time};
use dropleaf_core::custom_domain::DomainStatus;
use dropleaf_store::{Db, Stmt, custom_domains, revisions};

const SECRET: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const NAME: &str = "reports.example.com";

/// Requests until the response has this status.
async fn becomes(status: u16, ask: impl Fn() -> Ask) {
    in_time(format!("the status {status}"), async {
        while ask().send().await.status != status {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Changes custom domains as an operation of another node does.
async fn change_elsewhere(database: &Database, mut stmts: Vec<Stmt>) {
    let Database::Postgres(url) = database else { panic!("SQLite has one node") };
    let db = Db::open(url).await.unwrap();
    stmts.push(revisions::advance(revisions::DOMAINS));
    db.batch_notify(stmts, vec!["d:".to_owned()]).await.unwrap();
    db.close().await;
}

#[tokio::test]
async fn other_nodes_follow_every_change() {
    let database = Database::postgres().await;
    let setup = || Setup::new().set("secret_key", SECRET).database(database.clone());
    let (first, second) = (setup().start().await, setup().start().await);
    let site = first.publish_page("Shared").await;
    let row = domain(&first, NAME, &site, DomainStatus::Verified).await;
    for _ in 0..3 {
        change_elsewhere(&database, custom_domains::insert(&row, 10).into()).await;
        for node in [&first, &second] {
            becomes(200, || node.get(&root(node, NAME))).await;
        }
        change_elsewhere(&database, vec![custom_domains::delete(&row)]).await;
        for node in [&first, &second] {
            becomes(421, || node.get(&root(node, NAME))).await;
        }
    }
    first.stop().await;
    second.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn change_without_a_notification_is_found_too() {
    let node = Node::start().await;
    let site = node.publish_page("Beside").await;
    let row = domain(&node, NAME, &site, DomainStatus::Verified).await;
    // As the command line, beside the server.
    let mut stmts: Vec<Stmt> = custom_domains::insert(&row, 10).into();
    stmts.push(revisions::advance(revisions::DOMAINS));
    node.commit(stmts).await;
    becomes(200, || node.get(&root(&node, NAME))).await;
    assert_eq!(node.app().served_domain_names(), [NAME]);
}

#[tokio::test]
async fn names_are_known_at_the_start_and_kept_while_the_database_cannot_tell() {
    let node = Node::start().await;
    let site = node.publish_page("Kept").await;
    serve(&node, NAME, &site).await;
    let (dir, port) = node.stop_for_restart().await;
    let node = Setup::new().port(port).start_in(dir).await;
    assert!(node.app().is_served_domain(NAME));
    node.get(&root(&node, NAME)).send().await.expect(200);
    node.exec("ALTER TABLE custom_domains RENAME TO away", vec![]).await;
    node.commit(vec![revisions::advance(revisions::DOMAINS)]).await;
    assert!(node.app().served_domains_changed().await.is_err());
    node.get(&root(&node, NAME)).send().await.expect(200);
    node.exec("ALTER TABLE away RENAME TO custom_domains", vec![]).await;
    change(&node, vec![]).await;
    node.get(&root(&node, NAME)).send().await.expect(200);
}
