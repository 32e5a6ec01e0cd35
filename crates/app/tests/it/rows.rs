//! Cached rows stay valid while they are confirmed, and hide no change: neither by another process, nor by a cancelled
//! task.

use crate::fixture::{Fixture, fresh, upload};
use dropleaf_app::PageKey;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::site::{Site, State};
use dropleaf_store::{Db, Stmt};

async fn publish(fixture: &Fixture, who: Option<usize>, body: u8) -> Site {
    let (caller, options) = (fixture.caller(who), UploadOptions::default());
    let create = fixture.app.create_site(&caller, upload(body), options, None, |_| Vec::new());
    fresh(Box::pin(create).await.unwrap()).site
}

async fn state(fixture: &Fixture, site: &Site) -> State {
    let key = PageKey::token(&site.token).unwrap();
    fixture.app.open_page(&key).await.unwrap().unwrap().site.state
}

/// Runs a test beside the task that confirms rows.
async fn confirmed(fixture: &Fixture, other: &Site, test: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = fixture.app.confirm_rows() => panic!("on SQLite rows are confirmed for ever"),
        () = async {
            // The first confirmation evicts what was read before it.
            a_second_later(fixture, other).await;
            test.await;
        } => {}
    }
}

/// Advances a second; a view requests a confirmation, and it has completed.
async fn a_second_later(fixture: &Fixture, other: &Site) {
    fixture.clock.advance(1);
    state(fixture, other).await;
    tokio::task::yield_now().await;
    // The writer runs one operation after the other, so a publish completes after the confirmation that was sent before it.
    // That may have been an earlier one; the requested one is then sent when it has completed.
    for _ in 0..2 {
        publish(fixture, None, 9).await;
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn change_of_another_process_is_in_force_after_a_second() {
    let fixture = Fixture::open().await;
    let (one, other) = (publish(&fixture, Some(0), 1).await, publish(&fixture, Some(0), 2).await);
    let elsewhere = Db::open(&fixture.url).await.unwrap();
    confirmed(&fixture, &other, async {
        assert_eq!(state(&fixture, &one).await, State::Live);
        let end = Stmt::new("UPDATE sites SET state = 'taken_down' WHERE id = $1", [one.id.as_str().into()]);
        elsewhere.exec(end).await.unwrap();
        a_second_later(&fixture, &other).await;
        assert_eq!(state(&fixture, &one).await, State::TakenDown);
    })
    .await;
}

#[tokio::test]
async fn change_whose_caller_went_away_is_in_force_after_a_second() {
    let fixture = Fixture::open().await;
    let (one, other) = (publish(&fixture, Some(0), 1).await, publish(&fixture, Some(0), 2).await);
    confirmed(&fixture, &other, async {
        assert_eq!(state(&fixture, &one).await, State::Live);
        tokio::select! {
            biased;
            // Rarely the commit is faster than the caller that goes away.
            _ = fixture.app.delete_site(&fixture.accounts[0], &one.id, false) => {}
            () = std::future::ready(()) => {}
        }
        a_second_later(&fixture, &other).await;
        assert_eq!(state(&fixture, &one).await, State::Deleted);
    })
    .await;
}

#[tokio::test]
async fn confirmed_row_is_not_read_again() {
    let fixture = Fixture::open().await;
    let (one, other) = (publish(&fixture, Some(0), 1).await, publish(&fixture, Some(0), 2).await);
    let key = PageKey::token(&one.token).unwrap();
    let open = async || fixture.app.open_page(&key).await.unwrap().unwrap();
    confirmed(&fixture, &other, async {
        let first = open().await;
        for _ in 0..2 {
            a_second_later(&fixture, &other).await;
            assert!(std::sync::Arc::ptr_eq(&first, &open().await));
        }
    })
    .await;
}
