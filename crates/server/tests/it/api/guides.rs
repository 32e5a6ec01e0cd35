//! The front page and the guides: `/`, `/auth.md`, `/llms.txt`, `/design-guide`. Spec §4 OAuth and discovery.

use crate::harness::{Node, Setup};

#[tokio::test]
async fn design_guide_is_markdown_with_this_servers_limits() {
    let node = Setup::new()
        .set("limits.upload_bytes", "7340032")
        .set("limits.files", "123")
        .set("storage.versions_kept", "4")
        .set("retention.restore_days", "9")
        .set("limits.key_per_minute", "77")
        .set("plans.team.active_pages", "42")
        .start()
        .await;
    let guide = node.get("/design-guide").send().await.expect(200);
    assert_eq!(guide.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(guide.header("vary"), "Accept");
    assert_eq!(guide.header("access-control-allow-origin"), "*");
    let text = guide.text();
    assert!(text.starts_with("# Design guide\n"));
    let base = node.base_url();
    for fact in [
        "| 7 MiB |",
        "123 files",
        "newest 4 versions",
        "for 9 days",
        "77 requests per minute",
        "42 pages",
        "24 hours",
    ] {
        assert!(text.contains(fact), "{fact}");
    }
    assert!(text.contains(&format!("curl -F file=@page.html {base}/sites")));
    assert!(!text.contains("{{") && !text.contains("{%"));
}

#[tokio::test]
async fn browsers_get_the_same_text_typeset() {
    let node = Node::start().await;
    for path in ["/design-guide", "/auth.md"] {
        let page = node.get(path).browser().send().await.expect(200);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert!(page.header("content-security-policy").starts_with("default-src 'none'; style-src 'sha256-"));
        let text = page.text();
        assert_eq!(text.matches("<h1").count(), 1);
        assert!(text.contains("<table>") && !text.contains(" style=") && !text.contains("<script"), "{path}");
        assert!(text.contains(&format!("curl {}{path}", node.base_url())));
    }
}

#[tokio::test]
async fn auth_md_has_its_sections_in_order_and_real_addresses() {
    let node = Node::start().await;
    let answer = node.get("/auth.md").send().await.expect(200);
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    let text = answer.text();
    let sections: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let order = ["Discover", "Pick a method", "Register", "Claim", "Exchange", "Use", "Errors", "Revocation"];
    assert_eq!(sections, order);
    let base = node.base_url();
    assert!(text.lines().next().unwrap().contains(&base));
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/oauth/register",
        "/oauth/authorize",
        "/oauth/token",
        "/oauth/revoke",
        "/oauth/device_authorization",
    ] {
        assert!(text.contains(&format!("{base}{path}")), "{path}");
    }
}

/// The commands in the code blocks of a text: the data each sends with `-d`, and the URL.
fn commands(text: &str, base: &str) -> Vec<(String, Vec<String>)> {
    let blocks = text.split("```").skip(1).step_by(2).collect::<String>().replace("\\\n", " ");
    let lines = blocks.lines().filter(|line| line.starts_with("curl "));
    lines
        .map(|line| {
            let path = line.rsplit_once(base).unwrap().1.to_owned();
            let sent = line.split(" -d ").skip(1).map(|rest| match rest.strip_prefix('\'') {
                Some(quoted) => quoted.split('\'').next().unwrap().to_owned(),
                None => rest.split(' ').next().unwrap().to_owned(),
            });
            (path, sent.collect())
        })
        .collect()
}

#[tokio::test]
async fn device_logins_of_auth_md_work_as_written() {
    let node = Node::start().await;
    let text = node.get("/auth.md").send().await.expect(200).text();
    let (mut begun, mut registered) = (0, 0);
    let mut device_code = String::new();
    for (path, sent) in commands(&text, &node.base_url()) {
        let form = sent.join("&").replace("$DEVICE_CODE", &device_code);
        let form = |path: &str| node.post(path).body("application/x-www-form-urlencoded", form.clone());
        match path.as_str() {
            "/oauth/register" => {
                let made = node
                    .post(&path)
                    .body("application/json", sent[0].clone())
                    .send()
                    .await
                    .expect(201)
                    .json();
                registered += usize::from(made["grant_types"].to_string().contains("device_code"));
            }
            "/oauth/device_authorization" | "/device/code" => {
                device_code =
                    form(&path).send().await.expect(200).json()["device_code"].as_str().unwrap().to_owned();
                begun += 1;
            }
            "/oauth/token" | "/device/token" if !device_code.is_empty() => {
                let waits = form(&path).send().await.expect(400).json();
                assert_eq!(waits["error"], "authorization_pending", "{path}");
            }
            _ => {}
        }
    }
    assert_eq!((begun, registered), (2, 1));
    for fact in ["`insufficient_scope`", "180 days", "/.well-known/oauth-protected-resource/mcp"] {
        assert!(text.contains(fact), "{fact}");
    }
    for (page, name) in [
        ("/", "/auth.md\">For agents"),
        ("/design-guide", "/auth.md\">For agents"),
        ("/login", "/auth.md\">For agents"),
    ] {
        assert!(node.get(page).browser().send().await.expect(200).text().contains(name), "{page}");
    }
}

#[tokio::test]
async fn llms_txt_has_the_shape_that_readers_expect() {
    let node = Node::start().await;
    let answer = node.get("/llms.txt").send().await.expect(200);
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    let text = answer.text();
    let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[0], "# dropleaf");
    assert!(lines[1].starts_with("> "));
    let lists = text.split("\n## ").skip(1);
    let mut count = 0;
    for section in lists {
        for line in section.lines().skip(1).filter(|line| !line.is_empty()) {
            assert!(line.starts_with("- [") && line.contains(&format!("]({}/", node.base_url())), "{line}");
            count += 1;
        }
    }
    assert!(count >= 6);
}

#[tokio::test]
async fn front_page_tells_people_and_agents_where_to_go() {
    let node = Node::start().await;
    let front = node.get("/").browser().send().await.expect(200);
    assert_eq!(front.header("x-robots-tag"), "all");
    let text = front.text();
    for path in
        ["/login", "/docs", "/auth.md", "/llms.txt", "/design-guide", "/openapi.json", "/dashboard/keys"]
    {
        assert!(text.contains(&format!("href=\"{path}\"")), "{path}");
    }
    assert!(text.contains(&format!("curl -F file=@page.html {}/sites", node.base_url())));
    assert!(text.contains("dropleaf publish page.html"));
    let mcp = format!("claude mcp add --transport http dropleaf {}/mcp", node.base_url());
    assert!(text.contains(&mcp) && text.contains("dropleaf mcp install"));
    let oauth = format!("<code class=\"command\">{}</code>", node.base_url());
    assert!(text.contains(&oauth));
    let operator = node.operator().await;
    assert_eq!(operator.get("/").await.expect(303).header("location"), "/dashboard");
    // The empty list of apps names the same addresses.
    let apps = operator.get("/dashboard/apps").await.expect(200).text();
    let [oauth, mcp] = ["", "/mcp"].map(|path| format!("<code>{}{path}</code>", node.base_url()));
    assert!(apps.contains(&oauth) && apps.contains(&mcp));
}

#[tokio::test]
async fn every_text_names_the_mcp_endpoint_and_none_calls_it_empty() {
    let node = Node::start().await;
    let base = node.base_url();
    for path in ["/", "/auth.md", "/llms.txt", "/design-guide"] {
        let text = node.get(path).send().await.expect(200).text();
        assert!(text.contains(&format!("{base}/mcp")), "{path}");
        assert!(!text.contains("behind it yet"), "{path}");
    }
    for path in ["/", "/auth.md", "/llms.txt"] {
        let text = node.get(path).send().await.expect(200).text();
        assert!(text.contains("/.well-known/mcp/server-card.json"), "{path}");
    }
    node.get("/.well-known/mcp/server-card.json").send().await.expect(200);
}

#[tokio::test]
async fn robots_may_read_the_guides() {
    let node = Node::start().await;
    let robots = node.get("/robots.txt").send().await.expect(200).text();
    for path in ["/$", "/docs", "/auth.md", "/llms.txt", "/design-guide"] {
        assert!(robots.contains(&format!("Allow: {path}\n")), "{path}");
    }
    assert!(robots.ends_with("Disallow: /\n"));
}
