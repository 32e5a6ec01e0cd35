//! `/dashboard/account`: the prepaid balance and its movements.

use crate::harness::Node;

#[tokio::test]
async fn balance_and_its_movements_are_shown_page_by_page() {
    let node = Node::start().await;
    let ada = node.newcomer("ada@example.org").await;
    let show = async |path: &str| ada.get(path).await.expect(200).text();
    let empty = show("/dashboard/account").await;
    assert!(empty.contains("<dt>Balance</dt><dd>$0.00 (sandbox)</dd>") && !empty.contains("Balance history"));
    for number in 1..=12 {
        let reason = format!("gift <{number}>");
        node.app().credit_account("a test", &ada.account.id, number, &reason, None).await.unwrap();
        node.clock.advance(1);
    }
    let page = show("/dashboard/account").await;
    assert!(page.contains("<dt>Balance</dt><dd>$0.78 (sandbox)</dd>"));
    assert!(page.contains("gift &#60;12&#62;") && page.contains("<td>$0.12</td>"), "{page}");
    assert!(page.contains("gift &#60;3&#62;") && !page.contains("gift &#60;2&#62;"));
    let older =
        page.split("<a class=\"button plain\" href=\"").find(|part| part.contains("Older transactions"));
    let older = older.unwrap().split('"').next().unwrap().replace("&#38;", "&");
    let second = show(older.split('#').next().unwrap()).await;
    assert!(second.contains("gift &#60;2&#62;") && !second.contains("Older transactions"), "{second}");
    for odd in ["?before=x", "?before_id=%00", "?before=1&before_id=%00", "?before=-9"] {
        show(&format!("/dashboard/account{odd}")).await;
    }
}
