//! Property test: any sequence of operations behaves as the model says, and what viewers and owners see agrees with it
//! after each one. `PROPTEST_CASES` raises the number of sequences.

use crate::fixture::{DAY, Fixture, HOUR, NOW, PLACES, fresh, html, upload};
use crate::model::{Model, View};
use dropleaf_app::{ContentCoding, ListQuery, PageKey, PatchRequest, Writer};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::site::Visibility;
use dropleaf_core::site_change::Field;
use dropleaf_core::slug::Slug;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};
use dropleaf_core::{Code, Error};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
enum Act {
    Publish { who: Option<usize>, slug: Option<u8>, hours: Option<i64>, body: u8 },
    Replace { page: usize, who: usize, body: u8 },
    Change { page: usize, who: usize, visibility: Option<Visibility>, slug: Field<u8>, expiry: Field<i64> },
    Delete { page: usize, who: usize, purge: bool },
    Restore { page: usize, who: usize },
    Claim { page: usize, who: usize, good: bool },
    Advance { seconds: i64 },
    Sweep,
}

const NAMES: u8 = 3;

/// Mostly the first account, so that operations meet the same pages.
fn who() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(0), 1 => Just(1)]
}

fn hours() -> impl Strategy<Value = i64> {
    prop_oneof![1..5_i64, 20..60_i64]
}

/// Mostly absent, sometimes null.
fn field<T: Clone + std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Field<T>> {
    prop_oneof![3 => Just(Field::Absent), 1 => Just(Field::Null), 1 => value.prop_map(Field::Value)]
}

fn act() -> impl Strategy<Value = Act> {
    let page = 0..12_usize;
    let visibility =
        prop_oneof![Just(Visibility::Unlisted), Just(Visibility::Public), Just(Visibility::Burn)];
    let slug = proptest::option::of(0..NAMES);
    prop_oneof![
        6 => (proptest::option::weighted(0.8, who()), slug.clone(), proptest::option::of(hours()), 0..4_u8).prop_map(
            |(who, slug, hours, body)| Act::Publish { who, slug: slug.filter(|_| who.is_some()), hours, body }
        ),
        3 => (page.clone(), who(), 0..4_u8).prop_map(|(page, who, body)| Act::Replace { page, who, body }),
        5 => (
            page.clone(),
            who(),
            proptest::option::of(visibility),
            field(0..NAMES),
            field(hours()),
        )
            .prop_map(|(page, who, visibility, slug, expiry)| Act::Change { page, who, visibility, slug, expiry }),
        3 => (page.clone(), who(), proptest::bool::weighted(0.3))
            .prop_map(|(page, who, purge)| Act::Delete { page, who, purge }),
        3 => (page.clone(), who()).prop_map(|(page, who)| Act::Restore { page, who }),
        2 => (page, who(), proptest::bool::weighted(0.8))
            .prop_map(|(page, who, good)| Act::Claim { page, who, good }),
        3 => prop_oneof![1..3 * HOUR, DAY..3 * DAY, 29 * DAY..31 * DAY, 80 * DAY..400 * DAY]
            .prop_map(|seconds| Act::Advance { seconds }),
        2 => Just(Act::Sweep),
    ]
}

/// The ids that the application gave to the model's pages, by their numbers.
#[derive(Default)]
struct Named {
    ids: Vec<String>,
    tokens: Vec<String>,
    claims: Vec<Option<String>>,
}

fn slug(name: u8) -> Slug {
    Slug::parse(&format!("name-{name}")).unwrap()
}

fn code<T>(outcome: Result<T, Error>) -> Result<T, Code> {
    outcome.map_err(|error| error.code)
}

/// Runs one operation on the application. An operation on a page that does not exist yet is skipped on both sides.
async fn run_on_app(fixture: &Fixture, named: &mut Named, act: &Act) -> Result<(), Code> {
    let app = &fixture.app;
    match act.clone() {
        Act::Publish { who, slug: name, hours, body } => {
            let lifetime = hours.map(|hours| Lifetime::Seconds(hours * HOUR));
            let options = UploadOptions { slug: name.map(slug), lifetime, ..UploadOptions::default() };
            let done =
                app.create_site(&fixture.caller(who), upload(body), options, None, |_| Vec::new()).await;
            let created = fresh(code(done)?);
            named.ids.push(created.site.id);
            named.tokens.push(created.site.token);
            named.claims.push(created.claim_token);
            Ok(())
        }
        Act::Replace { page, who, body } => {
            let writer =
                Writer::Account(fixture.accounts[who].clone(), VersionMaker::unnamed(MakerKind::Dashboard));
            let name = &named.ids[page];
            let seen = code(app.check_writer(&writer, name, None).await)?;
            let done = app.replace_site(&writer, name, seen, upload(body), UploadOptions::default()).await;
            code(done).map(|_| ())
        }
        Act::Change { page, who, visibility, slug: name, expiry } => {
            let request = PatchRequest {
                visibility,
                slug: match name {
                    Field::Absent => Field::Absent,
                    Field::Null => Field::Null,
                    Field::Value(name) => Field::Value(slug(name)),
                },
                lifetime: match expiry {
                    Field::Absent => None,
                    Field::Null => Some(Lifetime::Never),
                    Field::Value(hours) => Some(Lifetime::Seconds(hours * HOUR)),
                },
                ..PatchRequest::default()
            };
            code(app.change_site(&fixture.accounts[who], &named.ids[page], request).await).map(|_| ())
        }
        Act::Delete { page, who, purge } => {
            code(app.delete_site(&fixture.accounts[who], &named.ids[page], purge).await).map(|_| ())
        }
        Act::Restore { page, who } => {
            code(app.restore_site(&fixture.accounts[who], &named.ids[page]).await).map(|_| ())
        }
        Act::Claim { page, who, good } => {
            let token = named.claims[page].clone().filter(|_| good).unwrap_or_else(|| "clm_wrong".into());
            code(app.claim_site(&fixture.accounts[who], &named.ids[page], &token).await).map(|_| ())
        }
        Act::Advance { seconds } => {
            fixture.clock.advance(seconds);
            Ok(())
        }
        Act::Sweep => {
            let swept = code(app.sweep().await).map(|_| ());
            // What the sweep evicts may stay cached for a second.
            fixture.clock.advance(1);
            swept
        }
    }
}

fn run_on_model(model: &mut Model, act: &Act) -> Result<(), Code> {
    match act.clone() {
        Act::Publish { who, slug, hours, body } => model.publish(who, slug, hours, body),
        Act::Replace { page, who, body } => model.replace(page, who, body),
        Act::Change { page, who, visibility, slug, expiry } => {
            model.change(page, who, visibility, slug, &expiry)
        }
        Act::Delete { page, who, purge } => model.delete(page, who, purge),
        Act::Restore { page, who } => model.restore(page, who),
        Act::Claim { page, who, good } => model.claim(page, who, good),
        Act::Advance { seconds } => {
            model.now += seconds;
            Ok(())
        }
        Act::Sweep => {
            model.sweep();
            model.now += 1;
            Ok(())
        }
    }
}

fn page_of(act: &Act) -> Option<usize> {
    match act {
        Act::Replace { page, .. }
        | Act::Change { page, .. }
        | Act::Delete { page, .. }
        | Act::Restore { page, .. }
        | Act::Claim { page, .. } => Some(*page),
        Act::Publish { .. } | Act::Advance { .. } | Act::Sweep => None,
    }
}

async fn view(fixture: &Fixture, key: Option<PageKey>) -> View {
    let Some(page) = fixture.app.open_page(&key.unwrap()).await.unwrap() else { return View::Nothing };
    match access::decide(&page.access_rules, Passes::default(), fixture.app.now()) {
        Access::Gone(code) => View::Gone(code),
        Access::Ask(_) | Access::Reveal => View::Guarded,
        Access::Serve => {
            let bundle = page.bundle.as_ref().expect("a live page has content");
            let body = fixture.app.file_body(bundle.entry().unwrap(), ContentCoding::Identity).await.unwrap();
            let known = (0..4).find(|number| html(*number).as_bytes() == &*body.bytes);
            View::Body(known.expect("a body that was published"))
        }
    }
}

/// Compares everything that is visible with the model.
async fn compare(fixture: &Fixture, named: &Named, model: &Model) {
    for (number, token) in named.tokens.iter().enumerate() {
        assert_eq!(view(fixture, PageKey::token(token)).await, model.view(number), "page {number} by token");
    }
    for name in 0..NAMES {
        let seen = view(fixture, PageKey::slug(slug(name).as_str())).await;
        assert_eq!(seen, model.view_name(name), "name {name}");
    }
    for (who, account) in fixture.accounts.iter().enumerate() {
        let list = fixture.app.list_sites(account, ListQuery::default()).await.unwrap();
        let number = |id: &String| named.ids.iter().position(|known| known == id).unwrap();
        let listed: BTreeSet<_> = list.sites.iter().map(|site| number(&site.id)).collect();
        assert_eq!(listed, model.listed(who), "the list of account {who}");
        let known = fixture.app.list_accounts().await.unwrap();
        let taken = known.iter().find(|known| known.id == account.id).unwrap().active_pages;
        assert_eq!(usize::try_from(taken).unwrap(), model.taken(who), "places of account {who}");
        assert!(model.taken(who) <= PLACES);
    }
}

async fn run(acts: Vec<Act>) {
    let fixture = Fixture::open().await;
    let (mut named, mut model) = (Named::default(), Model::new(NOW));
    for (step, act) in acts.iter().enumerate() {
        if page_of(act).is_some_and(|page| page >= model.pages.len()) {
            continue;
        }
        let real = run_on_app(&fixture, &mut named, act).await;
        assert_eq!(real, run_on_model(&mut model, act), "step {step}: {act:?}");
        compare(&fixture, &named, &model).await;
    }
    fixture.clock.advance(2 * HOUR);
    fixture.app.collect_unreferenced_bodies().await.unwrap();
    let stored = usize::try_from(fixture.stored_bodies().await).unwrap();
    assert_eq!(stored, model.kept_bodies().len(), "nothing erased that is needed, nothing kept that is not");
    fixture.app.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_acts_agrees_with_the_model(acts in proptest::collection::vec(act(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(acts));
    }
}

#[expect(clippy::disallowed_methods, reason = "how long to search is told in the environment")]
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(64)
}
