//! Tabs of people who have signed in already.

use super::{Node, Tab};
use dropleaf_core::Minter;
use dropleaf_core::account::Account;
use dropleaf_core::session::Method;

/// A tab of the account whose key is `node.key`, at the dashboard.
pub(crate) async fn operator(node: &Node) -> Tab<'_> {
    let account = node.app().get_account_by_email("operator@localhost").await.unwrap();
    tab_of(node, &account).await
}

/// A tab of somebody else, on this plan.
pub(crate) async fn stranger<'a>(node: &'a Node, plan: &str) -> Tab<'a> {
    let address = format!("{}@example.org", Minter::system().nonce());
    let account = node.app().create_account(&address, Some(plan), false).await.unwrap();
    tab_of(node, &account).await
}

async fn tab_of<'a>(node: &'a Node, account: &Account) -> Tab<'a> {
    let session = node.app().start_session(account, Method::Code, "a test").await.unwrap();
    let mut tab = Tab::new(node);
    tab.cookies.insert("__Host-session".into(), session.secret);
    tab.get("/dashboard").await.expect(200);
    tab
}
