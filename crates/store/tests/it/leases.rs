//! Leases: one holder at a time, and a holder that lost its lease cannot go on.

use dropleaf_store::{DbError, leases};

use crate::harness::{NOW, for_each_db};

#[tokio::test]
async fn renewal_fails_once_the_lease_has_ended_or_was_taken_by_another() {
    for_each_db(async |db| {
        let take = async |holder: &str, now: i64| {
            db.exec(leases::take("work", holder, now + 100, now)).await.map(|_| ())
        };
        let renew = async |holder: &str, now: i64| {
            db.exec(leases::renew("work", holder, now + 100, now)).await.map(|_| ())
        };
        let is_refused = |outcome: Result<(), DbError>| matches!(outcome, Err(DbError::Guard(leases::HELD)));
        assert!(is_refused(renew("a", NOW).await), "nobody has it");
        take("a", NOW).await.unwrap();
        assert!(is_refused(take("b", NOW + 99).await));
        renew("a", NOW + 99).await.unwrap();
        assert!(is_refused(renew("b", NOW + 99).await));
        assert!(is_refused(renew("a", NOW + 199).await), "it has ended");
        take("b", NOW + 199).await.unwrap();
        assert!(is_refused(renew("a", NOW + 200).await));
        db.exec(leases::release("work", "a")).await.unwrap();
        renew("b", NOW + 200).await.unwrap();
        db.exec(leases::release("work", "b")).await.unwrap();
        assert!(is_refused(renew("a", NOW).await), "taken and released meanwhile");
    })
    .await;
}
