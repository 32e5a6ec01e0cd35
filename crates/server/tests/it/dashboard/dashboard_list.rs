//! `GET /dashboard`: an owner's pages with search and filters, and their preview drawings.

use crate::harness::{Form, HOUR, Node, Setup, on_each_database, page, pdf, zip};
use serde_json::json;

#[tokio::test]
async fn owner_sees_their_own_pages_only() {
    let node = Node::start().await;
    let site = node.publish_page("Orchard report").await;
    node.publish_anonymously().await;
    let tab = node.operator().await;
    let shown = tab.get("/dashboard").await.expect(200);
    let text = shown.text();
    assert!(text.contains("Orchard report") && text.contains(site["url"].as_str().unwrap()), "{text}");
    assert!(!text.contains("Anonymous"));
    assert_eq!(shown.header("cache-control"), "no-store");
    assert!(shown.header("content-security-policy").contains("frame-ancestors 'none'"));
    let other = node.newcomer_on("solo").await.get("/dashboard").await.expect(200).text();
    assert!(!other.contains("Orchard report"));
    assert!(other.contains("curl -F file=@page.html"), "nothing yet: it says how to begin");
}

#[tokio::test]
async fn whoever_has_not_signed_in_is_sent_to_do_so_and_comes_back() {
    let node = Node::start().await;
    let answer = node.get("/dashboard?q=a%20b").browser().send().await.expect(303);
    assert_eq!(answer.header("location"), "/login?next=%2Fdashboard%3Fq%3Da%2520b");
}

#[tokio::test]
async fn search_finds_titles_names_and_ids_and_takes_signs_as_they_are() {
    on_each_database(Setup::new, async |node| {
        let percent = node.publish_page("Sales up 50% in May_June").await;
        let other = node.publish_page("Sales up 500 in MayXJune").await;
        let named = node.publish(Form::file("p.html", page("Ümlaut")).field("slug", "weekly-harvest")).await;
        let tab = node.operator().await;
        let found = async |words: &str| {
            let query = form_urlencoded::Serializer::new(String::new()).append_pair("q", words).finish();
            let text = tab.get(&format!("/dashboard?{query}")).await.expect(200).text();
            [&percent, &other, &named]
                .map(|site| text.contains(&format!("link-{}", site["id"].as_str().unwrap())))
        };
        assert_eq!(found("sales UP").await, [true, true, false]);
        assert_eq!(found("50%").await, [true, false, false]);
        assert_eq!(found("May_June").await, [true, false, false]);
        assert_eq!(found("!").await, [false, false, false]);
        assert_eq!(found("Harvest").await, [false, false, true]);
        assert_eq!(found("Ümlaut").await, [false, false, true]);
        assert_eq!(found("' OR 1=1 --").await, [false, false, false]);
        assert_eq!(found(other["id"].as_str().unwrap()).await, [false, true, false]);
        assert_eq!(found(percent["unlisted_token"].as_str().unwrap()).await, [true, false, false]);
        assert_eq!(found("' OR 1=1 --").await, [false, false, false]);
        assert_eq!(found("").await, [true, true, true]);
    })
    .await;
}

#[tokio::test]
async fn search_ignores_case_accents_and_the_order_of_words() {
    on_each_database(Setup::new, async |node| {
        let menu = node.publish_page("CRÈME brûlée à l’Été, 100%").await;
        let form = Form::file("p.html", page("Łódź: Straße_2")).field("slug", "winter-harvest");
        let city = node.publish(form).await;
        let tab = node.operator().await;
        let found = async |words: &str| {
            let query = form_urlencoded::Serializer::new(String::new()).append_pair("q", words).finish();
            let text = tab.get(&format!("/dashboard?{query}")).await.expect(200).text();
            [&menu, &city].map(|site| text.contains(&format!("link-{}", site["id"].as_str().unwrap())))
        };
        for words in [
            "creme brulee",
            "BRÛLÉE crème",
            "ete creme",
            "e\u{301}te\u{301}",
            "brul l'ete",
            "100% cre",
            "  brulee\tcreme ",
        ] {
            assert_eq!(found(words).await, [true, false], "{words}");
        }
        for words in ["lodz", "strasse ŁÓDŹ", "harvest lodz", "LODZ: winter strasse", "strasse_"] {
            assert_eq!(found(words).await, [false, true], "{words}");
        }
        for words in ["creme lodz", "1%0", "strasse%2", "stra_se", "creme!", "e\\"] {
            assert_eq!(found(words).await, [false, false], "{words}");
        }
        let many = "creme brulee a ete 100% c r e m b u l t";
        assert_eq!(found(many).await, [true, false], "more words than are looked for");
        assert_eq!(found(&format!("{many} nowhere-to-be-found")).await, [false, false]);

        // Found by its current title.
        node.patch_site(&menu, json!({"title": "Ärger"})).await.expect(200);
        assert_eq!(found("arger").await, [true, false]);
        assert_eq!(found("creme").await, [false, false]);
        node.patch_site(&city, json!({"slug": "spring-planting"})).await.expect(200);
        assert_eq!((found("spring lodz").await, found("winter").await), ([false, true], [false, false]));
    })
    .await;
}

#[tokio::test]
async fn filters_narrow_the_list() {
    on_each_database(Setup::new, async |node| {
        let publish = async |title: &str, field: (&str, &str)| {
            node.publish(Form::file("p.html", page(title)).field(field.0, field.1)).await
        };
        let plain = node.publish_page("plain").await;
        let public = publish("public", ("slug", "named-page")).await;
        let locked = publish("locked", ("password", "pw")).await;
        let burn = publish("burn", ("burn_after_read", "true")).await;
        let brief = publish("brief", ("expires_in_hours", "2")).await;
        let gone = node.publish_page("gone").await;
        node.delete(&format!("/sites/{}", gone["id"].as_str().unwrap()))
            .key(&node.key)
            .send()
            .await
            .expect(200);
        let all = [&plain, &public, &locked, &burn, &brief, &gone];
        let tab = node.operator().await;
        let shown = async |filter: &str| {
            let text = tab.get(&format!("/dashboard?show={filter}")).await.expect(200).text();
            all.map(|site| {
                u8::from(text.contains(&format!("/dashboard/pages/{}\"", site["id"].as_str().unwrap())))
            })
        };
        assert_eq!(shown("all").await, [1, 1, 1, 1, 1, 0]);
        assert_eq!(shown("public").await, [0, 1, 0, 0, 0, 0]);
        assert_eq!(shown("unlisted").await, [1, 0, 1, 0, 1, 0]);
        assert_eq!(shown("protected").await, [0, 0, 1, 0, 0, 0]);
        assert_eq!(shown("burn").await, [0, 0, 0, 1, 0, 0]);
        assert_eq!(shown("expiring").await, [0, 0, 0, 0, 1, 0]);
        assert_eq!(shown("ended").await, [0, 0, 0, 0, 0, 1]);
        assert_eq!(shown("nonsense").await, [1, 1, 1, 1, 1, 0]);
        node.clock.advance(2 * HOUR);
        assert_eq!(shown("all").await, [1, 1, 1, 1, 0, 0], "expired from its moment on");
        assert_eq!(shown("ended").await, [0, 0, 0, 0, 1, 1]);
    })
    .await;
}

#[tokio::test]
async fn long_lists_go_on_and_keep_the_search() {
    on_each_database(Setup::new, async |node| {
        for n in 0..30 {
            node.publish_page(&format!("Harvest {n:02}")).await;
        }
        let tab = node.operator().await;
        let first = tab.get("/dashboard?q=harvest").await.expect(200).text();
        assert_eq!(first.matches("class=\"thumb\"").count(), 24);
        let (_, rest) = first.split_once("class=\"more\"><a class=\"button plain\" href=\"").unwrap();
        let next = rest.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
        assert!(next.contains("q=harvest"), "{next}");
        let second = tab.get(&next).await.expect(200).text();
        assert_eq!(second.matches("class=\"thumb\"").count(), 6);
        assert!(!second.contains("Older pages"));
    })
    .await;
}

#[tokio::test]
async fn hostile_titles_and_words_stay_text() {
    let node = Node::start().await;
    let title = "\"'><script>alert(1)</script>";
    let site = node.publish(Form::file("p.html", page("x")).field("title", title)).await;
    let tab = node.operator().await;
    for path in [
        "/dashboard".to_owned(),
        "/dashboard?q=%22%3E%3Cscript%3Ealert(1)".to_owned(),
        format!("/dashboard/pages/{}", site["id"].as_str().unwrap()),
    ] {
        let text = tab.get(&path).await.expect(200).text();
        assert!(!text.contains("<script>alert"), "{path}: {text}");
        assert!(!text.contains(" style="));
    }
}

#[tokio::test]
async fn drawings_are_for_the_owner_count_no_view_and_run_nothing() {
    let node = Node::start().await;
    let hostile = "<h1>Title</h1><script>alert(1)</script><img src=x onerror=alert(1)>";
    let html = node.publish(Form::file("p.html", hostile)).await;
    let paper = node.publish(Form::file("p.pdf", pdf())).await;
    let archive = node.publish(Form::file("a.zip", zip(&[("index.html", "<h1>In a zip</h1>")]))).await;
    let tab = node.operator().await;
    let mut drawings = Vec::new();
    for site in [&html, &paper, &archive] {
        let path = format!("/dashboard/pages/{}/preview.svg", site["id"].as_str().unwrap());
        let answer = tab.get(&path).await.expect(200);
        assert_eq!(answer.header("content-type"), "image/svg+xml");
        assert!(answer.header("cache-control").starts_with("private"));
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"));
        assert!(!answer.text().contains("alert"), "{}", answer.text());
        drawings.push(answer.text());
        node.newcomer_on("solo").await.get(&path).await.expect(404);
        node.get(&path).browser().send().await.expect(303);
    }
    assert!(drawings[0].contains("Title") && drawings[1].contains("PDF") && drawings[2].contains("In a zip"));
    assert_eq!(node.read_site(&html).await["view_count"], json!(0));
}
