//! Executable files: refused without an account and on the `free` plan, served only as downloads on others.

use crate::access::gates::{PASSWORD, open, own_host};
use crate::harness::{Form, Node, Setup, noise, on_each_database, page, site_path, zip};
use serde_json::json;

/// A minimal Windows program, in UTF-8 so that the harness can put it into an archive.
fn program() -> String {
    let mut text = String::from("MZ");
    text.push_str(&"\0".repeat(0x3a));
    text.push_str("\u{40}\0\0\0PE\0\0");
    text.push_str(&"\0".repeat(500));
    text
}

#[tokio::test]
async fn programs_are_422_without_an_account_and_on_the_free_plan() {
    on_each_database(Setup::new, async |node| {
        let free = node.account("free").await;
        let index = page("Download");
        for (name, body) in [
            ("setup.exe", "x".to_owned()),
            ("a/invoice.pdf.SCR", "x".to_owned()),
            ("x.hta", "<script>".to_owned()),
            ("x.lnk", "x".to_owned()),
            ("x.iso", "x".to_owned()),
            ("x.msi", "x".to_owned()),
            ("picture.png", program()),
            ("data.bin", "\u{7f}ELF\u{2}".to_owned()),
        ] {
            let archive = || Form::file("site.zip", zip(&[("index.html", &index), (name, &body)]));
            for ask in [node.post("/sites"), node.post("/sites").key(&free)] {
                let said = ask.form(archive()).send().await.refused(422, "executable_refused").json();
                assert!(said["error_description"].as_str().unwrap().contains(name), "{said}");
            }
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
        assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
        // A claim token does not allow one either.
        let unowned = node.publish_anonymously().await;
        let archive = Form::file("site.zip", zip(&[("index.html", &index), ("setup.exe", "x")]));
        let claim = node.put(&site_path(&unowned)).claim(unowned["claim_token"].as_str().unwrap());
        claim.form(archive).send().await.refused(422, "executable_refused");
        // Scripts of pages and other files are still accepted.
        let honest =
            zip(&[("index.html", &index), ("app.js", "1"), ("a.wasm", "\0asm"), ("run.sh", "#!/bin/sh")]);
        node.post("/sites").form(Form::file("site.zip", honest)).send().await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn dry_run_says_that_programs_are_not_taken_everywhere() {
    let node = Node::start().await;
    let archive = zip(&[("index.html", &page("Download")), ("setup.exe", "x")]);
    let said = node.post("/check").form(Form::file("a.zip", archive)).send().await.expect(200).json();
    assert!(said["warnings"].to_string().contains("setup.exe"), "{said}");
}

#[tokio::test]
async fn programs_of_other_plans_are_saved_and_a_browser_is_asked_first() {
    let node = Node::start().await;
    let solo = node.account("solo").await;
    let body = program();
    let archive =
        zip(&[("index.html", &page("Download")), ("files/set up.exe", &body), ("picture.png", &body)]);
    let site = node.publish_as(&solo, Form::file("site.zip", archive)).await;
    let root = site["url"].as_str().unwrap();
    for (path, name) in [("files/set%20up.exe", "set%20up.exe"), ("picture.png", "picture.png")] {
        let plain = node.get(&format!("{root}{path}")).send().await.expect(200);
        assert_eq!(plain.body, body.as_bytes());
        assert_eq!(plain.header("content-disposition"), format!("attachment; filename*=UTF-8''{name}"));
        assert_eq!(plain.header("content-type"), "application/x-executable");
        assert_eq!(plain.header("x-content-type-options"), "nosniff");
        // A browser that navigates is redirected to the page's own host and asked there.
        let moved = node.get(&format!("{root}{path}")).browser().send().await.expect(307);
        let own = moved.header("location").to_owned();
        let asked = node.get(&own).browser().send().await.expect(200);
        let shown = asked.text();
        for said in ["This file can run on your computer", "not verified", "Download anyway"] {
            assert!(shown.contains(said), "{said}: {shown}");
        }
        assert!(!asked.has("content-disposition") && asked.header("cache-control").contains("no-store"));
        let agreed = format!("{own}?dropleaf-download=1");
        let pressed = node.get(&agreed).browser().header("sec-fetch-site", "same-origin").send().await;
        assert_eq!(pressed.expect(200).body, body.as_bytes());
        // A link of the page itself, which a browser may follow to save the file, gets the file.
        let linked =
            node.get(&own).browser().header("sec-fetch-site", "same-origin").send().await.expect(200);
        assert_eq!(linked.body, body.as_bytes());
        assert_eq!(linked.header("content-disposition"), format!("attachment; filename*=UTF-8''{name}"));
        for from in ["none", "cross-site", "same-site"] {
            let shown = node.get(&own).browser().header("sec-fetch-site", from).send().await.expect(200);
            assert!(shown.text().contains("Download anyway"), "{from}");
        }
        // A link in an email or on another site does not skip the warning.
        for from in ["none", "cross-site", "same-site"] {
            let shown = node.get(&agreed).browser().header("sec-fetch-site", from).send().await.expect(200);
            assert!(shown.text().contains("Download anyway"), "{from}");
        }
    }
    assert_eq!(node.get(root).send().await.expect(200).text(), page("Download"));
}

#[tokio::test]
async fn form_of_a_gate_does_not_answer_for_its_reader() {
    let node = Node::start().await;
    let solo = node.account("solo").await;
    let archive = zip(&[("index.html", &page("Download")), ("setup.exe", &program())]);
    let site = node.publish_as(&solo, Form::file("site.zip", archive).field("password", PASSWORD)).await;
    let root = own_host(&node, &site).await;
    let cookie = open(&node, &root).await;
    // A browser redirected by the form sends the same headers.
    let linked = |path: &str| {
        let ask = node.get(&format!("{root}{path}")).browser().cookie(&cookie);
        ask.header("sec-fetch-site", "same-origin").send()
    };
    assert!(linked("setup.exe").await.expect(200).text().contains("Download anyway"));
    assert_eq!(linked("setup.exe?dropleaf-download=1").await.expect(200).body, program().as_bytes());
}

#[tokio::test]
async fn plan_of_the_operators_own_takes_them_only_when_it_says_so() {
    let node = Setup::new().set("plans.team.active_pages", "50").start().await;
    let team = node.account("team").await;
    let archive = || Form::file("a.zip", zip(&[("index.html", "<p>x"), ("a.exe", "x")]));
    node.post("/sites").key(&team).form(archive()).send().await.refused(422, "executable_refused");
    let node = Setup::new().set("plans.free.executables", "true").start().await;
    let free = node.account("free").await;
    let made = node.publish_as(&free, archive()).await;
    assert_eq!(made["version"], json!(1));
    let noise = noise("bytes", 5000);
    node.publish_as(&free, Form::file("x", noise).field("e2e", "true")).await;
}

#[tokio::test]
async fn program_is_not_brought_back_on_a_plan_that_takes_none() {
    on_each_database(Setup::new, async |node| {
        let solo = node.account("solo").await;
        let archive = |name: &str, body: &str| {
            Form::file("a.zip", zip(&[("index.html", &page("Download")), (name, body)]))
        };
        let by_name = node.publish_as(&solo, archive("setup.exe", "x")).await;
        let by_bytes = node.publish_as(&solo, archive("picture.png", &program())).await;
        for site in [&by_name, &by_bytes] {
            node.put(&site_path(site))
                .key(&solo)
                .form(Form::file("a.html", page("New")))
                .send()
                .await
                .expect(200);
        }
        let deleted = node.publish_as(&solo, archive("setup.exe", "x")).await;
        node.delete(&site_path(&deleted)).key(&solo).send().await.expect(200);
        let ids = "SELECT id FROM accounts WHERE plan = 'solo'";
        let ids = node.rows(ids, vec![], |row| row.text(0).map(str::to_owned)).await;
        node.app().set_plan("ann", &ids[0], "free").await.unwrap();
        for site in [&by_name, &by_bytes] {
            let ask = node.post(&format!("{}/rollback", site_path(site))).key(&solo);
            ask.json(&json!({"version": 1})).send().await.refused(422, "executable_refused");
        }
        let restore = || node.post(&format!("{}/restore", site_path(&deleted))).key(&solo).send();
        restore().await.refused(422, "executable_refused");
        node.app().set_plan("ann", &ids[0], "solo").await.unwrap();
        restore().await.expect(200);
    })
    .await;
}
