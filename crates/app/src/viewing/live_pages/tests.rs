//! Tests of the places of streams and of what wakes them.

use super::*;
use dropleaf_core::site::NewSite;

fn site(number: usize) -> Site {
    Site::new(NewSite {
        id: format!("site_{number}"),
        token: format!("token{number:017}"),
        host_label: "s-x".into(),
        title: "A".into(),
        bundle_id: "b".into(),
        byte_size: 1,
        spa: false,
        created_at: 1,
    })
}

fn network(number: usize) -> Option<String> {
    Some(format!("10.0.{}.{}", number / 256, number % 256))
}

#[test]
fn only_the_streams_of_the_changed_page_are_woken() {
    let pages = Arc::new(LivePages::default());
    let mut streams = [0, 1].map(|number| pages.subscribe(&site(number), network(1)).unwrap());
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
        (0..NETWORK_MOST).map(|number| pages.subscribe(&site(number), network(1)).unwrap()).collect();
    assert_eq!(pages.subscribe(&site(0), network(1)).unwrap_err().code, Code::RateLimited);
    pages.subscribe(&site(0), network(2)).unwrap();
    pages.subscribe(&site(0), None).unwrap();
    drop(held);
    let held: Vec<_> =
        (0..PAGE_MOST).map(|number| pages.subscribe(&site(0), network(number)).unwrap()).collect();
    assert_eq!(pages.subscribe(&site(0), network(9)).unwrap_err().code, Code::Overloaded);
    let others: Vec<_> = (PAGE_MOST..NODE_MOST)
        .map(|number| pages.subscribe(&site(number), network(number)).unwrap())
        .collect();
    assert_eq!(pages.subscribe(&site(1), None).unwrap_err().code, Code::Overloaded);
    drop((held, others));
    let open = pages.open();
    assert!(open.total == 0 && open.by_network.is_empty(), "refused streams hold nothing");
    assert!(open.by_token.is_empty() && open.tokens.is_empty(), "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_looked_for_while_no_stream_is_open() {
    let pages = Arc::new(LivePages::default());
    let minute = Duration::from_mins(1);
    assert!(tokio::time::timeout(minute, pages.next_look()).await.is_err());
    let stream = pages.subscribe(&site(0), network(1)).unwrap();
    tokio::time::timeout(LOOK_EVERY, pages.next_look()).await.unwrap();
    drop(stream);
    assert!(tokio::time::timeout(minute, pages.next_look()).await.is_err());
}

#[tokio::test]
async fn a_change_before_the_first_wait_is_not_missed() {
    let pages = Arc::new(LivePages::default());
    let mut stream = pages.subscribe(&site(0), network(1)).unwrap();
    let before = stream.signal();
    pages.page_changed("t:token00000000000000000");
    stream.changed().await;
    assert_eq!(stream.signal().changes, before.changes + 1);
}
