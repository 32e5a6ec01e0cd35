//! `dropleaf pay`: the real binary against a running server, paid with the cards of the sandbox.

use crate::harness::{Dropleaf, Node};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const PAYS: &str = "4242424242424242";
const DECLINED: &str = "4000000000000002";

/// A computer with a home folder, and perhaps a key in its environment.
struct Machine {
    home: TempDir,
    dropleaf: Dropleaf,
}

/// What a command printed, and its exit code.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Machine {
    fn new(server: &str) -> Self {
        let home = TempDir::new().unwrap();
        let dropleaf = Dropleaf::in_dir(home.path())
            .env("HOME", home.path().to_str().unwrap())
            .env("DROPLEAF_URL", server);
        Self { home, dropleaf }
    }

    fn with_key(server: &str, key: &str) -> Self {
        let Self { home, dropleaf } = Self::new(server);
        Self { home, dropleaf: dropleaf.env("DROPLEAF_API_KEY", key) }
    }

    fn credentials(&self) -> PathBuf {
        self.home.path().join(".config/dropleaf/credentials.toml")
    }

    fn stored(&self) -> String {
        std::fs::read_to_string(self.credentials()).unwrap()
    }

    fn run(&self, args: &[&str]) -> Ran {
        let output = self.dropleaf.run(args);
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command that waits; `on_line` gets each line of its error output, and the id of the process.
    async fn waiting(&self, args: &[&str], on_line: impl AsyncFn(&str, u32)) -> Ran {
        let mut command = self.dropleaf.command(args);
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (send, mut lines) = tokio::sync::mpsc::unbounded_channel();
        let reader = std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                send.send(line).unwrap();
            }
        });
        let mut err = String::new();
        while let Some(line) = lines.recv().await {
            on_line(&line, child.id()).await;
            err.push_str(&line);
            err.push('\n');
        }
        reader.join().unwrap();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        Ran { code: child.wait().unwrap().code(), out, err }
    }

    /// Runs the command and pays its link with these cards, one after the other.
    async fn paid(&self, node: &Node, args: &[&str], cards: &[&str]) -> Ran {
        let ran = self.waiting(args, async |line, _| {
            if let Some(url) = line.strip_prefix("To pay by card, open  ") {
                pay(node, url, cards).await;
            }
        });
        ran.await
    }
}

/// Pays at a link as a person would.
async fn pay(node: &Node, url: &str, cards: &[&str]) {
    let origin = node.base_url();
    let opened = node.post(url).browser().header("origin", &origin).fields(&[]).send().await.expect(303);
    for number in cards {
        let fields = [("number", *number), ("expiry", "12/34"), ("cvc", "123")];
        let form = node.post(opened.header("location")).browser().header("origin", &origin);
        let status = if *number == DECLINED { 422 } else { 303 };
        form.fields(&fields).send().await.expect(status);
    }
}

/// Creates a link without waiting; returns the response.
fn left(machine: &Machine, args: &[&str]) -> Value {
    serde_json::from_str(&machine.dropleaf.prints(&[args, &["--no-wait", "--json"]].concat())).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn key_that_was_paid_for_is_saved_like_that_of_a_login() {
    let node = Node::start().await;
    let machine = Machine::new(&node.base_url());
    let ran = machine.paid(&node, &["pay", "--amount", "6"], &[DECLINED, PAYS]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    assert!(ran.err.contains("API key: $6.00") && ran.err.contains("Test mode"), "{}", ran.err);
    assert!(ran.err.contains("Waiting for the payment") && ran.err.contains("Paid $6.00."), "{}", ran.err);
    assert!(ran.err.contains(machine.credentials().to_str().unwrap()), "{}", ran.err);
    assert!(!ran.err.contains("stk_live_") && !ran.err.contains('\u{2588}'), "{}", ran.err);
    let me: Value = serde_json::from_str(&machine.dropleaf.prints(&["whoami", "--json"])).unwrap();
    assert_eq!((&me["plan"], &me["balance_minor"]), (&"free".into(), &500.into()));

    let again = machine.run(&["pay"]);
    assert_eq!(again.code, Some(2), "{}", again.err);
    assert!(again.err.contains("you are signed in") && again.err.contains("topup"), "{}", again.err);
    // Another account does not replace the login.
    let before = machine.stored();
    let second = machine.paid(&node, &["pay", "provision"], &[PAYS]).await;
    assert_eq!(second.code, Some(0), "{}", second.err);
    assert!(second.out.starts_with("stk_live_") && second.out.lines().count() == 1, "{}", second.out);
    assert!(second.err.contains("not saved") && !second.err.contains("stk_live_"), "{}", second.err);
    assert_eq!(machine.stored(), before);
    node.get("/me").key(second.out.trim()).send().await.expect(200);
    machine.dropleaf.prints(&["logout"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn balance_and_unlocks_are_bought_for_the_account_of_the_key() {
    let node = Node::start().await;
    let key = node.account("free").await;
    let machine = Machine::with_key(&node.base_url(), &key);
    let topup = machine.paid(&node, &["pay", "topup", "--amount", "15.00"], &[PAYS]).await;
    assert_eq!((topup.code, topup.out.as_str()), (Some(0), ""), "{}", topup.err);
    assert!(topup.err.contains("Paid $15.00. The balance is now $15.00."), "{}", topup.err);
    let limits = machine.paid(&node, &["pay", "higher_limits"], &[PAYS]).await;
    assert_eq!(limits.code, Some(0), "{}", limits.err);
    assert!(limits.err.contains("Paid $25.00. Now active: Higher limits until 2023-"), "{}", limits.err);
    let permanent = machine.paid(&node, &["pay", "make_permanent", "--json"], &[PAYS]).await;
    assert_eq!(permanent.code, Some(0), "{}", permanent.err);
    let json: Value = serde_json::from_str(&permanent.out).unwrap();
    assert_eq!((&json["status"], &json["unlocked"]), (&"completed".into(), &true.into()), "{json}");
    let twice = machine.run(&["pay", "make_permanent"]);
    assert_eq!(twice.code, Some(1), "{}", twice.err);
    assert!(!machine.credentials().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn command_can_leave_and_continue_with_the_code() {
    let node = Node::start().await;
    let machine = Machine::new(&node.base_url());
    let plain = machine.run(&["pay", "--no-wait"]);
    assert_eq!(plain.code, Some(0), "{}", plain.err);
    assert!(plain.out.starts_with(&format!("{}/pay/", node.base_url())) && plain.out.lines().count() == 1);
    assert!(plain.err.contains("run `dropleaf pay --code "), "{}", plain.err);

    let session = left(&machine, &["pay"]);
    let code = session["code"].as_str().unwrap();
    pay(&node, session["url"].as_str().unwrap(), &[PAYS]).await;
    let json = machine.run(&["pay", "--code", code, "--json"]);
    assert_eq!(json.code, Some(0), "{}", json.err);
    let polled: Value = serde_json::from_str(&json.out).unwrap();
    node.get("/me").key(polled["api_key"].as_str().unwrap()).send().await.expect(200);
    assert!(!machine.credentials().exists(), "the key is in the JSON");
    let late = machine.run(&["pay", "--code", code]);
    assert_eq!(late.code, Some(1), "{}", late.err);
    assert!(late.err.contains("already delivered"), "{}", late.err);

    let expiring = left(&machine, &["pay"]);
    node.clock.advance(1801);
    let expired = machine.run(&["pay", "--code", expiring["code"].as_str().unwrap(), "--json"]);
    assert_eq!(expired.code, Some(1), "{}", expired.err);
    assert!(expired.err.contains("expired before it was paid; nothing was charged"), "{}", expired.err);
    assert_eq!(serde_json::from_str::<Value>(&expired.out).unwrap()["status"], "expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_command_says_how_to_continue() {
    let node = Node::start().await;
    let machine = Machine::new(&node.base_url());
    for signal in ["-INT", "-TERM"] {
        let ran = machine.waiting(&["pay"], async |line, pid| {
            if line.starts_with("Waiting") {
                assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
            }
        });
        let ran = ran.await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
        let code = ran.err.split("dropleaf pay --code ").nth(1).unwrap().split('`').next().unwrap();
        let polled = node.get(&format!("/pay/sessions/{code}/poll")).send().await.expect(200).json();
        assert_eq!(polled["status"], "pending");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_code_says_what_went_wrong() {
    let node = Node::start().await;
    let machine = Machine::new(&node.base_url());
    for (args, code, text) in [
        (&["pay", "topup"][..], 4, "run `dropleaf login"),
        (&["pay", "everything"], 2, "higher_limits"),
        (&["pay", "--amount", "0"], 2, "amount in dollars"),
        (&["pay", "--amount", "20.01"], 2, "100 to 2000"),
        (&["pay", "topup", "--code", "x"], 2, "cannot be used with"),
        (&["pay", "--code", "x"], 2, "no pay session with this code"),
        (&["pay", "--server", "nowhere"], 2, "not the address of a server"),
        (&["whoami"], 4, "not signed in"),
    ] {
        let ran = machine.run(args);
        assert_eq!(ran.code, Some(code), "{args:?} {}", ran.err);
        assert!(ran.err.contains(text) && ran.out.is_empty(), "{args:?} {}", ran.err);
    }
    let revoked = Machine::with_key(&node.base_url(), "stk_live_wrong").run(&["pay", "topup"]);
    assert_eq!(revoked.code, Some(4), "{}", revoked.err);
    std::fs::create_dir_all(machine.credentials().parent().unwrap()).unwrap();
    std::fs::write(machine.credentials(), "damaged").unwrap();
    let damaged = machine.run(&["pay"]);
    assert_eq!(damaged.code, Some(1), "{}", damaged.err);
    assert!(damaged.err.contains("is damaged") && !damaged.err.contains("/pay/"), "{}", damaged.err);

    let url = node.base_url();
    node.stop().await;
    let gone = Machine::new(&url).run(&["pay"]);
    assert_eq!(gone.code, Some(5), "{}", gone.err);
    assert!(gone.err.contains(&format!("cannot reach {url}")), "{}", gone.err);
}
