//! Measures durable publishes per second at the store, alone and in groups: the statements of a new page of 10 KB, by one
//! account and by sixteen, from 64 tasks. The database must exist and be empty at first; everything stays in it.
//! `cargo run --release -p dropleaf-store --example publish_rate -- URL [SECONDS]`

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dropleaf_core::site::{NewSite, Site};
use dropleaf_core::site_version::SiteVersion;
use dropleaf_store::blobs::{Encoding, NewBlob, NewBody};
use dropleaf_store::bundles::{self, Bundle, BundleFile};
use dropleaf_store::{Blobs, Db, Stmt, accounts, site_versions, sites};

const NOW: i64 = 1_800_000_000;
const TASKS: usize = 64;
/// A page of 10 KB, compressed.
const BODY_BYTES: usize = 4_900;

#[derive(Clone)]
struct Publisher {
    db: Db,
    blobs: Blobs,
    numbers: Arc<AtomicU64>,
    /// Different in every run.
    run: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let url = args.next().ok_or("usage: publish_rate URL [SECONDS]")?;
    let seconds = Duration::from_secs(args.next().map_or(Ok(5), |text| text.parse())?);
    let db = Db::open(&url).await?;
    db.migrate(NOW).await?;
    let folder = tempfile::tempdir()?;
    let blobs = Blobs::open(&format!("file:{}", folder.path().display()), 64 << 10)?;
    let run = std::process::id().to_string();
    let publisher = Publisher { db: db.clone(), blobs, numbers: Arc::default(), run };
    for round in 0..2 {
        for (account_count, is_grouped) in [(1, false), (1, true), (16, false), (16, true)] {
            let (rate, p50, p99) = publisher.measure(round, account_count, is_grouped, seconds).await?;
            let how = if is_grouped { "in groups" } else { "alone" };
            println!("{account_count:2} accounts, {how:9}: {rate:6.0}/s, p50 {p50:6.1} ms, p99 {p99:6.1} ms");
        }
    }
    db.close().await;
    Ok(())
}

impl Publisher {
    /// Publishes per second, and milliseconds of half of them and of 99 %.
    async fn measure(
        &self,
        round: usize,
        account_count: usize,
        is_grouped: bool,
        limit: Duration,
    ) -> Result<(f64, f64, f64), Box<dyn Error>> {
        let name = |number: usize| format!("acct_{}_{round}_{account_count}_{is_grouped}_{number}", self.run);
        let sql = "INSERT INTO accounts (id, plan, is_operator, balance_minor, active_pages, created_at) VALUES ($1, 'pro', 0, 0, 0, 0)";
        for number in 0..account_count {
            self.db.exec(Stmt::new(sql, [name(number).into()])).await?;
        }
        let start = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..TASKS {
            let (publisher, account) = (self.clone(), name(task % account_count));
            tasks.spawn(async move {
                let mut times = Vec::new();
                while start.elapsed() < limit {
                    let begun = Instant::now();
                    publisher.publish(&account, is_grouped).await.map_err(|error| error.to_string())?;
                    times.push(begun.elapsed());
                }
                Ok::<_, String>(times)
            });
        }
        let mut times = Vec::new();
        while let Some(done) = tasks.join_next().await {
            times.extend(done??);
        }
        let took = start.elapsed().as_secs_f64();
        times.sort_unstable();
        let at =
            |share: usize| times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
        #[expect(clippy::cast_precision_loss, reason = "a rate to print")]
        let rate = times.len() as f64 / took;
        Ok((rate, at(50), at(99)))
    }

    async fn publish(&self, account: &str, is_grouped: bool) -> Result<(), Box<dyn Error + Send + Sync>> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}{number:016}", self.run);
        let mut body = vec![0; BODY_BYTES];
        blake3::Hasher::new().update(id.as_bytes()).finalize_xof().fill(&mut body);
        let hash = *blake3::hash(&body).as_bytes();
        let blob = NewBlob {
            hash,
            encoding: Encoding::Zstd,
            size_bytes: 10_240,
            body: NewBody::Memory(body.into()),
        };
        let bundle = Bundle {
            id: format!("bun_{id}"),
            kind: "page".to_owned(),
            entry: "index.html".to_owned(),
            file_name: None,
            root_paths: false,
            client_routes: false,
            spa: false,
            sandboxed_frames: false,
            files: vec![BundleFile {
                path: "index.html".to_owned(),
                mime: "text/html; charset=utf-8".to_owned(),
                blob_hash: hash,
                size_bytes: 10_240,
            }],
        };
        let new = NewSite {
            id: format!("site_{id}"),
            token: format!("t{id}"),
            host_label: format!("s-{id}"),
            title: "A page".to_owned(),
            bundle_id: bundle.id.clone(),
            byte_size: 10_240,
            spa: false,
            created_at: NOW,
        };
        let site = Site { account_id: Some(account.to_owned()), counted: true, ..Site::new(new) };
        let version = SiteVersion {
            site_id: site.id.clone(),
            version: 1,
            bundle_id: bundle.id.clone(),
            title: site.title.clone(),
            byte_size: 10_240,
            file_count: 1,
            e2e: false,
            restored_from: None,
            maker: None,
            created_at: NOW,
        };
        let mut stmts = vec![accounts::require_active_shared(account)];
        stmts.push(self.blobs.stage(&self.db, blob, &id, NOW).await?);
        stmts.extend(bundles::insert(&bundle, NOW));
        stmts.extend([
            sites::insert(&site),
            site_versions::insert(&version),
            accounts::take_page(account, None),
        ]);
        if is_grouped {
            self.db.batch_in_group(stmts).await?;
        } else {
            self.db.batch_without_outcomes(stmts, Vec::new()).await?;
        }
        Ok(())
    }
}
