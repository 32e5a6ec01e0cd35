//! Rows of `anonymous_sites` and `anonymous_usage`: what pages without an account take, for each network, for the wider
//! network around it and for all together. A publish adds to the totals only while they stay within their limits; the sweep counts again what is left.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;

/// The pages of all networks, or of this one, take as much as they may.
pub const SERVER_FULL: &str = "anonymous_server_full";
pub const NETWORK_FULL: &str = "anonymous_network_full";
/// The total of all networks. Networks are hashes, which hold no such word.
const ALL: &str = "all";
/// What a version takes besides its content: its rows.
const VERSION_BYTES: i64 = 4096;
/// An IPv6 /48, which may belong to one customer or to many, has this many times the bytes of a /64.
const WIDE: i64 = 4;

/// Where a page without an account came from, as keyed hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Networks {
    /// The IPv4 address or the IPv6 /64.
    pub own: String,
    /// The IPv6 /48; for IPv4 the same as `own`.
    pub wide: String,
}

/// The most that pages without an account may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageLimits {
    pub server_bytes: i64,
    pub network_bytes: i64,
}

impl Store {
    /// The networks whose totals this page counts towards, if it counts at all.
    pub async fn find_anonymous_networks(&self, site_id: &str) -> Result<Option<Networks>, DbError> {
        let sql = "SELECT network, wide FROM anonymous_sites WHERE site_id = $1";
        let networks =
            |row: &Row<'_>| Ok(Networks { own: row.text(0)?.to_owned(), wide: row.text(1)?.to_owned() });
        self.db.get(sql, &[site_id.into()], networks).await
    }
}

/// Adds one version of a page to the totals, unless that is too much. The first takes the row that all such batches take
/// first, so none of them waits for another in a circle.
pub fn take(site_id: &str, networks: &Networks, byte_size: i64, limits: UsageLimits) -> Vec<Stmt> {
    let bytes = byte_size.saturating_add(VERSION_BYTES);
    let total = |key: &str, most: i64, label| {
        Stmt::new(
            "INSERT INTO anonymous_usage (key, bytes) \
             SELECT $1, CAST($2 AS BIGINT) WHERE CAST($2 AS BIGINT) <= CAST($3 AS BIGINT) \
             ON CONFLICT (key) DO UPDATE SET bytes = anonymous_usage.bytes + excluded.bytes \
             WHERE anonymous_usage.bytes + excluded.bytes <= CAST($3 AS BIGINT)",
            vec![key.into(), bytes.into(), most.into()],
        )
        .one(label)
    };
    let site = Stmt::new(
        "INSERT INTO anonymous_sites (site_id, network, wide, bytes) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (site_id) DO UPDATE SET bytes = anonymous_sites.bytes + excluded.bytes",
        vec![site_id.into(), networks.own.as_str().into(), networks.wide.as_str().into(), bytes.into()],
    );
    let mut stmts = vec![
        total(ALL, limits.server_bytes, SERVER_FULL),
        total(&networks.own, limits.network_bytes, NETWORK_FULL),
    ];
    if networks.wide != networks.own {
        stmts.push(total(&networks.wide, limits.network_bytes.saturating_mul(WIDE), NETWORK_FULL));
    }
    stmts.push(site);
    stmts
}

/// Counts again: claimed pages, pages whose content is erased and deleted versions no longer count.
/// The first statement keeps publishes without an account waiting until the totals are right.
pub fn recount() -> [Stmt; 6] {
    [
        Stmt::new("UPDATE anonymous_usage SET bytes = bytes WHERE key = 'all'", []),
        Stmt::new(
            "DELETE FROM anonymous_sites WHERE NOT EXISTS (SELECT 1 FROM sites s \
             WHERE s.id = anonymous_sites.site_id AND s.account_id IS NULL AND s.purged_at IS NULL)",
            [],
        ),
        Stmt::new(
            "UPDATE anonymous_sites SET bytes = (SELECT COALESCE(SUM(v.byte_size + CAST($1 AS BIGINT)), 0) \
             FROM site_versions v WHERE v.site_id = anonymous_sites.site_id) \
             WHERE bytes <> (SELECT COALESCE(SUM(v.byte_size + CAST($1 AS BIGINT)), 0) \
             FROM site_versions v WHERE v.site_id = anonymous_sites.site_id)",
            [VERSION_BYTES.into()],
        ),
        Stmt::new(
            "DELETE FROM anonymous_usage WHERE key <> 'all' AND NOT EXISTS \
             (SELECT 1 FROM anonymous_sites a WHERE a.network = anonymous_usage.key OR a.wide = anonymous_usage.key)",
            [],
        ),
        Stmt::new(
            "UPDATE anonymous_usage SET bytes = (SELECT COALESCE(SUM(a.bytes), 0) FROM anonymous_sites a \
             WHERE a.network = anonymous_usage.key OR a.wide = anonymous_usage.key) WHERE key <> 'all'",
            [],
        ),
        Stmt::new(
            "UPDATE anonymous_usage SET bytes = (SELECT COALESCE(SUM(bytes), 0) FROM anonymous_sites) WHERE key = 'all'",
            [],
        ),
    ]
}
