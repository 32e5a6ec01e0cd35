//! `dropleaf login`, `whoami`, `publish` and `logout`: the real binary against a running server.

use crate::harness::{Dropleaf, Node, page};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// A person's machine: a home folder and the address of the server.
struct Machine {
    home: TempDir,
    dropleaf: Dropleaf,
}

impl Machine {
    fn new(server: &str) -> Self {
        let home = TempDir::new().unwrap();
        let dropleaf = Dropleaf::in_dir(home.path())
            .env("HOME", home.path().to_str().unwrap())
            .env("DROPLEAF_URL", server);
        Self { home, dropleaf }
    }

    fn credentials(&self) -> PathBuf {
        self.home.path().join(".config/dropleaf/credentials.toml")
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

fn stored_key(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    text.split('"').find(|part| part.starts_with("stk_live_")).unwrap().to_owned()
}

/// Answers the code in the page, as a person would.
async fn answer(node: &Node, email: &str, code: &str, word: &str) {
    let account = node.app().get_account_by_email(email).await.unwrap();
    let person = node.signed_in(&account).await;
    person.submit("/device", &[("user_code", code), ("answer", word)]).await.expect(303);
}

/// Runs `dropleaf login` and answers it; returns whether it succeeded, and its output.
async fn login(node: &Node, machine: &Machine, word: &str) -> (bool, String) {
    let mut child = machine
        .dropleaf
        .command(&["login", "--name", "test machine"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let (send, mut lines) = tokio::sync::mpsc::unbounded_channel();
    let reader = std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            send.send(line).unwrap();
        }
    });
    let mut said = Vec::new();
    while let Some(line) = lines.recv().await {
        if let Some(code) = line.strip_prefix("and enter  ") {
            answer(node, "ann@example.org", code, word).await;
        }
        said.push(line);
    }
    reader.join().unwrap();
    (child.wait().unwrap().success(), said.join("\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn login_whoami_publish_and_logout() {
    let node = Node::start().await;
    node.app().create_account("ann@example.org", None, false).await.unwrap();
    let machine = Machine::new(&node.base_url());
    let complaint = machine.dropleaf.complains(&["whoami"]);
    assert!(complaint.contains("not signed in") && complaint.contains("dropleaf login"), "{complaint}");

    let (success, said) = login(&node, &machine, "allow").await;
    assert!(success && said.contains("Signed in to") && said.contains("ann@example.org"), "{said}");
    assert!(said.contains(&format!("{}/device", node.base_url())) && !said.contains("stk_live_"), "{said}");
    let file = machine.credentials();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));

    assert!(machine.dropleaf.prints(&["whoami"]).starts_with("ann@example.org at http://localhost:"));
    let me: serde_json::Value =
        serde_json::from_str(&machine.dropleaf.prints(&["whoami", "--json"])).unwrap();
    assert_eq!(me["email"], "ann@example.org");
    assert!(me["limits"].is_object(), "{me}");

    let first = machine.file("first.html", &page("First"));
    let link = machine.dropleaf.prints(&["publish", &first, "--expires-in-hours", "2"]);
    let seen = node.get(link.trim()).send().await.expect(200);
    assert!(seen.text().contains("First"));
    let second = machine.file("second.md", "# Second");
    let links = machine.dropleaf.prints(&["publish", &first, &second]);
    assert_eq!(links.lines().count(), 2);
    let json =
        machine.dropleaf.prints(&["publish", &first, "--slug", "from-the-shell", "--public", "--json"]);
    let site: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (site["slug"].as_str(), site["visibility"].as_str()),
        (Some("from-the-shell"), Some("public"))
    );
    let id = site["id"].as_str().unwrap();
    let same = machine.dropleaf.prints(&["publish", &second, "--update", id]);
    assert_eq!(same.trim(), site["url"]);

    let key = stored_key(&file);
    node.get("/me").key(&key).send().await.expect(200);
    // A second login replaces the first.
    let (success, said) = login(&node, &machine, "allow").await;
    assert!(success, "{said}");
    node.get("/me").key(&key).send().await.refused(401, "invalid_credential");
    let key = stored_key(&file);
    node.get("/me").key(&key).send().await.expect(200);
    machine.dropleaf.prints(&["logout"]);
    node.get("/me").key(&key).send().await.refused(401, "invalid_credential");
    assert!(!std::fs::read_to_string(&file).unwrap().contains(&key));
    assert!(machine.dropleaf.complains(&["logout"]).contains("not signed in"));
}

#[tokio::test(flavor = "multi_thread")]
async fn login_that_is_denied_stores_nothing() {
    let node = Node::start().await;
    node.app().create_account("ann@example.org", None, false).await.unwrap();
    let machine = Machine::new(&node.base_url());
    let (success, said) = login(&node, &machine, "deny").await;
    assert!(!success && said.contains("you denied access"), "{said}");
    assert!(!machine.credentials().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn publish_without_a_login_says_how_to_keep_the_page() {
    let node = Node::start().await;
    let machine = Machine::new(&node.base_url());
    let file = machine.file("page.html", &page("Anonymous"));
    let output = machine.dropleaf.run(&["publish", &file]);
    let (link, notes) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(link.lines().count(), 1);
    node.get(link.trim()).send().await.expect(200);
    assert!(notes.contains("/claim/") && notes.contains("without an account"), "{notes}");
    let complaint = machine.dropleaf.complains(&["publish", &file, "--update", "x"]);
    assert!(complaint.contains("requires a key"), "{complaint}");

    // A key in the environment is used unchanged.
    let machine = Machine { dropleaf: machine.dropleaf.env("DROPLEAF_API_KEY", &node.key), ..machine };
    assert!(machine.dropleaf.prints(&["whoami"]).starts_with("operator@localhost at "));
    let wrong = Machine { dropleaf: machine.dropleaf.env("DROPLEAF_API_KEY", "stk_live_wrong"), ..machine };
    let complaint = wrong.dropleaf.complains(&["publish", &file]);
    assert!(complaint.contains("no longer works"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn key_in_the_environment_goes_to_a_named_server_only() {
    let node = Node::start().await;
    let home = TempDir::new().unwrap();
    let keyed = |key: &str| {
        let dropleaf = Dropleaf::in_dir(home.path()).env("HOME", home.path().to_str().unwrap());
        dropleaf.env("DROPLEAF_API_KEY", key)
    };
    std::fs::write(home.path().join("page.html"), page("Whose?")).unwrap();
    for args in [["whoami", "--json"], ["publish", "page.html"]] {
        let complaint = keyed(&node.key).complains(&args);
        assert!(complaint.contains("set --server or DROPLEAF_URL"), "{complaint}");
    }
    let named = keyed(&node.key).prints(&["whoami", "--server", &node.base_url()]);
    assert!(named.starts_with("operator@localhost at "), "{named}");
    // The server that was signed in to last has a separate key.
    let folder = home.path().join(".config/dropleaf");
    std::fs::create_dir_all(&folder).unwrap();
    let (url, key) = (node.base_url(), &node.key);
    let stored = format!("current = \"{url}\"\n[servers.\"{url}\"]\nkey = \"{key}\"\n");
    std::fs::write(folder.join("credentials.toml"), stored).unwrap();
    assert!(keyed("stk_live_elsewhere").prints(&["whoami"]).starts_with("operator@localhost at "));
    let complaint = keyed("stk_live_elsewhere").complains(&["whoami", "--server", "http://0.0.0.0:1"]);
    assert!(complaint.contains("the connection to http://0.0.0.0:1 is not encrypted"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_cannot_be_reached_is_named() {
    let node = Node::start().await;
    let url = node.base_url();
    node.stop().await;
    let machine = Machine::new(&url);
    let file = machine.file("page.html", &page("Nowhere"));
    for args in [vec!["login"], vec!["publish", &file]] {
        let complaint = machine.dropleaf.complains(&args);
        assert!(complaint.contains(&format!("cannot reach {url}")), "{complaint}");
    }
    let complaint = machine.dropleaf.complains(&["login", "not an address"]);
    assert!(complaint.contains("is not the address of a server"), "{complaint}");
}
