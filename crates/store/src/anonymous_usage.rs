//! SQL for `anonymous_sites` and `anonymous_usage`: the storage used by pages without an account, per network, per wider
//! network (IPv6 /48) and in total. Publishing adds to the totals only while they stay within their limits; the sweep
//! recounts them (`anonymous_recount`).

use crate::db::{DbError, FenceKind, Row, Stmt};
use crate::store::Store;

/// All networks together have used up their limit; `NETWORK_FULL`: this network has.
pub const SERVER_FULL: &str = "anonymous_server_full";
pub const NETWORK_FULL: &str = "anonymous_network_full";
/// The key of the total over all networks. The keys of networks are hashes, so they cannot collide with it.
const ALL: &str = "all";
/// Bytes that a version counts in addition to its content, for its rows.
pub(crate) const VERSION_BYTES: i64 = 4096;
/// Publishing without an account shares some of a node's connections: all of it waits for one row.
const ANONYMOUS: &str = "anonymous";
/// An IPv6 /48, which may belong to one customer or to many, may use this many times the bytes of a /64.
const WIDE: i64 = 4;

/// The networks that a page without an account was published from, as keyed hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Networks {
    /// The IPv4 address or the IPv6 /64.
    pub own: String,
    /// The IPv6 /48; for IPv4 the same as `own`.
    pub wide: String,
}

/// The most bytes that pages without an account may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageLimits {
    pub server_bytes: i64,
    pub network_bytes: i64,
}

impl Store {
    /// The networks whose totals include this page, if it is counted at all.
    pub async fn find_anonymous_networks(&self, site_id: &str) -> Result<Option<Networks>, DbError> {
        let sql = "SELECT network, wide FROM anonymous_sites WHERE site_id = $1";
        let networks = |row: &Row<'_>| Ok(Networks { own: row.string(0)?, wide: row.string(1)? });
        self.db.get(sql, &[site_id.into()], networks).await
    }
}

/// Adds one version of a page to the totals, or fails if a limit would be exceeded. All such batches lock the row of the
/// overall total first, so they cannot deadlock.
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
        total(ALL, limits.server_bytes, SERVER_FULL).fence(ANONYMOUS, FenceKind::PermitOnly),
        total(&networks.own, limits.network_bytes, NETWORK_FULL),
    ];
    if networks.wide != networks.own {
        stmts.push(total(&networks.wide, limits.network_bytes.saturating_mul(WIDE), NETWORK_FULL));
    }
    stmts.push(site);
    stmts
}
