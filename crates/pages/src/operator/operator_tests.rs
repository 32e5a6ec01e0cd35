//! The operator's pages with hostile text everywhere: it stays text.

use super::accounts::{AccountRow, AccountsPage, RefusedSuspension, accounts};
use super::audit::{AuditPage, audit};
use super::case::{CaseEvidence, CasePage, CaseVersion, CaseView, RefusedCaseForm, case};
use super::certificates::{CertificatesPage, certificates};
use super::overview::{BackupLine, Figure, OverviewPage, TakedownForm, overview};
use super::safe_preview::{
    Destination, FormField, Inventory, PhishingVerdict, PreviewFile, PreviewFrame, SafePreview, SourceLine,
    SourceView,
};
use super::waiting_text;
use crate::dashboard::pages_tests::{NOW, assert_sound, hostile_finding, shell, site};
use crate::tests::HOSTILE;
use crate::{Elapsed, Moment, Size};
use dropleaf_core::audit::{AuditAction, AuditEntry};
use dropleaf_core::certificate::Certificate;
use dropleaf_core::site::{Site, State};

fn entry(subject: &str) -> AuditEntry {
    AuditEntry {
        id: "act_1".into(),
        at: NOW,
        actor: HOSTILE.into(),
        action: AuditAction::TakeDown,
        subject: subject.into(),
        reason: Some(HOSTILE.into()),
    }
}

fn preview() -> SafePreview {
    let file = |path: &str, is_shown| PreviewFile { path: path.into(), size_bytes: 10, is_shown };
    SafePreview {
        frame: Some(PreviewFrame { url: HOSTILE.into(), within: HOSTILE.into() }),
        is_encrypted: false,
        kind: HOSTILE.into(),
        files: vec![file("index.html", true), file(HOSTILE, false)],
        more_files: 3,
        file: HOSTILE.into(),
        source: Some(SourceView {
            lines: vec![SourceLine {
                number: 7,
                text: HOSTILE.into(),
                cut: 5,
                found: vec![HOSTILE.into()],
                after_gap: true,
            }],
            total_lines: 9,
        }),
        inventory: Inventory {
            forms: 1,
            scripts: 2,
            fields: vec![FormField { line: 7, kind: HOSTILE.into(), name: HOSTILE.into() }],
            destinations: vec![Destination { line: 8, how: "form", to: HOSTILE.into() }],
            is_cut: true,
        },
        verdict: Some(PhishingVerdict { refuses: true, findings: vec![hostile_finding()] }),
        here: "/operator/pages/site_1?version=2".into(),
    }
}

fn case_of<'a>(site: &'a Site, entries: &'a [AuditEntry]) -> CaseView<'a> {
    let version = |version| CaseVersion { version, created_at: NOW, byte_size: 10 };
    CaseView {
        site,
        url: HOSTILE,
        account: None,
        reports: &[],
        more_reports: 0,
        open_reports: 1,
        open_reasons: &[],
        audit_entries: entries,
        versions: vec![version(2), version(1)],
        other_sites: &[],
        taken_down: 0,
        similar_sites: std::slice::from_ref(site),
        evidence: Some(CaseEvidence { size_bytes: 10, erase_after: NOW, erased_at: None }),
        refused_since: Some(NOW),
    }
}

#[test]
fn what_waits_is_counted_in_words() {
    let texts = [(1, 0), (3, 0), (0, 1), (3, 2)].map(|(reports, signals)| waiting_text(reports, signals));
    assert_eq!(texts, ["1 report", "3 reports", "1 signal", "3 reports and 2 signals"]);
}

#[test]
fn lists_of_the_operator_show_hostile_text_as_text() {
    let entries = [entry(HOSTILE), entry("site_1")];
    let form = TakedownForm { page: HOSTILE, reason: HOSTILE, problem: Some(HOSTILE), gone: Some(HOSTILE) };
    let html = overview(&OverviewPage {
        shell: shell(),
        figures: vec![Figure { value: HOSTILE.into(), label: "views" }],
        counted: Some(Moment(NOW)),
        backup: Some(BackupLine {
            last: Some(Moment(NOW - 86_400)),
            size: Size(5 << 20),
            next: Moment(NOW),
            failures: 3,
            is_late: true,
        }),
        version: HOSTILE,
        uptime: Elapsed(61),
        entries: &entries,
        form,
        missing_chains: vec!["payments.evm_rpc"],
        is_recent: false,
    });
    assert_sound(&html.0);
    assert!(html.0.contains("/operator/pages/site_1") && html.0.contains("1 min"), "{}", html.0);
    for shown in ["Last backup", "failed attempts since: 3", "backups are late"] {
        assert!(html.0.contains(shown), "{shown}");
    }
    let html =
        audit(&AuditPage { shell: shell(), subject: HOSTILE, entries: &entries, older: Some(HOSTILE) });
    assert_sound(&html.0);
    let failing = Certificate {
        failures: 2,
        not_after: Some(NOW - 1),
        last_error: Some(HOSTILE.into()),
        ..Certificate::new(HOSTILE.into(), NOW)
    };
    let all = [Certificate::new("a.example".into(), NOW), failing];
    let (chosen, more) = CertificatesPage::choose(&all, 1);
    assert_eq!((chosen[0].failures, more), (2, 1), "those that need attention first");
    let html = certificates(&CertificatesPage {
        shell: shell(),
        certificates: chosen,
        more,
        is_managed: true,
        now: NOW,
        is_recent: false,
    });
    assert_sound(&html.0);
    assert!(html.0.contains("expired") && html.0.contains("Renew now"), "{}", html.0);
    let account = AccountRow {
        id: "acct_1",
        email: Some(HOSTILE),
        plan: HOSTILE,
        pages: 1,
        created: Moment(NOW),
        is_operator: false,
        suspended: Some((Moment(NOW), HOSTILE)),
    };
    let html = accounts(&AccountsPage {
        shell: shell(),
        search: HOSTILE,
        accounts: vec![account],
        plans: &["free", HOSTILE],
        older: Some(HOSTILE),
        refused: Some(RefusedSuspension { account_id: "acct_1", reason: HOSTILE, problem: HOSTILE }),
        is_recent: true,
    });
    assert_sound(&html.0);
}

#[test]
fn a_case_shows_hostile_content_as_text_and_only_in_its_frame() {
    let (site, entries, preview) = (site(State::Live), [entry("site_1")], preview());
    let page = |preview, form| CasePage {
        shell: shell(),
        case: case_of(&site, &entries),
        preview,
        version: 2,
        refused: Some(RefusedCaseForm { form, reason: HOSTILE, problem: HOSTILE }),
        is_recent: false,
    };
    for form in ["takedown", "dismiss", "evidence", "erase", "forget"] {
        let html = case(&page(Some(&preview), form)).0;
        assert_sound(&html);
        assert_eq!(html.matches("id=\"outcome\"").count(), 1, "{form}: {html}");
        assert_eq!(html.matches("<iframe").count(), 1);
    }
    let html = case(&page(None, "takedown")).0;
    assert_sound(&html);
    assert!(!html.contains("<iframe") && html.contains("Safe preview"), "{html}");
}

#[test]
fn files_and_findings_of_a_preview_link_to_their_source() {
    let preview = preview();
    assert_eq!(preview.file_url("a b.html"), "/operator/pages/site_1?version=2&file=a+b.html");
    let here = hostile_finding();
    assert_eq!(preview.finding_url(&here), "#line-1");
    let elsewhere = dropleaf_core::finding::Finding { file: "x.html".into(), line: None, ..here };
    let url = preview.finding_url(&elsewhere);
    assert_eq!(url, "/operator/pages/site_1?version=2&file=x.html#line-1");
    assert_eq!(preview.within(), Some(HOSTILE));
}
