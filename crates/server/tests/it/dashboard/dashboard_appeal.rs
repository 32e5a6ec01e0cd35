//! `/dashboard/appeal` and the page at `/appeals/{token}`: appeals in a browser.

use crate::harness::{Answer, Form, HARVEST, Node, Person, Setup, page};
use dropleaf_core::appeal::Decision;

async fn send(node: &Node, person: &Person<'_>, form: Form) -> Answer {
    person.bare("/dashboard/appeal").header("origin", &node.base_url()).form(form).send().await
}

fn form(person: &Person<'_>, comment: &str) -> Form {
    Form::new().field("form_token", &person.token()).field("comment", comment)
}

fn plea(person: &Person<'_>, body: &str) -> Form {
    form(person, "A drill <b>for staff</b>.").field("contact", "sam@example.org").and_file("login.html", body)
}

#[tokio::test]
async fn person_appeals_and_sees_what_came_of_it() {
    let node = Node::start().await;
    let person = node.newcomer_on("pro").await;
    let shown = person.get("/dashboard/appeal").await.expect(200).text();
    assert!(shown.contains("type=\"file\"") && shown.contains("name=\"comment\""), "{shown}");
    assert!(shown.contains(person.account.email.as_deref().unwrap()), "their address is filled in");
    let sent = send(&node, &person, plea(&person, HARVEST)).await.expect(303);
    let status = sent.header("location").to_owned();
    assert!(status.starts_with("/appeals/"), "{status}");
    let waiting = &node.app().list_open_appeals(10).await.unwrap()[0];
    assert_eq!(waiting.account_id.as_ref(), Some(&person.account.id));
    assert_eq!(waiting.statement.comment.as_deref(), Some("A drill <b>for staff</b>."));
    // The same file again redirects to the same page.
    assert_eq!(send(&node, &person, plea(&person, HARVEST)).await.expect(303).header("location"), status);
    let open = person.get(&status).await.expect(200);
    assert!(open.header("content-type").starts_with("text/html") && open.header("vary").contains("ccept"));
    assert_eq!(open.header("cache-control"), "no-store");
    assert!(open.text().contains("Your appeal is under review"));
    node.app().decide_appeal("op", &waiting.id, Decision::Uphold, "It asks for <PINs>.").await.unwrap();
    let upheld = node.get(&status).browser().send().await.expect(200).text();
    assert!(upheld.contains("was rejected") && upheld.contains("It asks for &#60;PINs&#62;."), "{upheld}");
    // Programs still get JSON.
    let json = node.get(&status).send().await.expect(200).json();
    assert_eq!(json["status"], "upheld");
    let missing = node.get("/appeals/none").browser().send().await.expect(404);
    assert!(missing.header("content-type").starts_with("text/html"));
}

#[tokio::test]
async fn form_says_what_is_wrong_and_when_there_is_nothing_to_decide() {
    let node = Setup::new().with_rates().set("limits.appeals_per_day", "1").start().await;
    let person = node.newcomer_on("pro").await;
    let fine = send(&node, &person, plea(&person, &page("Fine"))).await.expect(200).text();
    assert!(fine.contains("can be published as it is"), "{fine}");
    let long = form(&person, &"x".repeat(2001)).and_file("a.html", HARVEST);
    let refused = send(&node, &person, long).await.expect(400).text();
    assert!(refused.contains("role=\"alert\"") && refused.contains("The description"), "{refused}");
    let without = send(&node, &person, form(&person, "Look")).await.expect(400).text();
    assert!(without.contains("Choose a file first."), "{without}");
    send(&node, &person, plea(&person, HARVEST)).await.expect(303);
    let again = send(&node, &person, plea(&person, &format!("{HARVEST} "))).await;
    assert_eq!(again.status, 429, "{}", again.text());
    assert_eq!(node.count("SELECT COUNT(*) FROM appeals").await, 1);
}
