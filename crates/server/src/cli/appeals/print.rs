//! Prints appeals: as JSON for programs, as tables for people.

use crate::cli::output::{Column, Now, Table, shortened, visible};
use crate::http::error::finding_json;
use dropleaf_app::AppealContext;
use dropleaf_core::appeal::{AllowedContent, Appeal, State};
use dropleaf_core::{hex, iso};
use serde_json::{Value, json};

/// The most characters of a text in a table row.
const SHOWN: usize = 60;

pub(super) fn as_json(appeal: &Appeal) -> Value {
    json!({
        "id": appeal.id,
        "status": appeal.state.as_str(),
        "title": appeal.title,
        "account_id": appeal.account_id,
        "content_hash": hex::encode(&appeal.digest),
        "reasons": appeal.reasons.iter().map(finding_json).collect::<Vec<_>>(),
        "comment": appeal.statement.comment,
        "contact": appeal.statement.contact,
        "answer": appeal.answer,
        "created_at": appeal.created_at,
        "decided_at": appeal.decided_at,
    })
}

/// The same with the context of the appeal.
pub(super) fn case_json(appeal: &Appeal, case: &AppealContext) -> Value {
    let mut json = as_json(appeal);
    json["like_site"] = json!(case.similar_site_id);
    json["is_allowed"] = json!(case.allowed.is_some());
    json["earlier"] = case.earlier.iter().map(as_json).collect();
    let joined = case.joined.iter().map(|joined| {
        let (comment, contact) = (&joined.statement.comment, &joined.statement.contact);
        json!({"account_id": joined.account_id, "comment": comment, "contact": contact, "created_at": joined.created_at})
    });
    json["joined"] = joined.collect();
    json
}

pub(super) fn allowed_json(allowed: &AllowedContent) -> Value {
    json!({
        "appeal_id": allowed.appeal_id,
        "content_hash": hex::encode(&allowed.digest),
        "reason": allowed.reason,
        "created_at": allowed.created_at,
    })
}

pub(super) fn table(found: &[Appeal]) -> String {
    if found.is_empty() {
        return "No open appeals.".to_owned();
    }
    let now = Now::read();
    let mut table = Table::new([
        Column::fixed("when"),
        Column::fixed("appeal"),
        Column::fixed("status"),
        Column::flexible("first reason"),
        Column::flexible("comment"),
    ]);
    for appeal in found {
        table.row([
            now.short(appeal.created_at).into(),
            appeal.id.as_str().into(),
            appeal.state.as_str().into(),
            appeal.reasons.first().map_or("", |reason| reason.rule.as_str()).into(),
            shortened(appeal.statement.comment.as_deref().unwrap_or_default(), SHOWN).into(),
        ]);
    }
    table.render()
}

pub(super) fn allowed_table(found: &[AllowedContent]) -> String {
    if found.is_empty() {
        return "No allowed content.".to_owned();
    }
    let now = Now::read();
    let mut table = Table::new([
        Column::fixed("since"),
        Column::fixed("appeal"),
        Column::fixed("content_hash"),
        Column::flexible("reason"),
    ]);
    for allowed in found {
        table.row([
            now.short(allowed.created_at).into(),
            allowed.appeal_id.as_deref().unwrap_or("-").into(),
            format!("{}…", hex::encode(&allowed.digest[..8])).into(),
            shortened(&allowed.reason, SHOWN).into(),
        ]);
    }
    table.render()
}

pub(super) fn shown(appeal: &Appeal, case: &AppealContext) -> String {
    let text = |text: Option<&str>| visible(text.unwrap_or("-"));
    let mut lines = vec![
        format!("{}: {}, {}", appeal.id, appeal.state.as_str(), iso::format(appeal.created_at)),
        format!("title    {}", visible(&appeal.title)),
        format!("account  {}", text(appeal.account_id.as_deref())),
        format!("contact  {}", text(appeal.statement.contact.as_deref())),
        format!("comment  {}", text(appeal.statement.comment.as_deref())),
    ];
    for reason in &appeal.reasons {
        let line = reason.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (file, why) = (visible(&reason.file), visible(&reason.why));
        lines.push(format!("reason   {} ({file}{line}): {why}", shortened(&reason.rule, SHOWN)));
    }
    for joined in &case.joined {
        let (comment, contact) =
            (text(joined.statement.comment.as_deref()), text(joined.statement.contact.as_deref()));
        lines.push(format!("again    {}, {contact}: {comment}", iso::format(joined.created_at)));
    }
    if let Some(site) = &case.similar_site_id {
        lines.push(format!(
            "similar  {site}, which was taken down (to unblock: dropleaf unwanted forget {site})"
        ));
    }
    for earlier in &case.earlier {
        let (when, state) = (iso::format(earlier.created_at), earlier.state.as_str());
        lines.push(format!("earlier  {}, {when}: {state}: {}", earlier.id, text(earlier.answer.as_deref())));
    }
    if appeal.state != State::Open {
        lines.push(format!("reply    {}", text(appeal.answer.as_deref())));
    }
    lines.join("\n") + "\n"
}
