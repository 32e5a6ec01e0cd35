//! SQL for `burns`: the one viewer of a burn-after-reading page, and when its bytes are to be erased.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::burn::Burn;

fn row(row: &Row<'_>) -> Result<Burn, DbError> {
    Ok(Burn { secret_hash: row.hash(0)?, erase_at: row.int(1)? })
}

impl Store {
    pub async fn find_burn(&self, site_id: &str) -> Result<Option<Burn>, DbError> {
        self.db
            .get("SELECT secret_hash, erase_at FROM burns WHERE site_id = $1", &[site_id.into()], row)
            .await
    }

    /// Sites whose viewing window is over, oldest first.
    pub async fn list_burns_over(&self, now: i64, limit: i64) -> Result<Vec<String>, DbError> {
        self.db
            .list(
                "SELECT site_id FROM burns WHERE erase_at <= $1 ORDER BY erase_at LIMIT $2",
                vec![now.into(), limit.into()],
                |row| row.string(0),
            )
            .await
    }
}

/// Goes into the same batch as the update that marks the site as burnt; the guard of that update picks the one winner.
pub fn insert(site_id: &str, burn: &Burn) -> Stmt {
    Stmt::new(
        "INSERT INTO burns (site_id, secret_hash, erase_at) VALUES ($1, $2, $3)",
        vec![site_id.into(), burn.secret_hash.into(), burn.erase_at.into()],
    )
}

pub fn delete(site_id: &str) -> Stmt {
    Stmt::new("DELETE FROM burns WHERE site_id = $1", [site_id.into()])
}
