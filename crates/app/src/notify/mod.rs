//! Notifications: email to people, and notices to the open streams of owners.

pub(crate) mod mail;
pub(crate) mod operator_notifications;
pub(crate) mod owner_notices;

use mail::{Mailer, PostOffice};
use owner_notices::Notices;
use std::sync::Arc;

/// The state of notifications on this node.
#[derive(Debug)]
pub(crate) struct Notify {
    pub(crate) mailer: Option<Arc<dyn Mailer>>,
    pub(crate) mail_queue: PostOffice,
    pub(crate) owner_notices: Notices,
}

impl Notify {
    /// `node` distinguishes this node's own notices from those of others.
    pub(crate) fn new(mailer: Option<Arc<dyn Mailer>>, node: String) -> Self {
        Self { mailer, mail_queue: PostOffice::default(), owner_notices: Notices::new(node) }
    }
}
