//! SQL for `sites`. Every change is a compare-and-swap on `updated_at`, which strictly rises.

use crate::db::{DbError, Row, Stmt, Val, columns};
use crate::store::Store;
use dropleaf_core::feedback_thread::FeedbackVisible;
use dropleaf_core::search;
use dropleaf_core::site::{Site, State, Visibility};

/// The site was changed between reading and writing it.
pub const CHANGED: &str = "site_changed";

columns! {
    SiteColumns, site_columns:
    id, token, host_label, account_id, slug, visibility, state, title, version, bundle_id, byte_size, created_at,
    updated_at, expires_at, agentation, csp_strict, e2e, password_hash, email_gate_domain, gate_version, claim_hash,
    claimed_at, counted, ended_at, purged_at, view_count, last_viewed_at, payment_id, wallet, spa,
    primary_domain, title_set, feedback_visible, live, changes_since, warned_at,
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", $crate::sites::site_columns!(), " FROM sites ", $tail)
    };
}

/// The same columns, and since when the site's account is suspended.
macro_rules! select_viewable {
    ($tail:literal) => {
        concat!(
            "SELECT ",
            site_columns!(),
            ", (SELECT suspended_at FROM accounts WHERE accounts.id = sites.account_id) FROM sites ",
            $tail
        )
    };
}

pub(crate) use {select, site_columns};

pub(crate) fn row(row: &Row<'_>) -> Result<Site, DbError> {
    const COLUMN: SiteColumns = SiteColumns::starting_at(0);
    let broken = |what: &str| DbError::internal(format!("a site row has an unknown {what}"));
    Ok(Site {
        id: row.string(COLUMN.id)?,
        token: row.string(COLUMN.token)?,
        host_label: row.string(COLUMN.host_label)?,
        account_id: row.opt_string(COLUMN.account_id)?,
        slug: row.opt_string(COLUMN.slug)?,
        visibility: Visibility::parse(row.text(COLUMN.visibility)?).ok_or_else(|| broken("visibility"))?,
        state: State::parse(row.text(COLUMN.state)?).ok_or_else(|| broken("state"))?,
        title: row.string(COLUMN.title)?,
        version: row.int(COLUMN.version)?,
        bundle_id: row.opt_string(COLUMN.bundle_id)?,
        byte_size: row.int(COLUMN.byte_size)?,
        created_at: row.int(COLUMN.created_at)?,
        updated_at: row.int(COLUMN.updated_at)?,
        expires_at: row.opt_int(COLUMN.expires_at)?,
        agentation: row.flag(COLUMN.agentation)?,
        live: row.flag(COLUMN.live)?,
        changes_since: row.opt_int(COLUMN.changes_since)?,
        csp_strict: row.flag(COLUMN.csp_strict)?,
        e2e: row.flag(COLUMN.e2e)?,
        password_hash: row.opt_string(COLUMN.password_hash)?,
        email_gate_domain: row.opt_string(COLUMN.email_gate_domain)?,
        gate_version: row.int(COLUMN.gate_version)?,
        claim_hash: row.opt_hash(COLUMN.claim_hash)?,
        claimed_at: row.opt_int(COLUMN.claimed_at)?,
        counted: row.flag(COLUMN.counted)?,
        ended_at: row.opt_int(COLUMN.ended_at)?,
        purged_at: row.opt_int(COLUMN.purged_at)?,
        view_count: row.int(COLUMN.view_count)?,
        last_viewed_at: row.opt_int(COLUMN.last_viewed_at)?,
        payment_id: row.opt_string(COLUMN.payment_id)?,
        wallet: row.opt_string(COLUMN.wallet)?,
        spa: row.flag(COLUMN.spa)?,
        primary_domain: row.opt_string(COLUMN.primary_domain)?,
        title_set: row.flag(COLUMN.title_set)?,
        feedback_visible: row
            .opt_text(COLUMN.feedback_visible)?
            .and_then(FeedbackVisible::parse)
            .unwrap_or_default(),
        warned_at: row.opt_int(COLUMN.warned_at)?,
    })
}

/// A site for viewers, with whether its account is suspended.
fn viewable(found: &Row<'_>) -> Result<(Site, bool), DbError> {
    Ok((row(found)?, found.opt_int(SiteColumns::COUNT)?.is_some()))
}

/// Cursor of a list: it continues after this change.
#[derive(Debug, Clone)]
pub struct Before {
    pub updated_at: i64,
    pub id: String,
}

impl Store {
    pub async fn find_site(&self, id: &str) -> Result<Option<Site>, DbError> {
        self.db.get(select!("WHERE id = $1"), &[id.into()], row).await
    }

    pub async fn find_site_by_token(&self, token: &str) -> Result<Option<Site>, DbError> {
        self.db.get(select!("WHERE token = $1"), &[token.into()], row).await
    }

    /// The same for viewers, with whether the site's account is suspended.
    pub async fn find_viewable_by_token(&self, token: &str) -> Result<Option<(Site, bool)>, DbError> {
        self.db.get(select_viewable!("WHERE token = $1"), &[token.into()], viewable).await
    }

    pub async fn find_viewable_by_slug(&self, slug: &str) -> Result<Option<(Site, bool)>, DbError> {
        let sql = select_viewable!("WHERE id = (SELECT site_id FROM slugs WHERE slug = $1)");
        self.db.get(sql, &[slug.into()], viewable).await
    }

    /// The site that has the slug now or had it last.
    pub async fn find_site_by_slug(&self, slug: &str) -> Result<Option<Site>, DbError> {
        self.db
            .get(select!("WHERE id = (SELECT site_id FROM slugs WHERE slug = $1)"), &[slug.into()], row)
            .await
    }

    /// The account's site with this host of its own.
    pub async fn find_site_by_host(&self, account_id: &str, label: &str) -> Result<Option<Site>, DbError> {
        let sql = select!("WHERE account_id = $1 AND host_label = $2");
        self.db.get(sql, &[account_id.into(), label.into()], row).await
    }

    /// An account's sites in one state, most recently changed first.
    pub async fn list_sites(
        &self,
        account_id: &str,
        state: State,
        now: i64,
        before: Option<Before>,
        limit: i64,
    ) -> Result<Vec<Site>, DbError> {
        let before = before.unwrap_or(Before { updated_at: i64::MAX, id: String::new() });
        // A live page past its expiry counts as expired, whether or not the sweep has processed it.
        let horizon = if state == State::Live { now } else { i64::MIN };
        self.db
            .list(
                select!(
                    "WHERE account_id = $1 AND state = $2 AND (expires_at IS NULL OR expires_at > $3) \
                     AND (updated_at, id) < ($4, $5) ORDER BY updated_at DESC, id DESC LIMIT $6"
                ),
                vec![
                    account_id.into(),
                    state.as_str().into(),
                    horizon.into(),
                    before.updated_at.into(),
                    before.id.into(),
                    limit.into(),
                ],
                row,
            )
            .await
    }
}

fn search_text(site: &Site) -> String {
    search::page_text(&site.title, site.slug.as_deref())
}

/// Null for the default, which is also what an older program writes.
fn feedback_visible(site: &Site) -> Option<&'static str> {
    Some(site.feedback_visible).filter(|it| *it != FeedbackVisible::default()).map(FeedbackVisible::as_str)
}

pub fn insert(site: &Site) -> Stmt {
    let args: Vec<Val> = vec![
        site.id.as_str().into(),
        site.token.as_str().into(),
        site.host_label.as_str().into(),
        site.account_id.as_deref().into(),
        site.slug.as_deref().into(),
        site.visibility.as_str().into(),
        site.state.as_str().into(),
        site.title.as_str().into(),
        site.version.into(),
        site.bundle_id.as_deref().into(),
        site.byte_size.into(),
        site.created_at.into(),
        site.updated_at.into(),
        site.expires_at.into(),
        site.agentation.into(),
        site.csp_strict.into(),
        site.e2e.into(),
        site.password_hash.as_deref().into(),
        site.email_gate_domain.as_deref().into(),
        site.gate_version.into(),
        site.claim_hash.into(),
        site.claimed_at.into(),
        site.counted.into(),
        site.payment_id.as_deref().into(),
        site.wallet.as_deref().into(),
        search_text(site).into(),
        site.spa.into(),
        site.title_set.into(),
        feedback_visible(site).into(),
        site.live.into(),
        site.changes_since.into(),
    ];
    Stmt::new(
        "INSERT INTO sites (id, token, host_label, account_id, slug, visibility, state, title, version, bundle_id, \
         byte_size, created_at, updated_at, expires_at, agentation, csp_strict, e2e, password_hash, email_gate_domain, \
         gate_version, claim_hash, claimed_at, counted, payment_id, wallet, search_text, spa, title_set, feedback_visible, live, \
         changes_since, ended_at, purged_at, view_count, last_viewed_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, \
         $24, $25, $26, $27, $28, $29, $30, $31, NULL, NULL, 0, NULL)",
        args,
    )
}

/// Writes all mutable columns of a site, if it is still as `before`, except those that change without the site: its views,
/// the warning before it ([`crate::attention`]) and its primary domain, which [`crate::custom_domains::refresh_primary`] keeps.
pub fn update(before: &Site, after: &Site) -> Stmt {
    let args: Vec<Val> = vec![
        after.account_id.as_deref().into(),
        after.slug.as_deref().into(),
        after.visibility.as_str().into(),
        after.state.as_str().into(),
        after.title.as_str().into(),
        after.version.into(),
        after.bundle_id.as_deref().into(),
        after.byte_size.into(),
        after.updated_at.into(),
        after.expires_at.into(),
        after.agentation.into(),
        after.csp_strict.into(),
        after.e2e.into(),
        after.password_hash.as_deref().into(),
        after.email_gate_domain.as_deref().into(),
        after.gate_version.into(),
        after.claim_hash.into(),
        after.claimed_at.into(),
        after.counted.into(),
        after.ended_at.into(),
        after.purged_at.into(),
        after.wallet.as_deref().into(),
        search_text(after).into(),
        after.spa.into(),
        after.title_set.into(),
        feedback_visible(after).into(),
        after.live.into(),
        after.changes_since.into(),
        before.id.as_str().into(),
        before.updated_at.into(),
    ];
    Stmt::new(
        "UPDATE sites SET account_id = $1, slug = $2, visibility = $3, state = $4, title = $5, version = $6, \
         bundle_id = $7, byte_size = $8, updated_at = $9, expires_at = $10, agentation = $11, csp_strict = $12, e2e = $13, \
         password_hash = $14, email_gate_domain = $15, gate_version = $16, claim_hash = $17, claimed_at = $18, counted = $19, \
         ended_at = $20, purged_at = $21, wallet = $22, search_text = $23, spa = $24, title_set = $25, feedback_visible = $26, \
         live = $27, changes_since = $28 WHERE id = $29 AND updated_at = $30",
        args,
    )
    .one(CHANGED)
}

/// Locks a live site's row until the end of the batch, so that counts about it are exact.
pub fn lock_live(id: &str) -> Stmt {
    Stmt::new("UPDATE sites SET view_count = view_count WHERE id = $1 AND state = 'live'", vec![id.into()])
        .one(CHANGED)
}

/// The same for a site in any state.
pub fn lock(id: &str) -> Stmt {
    Stmt::new("UPDATE sites SET view_count = view_count WHERE id = $1", [id.into()])
}

/// Lets viewers compare only the current version and later ones, if they may compare versions at all.
pub fn restart_changes(id: &str) -> Stmt {
    Stmt::new(
        "UPDATE sites SET changes_since = version WHERE id = $1 AND changes_since IS NOT NULL",
        [id.into()],
    )
}

/// Adds views that were counted in memory. Does not count as a change of the site: `updated_at` stays.
pub fn add_views(id: &str, views: i64, last_at: i64) -> Stmt {
    Stmt::new(
        "UPDATE sites SET view_count = view_count + $1, \
         last_viewed_at = CASE WHEN last_viewed_at IS NULL OR last_viewed_at < $2 THEN $2 ELSE last_viewed_at END WHERE id = $3",
        vec![views.into(), last_at.into(), id.into()],
    )
}
