//! A suspended account can only read and delete; its pages are hidden, and shown again when the suspension is lifted.

use crate::dashboard::forms::forms;
use crate::harness::oauth::let_in;
use crate::harness::{
    Ask, Database, Dropleaf, Form, Node, Person, Purse, Setup, a_second_later, on_each_database, page,
    site_path,
};
use crate::mcp::mcp_tools_refused::calls;
use crate::pay::wallet::{challenge, paid_page, put, signed};
use dropleaf_app::{COMMAND_LINE, IdempotentResult};
use serde_json::{Value, json};

const CODE: &str = "account_suspended";
const DOMAIN: &str = "reports.customer.example";

pub(crate) async fn key_of(node: &Node, person: &Person<'_>) -> String {
    match node.app().create_key(&person.account, None, None, |_| Vec::new()).await.unwrap() {
        IdempotentResult::New(new) => new.secret,
        IdempotentResult::Replayed { .. } => panic!("a new key is no repeat"),
    }
}

async fn suspend(node: &Node, person: &Person<'_>) {
    node.app().suspend_account("operator", &person.account.id, "spam").await.unwrap();
}

async fn status_of(node: &Node, url: &str) -> u16 {
    open(node, url).send().await.status
}

#[tokio::test]
async fn pages_are_held_back_at_once_and_come_back_when_it_is_lifted() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let key = key_of(node, &person).await;
        let site = node.publish_as(&key, Form::file("a.html", page("Held")).field("slug", "held")).await;
        let gated = node.publish_as(&key, Form::file("a.html", page("Gate")).field("password", "x")).await;
        let other = node.publish_page("Another account's").await;
        let free = node.publish_anonymously().await;
        let token_link = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
        let urls = [site["url"].as_str().unwrap(), &token_link];
        for _ in 0..2 {
            for url in urls {
                node.get(url).send().await.expect(200);
            }
            node.clock.advance(1);
            suspend(node, &person).await;
            for url in urls.into_iter().chain(gated["url"].as_str()) {
                node.get(url).header("accept", "application/json").send().await.refused(403, CODE);
            }
            let seen = node.get(&token_link).browser().send().await;
            let seen = if seen.status == 307 {
                node.get(seen.header("location")).browser().send().await
            } else {
                seen
            };
            assert!(seen.expect(403).text().contains("This page is suspended"));
            for open in [&other, &free] {
                node.get(open["url"].as_str().unwrap()).send().await.expect(200);
            }
            node.clock.advance(1);
            node.app().lift_suspension("operator", &person.account.id, "a mistake").await.unwrap();
        }
        for url in urls {
            assert!(node.get(url).send().await.expect(200).text().contains("Held"));
        }
        let acts: Vec<_> = node.app().list_audit_about(&person.account.id, 10).await.unwrap();
        let acts: Vec<_> = acts.iter().map(|line| (line.action.as_str(), line.reason.as_deref())).collect();
        let (off, on) = (("lift_suspension", Some("a mistake")), ("suspend_account", Some("spam")));
        assert_eq!(acts, [off, on, off, on]);
    })
    .await;
}

#[tokio::test]
async fn every_operation_that_writes_is_403_and_reading_goes_on() {
    let node = Node::start().await;
    let person = node.newcomer_on("pro").await;
    let key = key_of(&node, &person).await;
    let app = let_in(&person, "").await;
    let form = Form::file("a.html", page("Mine")).field("agentation", "true");
    let site = node.publish_as(&key, form).await;
    let comment = crate::webhooks::comment(&node, &site).await;
    let second = Form::file("a.html", page("Mine again"));
    node.put(&site_path(&site)).key(&key).form(second).send().await.expect(200);
    let domain = json!({"hostname": DOMAIN, "site_id": site["id"]});
    node.post("/custom-domains").key(&key).json(&domain).send().await.expect(201);
    // A program sees its own webhooks only.
    let mut webhooks = Vec::new();
    for credential in [&key, &app.access] {
        let webhook = json!({"url": "https://hooks.example.com/"});
        let made: Value =
            node.post("/webhooks").key(credential).json(&webhook).send().await.expect(201).json();
        webhooks.push((credential, made["id"].as_str().unwrap().to_owned()));
    }
    suspend(&node, &person).await;
    let document: Value = node.get("/openapi.json").send().await.json();
    let mut written = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let at = path
            .replace("{idOrSlug}", site["id"].as_str().unwrap())
            .replace("{version}", "1")
            .replace("{path}", "a.css")
            .replace("{tokenId}", "share_aaaaaaaaaaaaaaaaaaaa")
            .replace("{hostname}", DOMAIN)
            .replace("{deliveryId}", "evt_aaaaaaaaaaaaaaaaaaaa")
            .replace("/feedback/{id}", &format!("/feedback/{comment}"))
            .replace("/api-keys/{id}", "/api-keys/key_aaaaaaaaaaaaaaaaaaaa");
        for (method, operation) in item.as_object().unwrap() {
            let takes_a_key =
                operation["security"].as_array().unwrap().iter().any(|way| way.get("api_key").is_some());
            // A check changes nothing; a tool is refused inside its message.
            let removes = matches!(
                path.as_str(),
                "/sites/{idOrSlug}" | "/custom-domains/{hostname}" | "/webhooks/{id}"
            );
            let always = matches!(path.as_str(), "/check" | "/mcp") || (method == "delete" && removes);
            if !takes_a_key || always {
                continue;
            }
            for (credential, webhook) in &webhooks {
                let at = at.replace("{id}", webhook);
                let answer = node.ask(method.to_uppercase().parse().unwrap(), &at).key(credential);
                let answer = answer.send().await;
                if method == "get" {
                    assert!(answer.status < 403, "{path}: {}", answer.text());
                } else {
                    answer.refused(403, CODE);
                    written += 1;
                }
            }
        }
    }
    assert!(written >= 22, "{written}");
    node.delete(&format!("/custom-domains/{DOMAIN}")).key(&key).send().await.expect(200);
    let webhook = format!("/webhooks/{}", webhooks[0].1);
    node.delete(&webhook).key(&key).send().await.expect(200);
    node.delete(&site_path(&site)).key(&key).send().await.expect(200);
    node.post(&format!("{}/restore", site_path(&site))).key(&key).send().await.refused(403, CODE);
    node.app().lift_suspension("operator", &person.account.id, "well").await.unwrap();
    node.post(&format!("{}/restore", site_path(&site))).key(&key).send().await.expect(200);
}

#[tokio::test]
async fn tools_and_upload_addresses_say_so_too() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let app = let_in(&person, "").await;
        let client = node.mcp_modern(&app.access);
        let site = client.give("publish_html", json!({"html": page("Mine")})).await;
        let made = client.give("create_upload", json!({"file": "a.html"})).await;
        let address = made["upload_url"].as_str().unwrap().to_owned();
        let tools = client.tools().await;
        suspend(node, &person).await;
        let put = node.put(&format!("{address}a.html")).body("text/html", page("Late")).send().await;
        put.refused(403, CODE);
        for (tool, arguments) in calls(&site) {
            let described = tools.iter().find(|known| known["name"] == tool).unwrap();
            if described["annotations"]["readOnlyHint"] == true {
                client.give(tool, arguments).await;
            } else if !["delete_site", "delete_custom_domain"].contains(&tool) {
                let said = client.refused(tool, arguments, CODE).await;
                assert!(said.contains("Only the operator can lift"), "{tool}: {said}");
            }
        }
        client.give("delete_site", json!({"site": site["id"]})).await;
    })
    .await;
}

#[tokio::test]
async fn dashboard_tells_on_each_page_and_takes_no_form_but_those_that_leave() {
    let node = Node::start().await;
    let person = node.newcomer_on("pro").await;
    let key = key_of(&node, &person).await;
    let site = node.publish_as(&key, Form::file("a.html", page("Mine"))).await;
    let id = site["id"].as_str().unwrap();
    let pages = [
        "/dashboard",
        "/dashboard/domains",
        "/dashboard/keys",
        "/dashboard/apps",
        "/dashboard/account",
        "/dashboard/billing",
        "/dashboard/upload",
    ];
    let told = "Your account is suspended.";
    assert!(!person.get("/dashboard").await.expect(200).text().contains(told));
    suspend(&node, &person).await;
    for path in pages.map(str::to_owned).into_iter().chain([format!("/dashboard/pages/{id}")]) {
        assert!(person.get(&path).await.expect(200).text().contains(told), "{path}");
    }
    let leaving = [
        "/logout",
        "/dashboard/account/sessions",
        "/dashboard/pages/{id}/delete",
        "/dashboard/domains/{hostname}/delete",
        "/dashboard/webhooks/{id}/delete",
    ];
    let token = person.token();
    for path in forms() {
        // Anyone with a pay link may pay. `/drop` publishes without an account and reads no cookie.
        let is_open = path.starts_with("/login") || path.starts_with("/pay/") || path == "/drop";
        if is_open || leaving.iter().any(|open| path.starts_with(open)) {
            continue;
        }
        let others = ["{link}", "{item}", "{sku}", "{hostname}"];
        let at = others.iter().fold(path.replace("{id}", id), |at, name| at.replace(name, "x"));
        let ask = person.bare(&at).fields(&[("form_token", &token)]).header("x-form-token", &token);
        let answer = ask.header("origin", &node.base_url()).send().await;
        assert_eq!(answer.status, 403, "{path}: {}", answer.text());
        assert!(answer.text().contains("suspended"), "{path}: {}", answer.text());
    }
    person.submit(&format!("/dashboard/pages/{id}/delete"), &[]).await.expect(303);
    person.submit("/dashboard/account/sessions/end-others", &[]).await.expect(303);
    person.submit("/logout", &[]).await.expect(303);
    node.signed_in(&person.account).await.get("/dashboard").await.expect(200);
}

#[tokio::test]
async fn wallet_does_not_write_to_a_page_of_a_suspended_account() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let key = key_of(node, &person).await;
        let purse = Purse::new();
        let site = paid_page(node, &purse, 1).await;
        let claim = node.post(&format!("{}/claim", site_path(&site))).key(&key);
        claim.json(&json!({"claim_token": site["claim_token"]})).send().await.expect(200);
        suspend(node, &person).await;
        let credential = signed(&challenge(node, &purse).await, &purse.evm);
        put(node, &site, &credential, "Late").await.refused(403, CODE);
        node.app().lift_suspension("operator", &person.account.id, "well").await.unwrap();
        put(node, &site, &credential, "Back").await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn operator_suspends_and_lifts_on_the_list_of_accounts_but_no_operator() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let person = node.newcomer("eve@example.org").await;
        let at = |act: &str| format!("/operator/accounts/{}/{act}", person.account.id);
        let silent = operator.submit(&at("suspend"), &[("reason", " "), ("q", "eve")]).await.expect(400);
        assert!(silent.text().contains("The reason is required for the suspension"), "{}", silent.text());
        let done = operator.submit(&at("suspend"), &[("reason", "spam <b>"), ("q", "eve")]).await.expect(303);
        let shown = operator.get(done.header("location")).await.expect(200).text();
        assert!(shown.contains("Account suspended.") && shown.contains("spam &#60;b&#62;"), "{shown}");
        person.submit("/dashboard/keys", &[("name", "x")]).await.expect(403);
        node.clock.advance(1);
        operator.submit(&at("lift"), &[("reason", "a mistake")]).await.expect(303);
        person.submit("/dashboard/keys", &[("name", "x")]).await.expect(200);
        let own = format!("/operator/accounts/{}/suspend", operator.account.id);
        operator.submit(&own, &[("reason", "me")]).await.expect(403);
        operator.submit("/operator/accounts/acct_nobody/suspend", &[("reason", "x")]).await.expect(404);
        operator.get("/operator").await.expect(200);
        let lines = node.app().list_audit(10).await.unwrap();
        let lines: Vec<_> = lines.iter().map(|line| (line.actor.as_str(), line.action.as_str())).collect();
        let who = "operator@localhost";
        assert_eq!(lines, [(who, "lift_suspension"), (who, "suspend_account")]);
    })
    .await;
}

#[tokio::test]
async fn command_line_suspends_and_the_server_knows_within_a_second() {
    let node = Setup::new().start().await;
    let person = node.newcomer("eve@example.org").await;
    let key = key_of(&node, &person).await;
    let site = node.publish_as(&key, Form::file("a.html", page("Mine"))).await;
    let url = site["url"].as_str().unwrap();
    assert_eq!(status_of(&node, url).await, 200);
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &data)
        .env("DROPLEAF_BASE_URL", &node.base_url());
    let said = dropleaf.prints(&["account", "suspend", "eve@example.org", "--reason", "spam"]);
    assert_eq!(said, format!("{} is suspended.\n", person.account.id));
    a_second_later(&node, open(&node, url), 403).await;
    a_second_later(&node, publish(&node, &key), 403).await;
    assert!(dropleaf.prints(&["account", "list"]).contains("suspended"));
    let again = dropleaf.prints(&["account", "suspend", &person.account.id, "--reason", "twice"]);
    assert!(again.contains("was already suspended"), "{again}");
    assert!(
        dropleaf
            .complains(&["account", "suspend", "operator@localhost", "--reason", "x"])
            .contains("cannot be suspended")
    );
    dropleaf.prints(&["account", "restore-access", "eve@example.org", "--reason", "well"]);
    a_second_later(&node, open(&node, url), 200).await;
    a_second_later(&node, publish(&node, &key), 201).await;
    let told = dropleaf.prints(&["audit", "--json", "--subject", &person.account.id]);
    let told: Value = serde_json::from_str(&told).unwrap();
    let lines: Vec<_> =
        told["audit"].as_array().unwrap().iter().map(|line| line["act"].as_str().unwrap()).collect();
    assert_eq!(lines, ["lift_suspension", "suspend_account"], "newest first, also within one second");
    assert_eq!(told["audit"][0]["actor"], COMMAND_LINE);
    assert_eq!(dropleaf.prints(&["audit", "--subject", "site_none"]), "The audit log is empty.\n");
}

fn publish(node: &Node, key: &str) -> Ask {
    node.post("/sites").key(key).form(Form::file("a.html", page("x")))
}

fn open(node: &Node, url: &str) -> Ask {
    node.get(url).header("accept", "application/json")
}

#[tokio::test]
async fn other_nodes_know_within_a_second() {
    let database = Database::postgres().await;
    let secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let setup = || Setup::new().set("secret_key", secret).database(database.clone());
    let (first, second) = (setup().start().await, setup().start().await);
    let person = first.newcomer_on("pro").await;
    let key = key_of(&first, &person).await;
    let site = first.publish_as(&key, Form::file("a.html", page("Mine"))).await;
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    a_second_later(&second, open(&second, &path), 200).await;
    second.get("/me").key(&key).send().await.expect(200);
    suspend(&first, &person).await;
    a_second_later(&second, open(&second, &path), 403).await;
    second.post("/sites").key(&key).form(Form::file("a.html", page("x"))).send().await.refused(403, CODE);
    first.app().lift_suspension("operator", &person.account.id, "well").await.unwrap();
    a_second_later(&second, open(&second, &path), 200).await;
    drop(person);
    first.stop().await;
    second.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn program_can_ask_whether_the_account_is_suspended() {
    let node = Node::start().await;
    let person = node.newcomer_on("pro").await;
    let key = key_of(&node, &person).await;
    let me = async || node.get("/me").key(&key).send().await.expect(200).json();
    assert_eq!(me().await["suspended"], Value::Null);
    suspend(&node, &person).await;
    let said = me().await;
    assert_eq!(said["suspended"]["since"], node.app().now());
    assert_eq!(node.mcp_modern(&key).give("get_me", json!({})).await["suspended"], said["suspended"]);
}

async fn purge(node: &Node, key: &str, site: &Value) -> Value {
    let path = format!("{}?purge=true", site_path(site));
    node.delete(&path).key(key).send().await.expect(200).json()
}

#[tokio::test]
async fn nothing_is_erased_that_an_operator_may_have_to_look_at() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let key = key_of(node, &person).await;
        let mine = async |title: &str| node.publish_as(&key, Form::file("a.html", page(title))).await;
        let (reported, other, third) = (mine("One").await, mine("Two").await, mine("Three").await);
        let report = format!("{}_dropleaf/report", reported["url"].as_str().unwrap());
        node.post(&report).fields(&[("reason", "phishing"), ("comment", "x")]).send().await.expect(200);
        assert_eq!(purge(node, &key, &third).await, json!({"ok": true, "restorable_until": null}));
        for _ in 0..2 {
            let kept = purge(node, &key, &reported).await;
            assert!(kept["restorable_until"].is_i64(), "{kept}");
            assert!(kept["warnings"][0].as_str().unwrap().contains("not erased yet"), "{kept}");
        }
        suspend(node, &person).await;
        assert!(purge(node, &key, &other).await["restorable_until"].is_i64());
        assert_eq!(node.count("SELECT COUNT(*) FROM site_versions").await, 2);
        for site in [&reported, &other] {
            node.app().take_down("ada", site["id"].as_str().unwrap(), "fraud").await.unwrap();
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM evidence WHERE bundle_id IS NOT NULL").await, 2);
        // After the decision, the rest belongs to the owner again.
        node.app().lift_suspension("operator", &person.account.id, "well").await.unwrap();
        let last = mine("Four").await;
        assert_eq!(purge(node, &key, &last).await["restorable_until"], Value::Null);
    })
    .await;
}
