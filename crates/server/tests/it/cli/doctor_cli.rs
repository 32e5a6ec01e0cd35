//! `dropleaf doctor` against real parts: planted faults are found and their fix is named; a sound installation has no problem.

use super::doctor_world::{Examined, HOST, World, empty, examine, examine_node, run};
use crate::harness::tls::TestCertificate;
use crate::harness::{DnsServer, Habit, MailServer, Mood, ReservedPort, Seen, Setup};
use dropleaf_core::health::Check;
use std::net::Ipv4Addr;
use std::process::Command;
use tempfile::TempDir;

const TRUSTED: (&str, &str) = ("trusted_proxies", "127.0.0.1/32");

#[tokio::test(flavor = "multi_thread")]
async fn before_the_first_start_nothing_is_wrong_and_nothing_is_created() {
    let (dir, dropleaf) = empty();
    let port = ReservedPort::new();
    let found = examine(dropleaf, &[("listen", &format!("localhost:{}", port.number))]).await;
    found.has_no_problem();
    found.is("server", "not_checked");
    found.is("public_address", "not_checked");
    found.is("integrity", "not_checked");
    assert_eq!(found.report["checks"].as_array().unwrap().len(), Check::ALL.len());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the data folder was created");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_this_machine_has_no_problem() {
    let node = Setup::new().real_time().start().await;
    let found = examine_node(&node, &[]).await;
    found.has_no_problem();
    for id in [
        "server",
        "public_address",
        "host",
        "client_address",
        "upload_size",
        "large_headers",
        "streaming",
        "schema",
        "bodies",
        "integrity",
    ] {
        found.is(id, "ok");
    }
    let secret = std::fs::read_to_string(node.data_dir().join("secret.key")).unwrap();
    assert!(!found.text.contains(secret.trim()), "the secret was printed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_server_behind_a_good_proxy_has_no_problem() {
    let world = World::start(Habit::Good, &[TRUSTED]).await;
    let found = world.examine().await;
    found.has_no_problem();
    for id in [
        "dns",
        "wildcard_dns",
        "reachability",
        "public_address",
        "host",
        "client_address",
        "upload_size",
        "large_headers",
        "streaming",
    ] {
        found.is(id, "ok");
    }
    found.is("settings", "warning");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_be_used() {
    let (_dir, dropleaf) = empty();
    let found = examine(dropleaf, &[("trusted_proxies", "proxy")]).await;
    found.finds("settings", "dropleaf config check");
    found.is("database", "not_checked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_replaces_the_host() {
    let found = World::start(Habit::ReplacesHost, &[TRUSTED]).await.examine().await;
    found.finds("host", "proxy_set_header Host $http_host;");
    assert!(found.check("host")["found"].as_str().unwrap().contains(HOST), "{}", found.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_hides_the_clients() {
    let found = World::start(Habit::HidesClients, &[TRUSTED]).await.examine().await;
    found.finds("client_address", "proxy_set_header X-Forwarded-For");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_lets_clients_claim_any_address() {
    let found = World::start(Habit::BelievesClients, &[TRUSTED]).await.examine().await;
    found.finds("client_address", "proxy_set_header X-Forwarded-For");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_is_not_trusted() {
    let found = World::start(Habit::Good, &[]).await.examine().await;
    found.finds("client_address", "trusted_proxies = [\"127.0.0.1\"]");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_with_small_limits_and_one_that_buffers() {
    let found = World::start(Habit::LimitsBodies, &[TRUSTED]).await.examine().await;
    found.finds("upload_size", "client_max_body_size 25m;");
    let found = World::start(Habit::LimitsHeads, &[TRUSTED]).await.examine().await;
    found.is("large_headers", "warning");
    assert!(found.check("large_headers")["fix"].as_str().unwrap().contains("large_client_header_buffers"));
    let found = World::start(Habit::Buffers, &[TRUSTED]).await.examine().await;
    found.is("streaming", "warning");
    assert!(found.check("streaming")["fix"].as_str().unwrap().contains("proxy_buffering off;"));
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_trusted() {
    let (_dir, dropleaf) = empty();
    examine(dropleaf, &[("trusted_proxies", "0.0.0.0/0")]).await.finds("trusted_proxies", "127.0.0.1/32");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_dns_records() {
    let world = World::start(Habit::Good, &[TRUSTED, ("site_host", "pages.example")]).await;
    let found = world.examine().await;
    found.finds("wildcard_dns", "`*.pages.example`");
    world.dns.clear(HOST);
    let found = world.examine().await;
    found.finds("dns", "A record");
    found.is("public_address", "not_checked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loopback_listener_for_a_public_address() {
    let (_dir, dropleaf) = empty();
    let (dns, port) = (DnsServer::start().await, ReservedPort::new());
    dns.address_of(HOST, Ipv4Addr::new(203, 0, 113, 9));
    let settings = [
        ("listen", format!("127.0.0.1:{}", port.number)),
        ("base_url", format!("http://{HOST}")),
        ("dns.servers", dns.address()),
    ];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    examine(dropleaf, &settings).await.finds("reachability", "listen = \"0.0.0.0:8080\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate() {
    let (dir, dns) = (TempDir::new().unwrap(), DnsServer::start().await);
    dns.address_of(HOST, Ipv4Addr::LOCALHOST);
    dns.wildcard(HOST, Ipv4Addr::LOCALHOST);
    let [cert, key] = TestCertificate::expired(&[HOST, "*.drop.example"]).write(dir.path());
    let port = ReservedPort::new();
    let settings = [
        ("base_url", format!("https://{HOST}:{}", port.number)),
        ("dns.servers", dns.address()),
        ("tls.cert_file", cert),
        ("tls.key_file", key),
    ];
    let mut setup = Setup::new().real_time().port(port);
    for (name, value) in &settings {
        setup = setup.set(name, value.as_str());
    }
    let node = setup.start().await;
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let found = examine_node(&node, &settings).await;
    found.finds("certificate", "tls.cert_file");
    assert!(found.check("certificate")["found"].as_str().unwrap().contains("expired"), "{}", found.text);
    // The certificate is one problem, the way of requests another.
    found.is("host", "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_that_cannot_be_written() {
    let (dir, dropleaf) = empty();
    std::fs::write(dir.path().join("file"), "in the way").unwrap();
    let found = examine(dropleaf, &[("data_dir", "file/data")]).await;
    found.finds("data_dir", "install -d -m 700");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_server_that_refuses() {
    let (_dir, dropleaf) = empty();
    let closed = ReservedPort::new();
    let url = format!("smtp://127.0.0.1:{}", closed.number);
    let found = examine(dropleaf, &[("mail.smtp_url", &url)]).await;
    found.finds("mail", "mail.smtp_url");
    let (_dir, dropleaf) = empty();
    let server = MailServer::start(Mood::Refuses).await;
    let args = [
        "doctor",
        "--json",
        "--mail",
        "ann@example.org",
        "--set",
        &format!("mail.smtp_url={}", server.url()),
    ];
    run(dropleaf, args.map(str::to_owned).to_vec()).await.finds("mail", "mail.from");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_email_is_sent_on_request_only() {
    let server = MailServer::start(Mood::Takes).await;
    let set = format!("mail.smtp_url={}", server.url());
    let (_dir, dropleaf) = empty();
    let found = run(dropleaf, ["doctor", "--json", "--set", &set].map(str::to_owned).to_vec()).await;
    found.is("mail", "ok");
    let (_dir, dropleaf) = empty();
    let args = ["doctor", "--json", "--mail", "ann@example.org", "--set", &set];
    run(dropleaf, args.map(str::to_owned).to_vec()).await.is("mail", "ok");
    let Seen::Letter { to, text } = server.next().await else { panic!("a letter") };
    assert_eq!(to, "ann@example.org");
    assert!(text.contains("Subject: Test email from dropleaf"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_low_limit_of_open_files() {
    let dir = TempDir::new().unwrap();
    let binary = env!("CARGO_BIN_EXE_dropleaf");
    let work = tokio::task::spawn_blocking(move || {
        let script = format!("ulimit -n 128; exec {binary} doctor --json");
        Command::new("/bin/sh").args(["-c", &script]).current_dir(dir.path()).env_clear().output().unwrap()
    });
    Examined::of(&work.await.unwrap()).finds("file_limit", "LimitNOFILE=65536");
}

#[test]
fn people_get_a_list_without_colours_in_a_pipe() {
    let (_dir, dropleaf) = empty();
    let port = ReservedPort::new();
    let text = dropleaf.prints(&["doctor", "--set", &format!("listen=localhost:{}", port.number)]);
    assert!(text.contains("Storage\n") && text.contains("0 problems"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let wrong = dropleaf.run(&["doctor", "--mail", "nobody"]);
    assert_eq!(wrong.status.code(), Some(2));
}
