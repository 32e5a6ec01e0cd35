//! Statistics for the operator. Counted in small steps in the background and stored; a small service is counted when the
//! operator opens the page.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_store::service_stats as rows;
use std::time::Duration;

/// Rows per step.
const STEP: i64 = 10_000;
/// The most steps an operator waits for.
const INTERACTIVE_STEPS: usize = 5;
/// Seconds for which stored figures are shown without counting again.
const STATS_MAX_AGE: i64 = 60;
const REPORTS_MOST: i64 = 1000;
const DAY: i64 = 86_400;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServiceStats {
    pub accounts: i64,
    pub live_pages: i64,
    /// Size of the live pages as served.
    pub bytes: i64,
    /// Views of all pages whose rows still exist.
    pub views: i64,
    /// Created since midnight UTC.
    pub new_pages: i64,
    pub open_feedback: i64,
    pub counted_at: i64,
}

/// Open reports; counting stops at 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenReports {
    pub count: i64,
    pub or_more: bool,
}

impl App {
    /// The stored figures if they are recent, else new ones if counting is quick. None: never counted yet, and too many
    /// rows to count now.
    pub async fn service_stats(&self) -> Result<Option<ServiceStats>> {
        let known = read(&self.store.list_figures().await?);
        if known.is_some_and(|figures| figures.counted_at > self.now() - STATS_MAX_AGE) {
            return Ok(known);
        }
        Ok(self.compute_service_stats(INTERACTIVE_STEPS).await?.or(known))
    }

    pub async fn count_reports(&self) -> Result<OpenReports> {
        let count = self.store.count_open_reports(REPORTS_MOST).await?;
        Ok(OpenReports { count, or_more: count == REPORTS_MOST })
    }

    /// How long this process has been running.
    pub fn uptime(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Counts everything in at most this many steps per table and stores the result. None if that was not enough.
    pub(crate) async fn compute_service_stats(&self, steps: usize) -> Result<Option<ServiceStats>> {
        let now = self.now();
        let day = now - now.rem_euclid(DAY);
        let mut sites = TableTotals::new(steps);
        while let Some(after) = sites.next_step() {
            sites.add(self.store.count_sites(now, day, &after, STEP).await?);
        }
        let mut accounts = TableTotals::new(steps);
        while let Some(after) = accounts.next_step() {
            accounts.add(self.store.count_accounts(&after, STEP).await?);
        }
        let mut feedback = TableTotals::new(steps);
        while let Some(after) = feedback.next_step() {
            feedback.add(self.store.count_feedback(&after, STEP).await?);
        }
        let (Some([live_pages, bytes, views, new_pages]), Some([accounts]), Some([open_feedback])) =
            (sites.total(), accounts.total(), feedback.total())
        else {
            return Ok(None);
        };
        let figures =
            ServiceStats { accounts, live_pages, bytes, views, new_pages, open_feedback, counted_at: now };
        self.store.commit(write(&figures)).await?;
        Ok(Some(figures))
    }
}

/// Sums up a table in a limited number of steps.
struct TableTotals<const N: usize> {
    sums: [i64; N],
    /// Where the next step begins; none at the end of the table.
    after: Option<String>,
    steps_left: usize,
}

impl<const N: usize> TableTotals<N> {
    fn new(steps: usize) -> Self {
        Self { sums: [0; N], after: Some(String::new()), steps_left: steps }
    }

    fn next_step(&mut self) -> Option<String> {
        self.steps_left = self.steps_left.checked_sub(1)?;
        self.after.clone()
    }

    fn add(&mut self, step: rows::CountStep<N>) {
        for (sum, more) in self.sums.iter_mut().zip(step.sums) {
            *sum += more;
        }
        self.after = step.last;
    }

    /// The sums, if the whole table was counted.
    fn total(&self) -> Option<[i64; N]> {
        self.after.is_none().then_some(self.sums)
    }
}

const NAMES: [&str; 6] = ["accounts", "live_pages", "bytes", "views", "new_pages", "open_feedback"];

fn write(figures: &ServiceStats) -> Vec<dropleaf_store::Stmt> {
    let values = [
        figures.accounts,
        figures.live_pages,
        figures.bytes,
        figures.views,
        figures.new_pages,
        figures.open_feedback,
    ];
    NAMES.iter().zip(values).map(|(name, value)| rows::set(name, value, figures.counted_at)).collect()
}

fn read(rows: &[(String, i64, i64)]) -> Option<ServiceStats> {
    let value = |name: &str| rows.iter().find(|(found, ..)| found == name).map(|(_, value, _)| *value);
    let [accounts, live_pages, bytes, views, new_pages, open_feedback] = NAMES.map(value);
    Some(ServiceStats {
        accounts: accounts?,
        live_pages: live_pages?,
        bytes: bytes?,
        views: views?,
        new_pages: new_pages?,
        open_feedback: open_feedback?,
        counted_at: rows.iter().map(|(.., at)| *at).min()?,
    })
}
