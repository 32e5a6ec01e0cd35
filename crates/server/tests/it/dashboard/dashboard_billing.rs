//! `/dashboard/billing`: money is added by card, and unlocks are bought by card or from the balance.

use crate::harness::{Answer, DAY, NOW, Node, Person, ReservedPort, Setup, VISA, on_each_database};
use crate::pay::prepaid::give_real_money;
use dropleaf_core::unlock::Sku;

const HERE: &str = "/dashboard/billing";
const LIMITS: &str = "/dashboard/billing/unlocks/higher_limits";
const PERMANENT: &str = "/dashboard/billing/unlocks/make_permanent";

async fn credit(node: &Node, person: &Person<'_>, cents: i64) {
    node.app().credit_account("a test", &person.account.id, cents, "for a test", None).await.unwrap();
}

async fn balance(node: &Node, person: &Person<'_>) -> i64 {
    let account = node.app().get_account(&person.account.id).await.unwrap();
    node.app().spendable_balance(&account)
}

/// The value of a hidden field of the current form.
fn hidden(page: &Answer, name: &str) -> String {
    let text = page.text();
    let (_, rest) = text.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Opens the question of an unlock; its fields buy it once.
async fn question(person: &Person<'_>, path: &str) -> (String, String) {
    let page = person.get(path).await.expect(200);
    (hidden(&page, "purchase"), hidden(&page, "price"))
}

async fn buy(person: &Person<'_>, path: &str, (purchase, price): &(String, String)) -> Answer {
    person.submit(path, &[("purchase", purchase), ("price", price)]).await
}

/// Pays at the pay link that a form led to; gives the address behind the card form.
async fn pay(person: &Person<'_>, link: &Answer) -> String {
    let form = person.submit(link.header("location"), &[]).await.expect(303);
    let card = [("number", VISA), ("expiry", "12/34"), ("cvc", "123")];
    person.submit(form.header("location"), &card).await.expect(303).header("location").to_owned()
}

#[tokio::test]
async fn money_is_added_by_card_and_the_dashboard_says_so() {
    on_each_database(Setup::new, async |node| {
        let (ada, eve) = (node.newcomer("ada@example.org").await, node.newcomer("eve@example.org").await);
        let page = ada.get(HERE).await.expect(200).text();
        for part in
            ["Sandbox balance", "<p class=\"amount\">$0.00</p>", "Test mode:", "aria-label=\"Add $5\""]
        {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(
            ada.get("/dashboard/account").await.expect(200).text().contains("href=\"/dashboard/billing\"")
        );
        let link = ada.submit("/dashboard/billing/top-up", &[("amount", "12.50")]).await.expect(303);
        let at = link.header("location").to_owned();
        assert!(at.starts_with("/pay/"), "{at}");
        let ready = ada.get(&at).await.expect(200).text();
        assert!(ready.contains("Pay $12.50 by card") && ready.contains("go back to billing"), "{ready}");
        assert!(!eve.get(&at).await.expect(200).text().contains("/dashboard/billing"), "it is not theirs");
        let back = pay(&ada, &link).await;
        let told = ada.get(&back).await.expect(303);
        assert_eq!(told.header("location"), "/dashboard/billing?done=topup#outcome");
        let page = ada.get(told.header("location")).await.expect(200).text();
        assert!(page.contains("role=\"status\" tabindex=\"-1\">Your balance is now $12.50."), "{page}");
        // Others who have the link see that it was paid.
        let others = eve.get(&back).await.expect(200).text();
        assert!(others.contains("return to your agent") && !others.contains("/dashboard/billing"));
        let paid = ada.get(&at).await.expect(200).text();
        assert!(paid.contains("Back to billing") && !paid.contains("your agent"), "{paid}");
        assert_eq!((balance(node, &ada).await, balance(node, &eve).await), (1250, 0));
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn wrong_amounts_are_refused_at_the_field_and_kept() {
    let node = Node::start().await;
    let ada = node.newcomer("ada@example.org").await;
    for typed in ["", "0", "0.49", "1000.01", "-5", "ten", "1,000", "1.234", "1e3", "9".repeat(40).as_str()] {
        let page = ada.submit("/dashboard/billing/top-up", &[("amount", typed)]).await.expect(400).text();
        let kept =
            format!("value=\"{typed}\" aria-invalid=\"true\" aria-describedby=\"outcome amount-hint\"");
        assert!(page.contains(&kept), "{typed}: {page}");
        assert!(page.contains("role=\"alert\" tabindex=\"-1\">Enter an amount between $0.50 and $1000.00"));
    }
    let odd = ada.submit("/dashboard/billing/top-up", &[("amount", "\"><b>")]).await.expect(400).text();
    assert!(!odd.contains("<b>"), "{odd}");
    ada.submit("/dashboard/billing/top-up", &[]).await.expect(400);
    assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions").await, 0);
    for typed in ["0.50", "$20", " 1000 "] {
        ada.submit("/dashboard/billing/top-up", &[("amount", typed)]).await.expect(303);
    }
    let amounts = "SELECT COUNT(*) FROM pay_sessions WHERE amount_minor IN (50, 2000, 100000)";
    assert_eq!(node.count(amounts).await, 3);
}

#[tokio::test]
async fn one_form_buys_once_from_the_balance() {
    on_each_database(Setup::new, async |node| {
        let ada = node.newcomer_on("free").await;
        credit(node, &ada, 10_000).await;
        let form = question(&ada, LIMITS).await;
        let twice = tokio::join!(buy(&ada, LIMITS, &form), buy(&ada, LIMITS, &form));
        for answer in [twice.0, twice.1, buy(&ada, LIMITS, &form).await] {
            let to = answer.expect(303).header("location").to_owned();
            assert_eq!(to, "/dashboard/billing?done=higher_limits#outcome");
            let page = ada.get(&to).await.expect(200).text();
            assert!(page.contains("Your balance is now $75.00."), "{page}");
        }
        let until = async || {
            let account = node.app().get_account(&ada.account.id).await.unwrap();
            account.unlocks.until(Sku::HigherLimits)
        };
        assert_eq!(until().await, Some(NOW + 30 * DAY));
        // Another form is another purchase, and the same number in another account is its own.
        buy(&ada, LIMITS, &question(&ada, LIMITS).await).await.expect(303);
        assert_eq!((until().await, balance(node, &ada).await), (Some(NOW + 60 * DAY), 5000));
        let eve = node.newcomer_on("free").await;
        credit(node, &eve, 3000).await;
        buy(&eve, LIMITS, &form).await.expect(303);
        assert_eq!((balance(node, &eve).await, balance(node, &ada).await), (500, 5000));
        // A form without its number or price buys nothing.
        let (purchase, price) = question(&ada, LIMITS).await;
        ada.submit(LIMITS, &[("price", &price)]).await.expect(400);
        ada.submit(LIMITS, &[("price", &price), ("purchase", &"x".repeat(65))]).await.expect(400);
        let page = ada.submit(LIMITS, &[("price", "1"), ("purchase", &purchase)]).await.expect(409).text();
        assert!(page.contains("The price has changed"), "{page}");
        assert_eq!(balance(node, &ada).await, 5000);
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn balance_that_is_too_small_buys_nothing() {
    on_each_database(Setup::new, async |node| {
        let ada = node.newcomer_on("free").await;
        credit(node, &ada, 2500).await;
        let form = question(&ada, LIMITS).await;
        // Spent elsewhere after the question was shown.
        buy(&ada, PERMANENT, &question(&ada, PERMANENT).await).await.expect(303);
        let page = buy(&ada, LIMITS, &form).await.expect(402).text();
        assert!(page.contains("Your balance does not cover $25.00. Nothing was charged."), "{page}");
        assert!(page.contains("Your balance is $2.00 short."), "{page}");
        assert!(
            page.contains("Pay by card: Higher limits") && !page.contains("Pay from balance: Higher limits")
        );
        assert_eq!(ada.get(LIMITS).await.expect(303).header("location"), HERE);
        assert_eq!(balance(node, &ada).await, 2300);
        node.check_ledger().await;
    })
    .await;
}

#[tokio::test]
async fn unlock_that_does_not_expire_is_bought_once() {
    on_each_database(Setup::new, async |node| {
        let ada = node.newcomer_on("free").await;
        let link = ada.submit(&format!("{PERMANENT}/card"), &[]).await.expect(303);
        let told = ada.get(&pay(&ada, &link).await).await.expect(303);
        assert_eq!(told.header("location"), "/dashboard/billing?done=make_permanent#outcome");
        let page = ada.get(told.header("location")).await.expect(200).text();
        assert!(page.contains("Your pages are permanent. Your balance is now $0.00."), "{page}");
        assert!(
            page.contains("Active, with no expiry.") && !page.contains("unlocks/make_permanent"),
            "{page}"
        );
        // Forms that were open before.
        credit(node, &ada, 500).await;
        let page = ada.submit(&format!("{PERMANENT}/card"), &[]).await.expect(409).text();
        assert!(page.contains("You already have this unlock"), "{page}");
        ada.submit(PERMANENT, &[("purchase", "1"), ("price", "200")]).await.expect(303);
        assert_eq!(ada.get(PERMANENT).await.expect(303).header("location"), HERE);
        assert_eq!(balance(node, &ada).await, 500);
        // A link that only claims it says nothing.
        let eve = node.newcomer_on("free").await;
        for done in ["make_permanent", "higher_limits", "provision", "x", "%00"] {
            let page = eve.get(&format!("{HERE}?done={done}")).await.expect(200).text();
            assert!(!page.contains("id=\"outcome\""), "{done}: {page}");
        }
    })
    .await;
}

#[tokio::test]
async fn live_server_without_a_card_processor_offers_no_card() {
    let nowhere = ReservedPort::new();
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("payments.facilitator_url", nowhere.url())
        .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        .start()
        .await;
    let ada = node.newcomer_on("free").await;
    credit(&node, &ada, 300).await;
    let page = ada.get(HERE).await.expect(200).text();
    assert!(page.contains("Card payments are not set up on this server, so money cannot be added here."));
    for absent in ["top-up", "/card", "by card", "Test mode", "Sandbox"] {
        assert!(!page.contains(absent), "{absent}: {page}");
    }
    for path in ["/dashboard/billing/unlocks/x"] {
        ada.get(path).await.expect(404);
        ada.submit(path, &[]).await.expect(404);
        ada.submit(&format!("{path}/card"), &[]).await.expect(404);
    }
    for (path, amount) in [("/dashboard/billing/top-up", "5"), (&format!("{LIMITS}/card"), "")] {
        let page = ada.submit(path, &[("amount", amount)]).await.expect(402).text();
        assert!(!page.contains("<button>Pay"), "{page}");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions").await, 0);
    buy(&ada, PERMANENT, &question(&ada, PERMANENT).await).await.expect(303);
    assert_eq!(balance(&node, &ada).await, 100);
}

#[tokio::test]
async fn without_payments_there_is_no_billing() {
    let node = Setup::new().set("payments.mode", "off").start().await;
    let ada = node.newcomer("ada@example.org").await;
    assert!(!ada.get("/dashboard/account").await.expect(200).text().contains("billing"));
    for path in [HERE, LIMITS] {
        ada.get(path).await.expect(404);
    }
    for path in ["/dashboard/billing/top-up", LIMITS, &format!("{LIMITS}/card")] {
        ada.submit(path, &[("amount", "5"), ("purchase", "1"), ("price", "2500")]).await.expect(404);
    }
}

#[tokio::test]
async fn only_the_owner_in_our_own_page_buys() {
    let node = Node::start().await;
    let ada = node.newcomer_on("free").await;
    credit(&node, &ada, 10_000).await;
    let (purchase, price) = question(&ada, LIMITS).await;
    let fields = [("purchase", purchase.as_str()), ("price", &price), ("amount", "5")];
    for path in ["/dashboard/billing/top-up", LIMITS, &format!("{LIMITS}/card")] {
        ada.cannot_be_imitated(path, &fields).await;
        let out = node.post(path).browser().header("origin", &node.base_url()).fields(&fields);
        assert!(out.send().await.expect(303).header("location").starts_with("/login"), "{path}");
    }
    assert!(node.get(HERE).browser().send().await.expect(303).header("location").starts_with("/login"));
    node.app().suspend_account("a test", &ada.account.id, "spam").await.unwrap();
    let page = ada.get(HERE).await.expect(200).text();
    assert!(
        !page.contains("action=\"/dashboard/billing") && page.contains("while your account is suspended")
    );
    for path in ["/dashboard/billing/top-up", LIMITS, &format!("{LIMITS}/card")] {
        ada.submit(path, &fields).await.expect(403);
    }
    assert_eq!(balance(&node, &ada).await, 10_000);
    assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions").await, 0);
}

#[tokio::test]
async fn real_money_is_told_from_sandbox_money() {
    let node = Node::start().await;
    let ada = node.newcomer_on("free").await;
    give_real_money(&node, &ada.account.id, 300).await;
    let page = ada.get(HERE).await.expect(200).text();
    assert!(page.contains("You also have $3.00 of real money, which is not spent in test mode."), "{page}");
}

#[tokio::test]
async fn links_are_limited_per_network() {
    let node = Setup::new().with_rates().set("limits.paid_attempts_per_minute", "2").start().await;
    let ada = node.newcomer("ada@example.org").await;
    let top_up = async || ada.submit("/dashboard/billing/top-up", &[("amount", "5")]).await;
    for _ in 0..2 {
        top_up().await.expect(303);
    }
    top_up().await.expect(429);
}
