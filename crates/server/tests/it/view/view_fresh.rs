//! A change of permission takes effect at once on its node and within a second on the others.

use crate::harness::{Database, Node, Setup, a_second_later, on_each_database, site_path};
use serde_json::json;

const SECRET: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Whether the page would be served. Uses HEAD, which does not burn it.
async fn is_open(node: &Node, url: &str) -> bool {
    let answer = node.head(url).send().await;
    answer.status == 200 && answer.header("accept-ranges") == "bytes"
}

#[tokio::test]
async fn password_is_in_force_with_the_answer_that_sets_it() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Flapping").await;
        let url = site["url"].as_str().unwrap();
        // Hashing is slow, so most rounds toggle the e-mail gate and only a few the password.
        for round in 0..200 {
            let (shut, open) = if round % 40 == 0 {
                (json!({"password": "x"}), json!({"password": null}))
            } else {
                (json!({"email_gate_domain": "example.org"}), json!({"email_gate_domain": null}))
            };
            assert!(is_open(node, url).await);
            node.patch_site(&site, shut).await.expect(200);
            assert!(!is_open(node, url).await);
            node.patch_site(&site, open).await.expect(200);
        }
    })
    .await;
}

#[tokio::test]
async fn viewers_in_a_race_with_a_change_never_see_the_page_after_it() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Raced").await;
        let url = site["url"].as_str().unwrap();
        for _ in 0..20 {
            let racing = async {
                for _ in 0..20 {
                    is_open(node, url).await;
                }
            };
            let change = async {
                node.patch_site(&site, json!({"visibility": "burn"})).await.expect(200);
                assert!(!is_open(node, url).await);
                assert!(!is_open(node, url).await);
            };
            futures_util::future::join(racing, change).await;
            assert!(!is_open(node, url).await);
            node.patch_site(&site, json!({"visibility": "unlisted"})).await.expect(200);
        }
    })
    .await;
}

async fn two_nodes() -> (Node, Node, Database) {
    let database = Database::postgres().await;
    let setup = || Setup::new().set("secret_key", SECRET).database(database.clone());
    let first = setup().start().await;
    let second = setup().start().await;
    (first, second, database)
}

#[tokio::test]
async fn changes_on_one_node_are_in_force_on_the_other_within_a_second() {
    let (first, second, database) = two_nodes().await;
    let site = first.publish_page("Shared").await;
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    for _ in 0..5 {
        a_second_later(&second, second.get(&path), 200).await;
        first.patch_site(&site, json!({"password": "secret"})).await.expect(200);
        a_second_later(&second, second.get(&path), 401).await;
        first.patch_site(&site, json!({"password": null})).await.expect(200);
    }
    a_second_later(&second, second.get(&path), 200).await;
    first.delete(&site_path(&site)).key(&first.key).send().await.expect(200);
    a_second_later(&second, second.get(&path), 410).await;
    first.stop().await;
    second.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn content_erased_on_one_node_is_gone_on_the_other_and_never_broken() {
    let (first, second, database) = two_nodes().await;
    for n in 0..5 {
        let site = first.publish_page(&format!("Erased {n}")).await;
        let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
        // Redirected to the address with its slash: the row is cached then, the bytes are not.
        second.get(path.trim_end_matches('/')).send().await.expect(308);
        first.delete(&format!("{}?purge=true", site_path(&site))).key(&first.key).send().await.expect(200);
        second.get(&path).send().await.expect(410);
    }
    first.stop().await;
    second.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn both_nodes_send_browsers_to_the_same_host() {
    let (first, second, database) = two_nodes().await;
    let site = first.publish_page("Hosted").await;
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    let label = async |node: &Node| {
        let answer = node.get(&path).browser().send().await.expect(307);
        answer.header("location").split('.').next().unwrap().to_owned()
    };
    assert_eq!(label(&first).await, label(&second).await);
    assert!(second.key.is_empty(), "there is one operator");
    first.stop().await;
    second.stop().await;
    database.remove().await;
}
