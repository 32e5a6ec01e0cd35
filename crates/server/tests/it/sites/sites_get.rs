//! `GET /sites`: an account's pages, newest change first, page by page. Spec §4.

use crate::harness::{DAY, Form, HOUR, Node, Setup, on_each_database, page, site_path};
use serde_json::{Value, json};

fn ids(list: &Value) -> Vec<&str> {
    list["sites"].as_array().unwrap().iter().map(|site| site["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn without_a_credential_it_is_401() {
    let node = Node::start().await;
    let answer = node.get("/sites").send().await.refused(401, "auth required");
    let metadata = format!("{}/.well-known/oauth-protected-resource", node.base_url());
    let asks = format!("Bearer resource_metadata=\"{metadata}\", scope=\"sites:read sites:write\"");
    assert_eq!(answer.header("www-authenticate"), asks);
}

#[tokio::test]
async fn newest_change_comes_first_and_only_own_pages_show() {
    on_each_database(Setup::new, async |node| {
        let first = node.publish_page("First").await;
        node.clock.advance(10);
        let second = node.publish_page("Second").await;
        let stranger = node.account("solo").await;
        node.publish_as(&stranger, Form::file("a.html", page("Theirs"))).await;
        node.publish_anonymously().await;
        let list = node.get("/sites").key(&node.key).send().await.expect(200).json();
        assert_eq!(ids(&list), [second["id"].as_str().unwrap(), first["id"].as_str().unwrap()]);
        assert_eq!(
            (&list["has_more"], &list["next_before"], &list["next_before_id"]),
            (&json!(false), &Value::Null, &Value::Null)
        );
        node.clock.advance(10);
        node.patch_site(&first, json!({"title": "Touched"})).await.expect(200);
        let list = node.get("/sites").key(&node.key).send().await.expect(200).json();
        assert_eq!(list["sites"][0]["title"], "Touched");
    })
    .await;
}

#[tokio::test]
async fn pages_with_equal_updated_at_are_listed_once_each() {
    on_each_database(Setup::new, async |node| {
        // The clock does not advance: all seven share one updated_at.
        let mut expected = Vec::new();
        for n in 0..7 {
            expected.push(node.publish_page(&format!("N{n}")).await["id"].as_str().unwrap().to_owned());
        }
        let mut seen = Vec::new();
        let mut path = "/sites?limit=3".to_owned();
        loop {
            let list = node.get(&path).key(&node.key).send().await.expect(200).json();
            seen.extend(ids(&list).into_iter().map(str::to_owned));
            if list["has_more"] == false {
                break;
            }
            let (before, id) = (&list["next_before"], list["next_before_id"].as_str().unwrap());
            path = format!("/sites?limit=3&before={before}&before_id={id}");
        }
        expected.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(seen, expected);
    })
    .await;
}

#[tokio::test]
async fn limit_is_1_to_500() {
    let node = Node::start().await;
    for query in ["limit=0", "limit=501", "limit=-1", "limit=many", "before=x", "state=deleted"] {
        let answer = node.get(&format!("/sites?{query}")).key(&node.key).send().await;
        answer.refused(400, "invalid_field");
    }
    for query in ["limit=1", "limit=500"] {
        node.get(&format!("/sites?{query}")).key(&node.key).send().await.expect(200);
    }
}

#[tokio::test]
async fn expired_pages_leave_the_list_and_can_be_asked_for() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", page("Brief")).field("expires_in_hours", "1")).await;
        node.clock.advance(HOUR);
        let live = node.get("/sites").key(&node.key).send().await.expect(200).json();
        assert_eq!(ids(&live).len(), 0, "an expired page is not listed, swept or not");
        let expired = node.get("/sites?state=expired").key(&node.key).send().await.expect(200).json();
        assert_eq!(ids(&expired), [site["id"].as_str().unwrap()], "it is expired before the sweep saw it");
        node.app().sweep().await.unwrap();
        let expired = node.get("/sites?state=expired").key(&node.key).send().await.expect(200).json();
        assert_eq!(ids(&expired), [site["id"].as_str().unwrap()]);
        assert_eq!(expired["sites"][0]["state"], "expired");
    })
    .await;
}

#[tokio::test]
async fn one_page_is_read_by_id_slug_or_token() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish(Form::file("a.html", page("Named")).field("slug", "by-name")).await;
        let (id, token) = (site["id"].as_str().unwrap(), site["unlisted_token"].as_str().unwrap());
        for name in [id, token, "by-name", "BY-NAME"] {
            let read = node.get(&format!("/sites/{name}")).key(&node.key).send().await.expect(200).json();
            assert_eq!(read["id"], site["id"], "{name}");
        }
        for name in ["no-such-page", "site_aaaaaaaaaaaaaaaaaaaa", "x", "%20", "a%2fb"] {
            let answer = node.get(&format!("/sites/{name}")).key(&node.key).send().await;
            answer.refused(404, "not_found");
        }
    })
    .await;
}

#[tokio::test]
async fn page_of_another_account_is_404_and_without_a_credential_401() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let stranger = node.account("solo").await;
    node.get(&site_path(&site)).key(&stranger).send().await.refused(404, "not_found");
    node.get(&site_path(&site)).send().await.refused(401, "auth required");
    let unowned = node.publish_anonymously().await;
    node.get(&site_path(&unowned)).key(&node.key).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn expired_page_still_shows_to_its_owner() {
    let node = Node::start().await;
    let site = node.publish(Form::file("a.html", page("Brief")).field("expires_in_hours", "1")).await;
    node.clock.advance(DAY);
    let read = node.read_site(&site).await;
    assert_eq!(read["state"], "expired");
}

#[tokio::test]
async fn cookies_are_ignored() {
    let node = Node::start().await;
    let cookie = format!("session={0}; key={0}; Authorization=Bearer {0}", node.key);
    node.get("/sites").header("cookie", &cookie).send().await.refused(401, "auth required");
}
