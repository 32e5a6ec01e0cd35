//! `/operator/audit`: everything that operators did, or what they did about one page, account or payment.

use crate::http::api::ApiState;
use crate::http::web::{Operator, Query, WebError, page};
use crate::pages::dashboard::Section;
use crate::pages::operator::audit::{Audit, audit};
use axum::extract::State;
use axum::response::Response;

/// Lines on one page.
const LINES: i64 = 100;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let subject = query.text("subject").trim();
    let before = query.text("before").parse::<i64>().ok();
    let mut lines = match (subject, before) {
        ("", Some(at)) => state.app.list_audit_before(at, query.text("before_id"), LINES + 1).await?,
        ("", None) => state.app.list_audit(LINES + 1).await?,
        (subject, _) => state.app.list_audit_of(subject, 10 * LINES).await?,
    };
    let most = usize::try_from(LINES).unwrap_or_default();
    let older = (subject.is_empty() && lines.len() > most).then(|| {
        lines.truncate(most);
        lines.last().map(|last| format!("/operator/audit?before={}&before_id={}", last.at, last.id))
    });
    Ok(page(audit(&Audit {
        shell: person.shell(Section::Operator, query.done()),
        subject,
        lines: &lines,
        older: older.flatten().as_deref(),
    })))
}
