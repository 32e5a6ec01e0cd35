//! Sets the headers of every page response. What each kind of response sends is decided only here.
//! The reasons are in docs/security.md.

use super::file_traits::FileTraits;
use super::{PageAddress, disposition};
use dropleaf_app::{PageView, ServedFile};
use dropleaf_core::site::Visibility;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use std::time::Duration;

pub(in crate::http) const HSTS: HeaderValue = HeaderValue::from_static(HSTS_TEXT);
pub(super) const HSTS_TEXT: &str = "max-age=31536000";

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
/// Only the origin: map tiles and video players refuse requests without a referrer.
const STRICT_ORIGIN: HeaderValue = HeaderValue::from_static("strict-origin");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOINDEX: HeaderValue = HeaderValue::from_static("noindex, nofollow, noarchive");
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");
const PUBLIC: HeaderValue = HeaderValue::from_static("public, max-age=60, must-revalidate");
/// For a live page: an update must not find files of the version before in a cache.
const REVALIDATED: HeaderValue = HeaderValue::from_static("public, no-cache");
const ACCEPT_RANGES: HeaderValue = HeaderValue::from_static("bytes");
const NO_RANGES: HeaderValue = HeaderValue::from_static("none");
const VARY_OWN: HeaderValue = HeaderValue::from_static("Accept-Encoding");
const VARY_SHARED: HeaderValue =
    HeaderValue::from_static("Accept-Encoding, Sec-Fetch-Mode, Sec-Fetch-Site, User-Agent, Cookie");
const VARY_ROUTE: HeaderValue = HeaderValue::from_static("Accept-Encoding, Accept, Sec-Fetch-Dest");
const VARY_SHARED_ROUTE: HeaderValue = HeaderValue::from_static(
    "Accept-Encoding, Accept, Sec-Fetch-Dest, Sec-Fetch-Mode, Sec-Fetch-Site, User-Agent, Cookie",
);
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
/// Only the page itself may frame a page with restricted access.
const FRAMED_BY_SELF: HeaderValue = HeaderValue::from_static("frame-ancestors 'self'");
const ANY: HeaderValue = HeaderValue::from_static("*");
const SANDBOX: HeaderValue = HeaderValue::from_static(SANDBOX_TEXT);
const SANDBOX_TEXT: &str = "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads allow-pointer-lock";
/// The policy of encrypted pages without an account. No one can check their content and no one is accountable for it, so
/// they must not collect what people type: they must be self-contained, cannot submit forms, and cannot connect to any
/// host. No policy prevents a person from following a link.
const ALONE: &str = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' data: blob:; style-src 'unsafe-inline' data: blob:; \
    img-src data: blob:; font-src data: blob:; media-src data: blob:; connect-src data: blob:; worker-src data: blob:; \
    object-src blob:; base-uri 'none'; form-action 'none'";
const SANDBOX_ALONE: &str = "sandbox allow-scripts allow-modals allow-downloads allow-pointer-lock";
const OWN_CLUSTER: HeaderValue = HeaderValue::from_static("?1");
const OPENER: HeaderValue = HeaderValue::from_static("same-origin-allow-popups");
const PERMISSIONS: HeaderValue =
    HeaderValue::from_static("browsing-topics=(), join-ad-interest-group=(), run-ad-auction=()");
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const CLUSTER: HeaderName = HeaderName::from_static("origin-agent-cluster");
const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const COOP: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const DNS_PREFETCH: HeaderName = HeaderName::from_static("x-dns-prefetch-control");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// Capacity for every header of a page, so that the map never grows while it is filled.
pub(super) const ROOM: usize = 20;

/// Responses for this viewer only: not cacheable, not readable by other sites.
pub(super) fn private_data(headers: &mut HeaderMap) {
    common(headers);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(ROBOTS, NOINDEX);
    headers.insert(CORP, SAME_ORIGIN);
    let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, nothing);
}

/// An event stream for this viewer. Proxies must not hold back its events.
pub(super) fn events(headers: &mut HeaderMap) {
    private_data(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
}

/// For a page shown from its last known row, because the database does not answer (RFC 9211). No other cache keeps it, so
/// that it becomes no older.
pub(super) fn stale(headers: &mut HeaderMap, age: Duration) {
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    let status = format!("dropleaf; hit; ttl=-{}; detail=stale-if-error", age.as_secs().max(1));
    if let Ok(status) = HeaderValue::from_str(&status) {
        headers.insert(CACHE_STATUS, status);
    }
}

/// One of our scripts. With its version in the address it never changes.
pub(super) fn script(headers: &mut HeaderMap, named: bool) {
    common(headers);
    headers.insert(ROBOTS, NOINDEX);
    headers.insert(CORP, SAME_ORIGIN);
    headers.insert(header::VARY, VARY_OWN);
    let kept = if named { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
}

/// Everything about a file of a page except its type, length and validator.
pub(super) fn page(
    headers: &mut HeaderMap,
    address: PageAddress<'_>,
    page: &PageView,
    file: &ServedFile,
    browser: bool,
) {
    let traits = FileTraits::of(address, page, file, browser);
    let disposition = || disposition::inline(name_of(page, file));
    write_file(headers, traits, disposition, || strict(page, address));
}

/// The same for a file that is neither a PDF nor of a strict page: its headers depend only on its traits.
pub(super) fn plain_file(headers: &mut HeaderMap, traits: FileTraits) {
    write_file(headers, traits, || HeaderValue::from_static("inline"), || SANDBOX);
}

fn write_file(
    headers: &mut HeaderMap,
    traits: FileTraits,
    disposition: impl FnOnce() -> HeaderValue,
    strict: impl FnOnce() -> HeaderValue,
) {
    common(headers);
    refer(headers, traits.is_strict, traits.is_encrypted);
    if traits.is_pdf {
        headers.insert(header::CONTENT_DISPOSITION, disposition());
    }
    headers.insert(ROBOTS, NOINDEX);
    // Until the one view is decided, no ranges are served.
    headers.insert(header::ACCEPT_RANGES, if traits.is_unburnt { NO_RANGES } else { ACCEPT_RANGES });
    // Restricted or shown once: not cacheable, not embeddable by other origins.
    if traits.is_own_only {
        headers.insert(CORP, SAME_ORIGIN);
    }
    headers.insert(
        header::CACHE_CONTROL,
        match (traits.is_encrypted || traits.is_guarded, traits.is_public) {
            (true, _) => NO_STORE,
            (false, true) if traits.is_live => REVALIDATED,
            (false, true) => PUBLIC,
            (false, false) => PRIVATE,
        },
    );
    if traits.is_shared {
        headers.insert(header::VARY, VARY_SHARED);
        if !traits.is_guarded {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
        }
        // A PDF cannot run code in our origin, and browsers do not show a PDF in a sandbox.
        if !traits.is_shown_pdf {
            headers
                .insert(header::CONTENT_SECURITY_POLICY, if traits.is_strict { strict() } else { SANDBOX });
        }
        return;
    }
    headers.insert(header::VARY, VARY_OWN);
    if traits.is_own_only {
        headers.insert(header::CONTENT_SECURITY_POLICY, FRAMED_BY_SELF);
    }
    if traits.is_document {
        headers.insert(CLUSTER, OWN_CLUSTER);
        headers.insert(COOP, OPENER);
        headers.insert(PERMISSIONS_POLICY, PERMISSIONS);
    }
    // On its scripts too: a worker is bound by the policy of its own file, not of the page that started it.
    if traits.is_strict && !traits.is_pdf {
        headers.insert(header::CONTENT_SECURITY_POLICY, strict());
    }
}

/// The referrer policy of the page's own requests. A strict page can contact no other host, and the address of an
/// encrypted page is not disclosed.
fn refer(headers: &mut HeaderMap, is_strict: bool, is_encrypted: bool) {
    if !is_strict && !is_encrypted {
        headers.insert(header::REFERRER_POLICY, STRICT_ORIGIN);
    }
}

/// The name for saving a file: the upload name if the page is a single file.
fn name_of<'a>(page: &'a PageView, file: &'a ServedFile) -> &'a str {
    let uploaded = page.bundle.as_ref().and_then(|bundle| bundle.file_name.as_deref());
    uploaded.unwrap_or_else(|| file.path.rsplit('/').next().unwrap_or(&file.path))
}

/// For `index.html` in place of a path without a file: other requests for the same address get 404.
pub(super) fn route(headers: &mut HeaderMap) {
    let vary = if headers.get(header::VARY) == Some(&VARY_OWN) { VARY_ROUTE } else { VARY_SHARED_ROUTE };
    headers.insert(header::VARY, vary);
}

/// For the viewer of an encrypted page. The decrypted content is bound by the viewer's policy, so that is the page's
/// own.
pub(super) fn viewer(
    headers: &mut HeaderMap,
    address: PageAddress<'_>,
    page: &PageView,
    script_source: &str,
) {
    common(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(ROBOTS, NOINDEX);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::ACCEPT_RANGES, NO_RANGES);
    headers.insert(header::VARY, VARY_SHARED);
    let guarded = page.site.visibility == Visibility::Burn || page.access_rules.is_gated();
    if !address.is_shared() {
        headers.insert(CLUSTER, OWN_CLUSTER);
        headers.insert(COOP, OPENER);
        headers.insert(PERMISSIONS_POLICY, PERMISSIONS);
        if guarded {
            headers.insert(CORP, SAME_ORIGIN);
        }
    }
    let anonymous = page.site.account_id.is_none();
    let policy = match (page.site.csp_strict, address.is_shared()) {
        (true, shared) => strict_policy(script_source, shared),
        (false, true) if anonymous => format!("{SANDBOX_ALONE}; {ALONE}"),
        (false, true) => SANDBOX_TEXT.to_owned(),
        (false, false) => {
            let parts = [(guarded, "frame-ancestors 'self'"), (anonymous, ALONE)];
            parts.iter().filter(|(wanted, _)| *wanted).map(|(_, part)| *part).collect::<Vec<_>>().join("; ")
        }
    };
    if let Some(policy) = HeaderValue::from_str(&policy).ok().filter(|policy| !policy.is_empty()) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// For a file in the preview of a burn page, which our page frames. Its document has no origin, so it can neither press
/// our buttons nor reach the viewer's browser storage for the page; its own files are cross-origin to it.
pub(super) fn preview(headers: &mut HeaderMap, page: &PageView, is_sandboxed: bool) {
    common(headers);
    refer(headers, page.site.csp_strict, page.site.e2e);
    headers.insert(ROBOTS, NOINDEX);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::ACCEPT_RANGES, NO_RANGES);
    headers.insert(header::VARY, VARY_SHARED);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(CORP, HeaderValue::from_static("cross-origin"));
    headers.insert(PERMISSIONS_POLICY, PERMISSIONS);
    headers.remove(COOP);
    headers.remove(CLUSTER);
    if !is_sandboxed {
        headers.insert(header::CONTENT_SECURITY_POLICY, FRAMED_BY_SELF);
        return;
    }
    // The page's own policy is kept, except for directives that would keep it out of our frame or let it out of the
    // sandbox.
    let own = headers.remove(header::CONTENT_SECURITY_POLICY);
    let own = own.or_else(|| page.site.csp_strict.then(|| strict(page, PageAddress::Shared { rest: "" })));
    let own = own.as_ref().and_then(|own| own.to_str().ok()).unwrap_or_default();
    let replaced = ["sandbox", "form-action", "frame-ancestors"];
    let kept = own
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty() && !replaced.iter().any(|name| part.starts_with(name)));
    let ours = [SANDBOX_ALONE, "form-action 'none'", "frame-ancestors 'self'"];
    let policy = ours.into_iter().chain(kept).collect::<Vec<_>>().join("; ");
    let nothing = HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).unwrap_or(nothing));
}

/// For a file in a sandboxed frame of a page with restricted access. The frame has no origin, so the page's other files
/// are cross-origin to it. It may contain frames, whose ancestors are then not all of the page's origin. Those, and
/// frames of another site with a leaked address, never get the page's origin.
pub(super) fn framed(headers: &mut HeaderMap, is_own_frame: bool) {
    headers.insert(CORP, HeaderValue::from_static("cross-origin"));
    if is_own_frame {
        return;
    }
    let own = headers.remove(header::CONTENT_SECURITY_POLICY).filter(|own| own != FRAMED_BY_SELF);
    let own = own.as_ref().and_then(|own| own.to_str().ok());
    let kept = own.into_iter().flat_map(|own| own.split(';')).map(str::trim);
    let kept = kept.filter(|part| !part.is_empty() && !part.starts_with("sandbox"));
    let policy = kept.chain([SANDBOX_TEXT]).collect::<Vec<_>>().join("; ");
    let nothing = HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).unwrap_or(nothing));
}

/// For our page around such a preview: it may frame only its own host.
pub(super) fn around_preview(headers: &mut HeaderMap, style_source: &str) {
    let policy = format!(
        "default-src 'none'; style-src {style_source}; frame-src 'self'; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// For the safe preview of content that may be hostile: no scripts, no form submissions, nothing loaded except its own
/// files, and framed only by our pages. A source with a path is stricter than `'self'` where pages share an origin.
pub(super) fn safe_preview(headers: &mut HeaderMap, within: &str, framed_by: &str) {
    common(headers);
    headers.insert(ROBOTS, NOINDEX);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::ACCEPT_RANGES, NO_RANGES);
    // The document has no origin, so its own files are cross-origin to it.
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(CORP, HeaderValue::from_static("cross-origin"));
    headers.insert(DNS_PREFETCH, HeaderValue::from_static("off"));
    let nothing =
        "attribution-reporting=(), browsing-topics=(), join-ad-interest-group=(), run-ad-auction=()";
    headers.insert(PERMISSIONS_POLICY, HeaderValue::from_static(nothing));
    let policy = format!(
        "sandbox; default-src 'none'; style-src {within} 'unsafe-inline'; img-src {within} data:; font-src {within} data:; \
         media-src {within} data:; form-action 'none'; base-uri 'none'; frame-ancestors {framed_by}"
    );
    let nothing = HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).unwrap_or(nothing));
}

/// The `csp_strict` policy with hashes of the page's inline scripts. Built once per bundle.
fn strict(page: &PageView, address: PageAddress<'_>) -> HeaderValue {
    let word = |scripts: &str| [false, true].map(|shared| strict_policy(scripts, shared).into());
    let policies = page.bundle.as_ref().map_or_else(|| word(""), |bundle| bundle.policies(word));
    let [own, shared] = policies;
    // The text consists of base64 and our own words.
    HeaderValue::from_maybe_shared(if address.is_shared() { shared } else { own })
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'; sandbox"))
}

/// The strict policy with these script sources. Where sites share an origin, the page gets an opaque one, so that it can
/// neither frame its own files nor submit forms to itself. Workers and frames created from the page's own data inherit
/// this policy, and compiling WebAssembly is not `eval`. `allow-forms` only lets a form fire its events and close a dialog:
/// where it may be submitted to is decided by `form-action`.
pub(super) fn strict_policy(scripts: &str, shared: bool) -> String {
    let space = if scripts.is_empty() { "" } else { " " };
    let origin = if shared { "" } else { " allow-same-origin" };
    let (frames, own) = if shared { ("'none'", "'none'") } else { ("'self' blob: data:", "'self'") };
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{space}{scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
         font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; \
         manifest-src 'self'; frame-src {frames}; object-src 'none'; base-uri 'none'; form-action {own}; \
         frame-ancestors {own}; \
         sandbox allow-scripts{origin} allow-forms allow-modals allow-downloads"
    )
}

/// Headers of every response.
pub(super) fn common(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(header::REFERRER_POLICY, NO_REFERRER);
}

/// For responses shown before the page itself: the button of a burn page, the question before a risky file, a warning.
pub(super) fn interstitial(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::ACCEPT_RANGES, NO_RANGES);
    headers.insert(header::VARY, VARY_SHARED);
}

pub(super) fn redirect(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    common(headers);
    headers.insert(ROBOTS, NOINDEX);
    headers.insert(header::VARY, VARY_SHARED);
}
