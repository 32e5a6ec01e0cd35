//! Upload tickets at the end of a URL.

use crate::fixture::Fixture;
use dropleaf_app::Identity;
use dropleaf_core::scope::Scopes;
use dropleaf_core::version_maker::VersionMaker;

#[tokio::test]
async fn no_ticket_ends_with_what_a_link_in_a_text_would_lose() {
    let fixture = Fixture::open().await;
    let account = fixture.accounts[0].clone();
    let maker = VersionMaker::api_key("key_a", "laptop");
    let who =
        Identity { account, scopes: Scopes::ALL, rate_limit_key: "key_a".into(), grant_id: None, maker };
    // Encrypted text of any length: one in three fills its last character with random bits.
    for length in 1..=100 {
        for _ in 0..5 {
            let fields = vec![("title".to_owned(), "x".repeat(length))];
            let ticket = fixture.app.issue_ticket(&who, None, fields).await.unwrap();
            assert!(!ticket.text.ends_with(['-', '_']), "{}", ticket.text);
        }
    }
}
