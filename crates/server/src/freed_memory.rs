//! Gives memory back to the system after a burst of work.
//!
//! The allocator gives back what was freed a while ago when it is called for something else, such as a large block. A server with
//! nothing to do makes few calls, so after hostile uploads it would keep what they took.

use std::time::Duration;

use tokio::time::sleep;

const EVERY: Duration = Duration::from_secs(5);
/// Large enough to count as such a block. None of it is used, so the system has nothing to provide.
const BLOCK_BYTES: usize = 1 << 20;

pub(crate) async fn give_back() {
    loop {
        sleep(EVERY).await;
        drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
    }
}
