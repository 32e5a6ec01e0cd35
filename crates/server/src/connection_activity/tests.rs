//! The timeouts of a connection: silence, slow readers, and what excuses them.

use super::*;

const HEADERS: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(30);

async fn stops_after(activity: &ConnectionActivity) -> (u64, Silence) {
    let silence = activity.stopped(HEADERS, IDLE).await;
    (activity.start.elapsed().as_secs(), silence)
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_never_asks_has_the_first_time() {
    assert_eq!(stops_after(&ConnectionActivity::new()).await, (10, Silence::FromTheStart));
}

#[tokio::test(start_paused = true)]
async fn one_that_asked_has_its_time_from_the_end_of_its_last_request() {
    for (version, end) in [(Version::HTTP_11, 15), (Version::HTTP_2, 35)] {
        let activity = ConnectionActivity::new();
        tokio::time::advance(Duration::from_secs(5)).await;
        drop(activity.begin(version));
        assert_eq!(stops_after(&activity).await, (end, Silence::Since));
    }
}

const PACE: Pace = Pace { over: IDLE, bytes_per_second: 100 };

/// Sends this many bytes every ten seconds, nine times.
async fn send_slowly(activity: &ConnectionActivity, bytes: u64) {
    for _ in 0..9 {
        tokio::time::sleep(Duration::from_secs(10)).await;
        activity.sent(bytes);
    }
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_takes_too_little_is_stalled_and_a_slow_one_is_not() {
    for (bytes, end) in [(0, 30), (999, 30), (1000, 120)] {
        let activity = ConnectionActivity::new();
        // If both wake at once, what was sent counts first.
        tokio::select! { biased; () = send_slowly(&activity, bytes) => {}, () = activity.stalled(PACE) => {} }
        assert_eq!(activity.start.elapsed().as_secs(), end, "{bytes} bytes");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_stream_needs_no_pace() {
    let activity = ConnectionActivity::new();
    let _listening = activity.listen();
    tokio::select! { biased; () = send_slowly(&activity, 3) => {}, () = activity.stalled(PACE) => {} }
    assert_eq!(activity.start.elapsed().as_secs(), 120);
    activity.hold(500);
    let start = Instant::now();
    tokio::select! { biased; () = send_slowly(&activity, 3) => {}, () = activity.starved(PACE) => {} }
    assert_eq!(start.elapsed().as_secs(), 30, "but answers beside it do");
}

#[tokio::test(start_paused = true)]
async fn one_that_leaves_answers_untaken_is_starved_though_it_goes_on_asking() {
    let activity = ConnectionActivity::new();
    activity.hold(5000);
    let asking = async {
        loop {
            tokio::time::sleep(Duration::from_secs(7)).await;
            drop(activity.begin(Version::HTTP_2));
        }
    };
    tokio::select! { () = asking => {}, () = activity.starved(PACE) => {} }
    assert_eq!(activity.start.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn one_that_takes_its_answers_or_has_none_is_not_starved() {
    let idle = ConnectionActivity::new();
    let hour = Duration::from_hours(1);
    assert!(tokio::time::timeout(hour, idle.starved(PACE)).await.is_err());
    let brisk = ConnectionActivity::new();
    let taking = async {
        loop {
            brisk.hold(500);
            tokio::time::sleep(Duration::from_secs(25)).await;
            brisk.release(500);
        }
    };
    tokio::select! { () = taking => {}, () = brisk.starved(PACE) => panic!("it takes all"), () = tokio::time::sleep(hour) => {} }
}

#[tokio::test(start_paused = true)]
async fn work_on_a_request_excuses_for_a_while_and_an_upload_as_long_as_it_goes_on() {
    let busy = ConnectionActivity::new();
    busy.hold(500);
    let _request = busy.begin(Version::HTTP_2);
    busy.starved(PACE).await;
    assert_eq!(busy.start.elapsed().as_secs(), 210, "six times, and then once more");
    let uploading = async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            busy.received(200);
        }
    };
    let hour = tokio::time::sleep(Duration::from_hours(1));
    tokio::select! { () = uploading => {}, () = busy.starved(PACE) => panic!("it uploads"), () = hour => {} }
    let _waiting = busy.wait();
    let start = Instant::now();
    busy.starved(PACE).await;
    assert_eq!(start.elapsed().as_secs(), 30, "it waits for memory that it holds itself");
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_for_memory_that_others_hold_is_not_stalled() {
    let activity = ConnectionActivity::new();
    let (_request, _waiting) = (activity.begin(Version::HTTP_11), activity.wait());
    assert!(tokio::time::timeout(Duration::from_secs(90), activity.stalled(PACE)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn one_that_is_being_answered_is_left_alone() {
    let activity = ConnectionActivity::new();
    let busy = activity.begin(Version::HTTP_11);
    let waited = tokio::time::timeout(Duration::from_mins(5), activity.stopped(HEADERS, IDLE)).await;
    assert!(waited.is_err());
    drop(busy);
    assert_eq!(stops_after(&activity).await, (310, Silence::Since));
}

const GRACE: Duration = Duration::from_millis(50);

async fn settles_after(activity: &ConnectionActivity) -> u128 {
    let start = Instant::now();
    activity.head_settled(GRACE, HEADERS).await;
    start.elapsed().as_millis()
}

#[tokio::test(start_paused = true)]
async fn a_head_that_has_begun_is_waited_for_and_no_other() {
    let activity = ConnectionActivity::new();
    assert_eq!(settles_after(&activity).await, 50, "nothing arrived");
    activity.received(10);
    assert_eq!(settles_after(&activity).await, 10_000, "not for ever");
    let busy = activity.begin(Version::HTTP_11);
    assert_eq!(settles_after(&activity).await, 0, "a request is under way");
    drop(busy);
    assert_eq!(settles_after(&activity).await, 50, "what arrived was the request");
    activity.received(1);
    let rest = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        activity.begin(Version::HTTP_11)
    };
    let (settled, _busy) = futures_util::future::join(settles_after(&activity), rest).await;
    assert!((1000..=1050).contains(&settled), "{settled}");
}

#[tokio::test(start_paused = true)]
async fn a_drain_shuts_down_what_was_used_and_is_silent() {
    const PAUSE: Duration = Duration::from_secs(1);
    let seconds = async |activity: &ConnectionActivity| {
        let start = Instant::now();
        match tokio::time::timeout(Duration::from_mins(1), activity.unused(PAUSE)).await {
            Ok(()) => Some(start.elapsed().as_secs()),
            Err(_) => None,
        }
    };
    let activity = ConnectionActivity::new();
    assert_eq!(seconds(&activity).await, None, "its first request may be on its way");
    let busy = activity.begin(Version::HTTP_11);
    assert_eq!(seconds(&activity).await, None, "a request is under way");
    drop(busy);
    assert_eq!(seconds(&activity).await, Some(1));
    activity.received(3);
    assert_eq!(seconds(&activity).await, None, "a request has begun");
    let activity = ConnectionActivity::new();
    activity.set_http2();
    assert_eq!(seconds(&activity).await, None, "its first request may be on its way");
    drop(activity.begin(Version::HTTP_2));
    assert_eq!(seconds(&activity).await, Some(0), "the client learns which requests are served");
}
