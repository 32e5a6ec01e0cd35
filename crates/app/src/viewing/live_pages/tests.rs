//! Tests of the places of streams and of what wakes them.

use super::*;
use dropleaf_core::site::NewSite;

/// A page of an account of its own.
fn site(number: usize) -> Site {
    site_of(number, Some(format!("acct_{number}")))
}

fn site_of(number: usize, account_id: Option<String>) -> Site {
    let site = Site::new(NewSite {
        id: format!("site_{number}"),
        token: format!("token{number:017}"),
        host_label: "s-x".into(),
        title: "A".into(),
        bundle_id: "b".into(),
        byte_size: 1,
        spa: false,
        created_at: 1,
    });
    Site { account_id, ..site }
}

fn network(number: usize) -> ClientNetworks {
    let ip = format!("10.0.{}.{}", number / 256, number % 256);
    ClientNetworks::of(Some(ip.parse().unwrap()))
}

#[test]
fn only_the_streams_of_the_changed_page_are_woken() {
    let pages = Arc::new(LivePages::default());
    let mut streams = [0, 1].map(|number| pages.subscribe(&site(number), Some(network(1))).unwrap());
    pages.page_changed("t:token00000000000000001");
    pages.page_changed("s:token00000000000000000");
    pages.feedback_changed("site_0");
    assert_eq!(streams[0].signal(), PageSignal { changes: 0, feedback: 1 });
    assert_eq!(streams[1].signal(), PageSignal { changes: 1, feedback: 0 });
    pages.page_changed(ALL_CHANGED);
    assert_eq!(streams.each_mut().map(|stream| stream.signal().changes), [1, 2]);
}

#[test]
fn a_network_a_page_and_a_node_hold_so_many_and_no_more() {
    let pages = Arc::new(LivePages::default());
    let held: Vec<_> =
        (0..NETWORK_MOST).map(|number| pages.subscribe(&site(number), Some(network(1))).unwrap()).collect();
    assert_eq!(pages.subscribe(&site(0), Some(network(1))).unwrap_err().code, Code::RateLimited);
    pages.subscribe(&site(0), Some(network(2))).unwrap();
    pages.subscribe(&site(0), None).unwrap();
    drop(held);
    let held: Vec<_> =
        (0..PAGE_MOST).map(|number| pages.subscribe(&site(0), Some(network(number))).unwrap()).collect();
    assert_eq!(pages.subscribe(&site(0), Some(network(9))).unwrap_err().code, Code::Overloaded);
    let others: Vec<_> = (PAGE_MOST..NODE_MOST)
        .map(|number| pages.subscribe(&site(number), Some(network(number))).unwrap())
        .collect();
    assert_eq!(pages.subscribe(&site(1), None).unwrap_err().code, Code::Overloaded);
    drop((held, others));
    let open = pages.open();
    assert!(open.total == 0 && open.by_network.is_empty(), "refused streams hold nothing");
    assert!(open.by_wide_network.is_empty() && open.by_account.is_empty());
    assert!(open.by_token.is_empty() && open.tokens.is_empty(), "nothing is left behind");
}

#[test]
fn customer_with_many_networks_holds_so_many_and_no_more() {
    let pages = Arc::new(LivePages::default());
    let client = |subnet: usize| {
        let ip = format!("2001:db8:1:{subnet:x}::1");
        Some(ClientNetworks::of(Some(ip.parse().unwrap())))
    };
    let held: Vec<_> = (0..WIDE_NETWORK_MOST)
        .map(|number| pages.subscribe(&site(number), client(number)).unwrap())
        .collect();
    assert_eq!(pages.subscribe(&site(0), client(60_000)).unwrap_err().code, Code::RateLimited);
    let other = "2001:db8:2::1".parse().unwrap();
    pages.subscribe(&site(0), Some(ClientNetworks::of(Some(other)))).unwrap();
    drop(held);
    let open = pages.open();
    assert!(open.by_network.is_empty() && open.by_wide_network.is_empty(), "refused streams hold nothing");
}

#[test]
fn pages_of_one_account_leave_room_for_others_and_so_do_those_without_one() {
    for owner in [Some("acct_busy".to_owned()), None] {
        let pages = Arc::new(LivePages::default());
        let busy = |number: usize| site_of(number, owner.clone());
        let held: Vec<_> = (0..ACCOUNT_MOST)
            .map(|number| pages.subscribe(&busy(number % 4), Some(network(number))).unwrap())
            .collect();
        assert_eq!(pages.subscribe(&busy(5), None).unwrap_err().code, Code::Overloaded);
        pages.subscribe(&site(6), Some(network(9))).unwrap();
        drop(held);
        pages.subscribe(&busy(5), None).unwrap();
        assert!(pages.open().by_account.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_looked_for_while_no_stream_is_open() {
    let pages = Arc::new(LivePages::default());
    let minute = Duration::from_mins(1);
    assert!(tokio::time::timeout(minute, pages.next_look()).await.is_err());
    let stream = pages.subscribe(&site(0), Some(network(1))).unwrap();
    tokio::time::timeout(LOOK_EVERY, pages.next_look()).await.unwrap();
    drop(stream);
    assert!(tokio::time::timeout(minute, pages.next_look()).await.is_err());
}

#[tokio::test]
async fn a_change_before_the_first_wait_is_not_missed() {
    let pages = Arc::new(LivePages::default());
    let mut stream = pages.subscribe(&site(0), Some(network(1))).unwrap();
    let before = stream.signal();
    pages.page_changed("t:token00000000000000000");
    stream.changed().await;
    assert_eq!(stream.signal().changes, before.changes + 1);
}
