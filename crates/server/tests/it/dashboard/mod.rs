//! Tests the dashboard of page owners.

mod dashboard_appeal;
mod dashboard_balance;
mod dashboard_billing;
mod dashboard_changes;
mod dashboard_claim;
mod dashboard_domains;
mod dashboard_feedback;
mod dashboard_keys;
mod dashboard_list;
mod dashboard_page;
mod dashboard_share;
mod dashboard_upload;
mod dashboard_words;
pub(crate) mod forms;
mod owner_open;
