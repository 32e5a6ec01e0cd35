//! Lists of comments are paged, by number and by bytes. Spec §4 Feedback.

use crate::harness::mcp_line::open_page;
use crate::harness::{Node, Setup, on_each_database, site_path};
use serde_json::{Value, json};

/// Writes `comments` comments of this length, some of them already resolved.
async fn fill(node: &Node, site: &Value, comments: i64, bytes: i64, resolved: i64) {
    let text = "c".repeat(usize::try_from(bytes).unwrap());
    let id = site["id"].as_str().unwrap();
    for number in 0..comments {
        let done = (number < resolved).then_some(1_700_000_000_i64);
        node.exec(
            "INSERT INTO feedback (id, site_id, comment, created_at, resolved_at) VALUES ($1, $2, $3, $4, $5)",
            vec![
                format!("fb_{number:020}").into(),
                id.into(),
                text.as_str().into(),
                (1_600_000_000 + number / 3).into(),
                done.into(),
            ],
        )
        .await;
    }
}

async fn part(node: &Node, site: &Value, query: &str) -> (Value, usize) {
    let path = format!("{}/feedback{query}", site_path(site));
    let answer = node.get(&path).key(&node.key).send().await.expect(200);
    (answer.json(), answer.body.len())
}

fn ids(list: &Value) -> Vec<String> {
    let items = list["feedback"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

fn id_of(number: i64) -> String {
    format!("fb_{number:020}")
}

#[tokio::test]
async fn parts_follow_each_other_unresolved_first_and_each_counts_as_read_when_given() {
    on_each_database(Setup::new, async |node| {
        let site = open_page(node, &node.key, "Discussed").await;
        fill(node, &site, 30, 10, 12).await;
        let unread = "SELECT COUNT(*) FROM feedback WHERE read_at IS NULL";
        let expected: Vec<_> = (12..30).rev().chain((0..12).rev()).map(id_of).collect();
        let (mut seen, mut query, mut parts) = (Vec::new(), String::new(), 0);
        loop {
            let (list, _) = part(node, &site, &format!("?limit=7{query}")).await;
            seen.extend(ids(&list));
            parts += 1;
            let left = i64::try_from(30 - seen.len()).unwrap();
            assert!(node.count(unread).await >= left, "what was not given is not read");
            let Some(next) = list["next_cursor"].as_str() else {
                assert_eq!(list["has_more"], false);
                break;
            };
            assert_eq!(list["has_more"], true);
            query = format!("&cursor={next}");
        }
        assert_eq!((seen, parts), (expected, 5));
        let open_unread = "SELECT COUNT(*) FROM feedback WHERE read_at IS NULL AND resolved_at IS NULL";
        assert_eq!(node.count(open_unread).await, 0);
        for bad in ["?limit=0", "?limit=201", "?limit=x", "?cursor=x", "?cursor=open-1-fb_1"] {
            let ask = node.get(&format!("{}/feedback{bad}", site_path(&site))).key(&node.key);
            ask.send().await.refused(400, "invalid_field");
        }
    })
    .await;
}

#[tokio::test]
async fn without_a_limit_all_that_fits_is_given_at_once() {
    on_each_database(Setup::new, async |node| {
        let site = open_page(node, &node.key, "Discussed by many").await;
        fill(node, &site, 230, 10, 15).await;
        let (list, _) = part(node, &site, "").await;
        let expected: Vec<_> = (15..230).rev().chain((0..15).rev()).map(id_of).collect();
        assert_eq!(ids(&list), expected);
        assert_eq!((&list["has_more"], &list["next_cursor"]), (&json!(false), &Value::Null));
        assert_eq!(
            node.count("SELECT COUNT(*) FROM feedback WHERE read_at IS NULL AND resolved_at IS NULL").await,
            0
        );
        let tab = node.operator().await;
        let path = format!("/dashboard/pages/{}", site["id"].as_str().unwrap());
        let page = tab.get(&path).await.expect(200).text();
        assert!(page.contains("215 open") && page.matches("<p class=\"words\">").count() == 3);
        let page = tab.get(&format!("{path}/feedback")).await.expect(200).text();
        assert!(page.contains("215 open") && page.matches("<li class=\"thread open\"").count() == 100);
        assert!(page.contains("Show more"));
        let result = node.mcp_modern(&node.key).call("list_feedback", json!({"site": site["id"]})).await;
        assert_eq!(ids(&result["structuredContent"]).len(), 100);
    })
    .await;
}

#[tokio::test]
async fn answer_is_about_a_mebibyte_whatever_the_comments_hold() {
    on_each_database(Setup::new, async |node| {
        let site = open_page(node, &node.key, "Discussed at length").await;
        fill(node, &site, 150, 16_000, 0).await;
        for query in ["?limit=200", ""] {
            let (list, bytes) = part(node, &site, query).await;
            assert!((900_000..1_100_000).contains(&bytes), "{bytes}");
            assert_eq!(list["has_more"], true);
        }
        let shown = node.get(&format!("{}_dropleaf/feedback", site["url"].as_str().unwrap()));
        let shown = shown.send().await.expect(200);
        assert!((900_000..1_100_000).contains(&shown.body.len()), "{}", shown.body.len());
        let tab = node.operator().await;
        let path = format!("/dashboard/pages/{}/feedback", site["id"].as_str().unwrap());
        let page = tab.get(&path).await.expect(200);
        assert!(page.body.len() < 1_500_000, "{}", page.body.len());
        assert!(page.text().contains("Show more"));
    })
    .await;
}

#[tokio::test]
async fn tool_gives_open_comments_in_short_parts_and_resolved_ones_when_asked() {
    on_each_database(Setup::new, async |node| {
        let site = open_page(node, &node.key, "Discussed at length").await;
        fill(node, &site, 40, 16_000, 10).await;
        let client = node.mcp_modern(&node.key);
        let mut cursor = None::<String>;
        let mut seen = Vec::new();
        for _ in 0..30 {
            let mut arguments = json!({"site": site["id"]});
            if let Some(cursor) = &cursor {
                arguments["cursor"] = cursor.as_str().into();
            }
            let result = client.call("list_feedback", arguments).await;
            assert!(result.to_string().len() < 256 << 10, "{}", result.to_string().len());
            let list = &result["structuredContent"];
            seen.extend(ids(list));
            cursor = list["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, (10..40).rev().map(id_of).collect::<Vec<_>>(), "only what is open");
        let all =
            json!({"site": site["id"], "include_resolved": true, "cursor": format!("open-0-{}", id_of(0))});
        let all = client.call("list_feedback", all).await;
        assert_eq!(ids(&all["structuredContent"])[0], id_of(9));
    })
    .await;
}
