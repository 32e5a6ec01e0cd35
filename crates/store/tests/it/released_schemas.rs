//! Released schemas: a store of each of them is migrated with all its rows, which the current code reads. The migrations that
//! made them never change.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dropleaf_core::ledger::Unit;
use dropleaf_core::payment::PaymentState;
use dropleaf_core::{hex, secret};
use dropleaf_store::backup::restore;
use dropleaf_store::{Db, Store};

use crate::harness::{TestDatabase, for_each_database, text};
use crate::released_store::{self, ReleasedStore};

/// More than any fixture has.
const MANY: i64 = 1000;
/// What a restore leaves out, because it may have been revoked since the backup.
const REVOCABLE: [&str; 11] = [
    "sign_ins",
    "sessions",
    "email_notices",
    "mcp_answers",
    "mcp_sessions",
    "passkey_ceremonies",
    "device_logins",
    "oauth_requests",
    "oauth_codes",
    "oauth_tokens",
    "oauth_grants",
];
/// Tables that the program itself writes while it migrates or restores.
const BOOKKEEPING: [&str; 2] = ["schema_migrations", "leases"];

async fn count(db: &Db, table: &str) -> usize {
    let sql = Box::leak(format!("SELECT COUNT(*) FROM {table}").into_boxed_str());
    db.get(sql, &[], |row| row.int(0)).await.unwrap().unwrap().try_into().unwrap()
}

/// Restores each store into each database, and runs the test on it.
pub(crate) async fn for_each_restored(test: impl AsyncFn(&ReleasedStore, &Store)) {
    for released in released_store::all() {
        for_each_database(async |database| {
            let (db, blobs) = (database.open_bare().await, database.blobs());
            restore(&db, &blobs, &released.backup, false, released.taken_at, &|_| {}).await.unwrap();
            let store = Store::new(db, blobs);
            test(&released, &store).await;
            store.db.close().await;
        })
        .await;
    }
}

/// A migration that moves rows to another table on purpose states the new counts here.
#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_are_restored_with_every_row() {
    for_each_restored(async |released, store| {
        for (table, rows) in &released.rows {
            let found = count(&store.db, table).await;
            match table.as_str() {
                table if BOOKKEEPING.contains(&table) => {}
                table if REVOCABLE.contains(&table) => assert_eq!(found, 0, "{table}"),
                // Keys that programs created for themselves go with their grants.
                "api_keys" => assert_eq!(found, rows - 1),
                // One endpoint of a program and one that is listened to are not restored; each has one delivery.
                "webhook_endpoints" | "webhook_deliveries" => assert_eq!(found, rows - 2, "{table}"),
                table => assert_eq!(found, *rows, "{table} of schema {}", released.schema),
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_are_upgraded_in_place_with_every_row() {
    for released in released_store::all() {
        let database = TestDatabase::sqlite();
        let file = database.dir.path().join("data/dropleaf.db");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::copy(released.backup.join("dropleaf.db"), file).unwrap();
        let db = database.open().await;
        for (table, rows) in &released.rows {
            if !BOOKKEEPING.contains(&table.as_str()) {
                assert_eq!(count(&db, table).await, *rows, "{table} of schema {}", released.schema);
            }
        }
        let new = TestDatabase::sqlite();
        let expected = count(&new.open().await, "schema_migrations").await;
        assert_eq!(count(&db, "schema_migrations").await, expected);
        db.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_have_a_ledger_without_faults() {
    for_each_restored(async |released, store| {
        assert_eq!(store.audit_ledger().await.unwrap(), []);
        assert_eq!(count(&store.db, "ledger_txns").await, released.rows["ledger_txns"]);
        let owner = owner(released, store).await;
        assert!(owner.balance_minor > 0);
        assert_eq!(store.sum_prepaid(Unit::Usd2).await.unwrap(), owner.balance_minor);
        assert!(!store.list_books(0, 0).await.unwrap().is_empty());
    })
    .await;
}

pub(crate) async fn owner(released: &ReleasedStore, store: &Store) -> dropleaf_core::account::Account {
    let email = released.contents["email"].as_str().unwrap();
    store.find_account_by_email(email).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_keep_their_pages_with_versions_and_bodies() {
    for_each_restored(async |released, store| {
        let (mut versions, mut states) = (0, BTreeSet::new());
        for id in store.db.list("SELECT id FROM sites", vec![], text).await.unwrap() {
            let site = store.find_site(&id).await.unwrap().unwrap();
            states.insert(site.state.as_str());
            for version in store.list_versions(&id).await.unwrap() {
                versions += 1;
                check_bundle(store, &version.bundle_id).await;
            }
        }
        assert_eq!(versions, released.rows["site_versions"]);
        assert_eq!(states, BTreeSet::from(["burnt", "deleted", "expired", "live", "taken_down"]));
        for (name, page) in released.contents["pages"].as_object().unwrap() {
            let token = page["token"].as_str().unwrap();
            let site = store.find_site_by_token(token).await.unwrap().unwrap();
            assert_eq!(
                (&site.id[..], site.version),
                (page["id"].as_str().unwrap(), page["version"].as_i64().unwrap()),
                "{name}"
            );
            if let Some(slug) = page["slug"].as_str() {
                assert_eq!(store.find_site_by_slug(slug).await.unwrap(), Some(site));
            }
        }
        assert_eq!(store.list_unsealed(MANY).await.unwrap().len(), 1);
        for kept in store.list_evidence(MANY).await.unwrap() {
            if let Some(bundle) = kept.bundle_id {
                check_bundle(store, &bundle).await;
            }
        }
    })
    .await;
}

/// Reads every body; a read checks the hash.
async fn check_bundle(store: &Store, id: &str) {
    let bundle = store.find_bundle(id).await.unwrap().unwrap();
    assert!(!bundle.files.is_empty());
    for file in bundle.files {
        let body = store.blobs.read(&store.db, &file.blob_hash).await.unwrap();
        assert_eq!(i64::try_from(body.len()).unwrap(), file.size_bytes, "{}", file.path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_keep_their_accounts_keys_and_payments() {
    for_each_restored(async |released, store| {
        let accounts = store.list_accounts().await.unwrap();
        assert_eq!(accounts.len(), released.rows["accounts"]);
        assert_eq!(accounts.iter().filter(|account| account.suspended.is_some()).count(), 1);
        let (mut keys, mut passkeys) = (0, 0);
        for account in &accounts {
            keys += store.list_keys(&account.id, None).await.unwrap().len();
            passkeys += store.list_passkeys(&account.id).await.unwrap().len();
        }
        assert_eq!((keys, passkeys), (count(&store.db, "api_keys").await, released.rows["passkeys"]));
        for name in ["key", "operator_key", "provisioned_key"] {
            let hash = secret::hash(released.contents[name].as_str().unwrap());
            assert!(store.find_key(&hash, released.taken_at).await.unwrap().is_some(), "{name}");
        }
        for id in store.db.list("SELECT id FROM oauth_clients", vec![], text).await.unwrap() {
            assert!(store.find_client(&id).await.unwrap().is_some());
        }

        let payments = store.list_payments(None, None, None, MANY).await.unwrap();
        assert_eq!(payments.len(), released.rows["payments"]);
        for state in [PaymentState::Fulfilled, PaymentState::Refused, PaymentState::Unknown] {
            assert!(payments.iter().any(|payment| payment.state == state), "{state:?}");
        }
        let mut transfers = 0;
        for payment in &payments {
            let transfer = store.find_sandbox_transfer(&payment.key).await.unwrap();
            transfers += usize::from(transfer.is_some());
        }
        assert_eq!(transfers, released.rows["sandbox_transfers"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn released_schemas_keep_what_viewers_and_operators_wrote() {
    for_each_restored(async |released, store| {
        let page = |name: &str| released.contents["pages"][name]["id"].as_str().unwrap().to_owned();
        let rows = |table: &str| released.rows[table];
        let feedback = store.list_feedback(&page("comments"), None, MANY).await.unwrap();
        assert_eq!(feedback.len(), rows("feedback"));
        assert_eq!(feedback.iter().filter(|item| item.resolved_at.is_some()).count(), 1);
        assert_eq!(store.list_share_tokens(&page("password")).await.unwrap().len(), rows("share_tokens"));
        assert!(store.find_burn(&page("burnt")).await.unwrap().is_some());

        assert_eq!(store.list_reports(false, MANY).await.unwrap().len(), rows("reports"));
        let appeals = store.list_appeals(MANY).await.unwrap();
        assert_eq!(appeals.len(), rows("appeals"));
        let mut joined = 0;
        for appeal in &appeals {
            joined += store.list_joined(&appeal.id).await.unwrap().len();
        }
        assert_eq!(joined, rows("appeal_senders"));
        assert_eq!(store.list_audit(MANY).await.unwrap().len(), rows("audit"));
        assert_eq!(store.list_evidence(MANY).await.unwrap().len(), rows("evidence"));
        assert_eq!(store.list_allowed(MANY).await.unwrap().len(), rows("allowed_content"));
        assert_eq!(
            store.list_blocked_content(MANY).await.unwrap().len(),
            rows("unwanted") - 1,
            "one is unblocked"
        );
        assert_eq!(store.list_marks().await.unwrap().len(), rows("unwanted_marks"));
        assert!(store.find_blocklist_generation().await.unwrap() > 0);
        assert_eq!(store.list_figures().await.unwrap().len(), rows("figures"));
    })
    .await;
}

/// The released migrations: file name and SHA-256, as `sha256sum` writes them.
pub(crate) fn released_migrations() -> Vec<(String, String)> {
    let list = fs::read_to_string(migrations().join("RELEASED")).unwrap();
    let pair = |line: &str| line.split_once("  ").map(|(hash, name)| (name.to_owned(), hash.to_owned()));
    list.lines().map(|line| pair(line).unwrap()).collect()
}

pub(crate) fn migrations() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations"))
}

/// The version in the name of a migration.
pub(crate) fn version(name: &str) -> i64 {
    name.split('_').next().unwrap().parse().unwrap()
}

#[test]
fn released_migrations_never_change() {
    let released = released_migrations();
    for (name, hash) in &released {
        let found = hex::encode(&secret::digest(&fs::read(migrations().join(name)).unwrap()));
        assert_eq!(found, *hash, "{name} is released: undo the change and add a new migration instead");
    }
    let last = released.iter().map(|(name, _)| version(name)).max().unwrap();
    let names =
        fs::read_dir(migrations()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| name != "RELEASED" && version(name) <= last) {
        assert!(
            released.iter().any(|(known, _)| *known == name),
            "{name} is not in RELEASED: use the next number"
        );
    }
}

#[test]
fn released_schemas_include_the_newest_one() {
    let last = released_migrations().iter().map(|(name, _)| version(name)).max().unwrap();
    let newest = released_store::all().pop().unwrap();
    assert_eq!(newest.schema, last, "create it with scripts/schema-fixture");
    assert!(hex::digest(&newest.secret_key).is_some(), "a server can start on it");
}
