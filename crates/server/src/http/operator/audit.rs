//! Serves `/operator/audit`: the audit log, complete or for one page, account or payment.

use crate::http::state::ApiState;
use crate::http::web::{Operator, Query, WebError, page};
use axum::extract::State;
use axum::response::Response;
use dropleaf_pages::dashboard::Section;
use dropleaf_pages::operator::audit::{AuditPage, audit};

/// Entries per page.
const LINES: i64 = 100;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let subject = query.text("subject").trim();
    let mut entries = match (subject, query.text("before")) {
        ("", "") => state.app.list_audit(LINES + 1).await?,
        ("", before) => state.app.list_audit_before(before, LINES + 1).await?,
        (subject, _) => state.app.list_audit_about(subject, 10 * LINES).await?,
    };
    let most = usize::try_from(LINES).unwrap_or_default();
    let older = (subject.is_empty() && entries.len() > most).then(|| {
        entries.truncate(most);
        entries.last().map(|last| format!("/operator/audit?before={}", last.id))
    });
    Ok(page(audit(&AuditPage {
        shell: person.shell(Section::Operator, query.done()),
        subject,
        entries: &entries,
        older: older.flatten().as_deref(),
    })))
}
