//! The pages about sites: hostile text stays text, and impossible actions are not offered.

use super::{
    Attempt, Claim, PageCard, PageList, PageView, RefusedForm, Section, ShareLinkRow, Shell, UploadView,
    VersionRow, claim, list, page, upload,
};
use crate::tests::HOSTILE;
use dropleaf_core::feedback::{Feedback, FeedbackContent, Intent, Severity};
use dropleaf_core::finding::Finding;
use dropleaf_core::plan::Plan;
use dropleaf_core::share_token::ShareToken;
use dropleaf_core::site::{Site, State, Visibility};
use dropleaf_core::site_filter::Filter;

pub(crate) const NOW: i64 = 1_794_706_860;

pub(crate) fn shell() -> Shell<'static> {
    Shell {
        section: Section::Pages,
        email: Some(HOSTILE),
        is_operator: false,
        is_suspended: false,
        form_token: HOSTILE,
        done: None,
    }
}

pub(crate) fn site(state: State) -> Site {
    Site {
        id: "site_aaaaaaaaaaaaaaaaaaaa".into(),
        token: "t".into(),
        host_label: "s-x".into(),
        account_id: Some("acct_1".into()),
        slug: Some(HOSTILE.into()),
        visibility: Visibility::Public,
        state,
        title: HOSTILE.into(),
        title_set: false,
        version: 2,
        bundle_id: Some("bun_1".into()),
        byte_size: 1234,
        created_at: NOW - 100,
        updated_at: NOW - 50,
        expires_at: Some(NOW + 7200),
        agentation: true,
        live: true,
        changes_since: Some(1),
        csp_strict: true,
        e2e: true,
        spa: false,
        password_hash: Some(HOSTILE.into()),
        email_gate_domain: Some(HOSTILE.into()),
        gate_version: 1,
        claim_hash: None,
        claimed_at: Some(NOW),
        counted: true,
        ended_at: None,
        purged_at: None,
        view_count: 1,
        last_viewed_at: Some(NOW),
        payment_id: None,
        wallet: None,
        primary_domain: None,
        feedback_visible: dropleaf_core::feedback_thread::FeedbackVisible::Author,
        warned_at: None,
    }
}

fn plan() -> Plan {
    Plan {
        name: HOSTILE.into(),
        active_pages: None,
        longest_life_seconds: Some(86_400),
        publishes_a_day: None,
        executables: true,
        custom_domains: true,
    }
}

pub(crate) fn hostile_finding() -> Finding {
    let [rule, file, why, fix] = [HOSTILE; 4].map(str::to_owned);
    Finding { rule, file, line: Some(1), why, fix }
}

fn attempt(form: &'static str, field: &'static str) -> Attempt {
    let typed = ["link", "claim_token", "slug", "title", "until", "domain", "note", "max_uses"];
    let typed = typed.map(|name| (name.to_owned(), HOSTILE.to_owned())).to_vec();
    Attempt(Some(RefusedForm {
        form,
        field,
        message: HOSTILE.into(),
        reasons: vec![hostile_finding()],
        appeal: Some(HOSTILE),
        typed,
    }))
}

#[track_caller]
pub(crate) fn assert_sound(html: &str) {
    assert_markup(html);
    for form in html.split("<form").skip(1) {
        let form = form.split("</form>").next().unwrap();
        assert!(form.contains("method=\"get\"") || form.contains("name=\"form_token\""), "{form}");
    }
}

/// Asserts that hostile text stayed text, that nothing in the page is blocked by its policy, and that every field has a name.
#[track_caller]
pub(crate) fn assert_markup(html: &str) {
    assert!(html.starts_with("<!doctype html>"), "{html}");
    assert!(!html.contains("<script>") && !html.contains("alert(1)</script>"), "{html}");
    assert!(!html.contains(" style=") && !html.contains("<style"), "blocked by the policy");
    assert!(!html.contains(" onclick") && !html.contains("javascript:"));
    assert_eq!(html.matches("<h1").count(), 1);
    // Every field has an accessible name.
    for field in html.split("<input ").skip(1).chain(html.split("<select ").skip(1)) {
        let field = field.split('>').next().unwrap();
        if field.contains("type=\"hidden\"") || field.contains("aria-label=") {
            continue;
        }
        let id = field.split("id=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        assert!(html.contains(&format!("for=\"{id}\"")), "{field}");
    }
}

fn shown(state: State, attempt: Attempt) -> String {
    let said = FeedbackContent {
        comment: HOSTILE.into(),
        element: Some(HOSTILE.into()),
        element_path: Some(HOSTILE.into()),
        selected_text: Some(HOSTILE.into()),
        page_url: Some(HOSTILE.into()),
        intent: Some(Intent::Fix),
        severity: Some(Severity::Blocking),
    };
    let comment = Feedback::new("fb_1".into(), "site_1".into(), said, NOW);
    let token = ShareToken {
        id: "share_1".into(),
        site_id: "site_1".into(),
        note: Some(HOSTILE.into()),
        bypass_email_gate: true,
        max_uses: Some(3),
        uses: 1,
        created_at: NOW,
        expires_at: Some(NOW + 1),
        last_used_at: None,
    };
    let version = |version| VersionRow {
        version,
        title: HOSTILE.into(),
        byte_size: 10,
        file_count: 2,
        restored_from: Some(1),
        made_by: Some(("API key", Some(HOSTILE.into()))),
        has_older: version > 1,
        created_at: NOW,
    };
    page(&PageView {
        shell: shell(),
        site: &site(state),
        url: "http://localhost/p/t/",
        slug_around: (HOSTILE, HOSTILE),
        plan: &plan(),
        restorable_until: (state == State::Deleted).then_some(NOW + 1),
        restore_seconds: 30 * 86_400,
        max_upload_bytes: 1 << 20,
        versions: vec![version(2), version(1)],
        links: vec![ShareLinkRow { token, url: HOSTILE.into() }],
        domains: Vec::new(),
        feedback: vec![comment],
        open_feedback: 2,
        notes: vec![HOSTILE.into()],
        attempt,
        now: NOW,
    })
    .0
}

#[test]
fn hostile_text_stays_text_in_every_state_and_refusal() {
    for state in [State::Live, State::Expired, State::Deleted, State::Burnt, State::TakenDown] {
        assert_sound(&shown(state, Attempt::default()));
    }
    for (form, field) in [
        ("title", "title"),
        ("visibility", "slug"),
        ("password", "password"),
        ("email", "domain"),
        ("expiry", "expires"),
        ("share", "note"),
        ("share", "max_uses"),
        ("content", "file"),
        ("rollback", ""),
        ("page", ""),
    ] {
        let html = shown(State::Live, attempt(form, field));
        assert_sound(&html);
        assert!(html.contains("role=\"alert\""), "{form}");
    }
}

#[test]
fn what_cannot_be_done_is_not_offered() {
    let live = shown(State::Live, Attempt::default());
    assert!(
        live.contains("/rollback")
            && live.contains("/delete#outcome\"")
            && live.contains("/content#outcome\"")
    );
    let expired = shown(State::Expired, Attempt::default());
    assert!(
        expired.contains("/expiry")
            && !expired.contains("/rollback")
            && !expired.contains("/content#outcome\"")
    );
    let deleted = shown(State::Deleted, Attempt::default());
    assert!(deleted.contains("/restore") && !deleted.contains("/title#outcome\""));
    for state in [State::Burnt, State::TakenDown] {
        let html = shown(state, Attempt::default());
        assert!(
            !html.contains("/restore") && !html.contains("/title#outcome\"") && !html.contains("Open page")
        );
    }
}

#[test]
fn list_upload_and_claim_are_sound() {
    let site = site(State::Live);
    let view = |cards, attempt| PageList {
        shell: shell(),
        cards,
        filter: Filter::Public,
        words: HOSTILE,
        next: Some("/dashboard?before=1&before_id=\"><script>".into()),
        base_url: "http://localhost",
        max_upload_bytes: 1 << 20,
        attempt,
        now: NOW,
    };
    let card = PageCard { site: &site, url: "http://localhost/p/t/".into(), open_feedback: 2 };
    assert_sound(&list(&view(vec![card], attempt("claim", "link"))).0);
    assert_sound(&list(&view(Vec::new(), Attempt::default())).0);
    let plan = plan();
    let form =
        UploadView { shell: shell(), plan: &plan, max_upload_bytes: 1, attempt: attempt("upload", "slug") };
    assert_sound(&upload(&form).0);
    let asked =
        Claim { shell: shell(), id: HOSTILE, sign_in: None, attempt: attempt("claim", "claim_token") };
    assert_sound(&claim(&asked).0);
    assert_sound(&claim(&Claim { sign_in: Some(HOSTILE.into()), attempt: Attempt::default(), ..asked }).0);
}
