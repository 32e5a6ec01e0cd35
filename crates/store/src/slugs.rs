//! Rows of `slugs`: who holds a public name. The table alone decides; `sites.slug` only repeats it.

use crate::db::Stmt;

pub const TAKEN: &str = "slug_taken";

/// Takes a name for a site: a free one, one that waits for this account, or one whose waiting time is over.
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

/// Lets a name go; it waits for its last owner until then.
pub fn release(slug: &str, site_id: &str, held_until: i64) -> Stmt {
    Stmt::new(
        "UPDATE slugs SET held_until = $1 WHERE slug = $2 AND site_id = $3 AND held_until IS NULL",
        vec![held_until.into(), slug.into(), site_id.into()],
    )
}

/// Forgets names whose waiting time is over.
pub fn delete_free(now: i64) -> Stmt {
    Stmt::new("DELETE FROM slugs WHERE held_until IS NOT NULL AND held_until <= $1", vec![now.into()])
}
