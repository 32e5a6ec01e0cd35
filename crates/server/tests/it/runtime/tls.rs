//! HTTPS of the server itself: listeners, certificates by name, reloaded files, requests for another host.

use crate::harness::tls::{TestCertificate, connect, exchange};
use crate::harness::{Node, ReservedPort, Setup, in_time};
use bytes::Bytes;
use h2::client::SendRequest;
use http::{Request, StatusCode};
use rustls::{AlertDescription, ClientConfig};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const API: &str = "api.example.com";
const PAGES: &str = "pages.example.net";
const NAMES: [&str; 3] = [API, PAGES, "*.pages.example.net"];

/// A server with two domains; its certificate is for both.
struct Fixture {
    node: Node,
    certificate: TestCertificate,
    files: TempDir,
}

impl Fixture {
    async fn start(more: impl FnOnce(Setup) -> Setup) -> Self {
        let (certificate, files) = (TestCertificate::new(&NAMES), TempDir::new().unwrap());
        let [cert, key] = certificate.write(files.path());
        let setup = Setup::new()
            .set("base_url", format!("https://{API}"))
            .set("site_url", format!("https://{PAGES}"))
            .set("tls.cert_file", cert)
            .set("tls.key_file", key);
        Self { node: more(setup).start().await, certificate, files }
    }

    async fn get(&self, name: &str, host: &str, path: &str) -> String {
        let client = self.certificate.client(Some("http/1.1"));
        let mut stream = connect(&client, self.node.port, name).await.unwrap();
        exchange(&mut stream, host, path).await
    }
}

fn status(response: &str) -> u16 {
    response.get(9..12).unwrap_or_else(|| panic!("{response}")).parse().unwrap()
}

fn refusal(error: &std::io::Error) -> AlertDescription {
    match error.get_ref().unwrap().downcast_ref::<rustls::Error>() {
        Some(rustls::Error::AlertReceived(alert)) => *alert,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn host_must_be_the_name_of_the_handshake() {
    let fixture = Fixture::start(|setup| setup).await;
    for host in [API, "API.example.com", "api.example.com.", "api.example.com:443"] {
        assert_eq!(status(&fixture.get(API, host, "/provision").await), 200, "{host}");
    }
    for host in [PAGES, "s-1.pages.example.net", "other.example", "127.0.0.1"] {
        let response = fixture.get(API, host, "/provision").await;
        assert_eq!(status(&response), 421, "{host}");
        assert!(response.contains("misdirected_host") && !response.contains(PAGES), "{response}");
        assert!(!response.to_ascii_lowercase().contains("api.example.com"), "{response}");
        assert_eq!(status(&fixture.get(API, host, "/healthz").await), 200, "{host}");
    }
    let response = fixture.get("s-1.pages.example.net", "s-2.pages.example.net", "/p/x/").await;
    assert_eq!(status(&response), 421, "each page is a host of its own");
    let mut nameless = fixture.certificate.client(Some("http/1.1"));
    nameless.enable_sni = false;
    for (host, expected) in [(API, 200), (PAGES, 404), ("other.example", 421)] {
        let mut stream = connect(&nameless, fixture.node.port, API).await.unwrap();
        let response = exchange(&mut stream, host, "/provision").await;
        assert_eq!(
            status(&response),
            expected,
            "{host}: without a name in the handshake, the host alone counts"
        );
    }
}

#[tokio::test]
async fn every_request_of_an_http_2_connection_is_checked() {
    let fixture = Fixture::start(|setup| setup).await;
    let client = fixture.certificate.client(Some("h2"));
    let stream = connect(&client, fixture.node.port, API).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut send, connection) = h2::client::handshake(stream).await.unwrap();
    let mut background = JoinSet::new();
    background.spawn(connection);
    for (host, expected) in [(API, 200), (PAGES, 421), ("Api.Example.com:443", 200), ("other.example", 421)] {
        assert_eq!(ask(&mut send, host).await, expected, "{host}");
    }
}

async fn ask(send: &mut SendRequest<Bytes>, host: &str) -> StatusCode {
    let request = Request::get(format!("https://{host}/provision")).body(()).unwrap();
    let (response, _) = send.send_request(request, true).unwrap();
    in_time("an answer", response).await.unwrap().status()
}

#[tokio::test]
async fn unknown_name_is_refused_in_the_handshake() {
    let fixture = Fixture::start(|setup| setup).await;
    let client = fixture.certificate.client(None);
    for name in ["unknown.example", "example.com", "evilpages.example.net"] {
        let error = connect(&client, fixture.node.port, name).await.unwrap_err();
        assert_eq!(refusal(&error), AlertDescription::UnrecognisedName, "{name}");
    }
    assert!(fixture.node.running.metrics.render().contains("dropleaf_tls_handshakes_refused_total 3"));
}

#[tokio::test]
async fn https_beside_a_plain_listener_for_a_proxy() {
    let plain = ReservedPort::new();
    let address = format!("127.0.0.1:{}", plain.number);
    let fixture = Fixture::start(|setup| {
        let https = setup.address();
        setup.set("tls.listen", https).set("listen", address.clone())
    })
    .await;
    assert_eq!(status(&fixture.get(API, API, "/provision").await), 200);
    let mut stream = TcpStream::connect(&address).await.unwrap();
    assert_eq!(status(&exchange(&mut stream, API, "/provision").await), 200, "the proxy ends TLS");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    assert_eq!(status(&exchange(&mut stream, "other.example", "/provision").await), 421);
}

#[tokio::test]
async fn plain_http_leads_to_https() {
    let plain = ReservedPort::new();
    let address = format!("127.0.0.1:{}", plain.number);
    let _fixture = Fixture::start(|setup| {
        setup.set("tls.http_listen", address.clone()).set("agents_url", "https://pay.example.com:8443")
    })
    .await;
    let ask = async |host: &str, path: &str| {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        exchange(&mut stream, host, path).await
    };
    for (host, path, location) in [
        (API, "/docs?a=1&b=%0d", "https://api.example.com/docs?a=1&b=%0d"),
        ("Pages.Example.net:80", "/p/x/", "https://pages.example.net/p/x/"),
        ("s-1.pages.example.net", "/", "https://s-1.pages.example.net/"),
        ("pay.example.com", "//other.example/", "https://pay.example.com:8443//other.example/"),
    ] {
        let response = ask(host, path).await;
        assert_eq!(status(&response), 308, "{host}");
        assert!(response.contains(&format!("\r\nlocation: {location}\r\n")), "{response}");
        assert!(!response.contains("strict-transport-security"), "only over https");
    }
    for host in ["other.example", "127.0.0.1", "example.net", "a.b.pages.example.net"] {
        let response = ask(host, "/").await;
        assert_eq!(status(&response), 421, "{host}");
        assert!(!response.contains("example.com"), "{response}");
        assert_eq!(status(&ask(host, "/.well-known/acme-challenge/token").await), 421, "{host}");
    }
    assert_eq!(status(&ask("other.example", "/healthz").await), 200);
    assert_eq!(status(&ask(API, "/.well-known/acme-challenge/token").await), 404);
    assert_eq!(status(&ask(API, "*").await), 400);
}

#[tokio::test]
async fn certificate_is_replaced_without_a_restart() {
    let fixture = Fixture::start(|setup| setup).await;
    let certificates = fixture.node.running.certificates.clone().unwrap();
    let old = fixture.certificate.client(None);
    let mut held = connect(&old, fixture.node.port, API).await.unwrap();
    std::fs::write(fixture.files.path().join("cert.pem"), "broken").unwrap();
    certificates.reload_files().await;
    assert!(connect(&old, fixture.node.port, API).await.is_ok(), "the old one stays in use");
    let next = TestCertificate::new(&NAMES);
    next.write(fixture.files.path());
    certificates.reload_files().await;
    let new = next.client(None);
    assert!(connect(&new, fixture.node.port, API).await.is_ok());
    assert!(connect(&without_sessions(old), fixture.node.port, API).await.is_err());
    assert_eq!(status(&exchange(&mut held, API, "/provision").await), 200, "open connections go on");
}

fn without_sessions(mut client: ClientConfig) -> ClientConfig {
    client.resumption = rustls::client::Resumption::disabled();
    client
}

#[tokio::test]
async fn half_a_hello_is_waited_for_only_so_long() {
    let fixture = Fixture::start(|setup| setup.set("limits.header_seconds", "1")).await;
    let mut stream = TcpStream::connect(("127.0.0.1", fixture.node.port)).await.unwrap();
    // The head of a handshake record that announces 512 bytes, and the first of them.
    stream.write_all(&[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]).await.unwrap();
    let read = in_time("the end of the connection", stream.read(&mut [0; 64])).await;
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}
