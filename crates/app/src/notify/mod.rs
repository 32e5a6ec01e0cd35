//! Notifications: email to people, and notices to the open streams of owners.

pub(crate) mod mail;
pub(crate) mod operator_notifications;
pub(crate) mod owner_notices;
