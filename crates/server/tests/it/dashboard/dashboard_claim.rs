//! `/claim/{id}` and `POST /dashboard/claim`: claiming a page in a browser.

use crate::harness::{DAY, Node, Setup, on_each_database};
use serde_json::Value;

fn path(site: &Value) -> String {
    format!("/claim/{}", site["id"].as_str().unwrap())
}

fn token(site: &Value) -> &str {
    site["claim_token"].as_str().unwrap()
}

#[tokio::test]
async fn claim_page_takes_the_token_or_the_whole_link() {
    on_each_database(Setup::new, async |node| {
        for whole in [false, true] {
            let site = node.publish_anonymously().await;
            let tab = node.operator().await;
            let shown = tab.get(&path(&site)).await.expect(200).text();
            assert!(shown.contains("name=\"claim_token\"") && shown.contains("unless they were paid for"));
            let sent = if whole { site["claim_url"].as_str().unwrap() } else { token(&site) };
            let answer = tab.submit(&path(&site), &[("claim_token", sent)]).await.expect(303);
            assert_eq!(
                answer.header("location"),
                format!("/dashboard/pages/{}?done=claimed#outcome", site["id"].as_str().unwrap())
            );
            assert_eq!(node.read_site(&site).await["expires_at"], Value::Null);
        }
    })
    .await;
}

#[tokio::test]
async fn link_pasted_into_the_dashboard_claims_the_page() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let tab = node.operator().await;
    for (link, status) in [("https://example.org/", 400), (token(&site), 400), ("x/claim/site_1#clm_x", 400)]
    {
        let text = tab.submit("/dashboard/claim", &[("link", link)]).await.expect(status).text();
        assert!(text.contains("This is not a claim link") && text.contains("aria-invalid"), "{text}");
    }
    let link = site["claim_url"].as_str().unwrap();
    tab.submit("/dashboard/claim", &[("link", link)]).await.expect(303);
    assert_eq!(node.read_site(&site).await["id"], site["id"]);
}

#[tokio::test]
async fn signed_out_viewer_is_told_to_sign_in_and_learns_nothing_of_the_page() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let shown = node.get(&path(&site)).browser().send().await.expect(200);
    assert!(
        shown.text().contains(&format!("/login?next=%2Fclaim%2F{}", site["id"].as_str().unwrap())),
        "{}",
        shown.text()
    );
    assert!(!shown.text().contains("Anonymous") && !shown.text().contains("claim_token"));
    let policy = shown.header("content-security-policy");
    assert!(
        policy.contains("script-src 'self'; style-src 'self'") && policy.contains("frame-ancestors 'none'")
    );
    assert_eq!((shown.header("x-frame-options"), shown.header("referrer-policy")), ("DENY", "no-referrer"));
    let unknown = node.get("/claim/site_aaaaaaaaaaaaaaaaaaaa").browser().send().await.expect(200);
    assert_eq!(
        unknown.text().replace("site_aaaaaaaaaaaaaaaaaaaa", site["id"].as_str().unwrap()),
        shown.text(),
        "whether there is such a page is not told"
    );
    node.get("/claim/x%22%3E%3Cscript%3E").browser().send().await.expect(404);
}

#[tokio::test]
async fn refusals_are_worded() {
    let node = Node::start().await;
    let (site, other) = (node.publish_anonymously().await, node.publish_anonymously().await);
    let tab = node.operator().await;
    let said = async |tab: &crate::harness::Tab<'_>, token: &str, status: u16| {
        tab.submit(&path(&site), &[("claim_token", token)]).await.expect(status).text()
    };
    assert!(said(&tab, token(&other), 403).await.contains("does not belong to this page"));
    assert!(said(&tab, "\"><script>", 403).await.contains("role=\"alert\""));
    tab.submit(&path(&other), &[("claim_token", token(&other))]).await.expect(303);
    let rival = node.newcomer_on("solo").await;
    let text = rival.submit(&path(&other), &[("claim_token", token(&other))]).await.expect(409).text();
    assert!(text.contains("Another account has already claimed this page"));
    node.clock.advance(DAY);
    assert!(said(&tab, token(&site), 410).await.contains("has expired"));
    assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE account_id IS NOT NULL").await, 1);
}
