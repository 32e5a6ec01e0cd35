//! Which bytes count as large request heads, and the limits on them.

use super::*;
use crate::frames::{DATA, frame};
use http::Version;

fn heads() -> Arc<LargeHeads> {
    LargeHeads::new(1000, 5000)
}

#[test]
fn only_so_many_connections_send_large_heads_at_once() {
    let (heads, activity) = (heads(), ConnectionActivity::new());
    let mut meters: Vec<_> = (0..CONNECTIONS).map(|_| heads.meter(None, false)).collect();
    for meter in &mut meters {
        meter.count(&[b'G'; 900], &activity).unwrap();
        meter.count(&[b'G'; 900], &activity).unwrap();
    }
    let mut next = heads.meter(None, false);
    next.count(&[b'G'; 900], &activity).unwrap();
    assert!(next.count(&[b'G'; 900], &activity).is_err());
    // What is too long for a head is a body that is not read.
    meters[0].count(&[b'G'; 4000], &activity).unwrap();
    heads.meter(None, false).count(&[b'G'; 1800], &activity).unwrap();
}

#[test]
fn one_network_cannot_take_all_places() {
    let (heads, activity) = (heads(), ConnectionActivity::new());
    let network = Arc::new(Semaphore::new(2));
    let meter = |network: &Arc<Semaphore>| heads.meter(Some(Arc::clone(network)), false);
    let mut held = [meter(&network), meter(&network)];
    for meter in &mut held {
        meter.count(&[b'G'; 1800], &activity).unwrap();
    }
    assert!(meter(&network).count(&[b'G'; 1800], &activity).is_err());
    meter(&Arc::new(Semaphore::new(2))).count(&[b'G'; 1800], &activity).unwrap();
}

#[test]
fn bodies_and_the_heads_of_several_requests_do_not_add_up() {
    let (heads, activity) = (heads(), ConnectionActivity::new());
    let mut meter = heads.meter(None, false);
    for _ in 0..10 {
        meter.count(&[b'G'; 900], &activity).unwrap();
        let busy = activity.begin(Version::HTTP_11);
        meter.count(&vec![b'b'; 100_000], &activity).unwrap();
        // The rest of a refused body is still read after the response.
        let body = activity.read_body();
        drop(busy);
        meter.count(&[b'b'; 1500], &activity).unwrap();
        drop(body);
    }
    assert!(meter.permits.is_none());
    meter.count(&[b'G'; 1100], &activity).unwrap();
    assert!(meter.permits.is_some());
}

#[test]
fn a_body_that_comes_with_its_head_does_not_count() {
    for end in ["\r\n\r\n", "\n\n", "\n\r\n"] {
        let (heads, activity) = (heads(), ConnectionActivity::new());
        let mut meter = heads.meter(None, false);
        let sent = format!("\r\nPOST / HTTP/1.1\r\nHost: a{end}{}", "b".repeat(3000));
        for step in [1, 2, 3, 7, sent.len()] {
            for part in sent.as_bytes().chunks(step) {
                meter.count(part, &activity).unwrap();
                assert!(meter.permits.is_none(), "{step}");
            }
            drop(activity.begin(Version::HTTP_11));
        }
    }
}

#[test]
fn only_the_whole_preface_is_that_of_http2() {
    let text = format!("PRI * HTTP/2.0\r\nCookie: {}", "a".repeat(1500));
    for (sent, is_http1) in
        [(text.as_bytes(), false), (&b"PRIX / HTTP/1.1\r\nA: ".repeat(90), false), (PREFACE.as_slice(), true)]
    {
        let (heads, activity) = (heads(), ConnectionActivity::new());
        let mut meter = heads.meter(None, is_http1);
        for part in sent.chunks(5) {
            meter.count(part, &activity).unwrap();
        }
        meter.count(&[b'a'; 1100], &activity).unwrap();
        assert_eq!(meter.permits.is_some(), !is_http1, "with http1 the preface is a whole head");
    }
}

#[test]
fn on_http2_only_open_headers_count_whatever_else_is_under_way() {
    let (heads, activity) = (heads(), ConnectionActivity::new());
    let mut meter = heads.meter(None, false);
    meter.count(&PREFACE[..2], &activity).unwrap();
    meter.count(&PREFACE[2..], &activity).unwrap();
    let _busy = activity.begin(Version::HTTP_2);
    for _ in 0..500 {
        let sent = [frame(8, 0, 4), frame(6, 0, 8), frame(DATA, 0, 900), frame(HEADERS, 4, 900)].concat();
        meter.count(&sent, &activity).unwrap();
        assert!(meter.permits.is_none());
    }
    meter.count(&frame(HEADERS, 0, 900), &activity).unwrap();
    meter.count(&frame(CONTINUATION, 0, 900), &activity).unwrap();
    assert!(meter.permits.is_some());
    meter.count(&frame(CONTINUATION, 4, 900), &activity).unwrap();
    assert!(meter.permits.is_none(), "the head is whole");
}
