//! `/login`, `/login/code`, `/login/link`: signing in by email, with a real SMTP conversation.

use crate::harness::{Answer, MailServer, Mood, Node, Seen, Setup, Tab, code_in, on_each_database};

pub(crate) const ANN: &str = "ann@example.org";
/// Open sign-ins, without the link of the first start.
pub(crate) const OPEN: &str = "SELECT COUNT(*) FROM sign_ins WHERE email <> 'operator@localhost'";

pub(crate) fn with_mail(server: &MailServer) -> Setup {
    Setup::new().set("mail.smtp_url", server.url())
}

/// Another code than this one.
fn other(code: &str) -> String {
    format!("{:08}", (code.parse::<u32>().unwrap() + 1) % 100_000_000)
}

pub(crate) fn link_in(letter: &str) -> &str {
    letter.lines().find_map(|line| line.split_once("/login/link").map(|(_, rest)| rest)).unwrap()
}

/// Requests a code in this tab.
pub(crate) async fn ask(tab: &Tab<'_>, email: &str, next: &str) {
    tab.get("/login").await.expect(200);
    let asked = tab.submit("/login", &[("email", email), ("next", next)]).await.expect(303);
    assert_eq!(asked.header("location"), "/login/code");
}

pub(crate) async fn letter(mail: &MailServer) -> (String, String) {
    let Seen::Letter { to, text } = mail.next().await else { panic!("a letter") };
    (to, text)
}

pub(crate) async fn sign_in<'a>(node: &'a Node, mail: &MailServer, email: &str) -> Tab<'a> {
    let tab = Tab::new(node);
    ask(&tab, email, "/dashboard").await;
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
            let tab = Tab::new(node);
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
            // With a space, as people copy it.
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

            // It worked once; the next time it is the same account, and the browser's old session has ended.
            let old = tab.session().unwrap();
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
            let tab = Tab::new(node);
            ask(&tab, ANN, "/dashboard").await;
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
                let tab = Tab::new(node);
                ask(&tab, "new@example.org", "/dashboard").await;
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
            let tab = Tab::new(node);
            ask(&tab, ANN, "/dashboard").await;
            let (_, code) = mail.next_code().await;
            for odd in ["1234567", "123456789", "abcdefgh", ""] {
                let answer = tab.submit("/login/code", &[("code", odd)]).await.expect(400);
                assert!(answer.text().contains("role=\"alert\""));
            }
            // Many concurrent guesses still count as five.
            let origin = node.base_url();
            let wrong = other(&code);
            let racers = (0..20)
                .map(|_| tab.form("/login/code", &[("code", &wrong)]).header("origin", &origin).send());
            for answer in futures_util::future::join_all(racers).await {
                answer.expect(400);
            }
            let late = tab.submit("/login/code", &[("code", &code)]).await.expect(400);
            assert!(late.text().contains("Too many attempts") && !late.has("set-cookie"));

            ask(&tab, ANN, "/dashboard").await;
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
    let tab = Tab::new(&node);
    ask(&tab, ANN, "/dashboard").await;
    let (_, code) = mail.next_code().await;
    // Another person learns the code: in their browser it opens nothing, whether or not they requested one.
    let thief = Tab::at(&node, "/login").await;
    let answer = thief.submit("/login/code", &[("code", &code)]).await.expect(303);
    assert_eq!(answer.header("location"), "/login");
    ask(&thief, ANN, "/dashboard").await;
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
            let tab = Tab::new(node);
            ask(&tab, ANN, "/dashboard/keys").await;
            let (_, text) = letter(&mail).await;
            let path = format!("/login/link{}", link_in(&text));
            let token = path.split_once("token=").unwrap().1;
            // A mail scanner opens it, again and again.
            for _ in 0..3 {
                let shown = node.get(&path).browser().send().await.expect(200);
                assert!(shown.text().contains(ANN));
                assert_eq!(shown.header("referrer-policy"), "no-referrer");
            }
            assert_eq!(node.count("SELECT COUNT(*) FROM sessions").await, 0);
            let phone = Tab::at(node, &path).await;
            let origin = node.base_url();
            let racers = (0..6)
                .map(|_| phone.form("/login/link", &[("token", token)]).header("origin", &origin).send());
            let answers = futures_util::future::join_all(racers).await;
            let won: Vec<&Answer> = answers.iter().filter(|answer| answer.has("set-cookie")).collect();
            assert_eq!(won.len(), 1);
            // Not to `next`: an attacker may have requested this email only to send its reader there.
            assert_eq!((won[0].status, won[0].header("location")), (303, "/dashboard"));
            assert!(answers.iter().all(|answer| matches!(answer.status, 303 | 410)));
            phone.get(&path).await.expect(410);
            phone.submit("/login/link", &[("token", token)]).await.expect(410);
            // The code became invalid with the link.
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
                let (asking, other) = (Tab::new(node), Tab::at(node, "/login").await);
                ask(&asking, ANN, "/device?user_code=BCDF-GHJK").await;
                let (_, text) = letter(&mail).await;
                let path = format!("/login/link{}", link_in(&text));
                let token = path.split_once("token=").unwrap().1;
                let tab = if own { &asking } else { &other };
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
