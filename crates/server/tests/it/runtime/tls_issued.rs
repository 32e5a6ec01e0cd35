//! HTTPS with certificates from the database: of the server's own names and of custom domains.

use crate::harness::tls::{TestCertificate, connect, exchange};
use crate::harness::{Ask, Form, Node, ReservedPort, Setup, in_time, page};
use dropleaf_app::NewCertificate;
use dropleaf_core::certificate::ChallengeKind;
use dropleaf_store::{Stmt, revisions};
use rustls::AlertDescription;
use tokio::net::TcpStream;

const API: &str = "api.example.com";
const DOMAIN: &str = "reports.customer.example";
const DAY: i64 = 86_400;

struct Fixture {
    node: Node,
    /// For a proxy.
    plain: String,
    /// Redirects.
    http: String,
}

impl Fixture {
    /// Nothing answers at the address of the authority, so the only certificates are those of the test.
    async fn start() -> Self {
        let [plain, http] = [ReservedPort::new(), ReservedPort::new()].map(|port| {
            // The port stays reserved while the server listens on it.
            let address = format!("127.0.0.1:{}", port.number);
            (port, address)
        });
        let setup = Setup::new();
        let https = setup.address();
        let node = setup
            .set("base_url", format!("https://{API}"))
            .set("site_url", "https://pages.example.net")
            .set("listen", plain.1.clone())
            .set("tls.listen", https)
            .set("tls.http_listen", http.1.clone())
            .set("tls.mode", "acme")
            .set("tls.acme.directory_url", "https://127.0.0.1:1/directory")
            .start()
            .await;
        Self { node, plain: plain.1, http: http.1 }
    }

    /// Stores a new certificate, as if the authority had issued it.
    async fn issue(&self, name: &str, serial: &str) -> TestCertificate {
        let certificate = TestCertificate::new(&[name]);
        let app = self.node.app();
        let new = NewCertificate {
            serial: serial.to_owned(),
            not_before: app.now(),
            not_after: app.now() + 60 * DAY,
            chain_and_key_pem: format!("{}{}", certificate.chain, certificate.key).into_bytes(),
        };
        app.update_required_names(false, |_| false).await.unwrap();
        app.record_certificate(name, &new).await.unwrap();
        certificate
    }

    /// Publishes a page and verifies a domain for it.
    async fn add_domain(&self) {
        let ask = Ask::new(self.node.client.post(format!("http://{}/sites", self.plain))).host(API);
        let form = Form::file("page.html", page("At home"));
        ask.key(&self.node.key).form(form).send().await.expect(201);
        let insert = Stmt::new(
            "INSERT INTO custom_domains (hostname, account_id, site_id, status, is_primary, created_at, verified_at, \
             next_check_at) SELECT $1, account_id, id, 'verified', 0, $2, $2, $3 FROM sites",
            vec![DOMAIN.into(), 0_i64.into(), i64::MAX.into()],
        );
        self.node.commit(vec![insert, revisions::advance(revisions::DOMAINS)]).await;
        self.node.app().served_domains_changed().await.unwrap();
    }

    async fn alert(&self, certificate: &TestCertificate, name: &str) -> AlertDescription {
        let error = connect(&certificate.client(None), self.node.port, name).await.unwrap_err();
        match error.get_ref().unwrap().downcast_ref::<rustls::Error>() {
            Some(rustls::Error::AlertReceived(alert)) => *alert,
            other => panic!("{other:?}"),
        }
    }

    async fn ask_plainly(&self, host: &str, path: &str) -> String {
        exchange(&mut TcpStream::connect(&self.http).await.unwrap(), host, path).await
    }
}

#[tokio::test]
async fn domain_is_served_with_its_own_certificate_as_soon_as_it_is_issued() {
    let fixture = Fixture::start().await;
    let port = fixture.node.port;
    let own = fixture.issue(API, "1").await;
    assert!(connect(&own.client(None), port, API).await.is_ok());
    assert_eq!(fixture.alert(&own, DOMAIN).await, AlertDescription::UnrecognisedName);
    fixture.add_domain().await;
    assert_eq!(fixture.alert(&own, DOMAIN).await, AlertDescription::InternalError, "not issued yet");
    let certificate = fixture.issue(DOMAIN, "2").await;
    let client = certificate.client(None);
    // The listener is notified of the certificate.
    let mut stream = in_time("the new certificate", async {
        loop {
            if let Ok(stream) = connect(&client, port, DOMAIN).await {
                break stream;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    let response = exchange(&mut stream, DOMAIN, "/").await;
    assert!(response.starts_with("HTTP/1.1 200") && response.contains("At home"), "{response}");
    let mut stream = connect(&client, port, DOMAIN).await.unwrap();
    let response = exchange(&mut stream, API, "/provision").await;
    assert!(response.starts_with("HTTP/1.1 421"), "{response}");
    let mut stream = connect(&own.client(None), port, API).await.unwrap();
    let response = exchange(&mut stream, DOMAIN, "/").await;
    assert!(response.starts_with("HTTP/1.1 421") && !response.contains("customer"), "{response}");
}

#[tokio::test]
async fn challenges_are_answered_for_names_of_the_server_only() {
    let fixture = Fixture::start().await;
    let app = fixture.node.app();
    app.put_challenge(ChallengeKind::Http01, "a-Token_1", b"a-Token_1.thumbprint").await.unwrap();
    let path = "/.well-known/acme-challenge/a-Token_1";
    let response = fixture.ask_plainly(API, path).await;
    assert!(
        response.starts_with("HTTP/1.1 200") && response.ends_with("\r\n\r\na-Token_1.thumbprint"),
        "{response}"
    );
    for (host, path, expected) in [
        (DOMAIN, path, "421"),
        (API, "/.well-known/acme-challenge/a-token_1", "404"),
        (API, "/.well-known/acme-challenge/", "404"),
        (API, "/.well-known/acme-challenge/a-Token_1/", "404"),
        (API, "/.well-known/acme-challenge/a%2DToken_1", "404"),
        (API, "/.well-known/other", "308"),
    ] {
        let response = fixture.ask_plainly(host, path).await;
        assert_eq!(response.get(9..12), Some(expected), "{host} {path}: {response}");
    }
    fixture.add_domain().await;
    let response = fixture.ask_plainly(DOMAIN, "/a?b").await;
    assert!(response.contains("\r\nlocation: https://reports.customer.example/a?b\r\n"), "{response}");
    assert!(fixture.ask_plainly(DOMAIN, path).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn unknown_names_need_no_database() {
    let fixture = Fixture::start().await;
    let own = fixture.issue(API, "1").await;
    assert!(connect(&own.client(None), fixture.node.port, API).await.is_ok());
    fixture.node.app().close().await;
    assert_eq!(fixture.alert(&own, "unknown.example").await, AlertDescription::UnrecognisedName);
    assert!(fixture.ask_plainly("unknown.example", "/").await.starts_with("HTTP/1.1 421"));
    assert!(connect(&own.client(None), fixture.node.port, API).await.is_ok(), "from memory");
}
