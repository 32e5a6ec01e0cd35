//! `/operator/payments/revenue.csv`, and the revenue section of the list of payments.

use crate::harness::{DAY, NOW, Node, Setup, on_each_database, payment};
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::unlock::Sku;

const CSV: &str = "/operator/payments/revenue.csv";
const HEADER: &str = "month,rail,item,currency,payments,gross,returned,net\r\n";

/// Sales of two months on two rails, one of them with play money.
async fn sell(node: &Node) {
    let fulfilled = |id: &str| payment(id, PaymentState::Fulfilled);
    node.write_payments(&[
        Payment { fulfilled_at: Some(NOW - 20 * DAY), ..fulfilled("pay_a") },
        fulfilled("pay_b"),
        fulfilled("pay_c"),
        Payment { rail: Rail::Mpp, item: Item::Provision, amount: 1_000_000, ..fulfilled("pay_d") },
        Payment { sandbox: true, ..fulfilled("pay_e") },
        payment("pay_f", PaymentState::Refused),
    ])
    .await;
}

#[tokio::test]
async fn report_is_a_csv_file_of_the_chosen_months() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        assert_eq!(operator.get(CSV).await.expect(200).text(), HEADER);
        sell(node).await;
        let account = &operator.account;
        node.app().credit_account("ada", &account.id, 700, "a gift", None).await.unwrap();
        node.app().unlock_with_balance(account, Sku::MakePermanent, None, |_| Vec::new()).await.unwrap();

        let file = operator.get(CSV).await.expect(200);
        assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
        let name = "attachment; filename=\"revenue-2022-12-to-2023-11.csv\"";
        assert_eq!(file.header("content-disposition"), name);
        assert_eq!(file.header("cache-control"), "no-store");
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        let october = "2023-10,x402,publish,USDC,1,0.50,0.00,0.50\r\n";
        let november = "2023-11,balance,make_permanent,sandbox USD,1,2.00,0.00,2.00\r\n\
                        2023-11,mpp,provision,USDC,1,1.00,0.00,1.00\r\n\
                        2023-11,x402,publish,sandbox USDC,1,0.50,0.00,0.50\r\n\
                        2023-11,x402,publish,USDC,2,1.00,0.00,1.00\r\n";
        assert_eq!(file.text(), format!("{HEADER}{october}{november}"));
        let text = async |query: &str| operator.get(&format!("{CSV}?{query}")).await.expect(200).text();
        assert_eq!(text("from=2023-10&to=2023-10").await, format!("{HEADER}{october}"));
        assert_eq!(text("from=2023-11").await, format!("{HEADER}{november}"));
        assert_eq!(text("from=&to=2023-09").await, HEADER);
        assert!(node.app().audit_ledger().await.unwrap().faults.is_empty());
    })
    .await;
}

#[tokio::test]
async fn page_shows_the_last_months_newest_first() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let empty = operator.get("/operator/payments").await.expect(200).text();
        assert!(empty.contains("No revenue in the last 12 months."), "{empty}");
        sell(node).await;
        let html = operator.get("/operator/payments").await.expect(200).text();
        let (newer, older) = html.split_once("October 2023</th>").unwrap();
        let row = |badge: &str, via: &str, figures: [&str; 3]| {
            let cells = figures.map(|figure| format!("<td>{figure}</td>")).concat();
            let via = format!("<span class=\"soft small\">{via}</span>");
            format!("<tr><th scope=\"row\">publish{badge} {via}</th>{cells}</tr>")
        };
        let badge = " <span class=\"badge\">sandbox</span>";
        let (_, newer) = newer.split_once("November 2023</th>").unwrap();
        assert!(newer.contains(&row("", "x402 · USDC · 2 payments", ["1.00", "0.00", "1.00"])), "{newer}");
        assert!(
            newer.contains(&row(badge, "x402 · sandbox USDC · 1 payment", ["0.50", "0.00", "0.50"])),
            "{newer}"
        );
        assert!(older.contains(&row("", "x402 · USDC · 1 payment", ["0.50", "0.00", "0.50"])), "{older}");
        assert!(html.contains("action=\"/operator/payments/revenue.csv#outcome\""), "{html}");
        assert!(html.contains("value=\"2022-12\"") && html.contains("value=\"2023-11\""), "{html}");
    })
    .await;
}

#[tokio::test]
async fn bad_months_are_400_with_what_is_wrong() {
    let node = Setup::new().start().await;
    let operator = node.operator().await;
    for (query, problem) in [
        ("from=2023-13", "From must be a month such as 2026-11."),
        ("from=last+year", "From must be a month such as 2026-11."),
        ("to=11%2F2023", "To must be a month such as 2026-11."),
        ("from=2023-11&to=2023-10", "From must not be after the last month, 2023-10."),
        ("from=2023-12", "From must not be after the last month, 2023-11."),
        ("from=1970-01", "From is too early: a report covers at most 120 months."),
    ] {
        let refused = operator.get(&format!("{CSV}?{query}")).await.expect(400);
        assert_eq!(refused.header("content-type"), "text/html; charset=utf-8");
        assert!(!refused.has("content-disposition"), "{query}");
        assert!(refused.text().contains(problem), "{query}: {}", refused.text());
    }
    let hostile = operator.get(&format!("{CSV}?from=%22%3E%3Cscript%3E")).await.expect(400).text();
    assert!(hostile.contains("value=\"&#34;&#62;&#60;script&#62;\""), "{hostile}");
}

#[tokio::test]
async fn report_exists_for_operators_alone() {
    let node = Setup::new().start().await;
    let eve = node.newcomer("eve@example.org").await;
    assert!(eve.get(CSV).await.expect(404).text().contains("Page not found"));
    eve.get(&format!("{CSV}?from=x")).await.expect(404);
    let out = node.get(CSV).browser().send().await.expect(303);
    assert!(out.header("location").starts_with("/login?next=%2Foperator%2Fpayments%2Frevenue.csv"));
    node.get(CSV).key(&node.key).send().await.expect(303);
}
