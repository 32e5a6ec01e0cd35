//! A request that times out is refused, and the error says whether the change may still be applied.

use crate::harness::{FakeChecker, Form, Says, Setup, page};

#[tokio::test]
async fn upload_that_is_not_worked_off_in_time_is_503() {
    let checker = FakeChecker::start().await;
    let setup =
        Setup::new().set("safety.checker_url", &checker.url).set("safety.checker_timeout_seconds", "60");
    let node = setup.set("limits.request_seconds", "1").start().await;
    checker.set(Says::Nothing);
    let publish = || node.post("/sites").key(&node.key).form(Form::file("a.html", page("Late"))).send();
    let refused = publish().await.refused(503, "timed_out");
    assert_eq!(refused.header("retry-after"), "5");
    assert!(refused.text().contains("Idempotency-Key"), "{}", refused.text());
}
