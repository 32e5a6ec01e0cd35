//! `/login`, `/login/code`, `/login/link`: signing in by e-mail, with a real conversation with a mail server.

use crate::harness::{Answer, MailServer, Mood, Node, Seen, Setup, Tab, code_in, on_each_database};
use std::collections::BTreeMap;

const ANN: &str = "ann@example.org";
/// As long as the others, so that answers can be compared to the last byte.
const STRANGER: &str = "eve@example.net";
const LISTED: &str = "new@example.com";
/// Open sign-ins, without the link of the first start.
const OPEN: &str = "SELECT COUNT(*) FROM sign_ins WHERE email <> 'operator@localhost'";

fn with_mail(server: &MailServer) -> Setup {
    Setup::new().set("mail.smtp_url", server.url())
}

/// A code that is not this one.
fn other(code: &str) -> String {
    format!("{:08}", (code.parse::<u32>().unwrap() + 1) % 100_000_000)
}

fn link_in(letter: &str) -> &str {
    letter.lines().find_map(|line| line.split_once("/login/link").map(|(_, rest)| rest)).unwrap()
}

/// Asks for a code in this tab.
async fn ask(tab: &mut Tab<'_>, email: &str, next: &str) {
    tab.get("/login").await.expect(200);
    let asked = tab.submit("/login", &[("email", email), ("next", next)]).await.expect(303);
    assert_eq!(asked.header("location"), "/login/code");
}

async fn letter(mail: &MailServer) -> (String, String) {
    let Seen::Letter { to, text } = mail.next().await else { panic!("a letter") };
    (to, text)
}

async fn sign_in<'a>(node: &'a Node, mail: &MailServer, email: &str) -> Tab<'a> {
    let mut tab = Tab::new(node);
    ask(&mut tab, email, "/dashboard").await;
    let (_, code) = mail.next_code().await;
    tab.submit("/login/code", &[("code", &code)]).await.expect(303);
    tab
}

async fn emails(node: &Node) -> Vec<String> {
    node.rows("SELECT email FROM accounts ORDER BY email", Vec::new(), |row| Ok(row.text(0)?.to_owned()))
        .await
}

#[tokio::test]
async fn code_from_the_letter_makes_the_account_and_the_session() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let mut tab = Tab::new(node);
            let shown = tab.get("/login?next=/dashboard/keys").await.expect(200);
            assert!(shown.text().contains("value=\"/dashboard/keys\""), "{}", shown.text());
            assert!(shown.header("content-security-policy").contains("frame-ancestors 'none'"));
            tab.submit("/login", &[("email", " Ann@EXAMPLE.org "), ("next", "/dashboard/keys")])
                .await
                .expect(303);
            assert!(tab.get("/login/code").await.expect(200).text().contains(ANN));
            let (to, text) = letter(&mail).await;
            assert_eq!(to, ANN);
            assert_eq!(
                emails(node).await,
                ["operator@localhost"],
                "an account is made by the proof, not the wish"
            );
            // As people copy it: with a space.
            let code = code_in(&text);
            let spaced = format!(" {} {} ", &code[..4], &code[4..]);
            let done = tab.submit("/login/code", &[("code", &spaced)]).await.expect(303);
            assert_eq!(done.header("location"), "/dashboard/keys");
            let cookie = done.header("set-cookie");
            assert!(cookie.starts_with("__Host-session="), "{cookie}");
            for word in ["; Path=/;", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
                assert!(cookie.contains(word), "{word}: {cookie}");
            }
            assert!(!cookie.contains("Domain"));
            assert_eq!(emails(node).await, [ANN, "operator@localhost"]);
            assert_eq!(tab.get("/").await.expect(303).header("location"), "/dashboard");
            let plan = node.rows("SELECT plan FROM accounts WHERE is_operator = 0", Vec::new(), |row| {
                Ok(row.text(0)?.to_owned())
            });
            assert_eq!(plan.await, ["solo"]);

            // It worked once; the next time it is the same account, and the old session of the browser is gone.
            let old = tab.session().unwrap().to_owned();
            let again = tab.submit("/login/code", &[("code", &code)]).await.expect(303);
            assert_eq!(again.header("location"), "/login");
            tab.get("/login?again=1").await.expect(200);
            tab.submit("/login", &[("email", ANN)]).await.expect(303);
            let (_, code) = mail.next_code().await;
            let done = tab.submit("/login/code", &[("code", &code)]).await.expect(303);
            assert_eq!(done.header("location"), "/dashboard");
            assert_ne!(tab.session().unwrap(), old);
            assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 1);
            assert_eq!(emails(node).await, [ANN, "operator@localhost"]);
            assert_eq!(node.count(OPEN).await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn code_opens_for_one_of_many_and_two_browsers_make_one_account() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let mut tab = Tab::new(node);
            ask(&mut tab, ANN, "/dashboard").await;
            let (_, code) = mail.next_code().await;
            let origin = node.base_url();
            let racers =
                (0..10).map(|_| tab.form("/login/code", &[("code", &code)]).header("origin", &origin).send());
            let answers = futures_util::future::join_all(racers).await;
            let won = answers.iter().filter(|answer| answer.has("set-cookie")).count();
            assert_eq!(won, 1, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
            assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 1);

            let mut tabs = Vec::new();
            for _ in 0..6 {
                let mut tab = Tab::new(node);
                ask(&mut tab, "new@example.org", "/dashboard").await;
                let (_, code) = mail.next_code().await;
                tabs.push((tab, code));
            }
            let entering = tabs
                .iter_mut()
                .map(async |(tab, code)| tab.submit("/login/code", &[("code", code.as_str())]).await);
            for answer in futures_util::future::join_all(entering).await {
                assert_eq!(answer.expect(303).header("location"), "/dashboard");
            }
            assert_eq!(emails(node).await, [ANN, "new@example.org", "operator@localhost"]);
            assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 7);
        },
    )
    .await;
}

#[tokio::test]
async fn wrong_code_costs_a_try_and_the_sixth_is_too_late() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let mut tab = Tab::new(node);
            ask(&mut tab, ANN, "/dashboard").await;
            let (_, code) = mail.next_code().await;
            for odd in ["1234567", "123456789", "abcdefgh", ""] {
                let answer = tab.submit("/login/code", &[("code", odd)]).await.expect(400);
                assert!(answer.text().contains("role=\"alert\""));
            }
            // Many guesses at once are still five.
            let origin = node.base_url();
            let wrong = other(&code);
            let racers = (0..20)
                .map(|_| tab.form("/login/code", &[("code", &wrong)]).header("origin", &origin).send());
            for answer in futures_util::future::join_all(racers).await {
                answer.expect(400);
            }
            let late = tab.submit("/login/code", &[("code", &code)]).await.expect(400);
            assert!(late.text().contains("tried too often") && !late.has("set-cookie"));

            ask(&mut tab, ANN, "/dashboard").await;
            let (_, code) = mail.next_code().await;
            for _ in 0..4 {
                tab.submit("/login/code", &[("code", &other(&code))]).await.expect(400);
            }
            tab.submit("/login/code", &[("code", &code)]).await.expect(303);
            assert!(tab.session().is_some());
        },
    )
    .await;
}

#[tokio::test]
async fn code_is_bound_to_the_browser_and_to_its_time() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let mut tab = Tab::new(&node);
    ask(&mut tab, ANN, "/dashboard").await;
    let (_, code) = mail.next_code().await;
    // Somebody else learns the code: in their browser it opens nothing, whether they asked for one or not.
    let mut thief = Tab::at(&node, "/login").await;
    let answer = thief.submit("/login/code", &[("code", &code)]).await.expect(303);
    assert_eq!(answer.header("location"), "/login");
    ask(&mut thief, ANN, "/dashboard").await;
    let (_, second) = mail.next_code().await;
    if code != second {
        thief.submit("/login/code", &[("code", &code)]).await.expect(400);
    }
    assert!(thief.session().is_none());
    node.clock.advance(599);
    tab.submit("/login/code", &[("code", &code)]).await.expect(303);
    assert!(tab.session().is_some());
    node.clock.advance(1);
    let late = thief.submit("/login/code", &[("code", &second)]).await.expect(303);
    assert_eq!((late.header("location"), thief.session()), ("/login", None));
    node.app().sweep().await.unwrap();
    assert_eq!(node.count(OPEN).await, 0);
}

#[tokio::test]
async fn link_asks_first_and_works_once_in_any_browser() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            let mut tab = Tab::new(node);
            ask(&mut tab, ANN, "/dashboard/keys").await;
            let (_, text) = letter(&mail).await;
            let path = format!("/login/link{}", link_in(&text));
            let token = path.split_once("token=").unwrap().1;
            // A program that looks through the mail opens it, again and again.
            for _ in 0..3 {
                let shown = node.get(&path).browser().send().await.expect(200);
                assert!(shown.text().contains(ANN));
                assert_eq!(shown.header("referrer-policy"), "no-referrer");
            }
            assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 0);
            let mut phone = Tab::at(node, &path).await;
            let origin = node.base_url();
            let racers = (0..6)
                .map(|_| phone.form("/login/link", &[("token", token)]).header("origin", &origin).send());
            let answers = futures_util::future::join_all(racers).await;
            let won: Vec<&Answer> = answers.iter().filter(|answer| answer.has("set-cookie")).collect();
            assert_eq!(won.len(), 1);
            // Not where somebody wanted to go who may have asked for this letter only to send its reader there.
            assert_eq!((won[0].status, won[0].header("location")), (303, "/dashboard"));
            assert!(answers.iter().all(|answer| matches!(answer.status, 303 | 410)));
            phone.get(&path).await.expect(410);
            phone.submit("/login/link", &[("token", token)]).await.expect(410);
            // The code went with the link.
            let gone = tab.submit("/login/code", &[("code", &code_in(&text))]).await.expect(303);
            assert_eq!((gone.header("location"), tab.session()), ("/login", None));
            phone.get("/login/link").await.expect(410);
        },
    )
    .await;
}

#[tokio::test]
async fn link_leads_on_in_the_browser_that_asked_and_home_in_others() {
    let mail = MailServer::start(Mood::Takes).await;
    on_each_database(
        || with_mail(&mail),
        async |node| {
            for own in [true, false] {
                let (mut asking, mut other) = (Tab::new(node), Tab::at(node, "/login").await);
                ask(&mut asking, ANN, "/device?user_code=BCDF-GHJK").await;
                let (_, text) = letter(&mail).await;
                let path = format!("/login/link{}", link_in(&text));
                let token = path.split_once("token=").unwrap().1;
                let tab = if own { &mut asking } else { &mut other };
                tab.get(&path).await.expect(200);
                let done = tab.submit("/login/link", &[("token", token)]).await.expect(303);
                let to = if own { "/device?user_code=BCDF-GHJK" } else { "/dashboard" };
                assert_eq!(done.header("location"), to);
                assert!(tab.session().is_some());
            }
        },
    )
    .await;
}

#[tokio::test]
async fn page_that_was_open_too_long_asks_once_more() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let mut tab = Tab::at(&node, "/login").await;
    // The browser has forgotten the cookie; the page still holds its token.
    tab.cookies.clear();
    let fields = [("email", ANN), ("next", "/dashboard/keys")];
    let foreign = tab.form("/login", &fields).header("origin", "https://evil.example").send().await;
    assert!(!foreign.expect(403).has("set-cookie"));
    let again = tab.submit("/login", &fields).await.expect(400);
    for part in ["open for too long", ANN, "value=\"/dashboard/keys\""] {
        assert!(again.text().contains(part), "{part}: {}", again.text());
    }
    assert_eq!(node.count(OPEN).await, 0, "nothing was done");
    tab.submit("/login", &fields).await.expect(303);
    let (_, code) = mail.next_code().await;
    let done = tab.submit("/login/code", &[("code", &code)]).await.expect(303);
    assert_eq!(done.header("location"), "/dashboard/keys");
}

/// What an answer shows, apart from what differs between any two requests.
fn seen(answer: &Answer) -> (u16, String, BTreeMap<String, String>) {
    let headers =
        answer.headers.iter().filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (answer.status, answer.text(), headers.collect())
}

#[tokio::test]
async fn nothing_tells_whether_an_address_has_an_account() {
    let mut mail = MailServer::start(Mood::Takes).await;
    for policy in ["open", "closed", "allow-list"] {
        let setup = with_mail(&mail).set("accounts.sign_up", policy).set("accounts.allowed", "example.com");
        let node = setup.start().await;
        node.app().create_account(ANN, None, false).await.unwrap();
        let mut all = Vec::new();
        for email in [ANN, STRANGER, LISTED] {
            let mut tab = Tab::at(&node, "/login").await;
            let asked = tab.submit("/login", &[("email", email)]).await;
            let shown = tab.get("/login/code").await;
            let wrong = tab.submit("/login/code", &[("code", "00000000")]).await;
            all.push([asked, shown, wrong].map(|answer| {
                let (status, text, headers) = seen(&answer);
                (status, text.replace(email, "(address)").replace(&tab.token, "(token)"), headers)
            }));
        }
        assert_eq!(all[0], all[1], "{policy}");
        assert_eq!(all[0], all[2], "{policy}");
        let rows = node
            .rows(
                "SELECT email, tries_left, length(code_mac), length(link_hash) FROM sign_ins WHERE tries_left > 0 ORDER BY email",
                Vec::new(),
                |row| Ok((row.text(0)?.to_owned(), row.int(1)?, row.int(2)?, row.int(3)?)),
            )
            .await;
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().all(|(_, tries, mac, link)| (*tries, *mac, *link) == (4, 32, 32)), "{rows:?}");
        let expected: &[&str] = match policy {
            "open" => &[ANN, STRANGER, LISTED],
            "closed" => &[ANN],
            _ => &[ANN, LISTED],
        };
        let mut to = Vec::new();
        for _ in expected {
            to.push(letter(&mail).await.0);
        }
        to.sort();
        assert_eq!(to, expected, "{policy}");
        node.stop().await;
        while let Some(seen) = mail.unread() {
            assert!(!matches!(seen, Seen::Letter { .. }), "{policy}: one letter too many");
        }
    }
}

#[tokio::test]
async fn closed_server_lets_in_who_has_an_account() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).set("accounts.sign_up", "closed").start().await;
    node.app().create_account(ANN, None, false).await.unwrap();
    assert!(sign_in(&node, &mail, ANN).await.session().is_some());
    assert!(sign_in(&node, &mail, "operator@localhost").await.session().is_some());
}

#[tokio::test]
async fn forms_of_other_sites_sign_nobody_in() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    let origin = node.base_url();
    let mut tab = Tab::new(&node);
    ask(&mut tab, ANN, "/dashboard").await;
    let (_, text) = letter(&mail).await;
    let (code, link) = (code_in(&text), link_in(&text).split_once("token=").unwrap().1.to_owned());
    let stranger = Tab::at(&node, "/login").await;
    for (path, field, value) in
        [("/login", "email", ANN), ("/login/code", "code", &*code), ("/login/link", "token", &*link)]
    {
        let fields = [(field, value)];
        let refused = async |what: &str, ask: crate::harness::Ask| {
            let answer = ask.send().await;
            assert_eq!(answer.status, 403, "{path}: {what}: {}", answer.text());
            assert!(answer.text().contains("cross_site") && !answer.has("set-cookie"), "{path}: {what}");
        };
        refused("no origin", tab.form(path, &fields)).await;
        for foreign in ["https://evil.example", "null", "http://s-abc.localhost", "http://localhost"] {
            refused(foreign, tab.form(path, &fields).header("origin", foreign)).await;
        }
        let lied = tab.form(path, &fields).header("origin", &origin).header("sec-fetch-site", "same-site");
        refused("a sibling host", lied).await;
        let bare = node.post(path).fields(&[(field, value), ("form_token", &tab.token)]).browser();
        if path != "/login" {
            refused("no visit cookie", bare.header("origin", &origin)).await;
        }
        let mut mixed = Tab::new(&node);
        mixed.cookies = tab.cookies.clone();
        mixed.token = stranger.token.clone();
        refused("another visitor's token", mixed.form(path, &fields).header("origin", &origin)).await;
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 0);
    assert_eq!(node.count("SELECT SUM(tries_left) FROM sign_ins").await, 5);
    tab.submit("/login/code", &[("code", &code)]).await.expect(303);
}

#[tokio::test]
async fn nobody_is_led_away_after_signing_in() {
    let mail = MailServer::start(Mood::Takes).await;
    let node = with_mail(&mail).start().await;
    for evil in
        ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "\\\\evil", ""]
    {
        let quoted: String = form_urlencoded::byte_serialize(evil.as_bytes()).collect();
        let mut tab = Tab::new(&node);
        let shown = tab.get(&format!("/login?next={quoted}")).await.expect(200);
        assert!(shown.text().contains("name=\"next\" value=\"/dashboard\""), "{evil}");
        tab.submit("/login", &[("email", ANN), ("next", evil)]).await.expect(303);
        let (_, code) = mail.next_code().await;
        let done = tab.submit("/login/code", &[("code", &code)]).await.expect(303);
        assert_eq!(done.header("location"), "/dashboard", "{evil}");
        let on = tab.get(&format!("/login?next={quoted}")).await.expect(303);
        assert_eq!(on.header("location"), "/dashboard", "{evil}");
    }
}

#[tokio::test]
async fn letters_are_counted_by_address_and_by_client() {
    let mail = MailServer::start(Mood::Takes).await;
    let setup = || {
        let setup = with_mail(&mail).with_rates().set("limits.sign_ins_per_address", "2");
        setup.set("limits.sign_ins_per_client", "4")
    };
    on_each_database(setup, async |node| {
        let mut tab = Tab::at(node, "/login").await;
        for email in [ANN, ANN] {
            tab.submit("/login", &[("email", email)]).await.expect(303);
        }
        let full = tab.submit("/login", &[("email", ANN)]).await.expect(429);
        assert!(full.text().contains("Too many codes") && full.text().contains(ANN));
        assert_eq!(full.header("retry-after"), "3600");
        for email in ["b@example.org", "c@example.org"] {
            tab.submit("/login", &[("email", email)]).await.expect(303);
        }
        tab.submit("/login", &[("email", "d@example.org")]).await.expect(429);
        // Guesses from one network are slowed down.
        for _ in 0..5 {
            tab.submit("/login/code", &[("code", "00000000")]).await;
        }
        tab.submit("/login/code", &[("code", "00000000")]).await.expect(429);
        node.clock.advance(3600);
        tab.submit("/login", &[("email", ANN)]).await.expect(303);
    })
    .await;
}

#[tokio::test]
async fn address_that_is_none_is_said_so_beside_the_field() {
    let node = Node::start().await;
    let mut tab = Tab::at(&node, "/login").await;
    let wrong =
        tab.submit("/login", &[("email", "ann at home"), ("next", "/dashboard/keys")]).await.expect(400);
    let text = wrong.text();
    assert!(text.contains("role=\"alert\"") && text.contains("value=\"ann at home\""), "{text}");
    assert!(text.contains("value=\"/dashboard/keys\""));
}

#[tokio::test]
async fn server_without_mail_says_so() {
    let node = Setup::new().set("mail.mode", "off").start().await;
    let mut tab = Tab::new(&node);
    let shown = tab.get("/login").await.expect(503);
    assert!(shown.text().contains("no way to send e-mail"));
    tab.submit("/login", &[("email", ANN)]).await.expect(503);
    // Whoever runs it still gets in.
    let link = node.running.first_link.clone().unwrap();
    let path = link.strip_prefix(&node.base_url()).unwrap();
    tab.get(path).await.expect(200);
    let token = path.split_once("token=").unwrap().1;
    let done = tab.submit("/login/link", &[("token", token)]).await.expect(303);
    assert_eq!(done.header("location"), "/dashboard");
    tab.get("/").await.expect(303);
}
