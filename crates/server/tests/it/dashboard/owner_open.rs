//! `POST /dashboard/pages/{id}/open`: owners see their own pages past the gates, and preview burn pages. No one else
//! does.

use crate::access::gates::{PASSWORD, locked, own_host, url};
use crate::harness::{
    Answer, DAY, Form, Node, Person, Setup, noise, on_each_database, page, pdf, site_path, zip,
};
use dropleaf_app::IdempotentResult;
use serde_json::{Value, json};

fn opening(site: &Value) -> String {
    format!("/dashboard/pages/{}/open", site["id"].as_str().unwrap())
}

/// The address that the dashboard redirects the owner to.
async fn ticket(tab: &Person<'_>, site: &Value) -> String {
    let sent = tab.submit(&opening(site), &[]).await.expect(303);
    let to = sent.header("location").to_owned();
    assert!(to.starts_with(&format!("{}?owner=own_", url(site))), "{to}");
    to
}

/// Follows it to the page's own host, up to the redirect that removes the ticket from the address.
async fn arrive(node: &Node, address: &str) -> Answer {
    let first = node.get(address).browser().send().await.expect(307);
    node.get(first.header("location")).browser().send().await.expect(303)
}

async fn pass(node: &Node, tab: &Person<'_>, site: &Value) -> String {
    arrive(node, &ticket(tab, site).await).await.cookie()
}

async fn burning(node: &Node, title: &str) -> Value {
    node.publish(Form::file("p.html", page(title)).field("burn_after_read", "true")).await
}

/// The address of the frame in a preview.
#[track_caller]
fn frame(shown: &Answer, own: &str) -> String {
    let html = shown.text();
    assert!(html.contains("<strong>Preview</strong>"), "{html}");
    let src = html.split_once(" src=\"").expect("a frame").1.split('"').next().unwrap();
    format!("{}{src}", own.split("/p/").next().unwrap())
}

#[tokio::test]
async fn owner_opens_their_gated_page_without_its_password_and_is_not_counted() {
    on_each_database(Setup::new, async |node| {
        let files = zip(&[("index.html", &page("Mine")), ("a.css", "p {}")]);
        let site = node.publish(Form::file("s.zip", files).field("password", PASSWORD)).await;
        node.patch_site(&site, json!({"email_gate_domain": "example.org"})).await.expect(200);
        let tab = node.operator().await;
        let shown = tab.get(&format!("/dashboard/pages/{}", site["id"].as_str().unwrap())).await.expect(200);
        let own = own_host(node, &site).await;
        let policy = shown.header("content-security-policy");
        assert!(policy.contains(own.split("/p/").next().unwrap()), "the form may lead there: {policy}");

        let sent = arrive(node, &ticket(&tab, &site).await).await;
        assert_eq!(sent.header("location"), &own[own.find("/p/").unwrap()..], "nothing stays in the address");
        assert_eq!(
            (sent.header("cache-control"), sent.header("referrer-policy")),
            ("no-store", "no-referrer")
        );
        let given = sent.header("set-cookie");
        assert!(
            given.starts_with("__Host-o=")
                && given.contains("; Max-Age=1800; HttpOnly; SameSite=Lax; Secure"),
            "{given}"
        );
        let cookie = sent.cookie();
        let inside = node.get(&own).browser().cookie(&cookie).send().await.expect(200);
        assert_eq!(inside.text(), page("Mine"));
        node.get(&format!("{own}a.css")).cookie(&cookie).send().await.expect(200);
        node.get(&own).browser().send().await.expect(401);
        let read = node.read_site(&site).await;
        assert_eq!((&read["view_count"], &read["last_viewed_at"]), (&json!(0), &Value::Null));
        node.clock.advance(1800);
        node.get(&own).browser().cookie(&cookie).send().await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn public_page_with_a_gate_opens_on_the_host_of_its_name() {
    let node = Node::start().await;
    let form = Form::file("p.html", page("Named")).field("slug", "named-page").field("password", PASSWORD);
    let site = node.publish(form).await;
    let tab = node.operator().await;
    let sent = node.get(&ticket(&tab, &site).await).browser().send().await.expect(303);
    assert_eq!(sent.header("location"), "/");
    node.get(url(&site)).browser().cookie(&sent.cookie()).send().await.expect(200);
}

#[tokio::test]
async fn ticket_opens_once_for_a_minute_its_own_page_alone() {
    on_each_database(Setup::new, async |node| {
        let (site, other) = (locked(node, "Mine").await, locked(node, "Other").await);
        let tab = node.operator().await;
        let address = ticket(&tab, &site).await;
        let query = address.split_once('?').unwrap().1.to_owned();

        let elsewhere = arrive(node, &format!("{}?{query}", url(&other))).await;
        assert!(!elsewhere.has("set-cookie"), "another page");
        let cookie = arrive(node, &address).await.cookie();
        let own = own_host(node, &other).await;
        node.get(&own).browser().cookie(&cookie).send().await.expect(401);
        let again = arrive(node, &address).await;
        assert!(!again.has("set-cookie"), "a second time");
        node.get(&own_host(node, &site).await).browser().send().await.expect(401);

        let late = ticket(&tab, &site).await;
        node.clock.advance(60);
        assert!(!arrive(node, &late).await.has("set-cookie"), "after a minute");
        let made_up = format!("{}?owner=own_{}", url(&site), "A".repeat(22));
        assert!(!arrive(node, &made_up).await.has("set-cookie"), "made up");
    })
    .await;
}

#[tokio::test]
async fn made_up_tickets_are_counted_as_guesses_and_good_ones_are_not() {
    let setup = Setup::new().with_rates().set("limits.anonymous_attempts_per_minute", "2");
    let node = setup.start().await;
    let site = locked(&node, "Mine").await;
    let (tab, own) = (node.operator().await, own_host(&node, &site).await);
    let address = format!("{own}?owner=own_{}", "A".repeat(22));
    let guess = async || node.get(&address).browser().send().await;
    assert!(!guess().await.expect(303).has("set-cookie"));
    for _ in 0..2 {
        assert!(arrive(&node, &ticket(&tab, &site).await).await.has("set-cookie"));
    }
    assert!(!guess().await.expect(303).has("set-cookie"));
    guess().await.expect(429);
}

#[tokio::test]
async fn ticket_on_an_open_page_is_only_taken_out_of_the_address() {
    let setup = Setup::new().with_rates().set("limits.anonymous_attempts_per_minute", "1");
    let node = setup.start().await;
    let own = own_host(&node, &node.publish_page("Open").await).await;
    let address = format!("{own}?owner=own_{}", "A".repeat(22));
    for _ in 0..3 {
        let sent = node.get(&address).browser().send().await.expect(303);
        assert_eq!(sent.header("location"), &own[own.find("/p/").unwrap()..]);
        assert!(!sent.has("set-cookie"));
    }
}

#[tokio::test]
async fn programs_previews_and_browsers_that_guess_do_not_use_it_up() {
    let node = Node::start().await;
    let site = locked(&node, "Mine").await;
    let tab = node.operator().await;
    let address = ticket(&tab, &site).await;
    let own = node.get(&address).browser().send().await.expect(307).header("location").to_owned();
    node.get(&address).send().await.expect(401);
    node.head(&own).browser().send().await.expect(401);
    node.get(&own)
        .browser()
        .header("sec-fetch-site", "none")
        .header("sec-purpose", "prefetch")
        .send()
        .await
        .expect(401);
    assert!(arrive(&node, &address).await.has("set-cookie"));
}

#[tokio::test]
async fn changed_password_ends_tickets_and_passes() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node, "Mine").await;
        let tab = node.operator().await;
        let (address, cookie) = (ticket(&tab, &site).await, pass(node, &tab, &site).await);
        let own = own_host(node, &site).await;
        node.get(&own).browser().cookie(&cookie).send().await.expect(200);
        node.patch_site(&site, json!({"password": "another"})).await.expect(200);
        node.get(&own).browser().cookie(&cookie).send().await.expect(401);
        assert!(!arrive(node, &address).await.has("set-cookie"));
        let cookie = pass(node, &tab, &site).await;
        node.get(&own).browser().cookie(&cookie).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn only_the_signed_in_owner_gets_a_ticket() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node, "Mine").await;
        let stranger = node.newcomer_on("solo").await;
        stranger.submit(&opening(&site), &[]).await.expect(404);
        node.operator().await.cannot_be_imitated(&opening(&site), &[]).await;
        let signed_out = node.post(&opening(&site)).browser().header("origin", &node.base_url()).send().await;
        assert!(
            signed_out.status == 303 && signed_out.header("location").starts_with("/login"),
            "{signed_out:?}"
        );
        let anonymous = node.publish_anonymously().await;
        node.operator().await.submit(&opening(&anonymous), &[]).await.expect(404);
        assert_eq!(node.count("SELECT COUNT(*) FROM owner_tickets").await, 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_gone_or_held_back_is_not_shown_to_its_owner_either() {
    on_each_database(Setup::new, async |node| {
        let owner = node.newcomer("owner@example.org").await;
        let key = match node.app().create_key(&owner.account, None, None, |_| Vec::new()).await.unwrap() {
            IdempotentResult::New(new) => new.secret,
            IdempotentResult::Replayed { .. } => panic!("a new key is no repeat"),
        };
        // All are published first: content that was taken down is refused when published again.
        let publish = async |field: (&str, &str)| {
            let form = Form::file("p.html", page("Mine")).field("password", PASSWORD);
            node.publish_as(&key, form.field(field.0, field.1)).await
        };
        let plain = ("title", "Mine");
        let (brief, held) = (publish(("expires_in_hours", "24")).await, publish(plain).await);
        let mut pairs = Vec::new();
        for field in [plain, ("burn_after_read", "true")] {
            pairs.push((publish(field).await, publish(field).await));
        }
        for (deleted, down) in &pairs {
            let (address, cookie) = (ticket(&owner, deleted).await, pass(node, &owner, deleted).await);
            let own = own_host(node, deleted).await;
            node.delete(&site_path(deleted)).key(&key).send().await.expect(200);
            node.get(&own).browser().cookie(&cookie).send().await.expect(410);
            node.get(&address).browser().send().await.expect(410);
            owner.submit(&opening(deleted), &[]).await.expect(410);

            let cookie = pass(node, &owner, down).await;
            let own = own_host(node, down).await;
            node.app().take_down("test", down["id"].as_str().unwrap(), "abuse").await.unwrap();
            node.get(&own).browser().cookie(&cookie).send().await.expect(410);
            owner.submit(&opening(down), &[]).await.expect(410);
        }
        let cookie = pass(node, &owner, &held).await;
        let own = own_host(node, &held).await;
        node.app().suspend_account("test", &owner.account.id, "abuse").await.unwrap();
        let refused = node.get(&own).browser().cookie(&cookie).send().await;
        assert!(refused.status >= 400 && !refused.text().contains("Mine"), "{refused:?}");
        assert!(owner.submit(&opening(&held), &[]).await.status >= 400);
        node.app().lift_suspension("test", &owner.account.id, "mistake").await.unwrap();
        node.clock.advance(DAY);
        owner.submit(&opening(&brief), &[]).await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn owner_previews_a_burn_page_and_it_burns_for_the_first_viewer_as_ever() {
    on_each_database(Setup::new, async |node| {
        let site = burning(node, "Secret plan").await;
        let tab = node.operator().await;
        let cookie = pass(node, &tab, &site).await;
        let own = own_host(node, &site).await;
        for _ in 0..2 {
            let shown = node.get(&own).browser().cookie(&cookie).send().await.expect(200);
            assert_eq!(
                (shown.header("cache-control"), shown.header("x-frame-options")),
                ("no-store", "DENY")
            );
            assert!(shown.header("content-security-policy").contains("frame-src 'self'"));
            assert!(!shown.text().contains("<h1>Secret plan</h1>"), "the content is in the frame alone");
            let content =
                node.get(&frame(&shown, &own)).header("sec-fetch-dest", "iframe").send().await.expect(200);
            assert_eq!(content.text(), page("Secret plan"));
            let policy = content.header("content-security-policy");
            assert!(
                policy.starts_with("sandbox allow-scripts") && !policy.contains("allow-same-origin"),
                "{policy}"
            );
            assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
            assert_eq!(content.header("cache-control"), "no-store");
        }
        let read = node.read_site(&site).await;
        assert_eq!((&read["visibility"], &read["view_count"]), (&json!("burn"), &json!(0)));
        assert_eq!(
            node.get(url(&site)).header("user-agent", "curl/8.5.0").send().await.expect(200).text(),
            page("Secret plan")
        );
        node.get(&own).browser().cookie(&cookie).send().await.expect(410);
        node.get(url(&site)).header("user-agent", "curl/8.5.0").send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn preview_has_the_files_beside_the_page_and_opens_nothing_else() {
    on_each_database(Setup::new, async |node| {
        let files = zip(&[("index.html", "<link rel=stylesheet href=a.css>"), ("a.css", "p {}")]);
        let form = |password: bool| {
            let form = Form::file("s.zip", &files).field("burn_after_read", "true");
            if password { form.field("password", PASSWORD) } else { form }
        };
        let (site, other) = (node.publish(form(true)).await, node.publish(form(false)).await);
        let tab = node.operator().await;
        let cookie = pass(node, &tab, &site).await;
        let own = own_host(node, &site).await;
        let shown = node.get(&own).browser().cookie(&cookie).send().await.expect(200);
        let frame = frame(&shown, &own);
        let style = node.get(&format!("{frame}a.css")).send().await.expect(200);
        assert_eq!((style.text().as_str(), style.header("access-control-allow-origin")), ("p {}", "*"));
        node.get(&format!("{frame}missing")).send().await.expect(404);
        node.post(&frame).send().await.expect(405);
        // Not in a window, nor for another page, nor as an owner's pass, nor without a pass.
        node.get(&frame).browser().header("sec-fetch-dest", "document").send().await.expect(404);
        let word = frame.trim_end_matches('/').rsplit('/').next().unwrap();
        let theirs = own_host(node, &other).await;
        node.get(&format!("{theirs}_dropleaf/preview/{word}/")).send().await.expect(404);
        node.get(&own).browser().cookie(&format!("__Host-o={word}")).send().await.expect(401);
        node.get(&format!("{own}_dropleaf/preview/x/")).send().await.expect(404);
        let owners = cookie.split_once('=').unwrap().1;
        node.get(&format!("{own}_dropleaf/preview/{owners}/")).send().await.expect(404);
        // Not after a new password, nor when the page is no longer a burn page, nor after half an hour.
        node.patch_site(&site, json!({"password": "new"})).await.expect(200);
        node.get(&frame).send().await.expect(404);
        let previewed = async || {
            let cookie = pass(node, &tab, &other).await;
            let shown = node.get(&theirs).browser().cookie(&cookie).send().await.expect(200);
            let frame = self::frame(&shown, &theirs);
            node.get(&frame).send().await.expect(200);
            frame
        };
        let burning = previewed().await;
        node.patch_site(&other, json!({"visibility": "unlisted"})).await.expect(200);
        node.get(&burning).send().await.expect(404);
        node.patch_site(&other, json!({"visibility": "burn"})).await.expect(200);
        let again = previewed().await;
        node.clock.advance(1799);
        node.get(&again).send().await.expect(200);
        node.clock.advance(1);
        node.get(&again).send().await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn encrypted_strict_and_pdf_pages_are_previewed_too() {
    let node = Node::start().await;
    let tab = node.operator().await;
    let shown = async |form: Form| {
        let site = node.publish(form.field("burn_after_read", "true")).await;
        let cookie = pass(&node, &tab, &site).await;
        let own = own_host(&node, &site).await;
        let around = node.get(&own).browser().cookie(&cookie).send().await.expect(200);
        let content =
            node.get(&frame(&around, &own)).browser().header("sec-fetch-dest", "iframe").send().await;
        (around.text(), content.expect(200))
    };
    let (around, viewer) = shown(Form::file("p.html", noise("sealed", 200)).field("e2e", "true")).await;
    assert!(around.contains("paste its complete link"), "{around}");
    assert!(viewer.text().contains("id=\"payload\"") && !viewer.has("cross-origin-opener-policy"));
    assert!(viewer.header("content-security-policy").starts_with("sandbox allow-scripts"));
    let (_, strict) = shown(Form::file("p.html", page("Strict")).field("csp_strict", "true")).await;
    let policy = strict.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'self'"), "{policy}");
    assert_eq!(
        (policy.matches("frame-ancestors").count(), policy.matches("sandbox").count()),
        (1, 1),
        "{policy}"
    );
    let (around, paper) = shown(Form::file("p.pdf", pdf())).await;
    assert!(!around.contains(" sandbox="), "browsers show no PDF in a sandbox");
    assert_eq!(paper.header("content-security-policy"), "frame-ancestors 'self'");
}

#[tokio::test]
async fn tickets_are_few_and_swept() {
    on_each_database(Setup::new, async |node| {
        let site = locked(node, "Mine").await;
        let tab = node.operator().await;
        for _ in 0..25 {
            ticket(&tab, &site).await;
            node.clock.advance(1);
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM owner_tickets").await, 20);
        node.clock.advance(60);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM owner_tickets").await, 0);
    })
    .await;
}
