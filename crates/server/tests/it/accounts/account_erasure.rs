//! `dropleaf account delete`: no body and no row with the address stays.

use crate::harness::mcp_line::comment;
use crate::harness::{Dropleaf, Form, Setup, noise, on_each_database, page, site_path, zip};
use dropleaf_app::{COMMAND_LINE, IdempotentResult};

const OWNER: &str = "owner@example.org";

/// Tables and columns of text that could hold the address.
const TEXTS: &[&str] = &[
    "SELECT COUNT(*) FROM accounts WHERE email LIKE '%owner@example.org%'",
    "SELECT COUNT(*) FROM sign_ins WHERE email LIKE '%owner@example.org%'",
    "SELECT COUNT(*) FROM reports WHERE contact LIKE '%owner@example.org%'",
    "SELECT COUNT(*) FROM appeals WHERE contact LIKE '%owner@example.org%'",
    "SELECT COUNT(*) FROM appeal_senders WHERE contact LIKE '%owner@example.org%'",
    "SELECT COUNT(*) FROM audit WHERE actor LIKE '%owner@example.org%' OR subject LIKE '%owner@example.org%' \
     OR reason LIKE '%owner@example.org%'",
];

#[tokio::test]
async fn an_erased_account_leaves_no_body_and_no_row_with_its_address() {
    on_each_database(Setup::new, async |node| {
        let account = node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
        let IdempotentResult::New(key) =
            node.app().create_key(&account, None, None, |_| Vec::new()).await.unwrap()
        else {
            panic!("a new key is no repeat");
        };
        let key = key.secret;
        let kept = node.publish_page("Of another account").await;
        let site =
            node.publish_as(&key, Form::file("a.html", page("Mine")).field("agentation", "true")).await;
        comment(node, &site, "A comment").await;
        let put = node.put(&site_path(&site)).key(&key);
        put.form(Form::file("a.html", page("Mine, changed"))).send().await.expect(200);
        let named = Form::file("a.zip", zip(&[("index.html", &page("Zip")), ("a.css", "p{}")]));
        node.publish_as(&key, named.field("slug", "my-name")).await;
        node.publish_as(&key, Form::file("x", noise("large", 300_000)).field("e2e", "true")).await;
        let deleted = node.publish_as(&key, Form::file("a.html", page("Deleted"))).await;
        node.delete(&site_path(&deleted)).key(&key).send().await.expect(200);
        // The same address elsewhere: a report about a page of somebody else, and a sign-in that was begun.
        let report = format!("{}_dropleaf/report", kept["url"].as_str().unwrap());
        let form = [("reason", "other"), ("comment", "x"), ("contact", OWNER)];
        node.post(&report).fields(&form).send().await.expect(200);
        assert_eq!(node.count(TEXTS[2]).await, 1);
        node.app().create_sign_in_link(&account).await.unwrap();
        assert_eq!(node.count(TEXTS[1]).await, 1);

        let account = node.app().get_account(&account.id).await.unwrap();
        let erased = node.app().erase_account(COMMAND_LINE, &account).await.unwrap();
        assert_eq!((erased.pages, erased.versions, erased.rows.api_keys), (4, 5, 1));
        for sql in TEXTS {
            assert_eq!(node.count(sql).await, 0, "{sql}");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM sites WHERE purged_at IS NULL").await, 1);
        assert_eq!(
            node.count("SELECT COUNT(*) FROM sites WHERE purged_at IS NOT NULL AND title <> ''").await,
            0
        );
        assert_eq!(node.count("SELECT COUNT(*) FROM feedback").await, 0);
        // The name stays reserved, for no account.
        let held = "SELECT COUNT(*) FROM slugs WHERE account_id = '' AND held_until IS NOT NULL";
        assert_eq!((node.count(held).await, node.count("SELECT COUNT(*) FROM slugs").await), (1, 1));
        let taken = Form::file("a.html", page("Another")).field("slug", "my-name");
        node.post("/sites").key(&node.key).form(taken).send().await.refused(409, "slug_taken");
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 1, "only the page of the other account");
        assert_eq!(node.count("SELECT COUNT(*) FROM bundles").await, 1);
        assert_eq!(node.count("SELECT COUNT(*) FROM audit WHERE act = 'erase_account'").await, 1);
        node.get("/me").key(&key).send().await.expect(401);
        node.get(&format!("/p/{}/", site["unlisted_token"].as_str().unwrap())).send().await.expect(410);
        node.get(kept["url"].as_str().unwrap()).send().await.expect(200);
        assert!(node.app().audit_ledger().await.unwrap().faults.is_empty());
        // The address is free again.
        node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn each_appeal_of_an_erased_account_releases_its_content() {
    on_each_database(Setup::new, async |node| {
        let account = node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
        // The content of another account's page, which two appeals hold as well.
        let kept = node.publish_page("Of another account").await;
        let site = kept["id"].as_str().unwrap();
        for number in [1_u8, 2] {
            let insert = "INSERT INTO appeals (id, token_hash, account_id, client, digest, bundle_id, size_bytes, title, \
                          reasons, state, created_at) \
                          VALUES ($1, $2, $3, '', $2, (SELECT bundle_id FROM sites WHERE id = $4), 1, '', '[]', 'open', 0)";
            let id = format!("appeal_{number}");
            let args = vec![id.into(), vec![number].into(), account.id.as_str().into(), site.into()];
            node.exec(insert, args).await;
        }
        node.exec("UPDATE bundles SET refs = refs + 2", Vec::new()).await;
        node.app().erase_account(COMMAND_LINE, &account).await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM appeals").await, 0);
        assert_eq!(node.count("SELECT refs FROM bundles").await, 1);
        node.get(kept["url"].as_str().unwrap()).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn accounts_that_cannot_be_erased_are_left_as_they_are() {
    let node = Setup::new().start().await;
    let operator = node.app().list_accounts().await.unwrap().into_iter().find(|it| it.is_operator).unwrap();
    let refused = node.app().erase_account(COMMAND_LINE, &operator).await.map(|it| it.pages).unwrap_err();
    assert_eq!(refused.code.as_str(), "forbidden");
    let account = node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
    node.app().credit_account(COMMAND_LINE, &account.id, 500, "a gift", None).await.unwrap();
    let account = node.app().get_account(&account.id).await.unwrap();
    let refused = node.app().erase_account(COMMAND_LINE, &account).await.map(|it| it.pages).unwrap_err();
    assert_eq!(refused.code.as_str(), "conflict");
    assert!(node.app().get_account(&account.id).await.unwrap().suspended.is_none());
}

#[tokio::test]
async fn an_account_is_kept_while_money_may_still_arrive() {
    on_each_database(Setup::new, async |node| {
        let account = node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
        let insert = "INSERT INTO pay_sessions (id, code_hash, slug_hash, feature, amount_minor, price_minor, sandbox, \
                      account_id, state, checkout_id, created_at, expires_at, checked_at) \
                      VALUES ('pays_1', $1, $2, 'credit', 500, 500, 0, $3, 'pending', 'cs_1', 0, 0, 0)";
        let id = account.id.as_str();
        node.exec(insert, vec![vec![1_u8].into(), vec![2_u8].into(), id.into()]).await;
        let refused = node.app().erase_account(COMMAND_LINE, &account).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "conflict", "its payment form is open");
        assert!(node.app().get_account(id).await.unwrap().suspended.is_none());
        node.exec("UPDATE pay_sessions SET state = 'expired' WHERE id = 'pays_1'", Vec::new()).await;

        // It is credited after the caller read the account.
        node.app().credit_account(COMMAND_LINE, id, 500, "a payment", None).await.unwrap();
        let refused = node.app().erase_account(COMMAND_LINE, &account).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "conflict");
        assert!(refused.detail.contains("restore-access"), "{}", refused.detail);
        assert!(node.app().get_account(id).await.unwrap().suspended.is_some());
        node.app().lift_suspension(COMMAND_LINE, id, "a test").await.unwrap();
        node.app().credit_account(COMMAND_LINE, id, -500, "refunded", None).await.unwrap();
        node.app().erase_account(COMMAND_LINE, &account).await.unwrap();
        assert!(node.app().get_account(id).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn the_command_asks_for_the_address_first() {
    let node = Setup::new().real_time().start().await;
    node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
    let work = tempfile::tempdir().unwrap();
    let dropleaf = Dropleaf::in_dir(work.path());
    let data = node.data_dir().display().to_string();
    // Standard input is empty.
    let output = dropleaf
        .command(&["account", "delete", OWNER, "--data-dir", &data])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(node.app().get_account_by_email(OWNER).await.is_ok());
    let delete = ["account", "delete", OWNER, "--data-dir", &data];
    let (code, screen) = dropleaf.on_terminal(80, &delete, "y\n");
    assert!(code == 1 && screen.contains("nothing was changed"), "{screen}");
    assert!(node.app().get_account_by_email(OWNER).await.is_ok());
    let (code, screen) = dropleaf.on_terminal(80, &delete, "owner@example.org\n");
    assert!(code == 0 && screen.contains("Deleted acct_"), "{screen}");
    assert!(node.app().get_account_by_email(OWNER).await.is_err());
    node.app().create_account(OWNER, Some("pro"), false).await.unwrap();
    let printed = dropleaf.prints(&["account", "delete", OWNER, "-y", "--json", "--data-dir", &data]);
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert!(printed["id"].as_str().unwrap().starts_with("acct_") && printed["pages"] == 0, "{printed}");
    assert!(node.app().get_account_by_email(OWNER).await.is_err());
}
