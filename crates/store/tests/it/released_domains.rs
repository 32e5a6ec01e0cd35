//! Released schemas: custom domains and certificates are read from the stores that have them.

use dropleaf_core::certificate::{Certificate, ChallengeKind};
use dropleaf_core::custom_domain::{CustomDomain, DomainNotice, DomainStatus};
use dropleaf_store::{Store, revisions};

use crate::harness::text;
use crate::released_schemas::{for_each_restored, owner};
use crate::released_store::ReleasedStore;

/// The schema that added them.
const FIRST_SCHEMA: i64 = 9;

/// The name of a custom domain in the store, by what it is there for; see `e2e/populate/domains.mjs`.
fn name<'a>(released: &'a ReleasedStore, what: &str) -> &'a str {
    released.contents["pages"]["domain"]["domains"][what].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_keep_their_custom_domains() {
    for_each_restored(async |released, store| {
        if released.schema < FIRST_SCHEMA {
            return;
        }
        let owner = owner(released, store).await;
        let domains = store.list_domains(&owner.id).await.unwrap();
        assert_eq!(domains.len(), released.rows["custom_domains"]);
        let find = |what: &str| -> &CustomDomain {
            domains.iter().find(|domain| domain.hostname.as_str() == name(released, what)).unwrap()
        };
        let primary = find("primary");
        assert!(primary.is_verified() && primary.is_primary && primary.verified_at.is_some());
        let site = store.find_site(&primary.site_id).await.unwrap().unwrap();
        assert_eq!(site.primary_domain.as_deref(), Some(name(released, "primary")));
        assert_eq!(find("pending").status, DomainStatus::Pending);
        let failed = find("failed");
        assert_eq!(failed.status, DomainStatus::Failed);
        assert!(failed.last_error.is_some());
        let failing = find("failing");
        assert!(failing.is_verified() && failing.failing_since.is_some());
        assert_eq!(failing.notice, Some(DomainNotice::Failing));
        let verified = domains.iter().filter(|domain| domain.is_verified()).count();
        assert_eq!(store.list_served_domains().await.unwrap().len(), verified);
    })
    .await;
}

async fn certificate(released: &ReleasedStore, store: &Store, what: &str) -> Certificate {
    store.find_certificate(name(released, what)).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_keep_their_certificates_and_orders() {
    for_each_restored(async |released, store| {
        if released.schema < FIRST_SCHEMA {
            return;
        }
        assert_eq!(store.list_certificates().await.unwrap().len(), released.rows["certificates"]);
        for what in ["primary", "second", "former", "expiring"] {
            let found = certificate(released, store, what).await;
            let (serial, _) = store.find_sealed_certificate(name(released, what)).await.unwrap().unwrap();
            assert_eq!(found.serial, Some(serial), "{what}");
            assert!(found.not_before < found.not_after && found.renew_at.is_some(), "{what}");
            assert_eq!(found.is_due(i64::MAX), what != "former", "{what}: renewed if still used");
        }
        assert!(certificate(released, store, "expiring").await.warned_at.is_some());
        let refused = certificate(released, store, "refused").await;
        assert!(refused.failures > 0 && refused.last_error.is_some() && refused.serial.is_none());
        let ordered = name(released, "ordered");
        let challenge = store.find_challenge(ChallengeKind::TlsAlpn01, ordered, released.taken_at).await;
        assert!(challenge.unwrap().is_some());
        let authorities =
            store.db.list("SELECT directory_url FROM acme_accounts", vec![], text).await.unwrap();
        for authority in &authorities {
            assert!(store.find_acme_account(authority).await.unwrap().is_some());
        }
        assert_eq!(authorities.len(), 1);
        for changes in [revisions::DOMAINS, revisions::CERTIFICATES] {
            assert!(store.find_revision(changes).await.unwrap() > 0, "{changes}");
        }
    })
    .await;
}
