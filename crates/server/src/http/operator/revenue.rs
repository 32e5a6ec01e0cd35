//! Serves `/operator/payments/revenue.csv`: the revenue report as a file. Its form is on the list of payments.

use super::payments::{self, ListView};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Query, WebError, page_with_status};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_core::error::FieldError;
use dropleaf_core::month::Month;
use dropleaf_core::revenue::RevenueReport;
use dropleaf_core::{Code, Error};
use dropleaf_pages::operator::revenue::RefusedMonths;
use http::{HeaderValue, header};

pub(super) async fn download(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let (from, to) = (query.text("from"), query.text("to"));
    match report(&state, from, to).await {
        Ok(report) => file(&report),
        Err(refused) if refused.code == Code::InvalidField => {
            let problem = refused.fault.as_deref().map_or_else(|| refused.detail.clone(), problem);
            let typed = RefusedMonths { from, to, problem: &problem };
            let html =
                payments::listed(&state, &person, ListView { refused: Some(typed), ..ListView::default() })
                    .await?;
            Ok(page_with_status(error::status(refused.code), html, None))
        }
        Err(error) => Err(error.into()),
    }
}

async fn report(state: &ApiState, from: &str, to: &str) -> Result<RevenueReport, Error> {
    // A form sends its empty fields too.
    let month = |name: &str, text: &str| {
        if text.is_empty() { Ok(None) } else { Month::field(name, text).map(Some) }
    };
    state.app.revenue_report(month("from", from)?, month("to", to)?).await?.complete()
}

fn file(report: &RevenueReport) -> Result<Response, WebError> {
    let name = format!("attachment; filename=\"revenue-{}-to-{}.csv\"", report.from, report.to);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_str(&name).map_err(Error::internal)?),
    ];
    Ok((headers, report.csv()).into_response())
}

/// What is wrong, with the label of the field on the page.
fn problem(fault: &FieldError) -> String {
    let label = if fault.name == "to" { "To" } else { "From" };
    format!("{label} {}.", fault.why)
}
