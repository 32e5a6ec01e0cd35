//! Checks the record of a page as untrusted input, with the rules of the API, and turns it into the types of `core`.

use super::feedback_record::{self, ImportedThread};
use super::format::{MakerRecord, PageRecord, ShareLinkRecord, VersionRecord};
use dropleaf_content::{BundleKind, Limits, clean_file_name};
use dropleaf_core::feedback_thread::FeedbackVisible;
use dropleaf_core::share_token::{self, ShareToken, ShareTokenRequest};
use dropleaf_core::site::{self, Visibility};
use dropleaf_core::slug::Slug;
use dropleaf_core::version_maker::MakerKind;
use dropleaf_core::{Code, Error, Minter, Result, email};
use std::collections::HashSet;

/// Clocks of two servers differ by less than this.
const CLOCK_SECONDS: i64 = 86_400;
/// The end of the year 9999.
const LATEST: i64 = 253_402_300_799;
const MOST_VERSION: i64 = 1_000_000_000;
const MOST_VIEWS: i64 = 1_000_000_000_000;
const TITLE_CHARACTERS: usize = 1000;
/// Longer than the name of any key or program.
const MAKER_CHARACTERS: usize = 200;

/// The checked settings of a page.
#[derive(Debug)]
pub(super) struct CheckedPage {
    pub(super) slug: Option<Slug>,
    pub(super) visibility: Visibility,
    pub(super) email_gate_domain: Option<String>,
    pub(super) feedback: Vec<ImportedThread>,
    pub(super) feedback_visible: FeedbackVisible,
    pub(super) share_links: Vec<ShareToken>,
}

/// Checks everything but the content. The ids of comments and links are new; they belong to no page yet.
pub(super) fn check_page(
    page: &mut PageRecord,
    limits: &Limits,
    minter: &Minter,
    now: i64,
) -> Result<CheckedPage> {
    if !site::is_token(&page.token) {
        return Err(Error::field("token", "is not the token of a page"));
    }
    check_title(&page.title)?;
    past("created_at", page.created_at, now)?;
    past("updated_at", page.updated_at, now)?;
    page.last_viewed_at.map_or(Ok(()), |at| past("last_viewed_at", at, now))?;
    page.expires_at.map_or(Ok(()), |at| within("expires_at", at, 1, LATEST))?;
    within("view_count", page.view_count, 0, MOST_VIEWS)?;
    let visibility = Visibility::parse(&page.visibility)
        .ok_or_else(|| Error::field("visibility", "must be unlisted, public or burn"))?;
    let slug = page.slug.as_deref().map(Slug::parse).transpose()?;
    if visibility == Visibility::Public && slug.is_none() {
        return Err(Error::plain(Code::SlugRequired));
    }
    let email_gate_domain = page.email_gate_domain.as_deref().map(email::gate_domain).transpose()?;
    check_versions(page, limits, now)?;
    let most_links = usize::try_from(share_token::MOST).unwrap_or(usize::MAX);
    if page.share_links.len() > most_links {
        return Err(Error::new(Code::TooMany, format!("A page has at most {most_links} share links.")));
    }
    let feedback = std::mem::take(&mut page.feedback);
    let visible = page.feedback_visible.as_deref().map(FeedbackVisible::read).transpose()?;
    let share_links = std::mem::take(&mut page.share_links).into_iter();
    Ok(CheckedPage {
        slug,
        visibility,
        email_gate_domain,
        feedback: feedback_record::check_all(feedback, minter, now)?,
        feedback_visible: visible.unwrap_or_default(),
        share_links: share_links.map(|link| check_link(link, minter, now)).collect::<Result<_>>()?,
    })
}

fn check_versions(page: &PageRecord, limits: &Limits, now: i64) -> Result<()> {
    let mut seen = HashSet::new();
    for version in &page.versions {
        if !seen.insert(version.version) {
            return Err(Error::field("versions", "must not name a version twice"));
        }
        check_version(version, limits, now)?;
    }
    if seen.iter().max() != Some(&page.version) {
        return Err(Error::field("version", "must be the newest of the versions"));
    }
    Ok(())
}

fn check_version(version: &VersionRecord, limits: &Limits, now: i64) -> Result<()> {
    within("version", version.version, 1, MOST_VERSION)?;
    past("created_at", version.created_at, now)?;
    check_title(&version.title)?;
    if version.restored_from.is_some_and(|from| !(1..version.version).contains(&from)) {
        return Err(Error::field("restored_from", "must be an earlier version"));
    }
    let kind = BundleKind::parse(&version.kind)
        .ok_or_else(|| Error::field("kind", "must be html, markdown, pdf, zip, file or e2e"))?;
    if version.file_name.as_deref().is_some_and(|name| clean_file_name(name).as_deref() != Some(name)) {
        return Err(Error::field("file_name", "is not a file name"));
    }
    if let Some(maker) = &version.made_by {
        check_maker(maker)?;
    }
    let files = version.files.len();
    if files == 0 || (kind != BundleKind::Zip && files != 1) {
        return Err(Error::field("files", "must be one file, or the files of an archive"));
    }
    if files > limits.files {
        let why = format!("A version has {files} files; the limit is {}.", limits.files);
        return Err(Error::new(Code::TooManyFiles, why));
    }
    let size = version.files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
    if size > limits.unpacked_bytes {
        let why = format!("A version has {size} bytes; the limit is {}.", limits.unpacked_bytes);
        return Err(Error::new(Code::TooLarge, why));
    }
    Ok(())
}

fn check_maker(maker: &MakerRecord) -> Result<()> {
    if MakerKind::parse(&maker.kind).is_none() {
        let known: Vec<&str> = MakerKind::ALL.iter().map(|kind| kind.as_str()).collect();
        return Err(Error::field("made_by", format!("must have one of the kinds {}", known.join(", "))));
    }
    let is_name =
        |name: &str| name.chars().count() <= MAKER_CHARACTERS && !name.chars().any(char::is_control);
    if maker.name.as_deref().is_some_and(|name| !is_name(name)) {
        return Err(Error::field(
            "made_by",
            format!("must have a name of at most {MAKER_CHARACTERS} characters"),
        ));
    }
    Ok(())
}

fn check_link(link: ShareLinkRecord, minter: &Minter, now: i64) -> Result<ShareToken> {
    past("created_at", link.created_at, now)?;
    link.expires_at.map_or(Ok(()), |at| within("expires_at", at, 1, LATEST))?;
    link.last_used_at.map_or(Ok(()), |at| past("last_used_at", at, now))?;
    within("uses", link.uses, 0, link.max_uses.unwrap_or(MOST_VIEWS))?;
    let request = ShareTokenRequest {
        note: link.note,
        expires_in: None,
        max_uses: link.max_uses,
        bypass_email_gate: link.bypass_email_gate,
    };
    let request = request.checked()?;
    Ok(ShareToken {
        id: minter.id("share"),
        site_id: String::new(),
        note: request.note,
        bypass_email_gate: request.bypass_email_gate,
        max_uses: request.max_uses,
        uses: link.uses,
        created_at: link.created_at,
        expires_at: link.expires_at,
        last_used_at: link.last_used_at,
    })
}

fn check_title(title: &str) -> Result<()> {
    if title.chars().count() > TITLE_CHARACTERS || title.chars().any(char::is_control) {
        return Err(Error::field("title", "must be one line of at most 1000 characters"));
    }
    Ok(())
}

/// A time that has passed, give or take the difference of two clocks.
pub(super) fn past(name: &str, at: i64, now: i64) -> Result<()> {
    within(name, at, 0, now + CLOCK_SECONDS)
}

fn within(name: &str, value: i64, least: i64, most: i64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::field(name, format!("must be {least} to {most}, not {value}")))
}
