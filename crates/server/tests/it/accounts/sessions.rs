//! `/dashboard/account` and `/logout`: sessions that are listed, ended by their owner, and expired.

use crate::harness::{Answer, DAY, Node, Setup, on_each_database};
use dropleaf_core::account::Account;
use dropleaf_core::session::SignInMethod;
use dropleaf_core::unlock::Sku;

async fn ann(node: &Node) -> Account {
    node.app().create_account("ann@example.org", None, false).await.unwrap()
}

fn is_out(answer: &Answer) -> bool {
    answer.status == 303 && answer.header("location").starts_with("/login?next=")
}

#[tokio::test]
async fn the_account_page_tells_balance_and_unlocks() {
    let node = Node::start().await;
    let ann = ann(&node).await;
    let tab = node.signed_in(&ann).await;
    let page = tab.get("/dashboard/account").await.expect(200).text();
    assert!(
        page.contains("<dt>Balance</dt><dd>$0.00 (sandbox)</dd>") && !page.contains("Permanent pages"),
        "{page}"
    );
    node.app().credit_account("ada", &ann.id, 3000, "a gift", None).await.unwrap();
    for sku in [Sku::MakePermanent, Sku::HigherLimits] {
        node.app().unlock_with_balance(&ann, sku, None, |_| Vec::new()).await.unwrap();
    }
    let page = tab.get("/dashboard/account").await.expect(200).text();
    for said in [
        "<dd>$3.00 (sandbox)</dd>",
        "<dt>Permanent pages</dt><dd>no expiry</dd>",
        "<dt>Higher limits</dt><dd>until ",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let off = Setup::new().set("payments.mode", "off").start().await;
    let ben = off.app().create_account("ben@example.org", None, false).await.unwrap();
    let page = off.signed_in(&ben).await.get("/dashboard/account").await.expect(200).text();
    assert!(!page.contains("Balance"), "nothing is sold");
}

#[tokio::test]
async fn signing_out_ends_the_session_here_and_on_the_server() {
    let node = Node::start().await;
    let ann = ann(&node).await;
    let tab = node.signed_in(&ann).await;
    let copied = tab.session().unwrap();
    tab.get("/dashboard/account").await.expect(200);
    let out = tab.submit("/logout", &[]).await.expect(303);
    assert_eq!(out.header("location"), "/");
    assert!(
        out.header("set-cookie").starts_with("__Host-session=;")
            && out.header("set-cookie").contains("Max-Age=0")
    );
    assert_eq!(tab.session(), None);
    let cookie = format!("__Host-session={copied}");
    assert!(is_out(&node.get("/dashboard/account").browser().cookie(&cookie).send().await));
}

#[tokio::test]
async fn session_ends_when_it_is_not_used() {
    let node = Node::start().await;
    let ann = ann(&node).await;
    let tab = node.signed_in(&ann).await;
    for _ in 0..3 {
        node.clock.advance(29 * DAY);
        tab.get("/dashboard/account").await.expect(200);
    }
    node.clock.advance(30 * DAY);
    assert!(is_out(&tab.get("/dashboard/account").await));
    node.app().sweep().await.unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 0);
}

#[tokio::test]
async fn session_ends_180_days_after_the_proof_however_much_it_is_used() {
    on_each_database(Setup::new, async |node| {
        let ann = ann(node).await;
        let tab = node.signed_in(&ann).await;
        for _ in 0..17 {
            node.clock.advance(10 * DAY);
            tab.get("/dashboard/account").await.expect(200);
        }
        node.clock.advance(10 * DAY - 1);
        tab.get("/dashboard/account").await.expect(200);
        node.clock.advance(1);
        assert!(is_out(&tab.get("/dashboard/account").await));
    })
    .await;
}

#[tokio::test]
async fn sessions_are_listed_and_ended_by_their_owner_alone() {
    on_each_database(Setup::new, async |node| {
        let ann = ann(node).await;
        let bob = node.app().create_account("bob@example.org", None, false).await.unwrap();
        let tab = node.signed_in(&ann).await;
        let phone = node.signed_in_with(&ann, "Safari on iPhone").await;
        let work = node.signed_in_with(&ann, "Chrome on <Windows>").await;
        let stranger = node.signed_in_with(&bob, "Edge on Windows").await;
        let shown = tab.get("/dashboard/account").await.expect(200).text();
        for device in ["Firefox on Linux", "Safari on iPhone", "Chrome on &#60;Windows&#62;", "This browser"]
        {
            assert!(shown.contains(device), "{device}: {shown}");
        }
        assert!(!shown.contains("Edge on Windows"));
        let sessions = node.app().list_sessions(&ann).await.unwrap();
        let of_phone = sessions.iter().find(|session| session.device.starts_with("Safari")).unwrap();
        let end = format!("/dashboard/account/sessions/{}/end", of_phone.id);
        stranger.get("/dashboard/account").await.expect(200);
        stranger.submit(&end, &[]).await.expect(404);
        phone.get("/dashboard/account").await.expect(200);
        let ended = tab.submit(&end, &[]).await.expect(303);
        assert_eq!(ended.header("location"), "/dashboard/account?done=session-ended#outcome");
        assert!(
            tab.get("/dashboard/account?done=session-ended")
                .await
                .text()
                .contains("That browser was signed out.")
        );
        // At once: it is cached nowhere.
        assert!(is_out(&phone.get("/dashboard/account").await));
        let others = tab.submit("/dashboard/account/sessions/end-others", &[]).await.expect(303);
        assert_eq!(others.header("location"), "/dashboard/account?done=sessions-ended#outcome");
        assert!(is_out(&work.get("/dashboard/account").await));
        tab.get("/dashboard/account").await.expect(200);
        stranger.get("/dashboard/account").await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn forms_of_other_sites_end_nothing() {
    let node = Node::start().await;
    let ann = ann(&node).await;
    let tab = node.signed_in(&ann).await;
    let other = node.signed_in_with(&ann, "Safari on iPhone").await;
    tab.get("/dashboard/account").await.expect(200);
    other.get("/dashboard/account").await.expect(200);
    let id = node.app().list_sessions(&ann).await.unwrap()[0].id.clone();
    let end = format!("/dashboard/account/sessions/{id}/end");
    for path in ["/logout", "/dashboard/account/sessions/end-others", &end] {
        for foreign in ["https://evil.example", "null", "http://s-abc.localhost"] {
            let answer = tab.form(path, &[]).header("origin", foreign).send().await.expect(403);
            assert!(answer.text().contains("cross_site"));
        }
        tab.form(path, &[]).send().await.expect(403);
        // The token of another session of the same person is not valid for this one.
        tab.with_token_of(&other).submit(path, &[]).await.expect(403);
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 2);
}

#[tokio::test]
async fn account_page_tells_the_plan_and_what_is_used_of_it() {
    let node = Node::start().await;
    let account = node.app().create_account("ann@example.org", Some("free"), false).await.unwrap();
    let tab = node.signed_in(&account).await;
    let shown = tab.get("/dashboard/account").await.expect(200);
    let text = shown.text();
    for words in [
        "ann@example.org",
        "free",
        "0 of 3",
        "0 of 1000",
        "7 days",
        "25 MiB",
        "aria-current=\"page\">Account",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(shown.header("cache-control"), "no-store");
    assert!(shown.header("content-security-policy").contains("require-trusted-types-for 'script'"));
}

#[tokio::test]
async fn form_of_a_visit_is_never_that_of_a_session() {
    let node = Node::start().await;
    let ann = ann(&node).await;
    let new = node.app().start_session(&ann, SignInMethod::Code, "Firefox on Linux").await.unwrap();
    // The visit cookie can hold any value: here the id of another person's session.
    let page =
        node.get("/login").cookie(&format!("__Host-visit={}", new.session.id)).send().await.expect(200);
    let text = page.text();
    let (_, rest) = text.split_once("name=\"form_token\" value=\"").unwrap();
    let token = rest.split('"').next().unwrap();
    let cookie = format!("__Host-session={}", new.secret);
    let ask = |token: &str| {
        let ask = node.post("/logout").cookie(&cookie).header("origin", &node.base_url());
        ask.fields(&[("form_token", token)])
    };
    assert_eq!(ask(token).send().await.status, 403);
    assert_eq!(ask(&node.app().form_token(&new.session.id)).send().await.status, 303);
}
