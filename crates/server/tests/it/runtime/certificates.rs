//! Certificates are obtained from a real authority and renewed in time, on a clock that the test advances.

use crate::harness::pebble::Pebble;
use crate::harness::{DAY, HOUR, MailServer, Mood, Node, Seen, Setup, in_time};
use dropleaf_core::certificate::{Certificate, CertificateState};
use dropleaf_core::{Clock, SystemClock};
use instant_acme::{Account, AccountCredentials, RevocationReason, RevocationRequest};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

const NAME: &str = "drop.test";

/// A server that obtains certificates of six days. Its clock starts at the real time, because the authority's is real.
fn setup(pebble: &Pebble) -> Setup {
    Setup::new()
        .at(SystemClock::default().now())
        .set("base_url", format!("https://{NAME}"))
        .set("isolation", "sandbox")
        .set("tls.mode", "acme")
        .set("tls.acme.directory_url", pebble.directory_url.clone())
        .set("tls.acme.ca_file", pebble.ca_file.clone())
        .set("tls.acme.profile", "shortlived")
}

/// The certificate, after as many passes as it takes until it is as expected.
async fn certificate_when(
    node: &Node,
    what: &str,
    is_expected: impl Fn(&Certificate) -> bool,
) -> Certificate {
    let mut passes = node.app().certificate_passes();
    in_time(what, async {
        loop {
            let found = node.app().list_certificates().await.unwrap();
            if let Some(found) = found.into_iter().find(|it| it.name == NAME && is_expected(it)) {
                return found;
            }
            node.app().order_certificates_soon();
            passes.changed().await.unwrap();
        }
    })
    .await
}

/// Two more complete passes, so that whatever is due has been done.
async fn passes(node: &Node) {
    let mut passes = node.app().certificate_passes();
    for _ in 0..2 {
        passes.mark_unchanged();
        node.app().order_certificates_soon();
        in_time("a pass", passes.changed()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_six_days_is_renewed_before_it_expires() {
    let pebble = Pebble::start();
    let node = setup(&pebble).start().await;
    let first = certificate_when(&node, "the first certificate", |it| {
        it.serial.is_some() && it.window_check_at.is_some_and(|at| at > node.clock.now())
    })
    .await;
    let (start, end) = (first.not_before.unwrap(), first.not_after.unwrap());
    assert!((end - start - 6 * DAY).abs() < 10, "{} seconds", end - start);
    let renew_at = first.renew_at.unwrap();
    assert!(
        (start + 2 * DAY..end - HOUR).contains(&renew_at),
        "the authority's suggestion: {}",
        renew_at - start
    );
    // Until then nothing is ordered, however often it is checked.
    node.clock.advance((renew_at - node.clock.now()) / 2);
    passes(&node).await;
    assert_eq!(pebble.count_logged("is a replacement of"), 0);
    node.clock.advance(renew_at + 1 - node.clock.now());
    let second = certificate_when(&node, "the second certificate", |it| it.serial != first.serial).await;
    assert_eq!(pebble.count_logged("is a replacement of"), 1, "the order names what it replaces");
    assert_eq!((second.failures, second.state(node.clock.now())), (0, CertificateState::Issued));
    let issued = node.app().find_issued(NAME).await.unwrap().unwrap();
    assert_eq!(Some(issued.serial), second.serial);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_about_to_be_revoked_is_replaced() {
    let pebble = Pebble::start();
    let node = setup(&pebble).start().await;
    let first = certificate_when(&node, "the first certificate", |it| it.serial.is_some()).await;
    let pem = node.app().find_issued(NAME).await.unwrap().unwrap().chain_and_key_pem;
    let pem = String::from_utf8(pem).unwrap();
    let (leaf, _) = pem.split_at(pem.find("-----END CERTIFICATE-----").unwrap() + 26);
    pebble.announce_replacement(leaf, node.clock.now()).await;
    // The authority is asked at least once a day.
    node.clock.advance(DAY);
    certificate_when(&node, "the replacement", |it| it.serial.is_some() && it.serial != first.serial).await;
    node.stop().await;
}

/// Revokes the certificate that the node serves, with the account that ordered it.
async fn revoke(node: &Node, pebble: &Pebble) {
    let stored = node.app().find_acme_account(&pebble.directory_url).await.unwrap().unwrap();
    let mut stored: serde_json::Value = serde_json::from_slice(&stored).unwrap();
    let credentials: AccountCredentials = serde_json::from_value(stored["credentials"].take()).unwrap();
    let builder = Account::builder_with_root(&pebble.ca_file).unwrap();
    let account = builder.from_credentials(credentials).await.unwrap();
    let issued = node.app().find_issued(NAME).await.unwrap().unwrap();
    let certificate = CertificateDer::from_pem_slice(&issued.chain_and_key_pem).unwrap();
    let request =
        RevocationRequest { certificate: &certificate, reason: Some(RevocationReason::KeyCompromise) };
    account.revoke(&request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_certificate_is_replaced() {
    let pebble = Pebble::start();
    let node = setup(&pebble).start().await;
    let first = certificate_when(&node, "the first certificate", |it| it.serial.is_some()).await;
    revoke(&node, &pebble).await;
    // The authority is asked at least once a day.
    node.clock.advance(DAY);
    certificate_when(&node, "the replacement", |it| {
        it.serial.is_some() && it.serial != first.serial && it.failures == 0
    })
    .await;
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_fails_backs_off_and_operators_are_warned_once() {
    let mut mail = MailServer::start(Mood::Takes).await;
    let pebble = Pebble::start();
    let node =
        setup(&pebble).set("mail.smtp_url", mail.url()).set("operator.email", "op@drop.test").start().await;
    let first = certificate_when(&node, "the first certificate", |it| it.serial.is_some()).await;
    drop(pebble);
    let end = first.not_after.unwrap();
    node.clock.advance(end - HOUR - node.clock.now());
    let failed = certificate_when(&node, "a failure", |it| it.failures == 1).await;
    assert_eq!(failed.state(node.clock.now()), CertificateState::Issued, "still valid");
    let pause = failed.next_attempt_at - node.clock.now();
    assert_eq!(pause, 15 * 60);
    passes(&node).await;
    assert_eq!(certificate_when(&node, "no attempt", |_| true).await.failures, 1, "it waits");
    node.clock.advance(pause);
    let failed = certificate_when(&node, "another failure", |it| it.failures == 2).await;
    assert_eq!(failed.next_attempt_at - node.clock.now(), 30 * 60);
    passes(&node).await;
    let Seen::Letter { to, text } = in_time("the email", mail.next()).await else { panic!("an email") };
    assert_eq!(to, "op@drop.test");
    assert!(text.contains("The certificate of drop.test expires soon"), "{text}");
    assert!(text.contains("https://drop.test/operator/certificates"), "{text}");
    node.stop().await;
    let more: Vec<Seen> = std::iter::from_fn(|| mail.unread()).collect();
    assert!(!more.iter().any(|it| matches!(it, Seen::Letter { .. })), "only one: {more:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_an_operator_requests_is_ordered_and_recorded() {
    let pebble = Pebble::start();
    let node = setup(&pebble).start().await;
    let first = certificate_when(&node, "the first certificate", |it| it.serial.is_some()).await;
    node.app().request_renewal("op@drop.test", "DROP.test").await.unwrap();
    let second = certificate_when(&node, "the second certificate", |it| it.serial != first.serial).await;
    assert!(second.serial.is_some());
    let audit = node.app().list_audit(1).await.unwrap();
    assert_eq!((audit[0].subject.as_str(), audit[0].action.as_str()), (NAME, "renew_certificate"));
    let unknown = node.app().request_renewal("op@drop.test", "other.test").await.unwrap_err();
    assert_eq!(unknown.code.as_str(), "not_found");
    node.stop().await;
}
