//! Fills a store as if its custom domains had been verified and its certificates obtained.

use anyhow::{Context, Result};
use dropleaf::config::{Layers, Sources};
use dropleaf::startup;
use dropleaf_app::NewCertificate;
use dropleaf_store::{Db, Stmt};
use futures_util::{StreamExt, TryStreamExt, stream};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};

const CONCURRENT: usize = 64;
const BATCH: usize = 500;
const DAY: i64 = 86_400;

pub(crate) async fn run(data_dir: &str, base_url: &str, count: usize) -> Result<Value> {
    let flags = [
        ("data_dir", data_dir),
        ("base_url", base_url),
        ("tls.mode", "acme"),
        ("tls.acme.directory_url", "https://127.0.0.1:1/directory"),
    ];
    let flags = flags.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let config = Layers::load(&Sources { flags, ..Sources::default() })?.config()?;
    let resolved = config.resolve(443)?;
    let db = Db::open(&resolved.database_url).await?;
    let names: Vec<String> = (0..count).map(|number| format!("reports-{number}.customer.example")).collect();
    let app = startup::open_app(&resolved).await?;
    let now = app.now();
    for names in names.chunks(BATCH) {
        let insert = |name: &String| {
            Stmt::new(
                "INSERT INTO custom_domains (hostname, account_id, site_id, status, is_primary, created_at, verified_at, \
                 next_check_at) SELECT $1, account_id, id, 'verified', 0, $2, $2, $3 FROM sites \
                 WHERE account_id IS NOT NULL LIMIT 1",
                vec![name.as_str().into(), now.into(), (now + DAY).into()],
            )
        };
        db.batch(names.iter().map(insert).collect()).await?;
    }
    db.exec(dropleaf_store::revisions::advance(dropleaf_store::revisions::DOMAINS)).await?;
    app.served_domains_changed().await?;
    app.update_required_names(false, |_| false).await?;
    let authority = Authority::new()?;
    let certificates = app.list_certificates().await?;
    stream::iter(certificates.iter().filter(|it| it.serial.is_none()))
        .map(|certificate| {
            let new = authority.issue(&certificate.name, now);
            async { anyhow::Ok(app.record_certificate(&certificate.name, &new?).await?) }
        })
        .buffer_unordered(CONCURRENT)
        .try_collect::<Vec<()>>()
        .await?;
    // The authority is not asked when to renew: there is none.
    db.exec(Stmt::new("UPDATE certificates SET window_check_at = $1", vec![(now + 30 * DAY).into()])).await?;
    db.close().await;
    app.close().await;
    Ok(json!({ "names": certificates.iter().map(|it| &it.name).collect::<Vec<_>>() }))
}

/// An intermediate authority, so that chains are as long as those of a public one.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    chain: String,
}

impl Authority {
    fn new() -> Result<Self> {
        let params = |name: &str| {
            let mut params = CertificateParams::default();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params
        };
        let root_key = KeyPair::generate()?;
        let root = Issuer::new(params("Bench root"), root_key);
        let key = KeyPair::generate()?;
        let params = params("Bench intermediate");
        let chain = params.signed_by(&key, &root)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), chain })
    }

    fn issue(&self, name: &str, now: i64) -> Result<NewCertificate> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec![name.to_owned()]).context("the name of a certificate")?;
        let leaf = params.signed_by(&key, &self.issuer)?;
        Ok(NewCertificate {
            serial: format!("{now}-{name}"),
            not_before: now,
            not_after: now + 60 * DAY,
            chain_and_key_pem: format!("{}{}{}", leaf.pem(), self.chain, key.serialize_pem()).into_bytes(),
        })
    }
}
