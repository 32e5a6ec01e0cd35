//! What responses hold of the memory of a connection and its network.

use super::*;
use crate::send_budget::SendBudget;
use http::Version;

const MIB: u64 = 1 << 20;

fn connection(version: Version) -> (Arc<Connection>, Arc<ConnectionActivity>) {
    let activity = ConnectionActivity::new();
    drop(activity.begin(version));
    let share = SendBudget::new(256 * MIB).share(1);
    (Connection::new(([192, 0, 2, 1], 1).into(), None, Arc::clone(&activity), share), activity)
}

#[tokio::test]
async fn a_charge_ends_with_the_last_part_of_its_bytes() {
    let (connection, activity) = connection(Version::HTTP_2);
    let mut charge = connection.try_charge(MIB).unwrap();
    assert_eq!(activity.held(), MIB);
    charge.shrink_to(100_000);
    assert_eq!(activity.held(), 100_000);
    let whole = charge.attach(Bytes::from(vec![7; 100_000]));
    let part = whole.slice(99_000..);
    drop(whole);
    assert_eq!((activity.held(), &part[..2]), (100_000, &[7, 7][..]));
    drop(part);
    assert_eq!(activity.held(), 0);
}

#[tokio::test]
async fn one_connection_holds_a_few_whole_bodies_and_small_ones_are_free() {
    let (http2, _) = connection(Version::HTTP_2);
    let held: Vec<_> = (0..10).map_while(|_| http2.try_charge(4 * MIB)).collect();
    assert_eq!(held.len(), 2);
    assert!(http2.try_charge(FREE_BYTES).is_some());
    assert!(http2.try_charge(FREE_BYTES + 1).is_none());
    let (http1, activity) = connection(Version::HTTP_11);
    let _free = http1.try_charge(PIECE_BYTES).unwrap();
    assert_eq!(activity.held(), 0);
}

#[tokio::test]
async fn streams_go_on_while_others_wait_to_begin() {
    let share = SendBudget::new(8 * MIB).share(1);
    let activity = ConnectionActivity::new();
    let connection = Connection::new(([192, 0, 2, 1], 1).into(), None, Arc::clone(&activity), share);
    let room = connection.open_stream(MIB / 2).await.unwrap();
    let mut next = std::pin::pin!(connection.open_stream(MIB / 2));
    assert!(futures_util::poll!(&mut next).is_pending());
    let piece = || Bytes::from(vec![7; 60_000]);
    for _ in 0..100 {
        let first = room.attach(room.piece_slot().await, piece());
        let second = room.attach(room.piece_slot().await, piece());
        assert_eq!(activity.held(), 120_000, "what waits for the client");
        assert!(futures_util::poll!(std::pin::pin!(room.piece_slot())).is_pending());
        drop((first, second));
    }
    assert_eq!(activity.held(), 0);
    drop(room);
    assert!(next.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_made_wait_for_room_in_a_short_queue() {
    let share = SendBudget::new(8 * MIB).share(1);
    let connection =
        Connection::new(([192, 0, 2, 1], 1).into(), None, ConnectionActivity::new(), share.clone());
    let held = share.hold(MIB).await;
    let _other = connection.charge_piece(1).await;
    let mut waits = Box::pin(connection.charge_made(100_000));
    assert!(futures_util::poll!(&mut waits).is_pending());
    drop(held);
    assert!(waits.await.is_ok());
    let _held = share.hold(MIB).await;
    let refusal = connection.charge_made(100_000).await.unwrap_err();
    assert_eq!(refusal.code, Code::Overloaded, "the room does not come");
    let mut queue: Vec<_> = (0..4).map(|_| Box::pin(connection.charge_made(MIB))).collect();
    for waiting in &mut queue {
        assert!(futures_util::poll!(waiting).is_pending());
    }
    let (fifth, now) = (connection.charge_made(MIB), tokio::time::Instant::now());
    assert!(fifth.await.is_err() && now.elapsed() == Duration::ZERO, "too much waits already");
}

#[tokio::test]
async fn a_connection_that_holds_nothing_goes_on_whatever_its_neighbours_hold() {
    let budget = SendBudget::new(8 * MIB);
    let share = budget.share(1);
    let neighbour = share.hold(MIB).await;
    let activity = ConnectionActivity::new();
    let connection = Connection::new(([192, 0, 2, 1], 1).into(), None, Arc::clone(&activity), share);
    let first = connection.charge_piece(PIECE_BYTES).await;
    let mut second = std::pin::pin!(connection.charge_piece(PIECE_BYTES));
    assert!(futures_util::poll!(&mut second).is_pending(), "one at a time");
    drop(first);
    drop(second.await);
    assert_eq!(activity.held(), 0);
    drop(neighbour);
}
