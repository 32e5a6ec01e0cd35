//! SQL for `slugs`: which site holds a public name. This table is authoritative; `sites.slug` is a copy.

use crate::db::Stmt;

pub const TAKEN: &str = "slug_taken";

/// Takes a name for a site: a free one, one held back for this account, or one whose holding period is over.
pub fn take(slug: &str, site_id: &str, account_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO slugs (slug, site_id, account_id, held_until) VALUES ($1, $2, $3, NULL) \
         ON CONFLICT (slug) DO UPDATE SET site_id = excluded.site_id, account_id = excluded.account_id, held_until = NULL \
         WHERE slugs.site_id = excluded.site_id \
         OR (slugs.held_until IS NOT NULL AND (slugs.account_id = excluded.account_id OR slugs.held_until <= $4))",
        vec![slug.into(), site_id.into(), account_id.into(), now.into()],
    )
    .one(TAKEN)
}

/// Releases a name; until `held_until` it stays reserved for its last owner.
pub fn release(slug: &str, site_id: &str, held_until: i64) -> Stmt {
    Stmt::new(
        "UPDATE slugs SET held_until = $1 WHERE slug = $2 AND site_id = $3 AND held_until IS NULL",
        vec![held_until.into(), slug.into(), site_id.into()],
    )
}

/// Deletes names whose holding period is over.
pub fn delete_free(now: i64) -> Stmt {
    Stmt::new("DELETE FROM slugs WHERE held_until IS NOT NULL AND held_until <= $1", vec![now.into()])
}
