//! Serves `/operator/certificates`: the certificates that the server obtains, and a button to renew one now.

use super::{OperatorForm, actor};
use crate::http::state::ApiState;
use crate::http::web::{Operator, Query, WebError, page, see_other};
use axum::extract::State;
use axum::response::Response;
use dropleaf_app::TlsMode;
use dropleaf_pages::dashboard::{Done, Section};
use dropleaf_pages::operator::certificates::{CertificatesPage, certificates};

/// Certificates shown; those whose orders fail come first.
const MOST: usize = 200;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let (all, now) = (state.app.list_certificates().await?, state.app.now());
    let (chosen, more) = CertificatesPage::choose(&all, MOST);
    Ok(page(certificates(&CertificatesPage {
        shell: person.shell(Section::Operator, query.done()),
        certificates: chosen,
        more,
        is_managed: state.app.settings().tls_mode == TlsMode::Acme,
        now,
        is_recent: person.session.is_recent(now),
    })))
}

pub(super) async fn renew(State(state): State<ApiState>, form: OperatorForm) -> Result<Response, WebError> {
    state.app.request_renewal(actor(&form.person), form.fields.text("name")).await?;
    Ok(see_other(&format!("/operator/certificates?done={}", Done::RenewalRequested.word())))
}
